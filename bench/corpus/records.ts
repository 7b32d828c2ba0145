import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { ChunkedFile } from './chunked-file.js';
import { Random } from './random.js';
import { type Place, SHAPES, type ShapeName } from './shapes.js';
import { STREAM } from './streams.js';
import { makeWords } from './words.js';

/** The form of a file's records. */
export interface RecordOptions {
  readonly shape: ShapeName;
  readonly place: Place;
  readonly seed: number;
}

/**
 * Writes a list of URLs as NDJSON records.
 *
 * @param text file with one URL on each line
 * @returns bytes written
 */
export function writeRecords(
  text: string,
  path: string,
  { shape, place, seed }: RecordOptions,
): number {
  const random = new Random(seed, STREAM.records);
  const file = new ChunkedFile(path);
  for (const url of linesOf(text)) {
    const escaped = JSON.stringify(url).slice(1, -1);
    file.write(`${SHAPES[shape].make(random, escaped, place)}\n`);
  }
  return file.close();
}

/**
 * Writes a list of URLs as NDJSON records that have about the same size: the URL, then words as a
 * crawler keeps them of a page. A twentieth of the words is in quotes, which JSON escapes.
 *
 * @param size bytes of a record with its line feed; a longer URL makes a longer record
 */
export function writeSizedRecords(text: string, path: string, size: number, seed: number): number {
  const random = new Random(seed, STREAM.records);
  const words = makeWords(random, 2000).map((word, index) =>
    index % 20 === 0 ? `\\"${word}\\"` : word,
  );
  const file = new ChunkedFile(path);
  for (const url of linesOf(text)) {
    const start = `{"url":"${JSON.stringify(url).slice(1, -1)}"`;
    let rest = '';
    if (start.length + ',"text":""}\n'.length < size) {
      rest = ',"text":"';
      while (start.length + rest.length + 3 < size) rest += `${random.pick(words)} `;
      rest += '"';
    }
    file.write(`${start}${rest}}\n`);
  }
  return file.close();
}

/** The lines of a text file that may be too large for one string. */
function* linesOf(path: string): Generator<string> {
  const chunk = Buffer.alloc(1 << 20);
  const decoder = new StringDecoder('utf8');
  const descriptor = openSync(path, 'r');
  let rest = '';
  for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
    const lines = (rest + decoder.write(chunk.subarray(0, read))).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  closeSync(descriptor);
  if (rest !== '') yield rest;
}
