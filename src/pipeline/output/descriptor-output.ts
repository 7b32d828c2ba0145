import { write, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../files/system-error.js';
import type { Output } from './output.js';
import { isClosed, outputError } from './output-error.js';

/** Milliseconds between two attempts to write to a full descriptor; the pause doubles. */
const SHORTEST_PAUSE = 1;
const LONGEST_PAUSE = 16;

/** Writes to a descriptor straight from shared memory. */
export class DescriptorOutput implements Output {
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
