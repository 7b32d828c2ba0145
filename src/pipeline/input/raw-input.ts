/** The bytes of an input as they come: files, pipes, sockets and streams, in chunks. */

import {
  accessSync,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  read as readWithCallback,
  type Stats,
  writeSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ReadStream as TerminalStream } from 'node:tty';
import { promisify } from 'node:util';
import { CR, LF, SPACE, TAB } from '../../base/ascii.js';
import { RobotsFilterError } from '../../base/errors.js';
import { startsWith } from '../../files/magic.js';
import {
  FileEnd,
  inputName,
  inputSocket,
  isTerminal,
  openPath,
  openUnblocked,
  STANDARD_INPUT,
  untilReady,
} from '../../files/openings.js';
import { errorCode, errorText, systemRemedy } from '../../files/system-error.js';
import { isPartOfMagic } from '../../files/unsupported-formats.js';

/** An open input whose bytes have not been examined. */
export interface RawInput {
  readonly name: string;
  readonly descriptor: number;
  readonly kind: Exclude<DescriptorKind, 'directory'>;
  /** The size of a regular file, in bytes; otherwise `undefined`. */
  readonly size: number | undefined;
  /**
   * Offset in a regular file at which reading begins, in bytes. `undefined` for other inputs, and
   * if the system does not tell the position of an inherited descriptor.
   */
  readonly offset: number | undefined;
  /** Whether all of the input has already been read into memory. */
  readonly hasEnded: boolean;
  readonly chunks: Chunks;
  /** Whether the bytes that have come are known to be the whole input. */
  isWhole(): boolean;
  /**
   * Closes everything that was opened for the input. Standard input stays open if it is a file or a
   * pipe.
   */
  close(): Promise<void>;
}

/**
 * Opens an input by its path.
 *
 * @param path a path, or `-` for standard input
 * @throws RobotsFilterError as `openRaw`, and if the path cannot be opened
 */
export async function openRawPath(path: string, taken?: InputStart): Promise<RawInput> {
  if (path === STANDARD_INPUT) return openRaw(0, inputName(path), taken);
  const descriptor = await openPath(path, 'r').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  return openRaw(descriptor, path, taken);
}

/**
 * Prepares a descriptor for reading, whatever its kind.
 *
 * @param taken the bytes that have already been read from a pipe or socket, or all bytes of any
 *   input
 * @throws RobotsFilterError `input` if the descriptor is closed or leads to a directory
 */
async function openRaw(
  descriptor: number,
  name: string,
  taken: InputStart | undefined,
): Promise<RawInput> {
  const status = statusOf(descriptor, name);
  const kind = descriptorKind(descriptor, status);
  const isStandardInput = descriptor === 0;
  if (kind === 'directory') {
    if (!isStandardInput) closeSync(descriptor);
    throw new RobotsFilterError(
      'input',
      `${name}: is a directory. Name the files in it; robots.txt files go with --robots-dir.`,
    );
  }
  const size = kind === 'file' ? status.size : undefined;
  // The parent process may have read a part of a file that it passes as standard input.
  const offset = kind === 'file' ? (isStandardInput ? descriptorOffset(0) : 0) : undefined;
  const hasEnded = taken?.ended === true;
  // A socket that has ended must still be closed.
  const source =
    hasEnded && taken.socket === undefined
      ? undefined
      : sourceOf({ descriptor, kind, offset, size }, taken?.socket);
  const explain: ErrorExplanation = (error, bytes) => unreadable(name, error, bytes);
  const chunks = new Chunks(source, explain, taken?.bytes);
  return {
    name,
    descriptor,
    kind,
    size,
    offset,
    hasEnded,
    chunks,
    isWhole: () => hasEnded || (size !== undefined && (offset ?? 0) + chunks.bytes >= size),
    close: async () => {
      await chunks.abandon();
      // A stream closes the descriptor of a socket, terminal or device itself.
      if ((kind === 'file' || kind === 'pipe') && !isStandardInput) {
        closeSync(descriptor);
      }
    },
  };
}

function statusOf(descriptor: number, name: string): Stats {
  try {
    return fstatSync(descriptor);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function sourceOf(
  { descriptor, kind, offset, size }: Pick<RawInput, 'descriptor' | 'kind' | 'offset' | 'size'>,
  socket: Socket | undefined,
): ChunkSource {
  switch (kind) {
    case 'file':
      return DescriptorChunks.ofFile(descriptor, offset, size);
    case 'pipe':
      return DescriptorChunks.ofPipe(descriptor);
    default:
      return streamSource(socket ?? descriptorStream(descriptor, kind));
  }
}

/** The error for an input that cannot be opened or read after `bytes` bytes. */
function unreadable(name: string, cause: unknown, bytes = 0): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ??
    `reading failed at byte ${bytes} (${errorText(cause)}). Try again, or copy it to a file first`;
  return new RobotsFilterError('input', `${name}: ${remedy}.`, { cause });
}

// From node:fs, because node:fs/promises takes longer to load.
const read = promisify(readWithCallback);

/** Maximum bytes of a read of a pipe: its capacity; and of the first read of a file. */
const READ_BYTES = 65_536;
/** Maximum bytes of the other reads of a file. */
const LATER_READ_BYTES = 4 * READ_BYTES;

/** The kinds of descriptors that are read differently. */
type DescriptorKind = 'directory' | 'file' | 'pipe' | 'socket' | 'terminal' | 'device';

function descriptorKind(descriptor: number, status: Stats): DescriptorKind {
  if (status.isDirectory()) return 'directory';
  if (status.isFile()) return 'file';
  if (status.isFIFO()) return 'pipe';
  if (status.isSocket()) return 'socket';
  return isTerminal(descriptor) ? 'terminal' : 'device';
}

/**
 * The position of an inherited descriptor in its file, in bytes; `undefined` if the operating
 * system does not tell. Node has no `lseek`.
 */
function descriptorOffset(descriptor: number): number | undefined {
  let information: string;
  try {
    information = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
  } catch {
    return undefined; // only Linux has this file
  }
  const line = information.split('\n').find((text) => text.startsWith('pos:'));
  return line === undefined ? undefined : Number(line.slice('pos:'.length));
}

/**
 * Reads a descriptor in chunks, a pipe in chunks of at most 64 KiB, and no further than requested.
 * Other readers can continue from there. The descriptor stays open.
 */
export class DescriptorChunks implements ChunkSource {
  readonly #descriptor: number;
  readonly #opened: number | undefined;
  #position: number | null;
  #readBytes = READ_BYTES;
  readonly #end: FileEnd | undefined;
  #reading: Promise<Buffer | undefined> | undefined;
  #abandoned = false;

  private constructor(
    descriptor: number,
    opened: number | undefined,
    position: number | null,
    size?: number,
  ) {
    this.#descriptor = opened ?? descriptor;
    this.#opened = opened;
    this.#position = position;
    this.#end = position === null ? undefined : new FileEnd(descriptor, size);
  }

  /**
   * Reads a file from `offset`, in bytes, without moving the descriptor. Without `offset`, reads
   * from the descriptor's position.
   *
   * @param size the size of the file when it was opened, in bytes; default: the current size
   */
  static ofFile(descriptor: number, offset?: number, size?: number): DescriptorChunks {
    return new DescriptorChunks(descriptor, undefined, offset ?? null, size);
  }

  /**
   * Reads a pipe. A blocking read cannot be cancelled, and `process.exit` waits for it, so an
   * interrupt would wait for the writer. The pipe is therefore opened again without blocking,
   * unless there is no `/proc` or the pipe belongs to another user.
   */
  static ofPipe(descriptor: number): DescriptorChunks {
    const opened = openUnblocked(descriptor, constants.O_RDONLY);
    return new DescriptorChunks(descriptor, opened, null);
  }

  next(): Promise<Buffer | undefined> {
    this.#reading = this.#read();
    return this.#reading;
  }

  async #read(): Promise<Buffer | undefined> {
    const buffer = Buffer.allocUnsafeSlow(this.#readBytes);
    let bytesRead: number | undefined;
    try {
      bytesRead = await untilReady(
        () => this.#readInto(buffer),
        () => this.#abandoned,
      );
    } catch (error) {
      // The end of a pipe on Windows.
      if (errorCode(error) === 'EOF') return undefined;
      throw error;
    }
    if (bytesRead === undefined) return undefined;
    this.#end?.check(this.#position ?? 0, bytesRead);
    if (this.#position !== null) {
      this.#position += bytesRead;
      this.#readBytes = LATER_READ_BYTES;
    }
    return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
  }

  /** The first bytes of a file are read at once; more are read while the main thread works. */
  async #readInto(buffer: Buffer): Promise<number> {
    const whole = [buffer, 0, buffer.length, this.#position] as const;
    if (this.#position !== null && this.#readBytes === READ_BYTES) {
      return readSync(this.#descriptor, ...whole);
    }
    return (await read(this.#descriptor, ...whole)).bytesRead;
  }

  async abandon(): Promise<void> {
    if (this.#abandoned) return;
    this.#abandoned = true;
    // A descriptor must not be closed during a read: another file may get its number.
    await this.#reading?.catch(() => undefined);
    if (this.#opened !== undefined) closeSync(this.#opened);
  }
}

/**
 * A stream of a socket, terminal or device, which can be destroyed while it waits. Destroying it
 * closes the descriptor, unless the descriptor is standard input and a device.
 */
function descriptorStream(descriptor: number, kind: DescriptorKind): Readable {
  switch (kind) {
    case 'terminal':
      return new TerminalStream(descriptor);
    case 'socket':
      return inputSocket(descriptor);
    default:
      return createReadStream('', { fd: descriptor, autoClose: descriptor !== 0 });
  }
}

/** A whole input, or the first bytes of a pipe or socket, read to learn whether it is short. */
export interface InputStart {
  /** The bytes that were read; more may follow. */
  readonly bytes: Buffer;
  /** Whether nothing follows: the writers have closed the pipe or socket, or the file ends. */
  readonly ended: boolean;
  /** A socket from which the rest must be read. */
  readonly socket?: Socket;
}
/** Number of bytes after which `takePipeStart` and `takeSocketStart` stop reading. */
const START_BYTES = 1024 * 1024;

/** Milliseconds to wait for the bytes of a socket, which cannot be read without an event loop. */
const SOCKET_PATIENCE = 10;

/**
 * Reads the bytes in the pipe that is standard input, without waiting for more, which tells the
 * length of a short input. `undefined` if the pipe cannot be read without blocking
 * (`DescriptorChunks.ofPipe`).
 */
export function takePipeStart(): InputStart | undefined {
  let opened: number;
  try {
    opened = openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  let ended = false;
  try {
    while (bytes < START_BYTES) {
      const chunk = Buffer.allocUnsafeSlow(READ_BYTES);
      const read = readSync(opened, chunk);
      ended = read === 0;
      if (ended) break;
      chunks.push(chunk.subarray(0, read));
      bytes += read;
    }
  } catch {
    // The pipe is empty for now, or reading failed; the next reader gets the error.
  } finally {
    closeSync(opened);
  }
  return { bytes: Buffer.concat(chunks), ended };
}

/**
 * Reads the bytes in the socket that is standard input, and those that arrive within 10 ms. Node
 * connects a child process to its parent by sockets, which have usually been written and closed by
 * the time the child runs.
 */
export async function takeSocketStart(): Promise<InputStart> {
  const socket = inputSocket(0);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const ended = await new Promise<boolean>((resolve) => {
    // On a busy machine the time may pass before the loop looks at the socket for the first time.
    // An immediate follows that look: what has arrived counts.
    timer = setTimeout(() => setImmediate(() => resolve(false)), SOCKET_PATIENCE);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= START_BYTES) resolve(false);
    });
    socket.once('end', () => resolve(true));
    // Stays for errors that come before the rest is read; the reader of the rest gets them.
    socket.on('error', () => resolve(false));
  });
  clearTimeout(timer);
  socket.pause();
  socket.removeAllListeners('data');
  return { bytes: Buffer.concat(chunks), ended, socket };
}

/**
 * Whether `wakeReader` can wake a thread that blocks in a read of this pipe. If not, for example
 * without `/proc`, no thread may read the pipe: `process.exit` would wait for that thread.
 */
export function canWakeReader(descriptor: number): boolean {
  try {
    accessSync(path(descriptor), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Wakes a thread that blocks in a read of an empty pipe, by writing a byte to it. Call it only if
 * that thread discards the bytes it reads.
 */
export function wakeReader(descriptor: number): void {
  let writer: number | undefined;
  try {
    // The path leads to the pipe itself, so it can be opened for writing even from the reading end.
    writer = openSync(path(descriptor), constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(writer, '\n');
  } catch {
    // The pipe is full, or its reader is gone: no thread blocks in a read of it.
  } finally {
    if (writer !== undefined) closeSync(writer);
  }
}

function path(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** Options for turning an input into lines. */
export interface LinesOptions {
  /** The name of the input in messages. */
  readonly name: string;
  /** The longest record, in bytes. Default 16 MiB. */
  readonly maxRecordBytes?: number | undefined;
  /** How deep brackets and braces of JSON may nest. Default 1,000. */
  readonly maxDepth?: number | undefined;
}

/** A damaged place of a WARC file; or the number of those that were not named. */
export type DamagedPlace =
  | { readonly offset: number; readonly reason: string }
  | { readonly further: number };

/** A source of chunks. */
export interface ChunkSource {
  /** The next chunk; `undefined` at the end. Calls must not overlap. */
  next(): Promise<Buffer | undefined>;
  /** Gives up the source, even while a chunk is awaited. May be called more than once. */
  abandon(): Promise<void>;
}

/** Turns a reading error into an error for the user, given the number of bytes that came before. */
type ErrorExplanation = (error: unknown, bytes: number) => Error;

/** A source whose first bytes can be examined before they are taken. */
export class Chunks implements ChunkSource {
  readonly #source: ChunkSource | undefined;
  readonly #explain: ErrorExplanation;
  #head: Buffer;
  #ended: boolean;
  #bytes: number;

  /**
   * @param source `undefined` if the start is the whole input
   * @param start bytes that were read before
   */
  constructor(
    source: ChunkSource | undefined,
    explain: ErrorExplanation,
    start: Buffer = Buffer.alloc(0),
  ) {
    this.#source = source;
    this.#explain = explain;
    this.#head = start;
    this.#ended = source === undefined;
    this.#bytes = start.length;
  }

  /** Number of bytes that have come from the source, taken or not. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the first bytes, which can still be taken afterwards. Reads until `suffices` accepts
   * them, there are at least `most`, or the source ends.
   */
  async peek(most: number, suffices: (head: Buffer) => boolean): Promise<Buffer> {
    while (!this.#ended && this.#head.length < most && !suffices(this.#head)) {
      const chunk = await this.#fetch();
      if (chunk !== undefined) this.#head = Buffer.concat([this.#head, chunk]);
    }
    return this.#head;
  }

  /** Drops this many of the bytes that `peek` has returned. */
  drop(bytes: number): void {
    this.#head = this.#head.subarray(bytes);
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#head.length > 0) {
      const head = this.#head;
      this.#head = Buffer.alloc(0);
      return head;
    }
    return this.#ended ? undefined : this.#fetch();
  }

  async abandon(): Promise<void> {
    await this.#source?.abandon();
  }

  /** Returns the chunks as a stream. */
  stream(): Readable {
    return streamOf(this);
  }

  async #fetch(): Promise<Buffer | undefined> {
    try {
      const chunk = await this.#source?.next();
      this.#ended = chunk === undefined;
      this.#bytes += chunk?.length ?? 0;
      return chunk;
    } catch (error) {
      throw this.#explain(error, this.#bytes);
    }
  }
}

/** Passes on the chunks of a source, and keeps them until it is known how they will be read. */
export class KeptChunks implements ChunkSource {
  readonly #source: ChunkSource;
  #kept: Buffer[] = [];
  #pending: Promise<Buffer | undefined> | undefined;
  #isKeeping = true;
  #isOver = false;

  constructor(source: ChunkSource) {
    this.#source = source;
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#isOver) return undefined;
    this.#pending = this.#source.next();
    const chunk = await this.#pending;
    if (this.#isKeeping && chunk !== undefined) this.#kept.push(chunk);
    return chunk;
  }

  /** Keeps no further chunks. */
  forget(): void {
    this.#isKeeping = false;
    this.#kept = [];
  }

  /** Returns all chunks from the first on. Who has taken some of them gets no others. */
  async again(): Promise<ChunkSource> {
    this.#isOver = true;
    // Its chunk is kept, or its error comes again.
    await this.#pending?.catch(() => undefined);
    return {
      next: async () => this.#kept.shift() ?? this.#source.next(),
      abandon: () => this.#source.abandon(),
    };
  }

  async abandon(): Promise<void> {
    if (!this.#isOver) await this.#source.abandon();
  }
}

/** A stream as a source. Abandoning it destroys the stream. */
export function streamSource(stream: Readable): ChunkSource {
  const iterator: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const result = await iterator.next();
      return result.done ? undefined : result.value;
    },
    async abandon() {
      stream.destroy();
    },
  };
}

/**
 * A source as a stream. The chunks before an error reach the reader of the stream. Unlike a stream
 * of `Readable.from`, it can be destroyed while it awaits a chunk.
 */
export function streamOf(source: ChunkSource): Readable {
  return new Readable({
    // An error destroys what the reader has not taken, so one chunk comes at a time.
    highWaterMark: 1,
    read() {
      source.next().then(
        (chunk) => this.push(chunk ?? null),
        (error) => this.destroy(error),
      );
    },
    destroy(error, callback) {
      // Not awaited, because it may last until the pending chunk arrives.
      source.abandon().catch(() => {});
      callback(error);
    },
  });
}

/**
 * Maximum bytes that are read of an input before its format is settled: the size of a pipe's
 * buffer.
 */
export const HEAD_BYTES = 65_536;

const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

/** The length of the UTF-8 byte order mark at the start of `head`, in bytes: 3 or 0. */
export function byteOrderMarkBytes(head: Uint8Array): number {
  return startsWith(head, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/** Whether `head` is too short to tell text from a byte order mark or the magic of a format. */
export function needsMoreBytes(head: Uint8Array): boolean {
  const isPartOfMark = head.length < BYTE_ORDER_MARK.length && startsWith(BYTE_ORDER_MARK, head);
  return isPartOfMark || isPartOfMagic(head);
}

/** Offset of the first byte after a byte order mark and white space. */
export function startOfContent(head: Uint8Array): number {
  let at = byteOrderMarkBytes(head);
  while (isJsonSpace(head[at])) at++;
  return at;
}

/** Whether a byte is white space of JSON (RFC 8259 section 2). */
export function isJsonSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === LF || byte === CR;
}
