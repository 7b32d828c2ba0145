import { CR } from '../../ascii.js';
import { decodeBytes, escapeByte, printable } from '../../control-characters.js';
import type { Output } from './output.js';

/**
 * Escapes output for a terminal, where an escape sequence in a URL would take effect. Control
 * characters, and bytes that are not UTF-8, become `\xNN` or `\u{NNNN}`. Line ends and tabs stay.
 */
export class TerminalOutput implements Output {
  readonly #terminal: Output;
  /** The beginning of a character or line end that the next write completes. */
  #held: Buffer = Buffer.alloc(0);

  constructor(terminal: Output) {
    this.#terminal = terminal;
  }

  get taken(): number {
    return this.#terminal.taken;
  }

  async write(bytes: Uint8Array): Promise<boolean> {
    const all = Buffer.concat([this.#held, bytes]);
    const whole = all.at(-1) === CR ? all.subarray(0, -1) : all;
    const { text, left } = decodeBytes(whole);
    this.#held = all.subarray(whole.length - left);
    return this.#terminal.write(Buffer.from(printableLines(text)));
  }

  async end(): Promise<boolean> {
    const rest = Array.from(this.#held, escapeByte).join('');
    this.#held = Buffer.alloc(0);
    const open = rest === '' || (await this.#terminal.write(Buffer.from(rest)));
    return (await this.#terminal.end()) && open;
  }

  abandon(): void {
    this.#terminal.abandon();
  }

  release(): void {
    this.#terminal.release();
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
