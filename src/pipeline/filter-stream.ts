import { Duplex, Readable, Writable } from 'node:stream';
import type { RunEnd, RunInput } from './run.js';

/** Carries out the run of a filter stream: a Flow, or a wrapper of one. */
export interface StreamRunner {
  run(input: RunInput, output: Writable, outputName?: string): Promise<RunEnd>;
  /** Ends the run after the batches in hand. */
  cancel(): void;
  /** Called once, when the run is over and the stream has ended or is destroyed. */
  close(): Promise<void>;
}

/**
 * Creates a Duplex of bytes: lines in, records out, in order. The stream takes writes while the
 * ring has room, and empties the ring as it is read. It ends when the input has ended and
 * everything has been read. Destroying the stream ends the run.
 *
 * @param name the name of the input in messages
 */
export function createFilterStream(runner: StreamRunner, name = 'the stream'): Duplex {
  return new FilterStream(runner, name);
}

type Callback = (error?: Error | null) => void;

class FilterStream extends Duplex {
  readonly #runner: StreamRunner;
  /** Passes the bytes that are written to this stream on to the ring. */
  readonly #input: Readable;
  /** Ends the last write; called when more input is wanted. */
  #wanted: Callback | undefined;
  /** Ends the last output; called when this stream is read. */
  #read: Callback | undefined;
  readonly #run: Promise<void>;

  constructor(runner: StreamRunner, name: string) {
    super();
    this.#runner = runner;
    this.#input = new Readable({
      // The stream buffers nothing: a write ends when the ring has its bytes, and then the chunk
      // may be reused.
      highWaterMark: 0,
      read: () => {
        const wanted = this.#wanted;
        this.#wanted = undefined;
        wanted?.();
      },
    });
    const output = new Writable({
      write: (chunk, _encoding, callback) => {
        if (this.destroyed || this.push(chunk)) callback();
        else this.#read = callback;
      },
    });
    this.#run = this.#carryOut(name, output);
  }

  async #carryOut(name: string, output: Writable): Promise<void> {
    try {
      await this.#runner.run({ kind: 'stream', name, stream: this.#input }, output);
      this.push(null);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, callback: Callback): void {
    this.#wanted = callback;
    this.#input.push(chunk);
  }

  override _final(callback: Callback): void {
    this.#input.push(null);
    callback();
  }

  override _read(): void {
    const read = this.#read;
    this.#read = undefined;
    read?.();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#runner.cancel();
    // The run may be waiting for this stream to be read.
    this._read();
    this.#run
      .then(() => this.#runner.close())
      .then(
        () => callback(error),
        (failure) => callback(error ?? failure),
      );
  }
}
