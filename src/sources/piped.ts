/** Reads robots.txt files from pipes and standard input, whose first bytes tell their kind. */

import { closeSync, constants, fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { LF } from '../base/ascii.js';
import { RobotsFilterError } from '../base/errors.js';
import { compressionOf, decompressed } from '../files/compression.js';
import {
  inputName,
  openToRead,
  openUnblocked,
  STANDARD_INPUT,
  socketChunks,
} from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { beginsWithDictionary } from '../files/zstd/frames.js';
import { type ByteSource, beginsRecord } from '../warc/records.js';
import { displayName, readChunks } from './file.js';
import { parseObject } from './record.js';

/** Bytes after which the first line is taken for a robots.txt record, if it has not ended. */
const LONGEST_HEAD = 1024 * 1024;

/** Bytes of content that tell a WARC file. */
const MAGIC_BYTES = 8;

/** Bytes of content that are decompressed at a time. */
const CHUNK = 64 * 1024;

/** A pipe whose first bytes have shown what it holds. */
export interface Piped {
  /** WARC records; captures, as `robots-filter captures` prints them; or robots.txt records. */
  readonly kind: 'archive' | 'captures' | 'records';
  /** The name in messages. */
  readonly name: string;
  /** The beginning of the sources of its entries. */
  readonly source: string;
  /** All bytes. Each chunk may overwrite the one before. */
  readonly chunks: AsyncGenerator<Buffer>;
  close(): void;
}

/** Whether a path is standard input, a named pipe, or a descriptor such as `/dev/stdin`. */
export async function isPiped(path: string): Promise<boolean> {
  if (path === STANDARD_INPUT) return true;
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) return false; // Opening it gives the error.
  return status.isFIFO() || (status.isFile() && isDescriptor(path));
}

/** Whether a path leads to what is open already. Its name tells nothing of a file there. */
function isDescriptor(path: string): boolean {
  if (path === '/dev/stdin' || path.startsWith('/dev/fd/')) return true;
  return path.startsWith('/proc/') && path.includes('/fd/');
}

/**
 * Opens a pipe, and waits for its first bytes.
 *
 * @throws RobotsFilterError `input`
 */
export async function openPiped(path: string): Promise<Piped> {
  const name = inputName(path);
  let descriptor: number;
  try {
    descriptor = path === STANDARD_INPUT ? openStandardInput() : await openToRead(path);
  } catch (cause) {
    throw unreadable(name, cause);
  }
  const close = (): void => {
    if (descriptor !== 0) closeSync(descriptor);
  };
  try {
    const isSocket = descriptor === 0 && fstatSync(0).isSocket();
    const rest = isSocket ? socketChunks(0) : readChunks(descriptor);
    const { head, kind } = await beginning(rest);
    const own = path === STANDARD_INPUT ? 'stdin' : basename(path);
    const source = displayName(Buffer.from(own).toString('latin1'));
    return { kind, name, source, chunks: continued(head, rest), close };
  } catch (cause) {
    close();
    throw cause instanceof RobotsFilterError ? cause : unreadable(name, cause);
  }
}

/** Without /proc, standard input is read as it is. A closed one gives an error. */
function openStandardInput(): number {
  return fstatSync(0).isSocket() ? 0 : (openUnblocked(0, constants.O_RDONLY) ?? 0);
}

/** Takes the first bytes, until they tell the kind. */
async function beginning(
  chunks: AsyncGenerator<Buffer>,
): Promise<Pick<Piped, 'kind'> & { readonly head: Buffer }> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await chunks.next();
    const isWhole = done === true || head.length + value.length >= LONGEST_HEAD;
    if (done !== true) head = Buffer.concat([head, value]);
    const kind = await kindOf(head, isWhole);
    if (kind !== undefined) return { head, kind };
  }
}

async function* continued(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}

/**
 * What data hold that begin so; `undefined` if later bytes can change the answer.
 *
 * @param isWhole whether no more bytes will come
 */
async function kindOf(head: Buffer, isWhole: boolean): Promise<Piped['kind'] | undefined> {
  if (beginsWithDictionary(head) === true) return 'archive';
  const content = await contentOf(head);
  if (content.length < MAGIC_BYTES && !isWhole) return undefined;
  if (beginsRecord(content, 0)) return 'archive';
  const end = content.indexOf(LF);
  if (end < 0 && !isWhole && content.length < LONGEST_HEAD) return undefined;
  return isCaptureLine(end < 0 ? content : content.subarray(0, end)) ? 'captures' : 'records';
}

/** The beginning of the content, as far as these bytes can be decompressed. */
async function contentOf(head: Buffer): Promise<Buffer> {
  const compression = compressionOf(head);
  if (compression === undefined) return head;
  async function* once(): AsyncGenerator<Buffer, undefined> {
    yield head;
  }
  const pieces: Buffer[] = [];
  try {
    for await (const piece of decompressed(compression, once(), CHUNK)) {
      pieces.push(Buffer.from(piece));
      if (piece.includes(LF) || CHUNK * pieces.length >= LONGEST_HEAD) break;
    }
  } catch {} // The data go on; or they are damaged, which whoever reads them names.
  return Buffer.concat(pieces);
}

/** Whether a line is one that `robots-filter captures` prints. */
function isCaptureLine(line: Buffer): boolean {
  const members = parseObject(line);
  if (typeof members !== 'string') {
    return typeof members.outcome === 'string' && typeof members.source === 'string';
  }
  // The body of a robots.txt may be longer than what was read. A quote in a string has a backslash.
  const start = line.toString('latin1', 0, CHUNK);
  return start.startsWith('{"file":') && start.includes('"outcome":"');
}

function unreadable(name: string, cause: unknown): RobotsFilterError {
  const message = `${name}: reading failed: ${describeSystemError(cause)}. Send it again, or write it to a file and name that.`;
  return new RobotsFilterError('input', message, { cause });
}

/** Bytes before the last ones read that can be read again: more than a reader goes back. */
const LOOK_BACK = 16 * 1024 * 1024;

/**
 * The bytes of a pipe, as they come. The readers of WARC files go back only within a gzip member
 * that is inflated again in pieces, at most 4 MiB, or to a damaged place.
 */
export class SequentialSource implements ByteSource {
  readonly length = Number.POSITIVE_INFINITY;
  readonly #next: () => Promise<Buffer | undefined>;
  readonly #name: string;
  /** The last chunks, and the offset of the first of them. */
  readonly #kept: Buffer[] = [];
  #start = 0;
  /** Offset after the last chunk. */
  #end = 0;
  #hasEnded = false;

  /**
   * @param next returns the next chunk, which must stay unchanged; `undefined` at the end
   * @param name the name of the input in messages
   */
  constructor(next: () => Promise<Buffer | undefined>, name: string) {
    this.#next = next;
    this.#name = name;
  }

  /** @throws RobotsFilterError `input` if the bytes came too long ago */
  async read(offset: number, buffer: Buffer): Promise<number> {
    while (!this.#hasEnded && this.#end <= offset) {
      const chunk = await this.#next();
      if (chunk === undefined) {
        this.#hasEnded = true;
        break;
      }
      this.#kept.push(chunk);
      this.#end += chunk.length;
      this.#drop(Math.min(offset, this.#end) - LOOK_BACK);
    }
    if (offset < this.#start) {
      throw new RobotsFilterError(
        'input',
        `${this.#name}: the data is damaged at byte ${offset}, and to search for the next record a pipe would have to be read again. Write it to a file, and name that file.`,
      );
    }
    let at = this.#start;
    for (const chunk of this.#kept) {
      if (offset < at + chunk.length) return chunk.copy(buffer, 0, offset - at);
      at += chunk.length;
    }
    return 0;
  }

  /** Drops the chunks that end before an offset. */
  #drop(before: number): void {
    for (;;) {
      const [first] = this.#kept;
      if (first === undefined || this.#start + first.length > before) return;
      this.#kept.shift();
      this.#start += first.length;
    }
  }
}

/** The bytes of a pipe, to be read as a WARC file from its beginning to its end. */
export function sequentialSource({ chunks, name }: Piped): SequentialSource {
  return new SequentialSource(async () => {
    const { value, done } = await chunks.next();
    return done === true ? undefined : Buffer.from(value);
  }, name);
}
