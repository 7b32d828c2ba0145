/** Places to write to: files, pipes, streams and terminals, each with the errors of its kind. */

import { type BigIntStats, constants, fstatSync, type Stats, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { CR } from '../../base/ascii.js';
import { decodeBytes, escapeByte, printable } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { isTerminal, openUnblocked } from '../../files/openings.js';
import { errorCode, errorText, systemRemedy } from '../../files/system-error.js';
import type { ByteSink } from '../../parquet/chunk-writer.js';

/** Where records go: a descriptor, a stream, or what opens an output. */
export type OutputTarget = number | Writable | (() => Output);

/** Opens a descriptor of one kind; `undefined` if it is of another. */
type Opener = (descriptor: number, status: Stats, name: string) => Output | undefined;

/** Milliseconds between two attempts to write to a full descriptor; the pause doubles. */
const SHORTEST_PAUSE = 1;
const LONGEST_PAUSE = 16;

/** Writes to a descriptor straight from shared memory. */
class DescriptorOutput implements Output {
  readonly #descriptor: number;
  readonly #name: string;
  readonly #isNonBlocking: boolean;
  #abandoned = false;
  /** Ends the current write. */
  #wake: () => void = () => {};
  taken = 0;

  /** @param isNonBlocking whether the main thread may write without being blocked */
  constructor(descriptor: number, name: string, isNonBlocking: boolean) {
    this.#descriptor = descriptor;
    this.#name = name;
    this.#isNonBlocking = isNonBlocking;
  }

  async write(bytes: Uint8Array): Promise<boolean> {
    let from = 0;
    let milliseconds = SHORTEST_PAUSE;
    while (from < bytes.length) {
      if (this.#abandoned) return false;
      try {
        const written = this.#isNonBlocking
          ? writeSync(this.#descriptor, bytes, from)
          : await this.#writeSome(bytes, from);
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

  #writeSome(bytes: Uint8Array, from: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(0);
      write(this.#descriptor, bytes, from, bytes.length - from, null, (error, written) => {
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

/**
 * How descriptors are opened, in the order in which it is tried. The kernel makes the bytes of the
 * records (kernel/assembly/emit). To send them elsewhere, or encoded, write a `Rewriter`, as
 * TerminalText is, or an `Output`, and add its opener here.
 */
const OPENERS: readonly Opener[] = [
  (descriptor, status, name) => (status.isFIFO() ? openPipe(descriptor, name) : undefined),
  // Node's own handle of standard output waits for room in a socket; a bare descriptor cannot.
  (descriptor, status, name) =>
    status.isSocket() && descriptor === 1 ? new StreamOutput(process.stdout, name) : undefined,
  (descriptor, status, name) =>
    isTerminal(descriptor)
      ? rewritten(openDescriptor(descriptor, status, name), new TerminalText())
      : undefined,
  openDescriptor,
];

/**
 * Opens a descriptor or stream for writing from the main thread. Control characters are escaped on
 * a terminal; all other outputs get every byte unchanged.
 *
 * @throws RobotsFilterError `output` if the descriptor is closed
 */
export function openOutput(target: OutputTarget, name: string): Output {
  if (typeof target === 'function') return target();
  if (typeof target !== 'number') return new StreamOutput(target, name);
  const status = statusOf(target, name);
  for (const open of OPENERS) {
    const output = open(target, status, name);
    if (output !== undefined) return output;
  }
  throw new Error(`no output for descriptor ${target}`);
}

/**
 * Opens a descriptor for people, be it a terminal or a pipe to a pager: control characters are
 * escaped, and lines are laid out.
 *
 * @throws RobotsFilterError `output` if the descriptor is closed
 */
export function openDisplay(descriptor: number, name: string, layOut: LineLayout): Output {
  const plain = isTerminal(descriptor)
    ? openDescriptor(descriptor, statusOf(descriptor, name), name)
    : openOutput(descriptor, name);
  return rewritten(rewritten(plain, new LaidOutLines(layOut)), new TerminalText());
}

/**
 * Whether workers may write to the descriptor themselves.
 *
 * @throws RobotsFilterError `output` if it is closed
 */
export function isNonBlockingOutput(descriptor: number, name: string): boolean {
  return isNonBlocking(statusOf(descriptor, name), descriptor);
}

function openDescriptor(descriptor: number, status: Stats, name: string): Output {
  return new DescriptorOutput(descriptor, name, isNonBlocking(status, descriptor));
}

function statusOf(descriptor: number, name: string): Stats {
  try {
    return fstatSync(descriptor);
  } catch (error) {
    throw outputError(name, error);
  }
}

/** Where the main thread writes. Calls must not overlap. */
export interface Output {
  /**
   * Writes bytes, which belong to the caller again when the promise settles. Resolves to false if
   * the reader of the output is gone.
   *
   * @throws RobotsFilterError `output`
   */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Waits until everything is written. Result and errors are those of `write`. */
  end(): Promise<boolean>;
  /** Bytes that the target has taken so far; they show whether a write makes progress. */
  readonly taken: number;
  /**
   * Makes the current write, and all later ones, resolve to false. Output that is partly written
   * stays truncated.
   */
  abandon(): void;
  /** Closes what was opened for the output. The target stays open. */
  release(): void;
}

/**
 * The error for a descriptor or stream that cannot be written to. A `RobotsFilterError` of a stream
 * is that error.
 *
 * @param option the option that names another output; empty if there is none
 */
export function outputError(name: string, cause: unknown, option = ' (-o)'): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  const remedy =
    systemRemedy(cause, 'write') ?? `writing failed (${errorText(cause)}). Write elsewhere`;
  return new RobotsFilterError('output', `${name}: ${remedy}${option}`, { cause });
}

/** Whether an error means that the reader of the output is gone. */
export function isClosed(error: unknown): boolean {
  const code = errorCode(error);
  return (
    code === 'EPIPE' ||
    code === 'ECONNRESET' ||
    code === 'ERR_STREAM_DESTROYED' ||
    code === 'ERR_STREAM_PREMATURE_CLOSE'
  );
}

/** An output as the end of a Parquet file's bytes. */
export class OutputSink implements ByteSink {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  /** @throws an error with the code EPIPE if the reader of the output is gone */
  async write(bytes: Uint8Array): Promise<void> {
    if ((await this.#output.write(bytes)) && (await this.#output.end())) return;
    throw Object.assign(new Error('the reader of the output is gone'), { code: 'EPIPE' });
  }

  /** Gives up what is not written, and closes what was opened for the output. */
  close(): void {
    this.#output.abandon();
    this.#output.release();
  }
}

/**
 * Opens a pipe again, as a handle that waits for room in the event loop. `fs.write` would block its
 * thread while the pipe is full, and `process.exit` would wait for that thread.
 *
 * `undefined` without /proc, and for the pipe of another user.
 */
function openPipe(descriptor: number, name: string): PipeOutput | undefined {
  const fd = openUnblocked(descriptor, constants.O_WRONLY);
  if (fd === undefined) return undefined;
  try {
    return new PipeOutput(new Socket({ fd, readable: false, writable: true }), name);
  } catch {
    return undefined;
  }
}

/** Bytes per write: the capacity of a pipe. */
const PIPE_BYTES = 1 << 16;

/** Writes to a pipe straight from shared memory. */
class PipeOutput implements Output {
  readonly #socket: Socket;
  readonly #name: string;
  taken = 0;

  constructor(socket: Socket, name: string) {
    this.#socket = socket;
    this.#name = name;
    // Each write gets its error from its callback.
    socket.on('error', () => {});
  }

  async write(bytes: Uint8Array): Promise<boolean> {
    for (let from = 0; from < bytes.length; from += PIPE_BYTES) {
      const part = bytes.subarray(from, from + PIPE_BYTES);
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

/** Writes to a stream, which gets copies of the bytes. */
class StreamOutput implements Output {
  readonly #stream: Writable;
  readonly #name: string;
  #error: unknown;
  #closed = false;
  /** Wakes the call that waits for the stream. */
  #wake: () => void = () => {};
  /** Bytes that the stream has not confirmed yet. */
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

  async write(bytes: Uint8Array): Promise<boolean> {
    if (this.#isOver()) return false;
    const copy = Buffer.from(bytes);
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
    // A closed stream may still report an error, which would be thrown without a listener.
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

/** Changes bytes on their way to an output. */
export interface Rewriter {
  /** Returns what can be written now, perhaps nothing. The bytes stay the caller's. */
  rewrite(bytes: Uint8Array): Uint8Array;
  /** Returns what was held back, at the end of the output. */
  rest(): Uint8Array;
}

/** An output that gets what a rewriter makes of the bytes. */
export function rewritten(output: Output, rewriter: Rewriter): Output {
  const pass = async (bytes: Uint8Array): Promise<boolean> =>
    bytes.length === 0 || output.write(bytes);
  return {
    get taken() {
      return output.taken;
    },
    write: (bytes) => pass(rewriter.rewrite(bytes)),
    async end() {
      const isOpen = await pass(rewriter.rest());
      return (await output.end()) && isOpen;
    },
    abandon: () => output.abandon(),
    release: () => output.release(),
  };
}

/**
 * Escapes output for a terminal, where an escape sequence in a URL would take effect. Control
 * characters, and bytes that are not UTF-8, become `\xNN` or `\u{NNNN}`. Line ends and tabs stay.
 */
export class TerminalText implements Rewriter {
  /** The beginning of a character or line end that the next write completes. */
  #held: Buffer = Buffer.alloc(0);

  rewrite(bytes: Uint8Array): Buffer {
    const all = Buffer.concat([this.#held, bytes]);
    const whole = all.at(-1) === CR ? all.subarray(0, -1) : all;
    const { text, left } = decodeBytes(whole);
    this.#held = all.subarray(whole.length - left);
    return Buffer.from(printableLines(text));
  }

  rest(): Buffer {
    return Buffer.from(Array.from(this.#held, escapeByte).join(''));
  }
}

function printableLines(text: string): string {
  const lines = text.split('\n');
  const last = lines.length - 1;
  return lines
    .map((line, index) => {
      const hasReturn = index < last && line.endsWith('\r');
      const content = hasReturn ? line.slice(0, -1) : line;
      return `${content.split('\t').map(printable).join('\t')}${hasReturn ? '\r' : ''}`;
    })
    .join('\n');
}

/** Lays out whole lines, given and returned without their ends. */
export type LineLayout = (lines: readonly string[]) => readonly string[];

/** Characters of a line after which it is no longer held back until it is complete. */
const LONGEST_HELD = 1 << 16;

/** Lays out lines of UTF-8 on their way. The bytes of each write end with a whole character. */
class LaidOutLines implements Rewriter {
  readonly #layOut: LineLayout;
  /** The beginning of a line. */
  #held = '';
  /** Whether the line is too long, and passes as it is. */
  #passes = false;

  constructor(layOut: LineLayout) {
    this.#layOut = layOut;
  }

  rewrite(bytes: Uint8Array): Buffer {
    let text = this.#held + Buffer.from(bytes).toString();
    let out = '';
    if (this.#passes) {
      const end = text.indexOf('\n') + 1;
      out = end === 0 ? text : text.slice(0, end);
      text = text.slice(out.length);
      this.#passes = end === 0;
    }
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) {
      const lines = this.#layOut(text.slice(0, end - 1).split('\n'));
      out += `${lines.join('\n')}\n`;
    }
    this.#held = text.slice(end);
    if (this.#held.length > LONGEST_HELD) {
      out += this.#held;
      this.#held = '';
      this.#passes = true;
    }
    return Buffer.from(out);
  }

  rest(): Buffer {
    return Buffer.from(this.#held);
  }
}

/**
 * Whether writes to a descriptor never block for long, as for a regular file or a device. A write
 * to a pipe or terminal may block, and a thread that is blocked in a write cannot be ended.
 */
export function isNonBlocking(status: Stats | BigIntStats, descriptor: number): boolean {
  return status.isFile() || (status.isCharacterDevice() && !isTerminal(descriptor));
}
