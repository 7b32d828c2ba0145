import type { Output } from './output.js';

/** Lays out whole lines, given and returned without their ends. */
export type LineLayout = (lines: readonly string[]) => readonly string[];

/** Characters of a line after which it is no longer held back until it is complete. */
const LONGEST_HELD = 1 << 16;

/** Lays out lines of UTF-8 on their way. The bytes of each write end with a whole character. */
export class LaidOutLines implements Output {
  readonly #output: Output;
  readonly #layOut: LineLayout;
  /** The beginning of a line. */
  #held = '';
  /** Whether the line is too long, and passes as it is. */
  #passes = false;

  constructor(output: Output, layOut: LineLayout) {
    this.#output = output;
    this.#layOut = layOut;
  }

  get taken(): number {
    return this.#output.taken;
  }

  async write(bytes: Uint8Array): Promise<boolean> {
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
    return out === '' || (await this.#output.write(Buffer.from(out)));
  }

  async end(): Promise<boolean> {
    const held = this.#held;
    this.#held = '';
    const isOpen = held === '' || (await this.#output.write(Buffer.from(held)));
    return (await this.#output.end()) && isOpen;
  }

  abandon(): void {
    this.#output.abandon();
  }

  release(): void {
    this.#output.release();
  }
}
