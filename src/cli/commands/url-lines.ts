import { createReadStream } from 'node:fs';
import { RobotsFilterError } from '../../errors.js';
import { compressionOf } from '../../files/compressions.js';
import { readLines } from '../../files/lines.js';
import { inputName, STANDARD_INPUT } from '../../files/standard-input.js';
import { unreadable } from './path-kind.js';

/** Maximum bytes of a line. */
const MOST_BYTES = 1 << 20;

/** `{`, with which a record of JSON begins. */
const BRACE = 0x7b;

/**
 * The URLs of a list with one on each line. Blank lines do not count.
 *
 * @param path `-` is standard input
 * @throws RobotsFilterError `input` if the list cannot be read or is of another format
 */
export async function* urlsOf(path: string): AsyncGenerator<string> {
  const name = path === STANDARD_INPUT ? inputName(path) : path;
  const stream = path === STANDARD_INPUT ? process.stdin : createReadStream(path);
  const decoder = new TextDecoder();
  try {
    for await (const { number, bytes } of readLines(stream as AsyncIterable<Buffer>, MOST_BYTES)) {
      if (bytes === undefined) {
        throw wrong(name, `line ${number} is longer than ${MOST_BYTES} bytes. Leave it out`);
      }
      if (number === 1) checkStart(name, bytes);
      const url = decoder.decode(bytes).trim();
      if (url !== '') yield url;
    }
  } catch (cause) {
    if (cause instanceof RobotsFilterError) throw cause;
    throw unreadable(name, cause);
  }
}

function checkStart(name: string, line: Buffer): void {
  const compression = compressionOf(line);
  if (compression !== undefined) {
    throw wrong(name, 'is compressed. Decompress it, and name - for standard input');
  }
  if (line[0] === BRACE) {
    throw wrong(name, 'holds records, and not one URL on each line. Type: jq -r .url FILE');
  }
}

function wrong(name: string, what: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: ${what}`);
}
