import { constants, fstatSync, openSync, type Stats, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { errorCode } from '../workers/descriptor.js';
import { takesAtOnce } from './at-once.js';
import { outputError } from './output-error.js';
import { TerminalOutput } from './terminal-output.js';

/** Where the main thread writes. One call at a time. */
export interface Output {
  /**
   * Writes the octets, which belong to the caller again when this returns; false if nobody reads
   * the output any more.
   *
   * @throws RobotsFilterError `output`
   */
  write(octets: Uint8Array): Promise<boolean>;
  /** Waits until all is written; false and errors as for `write`. */
  end(): Promise<boolean>;
  /** Octets that the target has taken so far, by which one sees whether a write gets on. */
  readonly taken: number;
  /**
   * Has a write that does not get on, and all further ones, return false. What it has written stays
   * cut off.
   */
  abandon(): void;
  /** Lets go of what was opened for it; the target stays open. */
  release(): void;
}

/**
 * The way to write to a descriptor or stream from the main thread. A terminal gets control
 * characters escaped, all else every octet as it is.
 *
 * @throws RobotsFilterError `output` if the descriptor is closed
 */
export function openOutput(target: number | Writable, name: string): Output {
  if (typeof target !== 'number') return new StreamOutput(target, name);
  const status = statusOf(target, name);
  if (status.isFIFO()) {
    const socket = openPipe(target);
    if (socket !== undefined) return new PipeOutput(socket, name);
  }
  // Node's own handle of standard output waits for a socket's room, which a bare descriptor can't.
  if (status.isSocket() && target === 1) return new StreamOutput(process.stdout, name);
  const output = new DescriptorOutput(target, name, takesAtOnce(status, target));
  return isatty(target) ? new TerminalOutput(output) : output;
}

/**
 * Whether workers may write to the descriptor themselves.
 *
 * @throws RobotsFilterError `output` if it is closed
 */
export function takesWritesAtOnce(descriptor: number, name: string): boolean {
  return takesAtOnce(statusOf(descriptor, name), descriptor);
}

function statusOf(descriptor: number, name: string): Stats {
  try {
    return fstatSync(descriptor);
  } catch (error) {
    throw outputError(name, error);
  }
}

function isClosed(error: unknown): boolean {
  const code = errorCode(error);
  return (
    code === 'EPIPE' ||
    code === 'ECONNRESET' ||
    code === 'ERR_STREAM_DESTROYED' ||
    code === 'ERR_STREAM_PREMATURE_CLOSE'
  );
}

/**
 * The pipe once more, as a handle that waits for room in the event loop. Not the descriptor itself:
 * that would become non-blocking for all processes that share it, and process.stdout may have a
 * handle for it. And not `fs.write`: its thread would block while the pipe is full, and
 * `process.exit` would wait for it.
 */
function openPipe(descriptor: number): Socket | undefined {
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK;
    const fd = openSync(`/proc/self/fd/${descriptor}`, flags);
    return new Socket({ fd, readable: false, writable: true });
  } catch {
    return undefined; // no /proc, or another user's pipe
  }
}

/** Octets of one write to a pipe: what an empty one holds. */
const PIPE_OCTETS = 1 << 16;

/** Writes to a pipe straight from shared memory. */
class PipeOutput implements Output {
  readonly #socket: Socket;
  readonly #name: string;
  taken = 0;

  constructor(socket: Socket, name: string) {
    this.#socket = socket;
    this.#name = name;
    // Each write learns of its error itself.
    socket.on('error', () => {});
  }

  async write(octets: Uint8Array): Promise<boolean> {
    for (let from = 0; from < octets.length; from += PIPE_OCTETS) {
      const part = octets.subarray(from, from + PIPE_OCTETS);
      const error = await new Promise<unknown>((resolve) => {
        this.#socket.write(part, resolve);
      });
      if (isClosed(error)) return false;
      if (error !== undefined && error !== null) throw outputError(this.#name, error);
      this.taken += part.length;
    }
    return true;
  }

  async end(): Promise<boolean> {
    return true;
  }

  abandon(): void {
    this.#socket.destroy();
  }

  release(): void {
    this.#socket.destroy();
  }
}

/** Milliseconds between two tries of a descriptor that has no room: short at first, then longer. */
const SHORTEST_PAUSE = 1;
const LONGEST_PAUSE = 16;

/** Writes to a descriptor straight from shared memory. */
class DescriptorOutput implements Output {
  readonly #descriptor: number;
  readonly #name: string;
  /**
   * Whether it takes everything at once: to have each write done on another thread takes 3 % of a
   * run from a pipe.
   */
  readonly #atOnce: boolean;
  #abandoned = false;
  /** Wakes the write that is under way. */
  #wake: () => void = () => {};
  taken = 0;

  constructor(descriptor: number, name: string, atOnce: boolean) {
    this.#descriptor = descriptor;
    this.#name = name;
    this.#atOnce = atOnce;
  }

  async write(octets: Uint8Array): Promise<boolean> {
    let from = 0;
    let milliseconds = SHORTEST_PAUSE;
    while (from < octets.length) {
      if (this.#abandoned) return false;
      try {
        const written = this.#atOnce
          ? writeSync(this.#descriptor, octets, from)
          : await this.#writeSome(octets, from);
        from += written;
        this.taken += written;
        milliseconds = SHORTEST_PAUSE;
      } catch (error) {
        if (isClosed(error)) return false;
        if (errorCode(error) !== 'EAGAIN') throw outputError(this.#name, error);
        await pause(milliseconds);
        milliseconds = Math.min(2 * milliseconds, LONGEST_PAUSE);
      }
    }
    return true;
  }

  #writeSome(octets: Uint8Array, from: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(0);
      write(this.#descriptor, octets, from, octets.length - from, null, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    });
  }

  async end(): Promise<boolean> {
    return true;
  }

  abandon(): void {
    this.#abandoned = true;
    this.#wake();
  }

  release(): void {}
}

/** Writes copies to a stream, which may keep them for as long as it likes. */
class StreamOutput implements Output {
  readonly #stream: Writable;
  readonly #name: string;
  #error: unknown;
  #closed = false;
  /** Wakes whoever waits for the stream. */
  #wake: () => void = () => {};
  /** Octets that the stream has not yet confirmed. */
  #pending = 0;
  taken = 0;

  constructor(stream: Writable, name: string) {
    this.#stream = stream;
    this.#name = name;
    this.#closed = stream.destroyed || stream.writableEnded;
    stream.on('error', this.#onError);
    stream.on('close', this.#onClose);
    stream.on('drain', this.#onDrain);
  }

  async write(octets: Uint8Array): Promise<boolean> {
    if (this.#isOver()) return false;
    const copy = Buffer.from(octets);
    this.#pending += copy.length;
    const room = this.#stream.write(copy, (error) => {
      this.#pending -= copy.length;
      this.taken += copy.length;
      this.#error ??= error ?? undefined;
      this.#wake();
    });
    if (!room) await this.#until(() => !this.#stream.writableNeedDrain);
    return !this.#isOver();
  }

  async end(): Promise<boolean> {
    await this.#until(() => this.#pending === 0);
    return !this.#isOver();
  }

  abandon(): void {
    this.#onClose();
  }

  release(): void {
    // A stream that is over may still report an error, which nobody else awaits.
    if (this.#closed || this.#error !== undefined) return;
    this.#stream.off('error', this.#onError);
    this.#stream.off('close', this.#onClose);
    this.#stream.off('drain', this.#onDrain);
  }

  readonly #onError = (error: unknown): void => {
    this.#error ??= error;
    this.#wake();
  };
  readonly #onClose = (): void => {
    this.#closed = true;
    this.#wake();
  };
  readonly #onDrain = (): void => {
    this.#wake();
  };

  async #until(condition: () => boolean): Promise<void> {
    while (!condition() && !this.#closed && this.#error === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #isOver(): boolean {
    if (this.#error !== undefined && !isClosed(this.#error)) {
      throw outputError(this.#name, this.#error);
    }
    return this.#closed || this.#error !== undefined;
  }
}
