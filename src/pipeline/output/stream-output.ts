import type { Writable } from 'node:stream';
import type { Output } from './output.js';
import { isClosed, outputError } from './output-error.js';

/** Writes to a stream, which gets copies of the bytes. */
export class StreamOutput implements Output {
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
