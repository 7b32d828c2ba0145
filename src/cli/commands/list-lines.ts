import { closeSync } from 'node:fs';
import { readText } from '../../cache/ndjson-file.js';
import { RobotsFilterError } from '../../errors.js';
import { compressionOf } from '../../files/compressions.js';
import { readLines } from '../../files/lines.js';
import { openToRead } from '../../files/openings.js';
import { inputName, STANDARD_INPUT } from '../../files/standard-input.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { unreadable } from './path-kind.js';

/** What to do if a list is damaged or cannot be read. */
const REMEDY = 'Copy the file again';

/** Maximum bytes of a line. */
const MOST_BYTES = 1 << 20;

/** Says that a list has no lines: nothing comes out, which looks like any other answer. */
export function noteEmptyList(path: string, what: string, diagnostics: Diagnostics): void {
  diagnostics.note(`warning: ${inputName(path)} names no ${what}`);
}

/** A line of a list that is not blank. */
export interface ListLine {
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
