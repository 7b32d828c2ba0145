import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { RobotsFilterError } from '../../errors.js';
import { FileEnd } from '../../workers/file-end.js';
import { describeForeign, isGzip, TELLING_OCTETS } from '../signature.js';
import type { EntryEvent, WarningEvent } from './entry.js';
import { describeSystemError, read, systemCode } from './file.js';
import { cutLines, type LineBlock, linesOf } from './lines.js';
import { parseRecord } from './record.js';

/**
 * Octets of a longer line are counted past and never held; the largest robots.txt known have some 4
 * MB.
 */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Octets read, or inflated, at a time. */
const CHUNK = 512 * 1024;

const SPACE = 0x20;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The file's octets, in chunks of which the next one overwrites each; the first is long enough to
 * tell its encoding by, unless the file is shorter.
 */
async function* readChunks(descriptor: number): AsyncGenerator<Buffer> {
  const end = new FileEnd(descriptor);
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  let filled = 0;
  let position = 0;
  for (;;) {
    const octets = await read(descriptor, chunk.subarray(filled));
    end.check(position, octets);
    filled += octets;
    position += octets;
    // A pipe may give fewer octets than encodings are told by.
    if (octets > 0 && filled < TELLING_OCTETS) continue;
    if (filled > 0) yield chunk.subarray(0, filled);
    if (octets === 0) return;
    filled = 0;
  }
}

function failure(path: string, error: unknown): RobotsFilterError {
  if (error instanceof RobotsFilterError) return error;
  const code = systemCode(error);
  const cause =
    code === 'Z_BUF_ERROR'
      ? 'its gzip data end too early'
      : code.startsWith('Z_')
        ? `its gzip data are damaged (${error instanceof Error ? error.message : code})`
        : `reading stopped: ${describeSystemError(error)}`;
  return new RobotsFilterError(
    'input',
    `${path}: ${cause}. Get the file anew, or leave it out of the directory.`,
    { cause: error },
  );
}

/** A chunk, and those behind it. */
async function* joined(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/** What gzip data, of one member or several, inflate to. */
async function* inflate(
  first: Buffer,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer, undefined> {
  async function* all(): AsyncGenerator<Buffer> {
    // Streams read ahead.
    for await (const chunk of joined(first, rest)) yield Buffer.from(chunk);
  }
  const inflated = createGunzip({ chunkSize: CHUNK });
  // Errors of either stream come out of the iteration below.
  const flow = pipeline(Readable.from(all(), { objectMode: false }), inflated).catch(() => {});
  try {
    yield* inflated;
  } finally {
    inflated.destroy();
    await flow;
    // Waits for a read under way, which must not meet a closed descriptor.
    await rest.return(undefined);
  }
}

/** The octets, unless they begin as those of an encoding that is not read. */
async function* plain(
  chunks: AsyncGenerator<Buffer>,
  path: string,
  inflated: boolean,
): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const foreign = isFirst ? describeForeign(chunk, inflated) : undefined;
    if (foreign !== undefined) throw new RobotsFilterError('input', `${path}: ${foreign}`);
    isFirst = false;
    yield chunk;
  }
}

/** The text of the file, inflated if it is gzip. */
async function* readText(descriptor: number, path: string): AsyncGenerator<Buffer> {
  try {
    const chunks = readChunks(descriptor);
    const { value: first, done } = await chunks.next();
    if (done) return;
    yield* isGzip(first)
      ? plain(inflate(first, chunks), path, true)
      : plain(joined(first, chunks), path, false);
  } catch (error) {
    throw failure(path, error);
  }
}

/** Whether a line has nothing but spaces and controls, such as the CR of a CRLF. */
function isBlank(line: Buffer): boolean {
  // Mostly the first octet tells.
  return (line[0] ?? 0) <= SPACE && line.every((octet) => octet <= SPACE);
}

/** Lines of a file of records, to be read by `recordsOf`, on whatever thread. */
export interface RecordLines extends LineBlock {
  readonly kind: 'lines';
  /** The path of the file, for messages. */
  readonly path: string;
  /** For entries: `FILE.ndjson`. */
  readonly source: string;
}

/**
 * Reads an open file of records in blocks of lines; the descriptor stays open.
 *
 * @param path for messages
 * @param source for entries: `FILE.ndjson`
 * @throws {RobotsFilterError} `input` when reading fails half-way or gzip data are damaged or cut.
 */
export async function* readRecordLines(
  descriptor: number,
  path: string,
  source: string,
): AsyncGenerator<RecordLines> {
  for await (const { firstLine, octets } of cutLines(readText(descriptor, path), LONGEST_LINE)) {
    yield { kind: 'lines', firstLine, octets, path, source };
  }
}

/**
 * What the records of some lines say, in order. Of a body `maxBodyBytes + 1` octets are read, and
 * the next overwrites it.
 */
export function* recordsOf(
  lines: RecordLines,
  maxBodyBytes: number,
): Generator<EntryEvent | WarningEvent> {
  const { path, source } = lines;
  for (const { number, octets: text } of linesOf(lines, LONGEST_LINE)) {
    if (text === undefined) {
      const message = 'The line is longer than 64 MiB; left out.';
      yield { kind: 'warning', warning: { code: 'bad-record', path, line: number, message } };
      continue;
    }
    const marked = number === 1 && text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    const line = marked ? text.subarray(BYTE_ORDER_MARK.length) : text;
    if (isBlank(line)) continue;
    const record = parseRecord(line, maxBodyBytes);
    if ('code' in record) {
      const { code, message } = record;
      yield { kind: 'warning', warning: { code, path, line: number, message } };
      continue;
    }
    const { authority, body, status } = record;
    yield { kind: 'entry', entry: { authority, body, source: `${source}:${number}`, status } };
  }
}
