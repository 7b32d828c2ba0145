import { isatty } from 'node:tty';
import { printable } from '../../control-characters.js';
import { writeError } from '../process/standard-streams.js';

/** Clears the cursor's line and moves to its start. */
const CLEAR_LINE = '\r\u001b[K';

const DEFAULT_COLUMNS = 80;

/**
 * Writes all messages of the command line to standard error. Escapes control characters: names and
 * records come from outside and may reach a terminal.
 */
export class Diagnostics {
  /** Whether standard error is a terminal. */
  readonly isTerminal = isatty(2);
  readonly #quiet: boolean;
  #status = '';

  /** @param quiet whether to drop notes */
  constructor(quiet: boolean) {
    this.#quiet = quiet;
  }

  /** Prints why the command failed. */
  error(message: string): void {
    this.print(indented(`robots-filter: ${message}`));
  }

  /** Prints a line that may interest the user, unless `quiet` is set. */
  note(message: string): void {
    if (!this.#quiet) this.print(printable(`robots-filter: ${message}`));
  }

  /** Prints lines, above the status line if there is one. */
  print(lines: string): void {
    const text = lines.split('\n').map(printable).join('\n');
    const clear = this.#status === '' ? '' : CLEAR_LINE;
    writeError(`${clear}${text}\n${this.#status}`);
  }

  /** Shows a line on a terminal until the next one overwrites it. An empty line removes it. */
  status(line: string): void {
    // A terminal that does not know its width reports 0.
    const columns = process.stderr.columns || DEFAULT_COLUMNS;
    const text = printable(line).slice(0, columns - 1);
    if (text === this.#status) return;
    this.#status = text;
    writeError(`${CLEAR_LINE}${text}`);
  }
}

/**
 * Indents all lines but the first. A name in a message may contain a line end, and must not forge
 * another message.
 */
export function indented(message: string): string {
  return message
    .split('\n')
    .map((line, index) =>
      index === 0 || line === '' || line.startsWith('  ') ? line : `  ${line}`,
    )
    .join('\n');
}
