import { Buffer } from 'node:buffer';
import { type Frame, readFrames } from '../../kernel/frames.js';
import type { Output } from './output.js';
import type { Addition } from './preference-columns.js';

/** How an output of frames is read. */
export interface FramedRecordsOptions {
  /** Number of agents. */
  readonly agents: number;
  /** Bytes before all records. */
  readonly preamble: Uint8Array | undefined;
  /** What is added to a record. */
  readonly add: (frame: Frame) => Addition;
}

/** Takes frames (kernel/layout.ts, QUERY_FRAMES), and writes their records with an addition. */
export class FramedRecords implements Output {
  readonly #output: Output;
  readonly #options: FramedRecordsOptions;
  #preamble: Uint8Array | undefined;
  /** The beginning of a frame. */
  #held: Buffer = Buffer.alloc(0);

  constructor(output: Output, options: FramedRecordsOptions) {
    this.#output = output;
    this.#options = options;
    this.#preamble = options.preamble;
  }

  get taken(): number {
    return this.#output.taken;
  }

  async write(bytes: Uint8Array): Promise<boolean> {
    const { agents, add } = this.#options;
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const frames = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const parts: Uint8Array[] = this.#takePreamble();
    const end = readFrames(frames, agents, (frame) => {
      const { record } = frame;
      const { at, text } = add(frame);
      parts.push(record.subarray(0, at), Buffer.from(text), record.subarray(at));
    });
    // The ring's memory is used again, so what is left is copied.
    this.#held = Buffer.from(frames.subarray(end));
    return parts.length === 0 || (await this.#output.write(Buffer.concat(parts)));
  }

  async end(): Promise<boolean> {
    const [preamble] = this.#takePreamble();
    const isOpen = preamble === undefined || (await this.#output.write(preamble));
    return (await this.#output.end()) && isOpen;
  }

  abandon(): void {
    this.#output.abandon();
  }

  release(): void {
    this.#output.release();
  }

  #takePreamble(): Uint8Array[] {
    const preamble = this.#preamble;
    this.#preamble = undefined;
    return preamble === undefined ? [] : [preamble];
  }
}
