import { closeSync } from 'node:fs';
import { RobotsFilterError } from '../../base/errors.js';
import { compressionOf } from '../../files/compression.js';
import { readLines } from '../../files/lines.js';
import { inputName, openToRead, STANDARD_INPUT } from '../../files/openings.js';
import { unreadable } from '../../files/system-error.js';
import { type Authority, authorityOfUrl, parseAuthority } from '../../protocol/authority.js';
import { readText } from '../../sources/record-files.js';
import type { Diagnostics } from '../console.js';

/** What to do if a list is damaged or cannot be read. */
const REMEDY = 'Copy the file again';

/** Maximum bytes of a line. */
const MOST_BYTES = 1 << 20;

/** Says that a list has no lines: nothing comes out, which looks like any other answer. */
export function noteEmptyList(path: string, what: string, diagnostics: Diagnostics): void {
  diagnostics.note(`warning: ${inputName(path)} names no ${what}`);
}

/** A line of a list that is not blank. */
interface ListLine {
  /** Number of the line, from 1. */
  readonly number: number;
  /** The text without white space around it. */
  readonly text: string;
}

/**
 * The lines of a list of hosts or URLs, one on each line. A file may be compressed. Blank lines do
 * not count.
 *
 * @param path `-` is standard input
 * @throws RobotsFilterError `input` if the list cannot be read, or a line is too long
 */
export async function* listLines(path: string): AsyncGenerator<ListLine> {
  const name = inputName(path);
  const isStandardInput = path === STANDARD_INPUT;
  const decoder = new TextDecoder();
  try {
    const file = isStandardInput ? undefined : await openToRead(path);
    try {
      const chunks = file === undefined ? process.stdin : readText(file, path, REMEDY);
      for await (const { number, bytes } of readLines(chunks, MOST_BYTES)) {
        if (bytes === undefined) {
          throw wrong(name, `line ${number} is longer than ${MOST_BYTES} bytes. Leave it out`);
        }
        if (number === 1 && compressionOf(bytes) !== undefined) {
          throw wrong(name, 'is compressed. Name the file itself, or decompress it');
        }
        const text = decoder.decode(bytes).trim();
        if (text !== '') yield { number, text };
      }
    } finally {
      if (file !== undefined) closeSync(file);
    }
  } catch (cause) {
    if (cause instanceof RobotsFilterError) throw cause;
    throw unreadable(name, cause);
  }
}

function wrong(name: string, what: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: ${what}`);
}

/**
 * The URLs of a list with one on each line.
 *
 * @param path `-` is standard input
 * @throws RobotsFilterError `input` if the list cannot be read or is of another format
 */
export async function* urlsOf(path: string): AsyncGenerator<string> {
  for await (const { number, text } of listLines(path)) {
    // A record of JSON begins so.
    if (number === 1 && text.startsWith('{')) {
      throw new RobotsFilterError(
        'input',
        `${inputName(path)}: holds records, and not one URL on each line. Type: jq -r .url FILE`,
      );
    }
    yield text;
  }
}

/** The authority of a host, HOST:PORT, or a URL in any form that the filter reads. */
export function askedAuthority(text: string): Authority | undefined {
  return parseAuthority(text) ?? urlAuthority(text);
}

/**
 * The authority of a URL in a list. `undefined` for several columns: the URL Standard drops tabs,
 * which would join `https://a.example` and the next column.
 */
export function urlAuthority(text: string): Authority | undefined {
  return text.includes('\t') || text.includes('\r') ? parseAuthority(text) : authorityOfUrl(text);
}
