import * as fs from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { isatty, ReadStream as TerminalStream } from 'node:tty';
import { promisify } from 'node:util';
import { opening } from '../../openings.js';
import { FileEnd } from '../../workers/file-end.js';
import type { ChunkSource } from './chunks.js';

const open = promisify(fs.open);
export const closeDescriptor = promisify(fs.close);
export const descriptorStatus = promisify(fs.fstat);
const read = promisify(fs.read);

/** The most that one read brings, in octets: what a pipe holds. */
const READ_OCTETS = 65_536;
/**
 * The waits between two looks at a pipe that has nothing yet, in milliseconds: short at first, then
 * longer.
 */
const SHORTEST_WAIT = 1;
const LONGEST_WAIT = 50;

/** Opens a path; for a named pipe that may take until somebody opens its other end. */
export function openDescriptor(path: string, flags: string | number): Promise<number> {
  return opening(path, open(path, flags));
}

/** What a descriptor leads to, as far as the ways to read it differ. */
export type DescriptorKind = 'directory' | 'file' | 'pipe' | 'socket' | 'terminal' | 'device';

export function descriptorKind(descriptor: number, status: fs.Stats): DescriptorKind {
  if (status.isDirectory()) return 'directory';
  if (status.isFile()) return 'file';
  if (status.isFIFO()) return 'pipe';
  if (status.isSocket()) return 'socket';
  return isatty(descriptor) ? 'terminal' : 'device';
}

/**
 * Where an inherited descriptor stands in its file, in octets from the start; undefined where
 * the operating system does not say. Node has no `lseek`.
 */
export function descriptorOffset(descriptor: number): number | undefined {
  let information: string;
  try {
    information = fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
  } catch {
    return undefined; // only Linux has it
  }
  const line = information.split('\n').find((text) => text.startsWith('pos:'));
  return line === undefined ? undefined : Number(line.slice('pos:'.length));
}

/**
 * Reads a descriptor in chunks of at most 64 KiB, and no further than it is asked, so that
 * somebody else can go on from there. Leaves the descriptor open.
 */
export class DescriptorSource implements ChunkSource {
  readonly #descriptor: number;
  readonly #opened: number | undefined;
  #position: number | null;
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
   * Reads a file from `offset`, in octets, without moving the descriptor; without `offset` from
   * where that stands.
   *
   * @param size octets that the file had when it was opened; by default what it has now
   */
  static ofFile(descriptor: number, offset?: number, size?: number): DescriptorSource {
    return new DescriptorSource(descriptor, undefined, offset ?? null, size);
  }

  /**
   * Reads a pipe. A read that blocks cannot be called off, and `process.exit` waits for it: an
   * interrupt would take effect only when the writer writes. So the pipe is opened once more,
   * without blocking, where that is possible: not without `/proc`, nor for another user's pipe.
   */
  static async ofPipe(descriptor: number): Promise<DescriptorSource> {
    const flags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
    const opened = await openDescriptor(`/proc/self/fd/${descriptor}`, flags).catch(
      () => undefined,
    );
    return new DescriptorSource(descriptor, opened, null);
  }

  next(): Promise<Buffer | undefined> {
    this.#reading = this.#read();
    return this.#reading;
  }

  async #read(): Promise<Buffer | undefined> {
    const buffer = Buffer.allocUnsafeSlow(READ_OCTETS);
    for (let delay = SHORTEST_WAIT; !this.#abandoned; delay = Math.min(2 * delay, LONGEST_WAIT)) {
      try {
        const { bytesRead } = await read(
          this.#descriptor,
          buffer,
          0,
          buffer.length,
          this.#position,
        );
        this.#end?.check(this.#position ?? 0, bytesRead);
        if (this.#position !== null) this.#position += bytesRead;
        return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
      } catch (error) {
        if (!isTryAgain(error)) throw error;
      }
      await wait(delay);
    }
    return undefined;
  }

  async abandon(): Promise<void> {
    if (this.#abandoned) return;
    this.#abandoned = true;
    // A descriptor must not be closed under a read: its number may be given to another file.
    await this.#reading?.catch(() => undefined);
    if (this.#opened !== undefined) await closeDescriptor(this.#opened);
  }
}

function isTryAgain(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

/**
 * A stream of what a socket, terminal or device has. It can be destroyed while it waits, and
 * then closes the descriptor, standard input excepted if it is a device.
 */
export function descriptorStream(descriptor: number, kind: DescriptorKind): Readable {
  switch (kind) {
    case 'terminal':
      return new TerminalStream(descriptor);
    case 'socket':
      return new Socket({ fd: descriptor, readable: true, writable: false });
    default:
      return fs.createReadStream('', { fd: descriptor, autoClose: descriptor !== 0 });
  }
}
