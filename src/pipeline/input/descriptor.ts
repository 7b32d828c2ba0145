// By name: of a namespace the built file would make a copy at each start.
import {
  closeSync,
  constants,
  createReadStream,
  readFileSync,
  readSync,
  read as readWithCallback,
  type Stats,
} from 'node:fs';
import type { Readable } from 'node:stream';
import { isatty, ReadStream as TerminalStream } from 'node:tty';
import { promisify } from 'node:util';
import { FileEnd } from '../../files/file-end.js';
import { openUnblocked, untilReady } from '../../files/openings.js';
import { errorCode } from '../../files/system-error.js';
import type { ChunkSource } from './chunks.js';
import { InputSocket } from './input-socket.js';

// From node:fs, because node:fs/promises takes longer to load.
const read = promisify(readWithCallback);

/** Maximum bytes of a read of a pipe: its capacity; and of the first read of a file. */
const READ_BYTES = 65_536;
/** Maximum bytes of the other reads of a file. */
const LATER_READ_BYTES = 4 * READ_BYTES;

/** The kinds of descriptors that are read differently. */
export type DescriptorKind = 'directory' | 'file' | 'pipe' | 'socket' | 'terminal' | 'device';

export function descriptorKind(descriptor: number, status: Stats): DescriptorKind {
  if (status.isDirectory()) return 'directory';
  if (status.isFile()) return 'file';
  if (status.isFIFO()) return 'pipe';
  if (status.isSocket()) return 'socket';
  return isatty(descriptor) ? 'terminal' : 'device';
}

/**
 * The position of an inherited descriptor in its file, in bytes; `undefined` if the operating
 * system does not tell. Node has no `lseek`.
 */
export function descriptorOffset(descriptor: number): number | undefined {
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
export class DescriptorSource implements ChunkSource {
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
  static ofFile(descriptor: number, offset?: number, size?: number): DescriptorSource {
    return new DescriptorSource(descriptor, undefined, offset ?? null, size);
  }

  /**
   * Reads a pipe. A blocking read cannot be cancelled, and `process.exit` waits for it, so an
   * interrupt would wait for the writer. The pipe is therefore opened again without blocking,
   * unless there is no `/proc` or the pipe belongs to another user.
   */
  static ofPipe(descriptor: number): DescriptorSource {
    const opened = openUnblocked(descriptor, constants.O_RDONLY);
    return new DescriptorSource(descriptor, opened, null);
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
export function descriptorStream(descriptor: number, kind: DescriptorKind): Readable {
  switch (kind) {
    case 'terminal':
      return new TerminalStream(descriptor);
    case 'socket':
      return new InputSocket(descriptor);
    default:
      return createReadStream('', { fd: descriptor, autoClose: descriptor !== 0 });
  }
}
