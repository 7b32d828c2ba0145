import { isatty } from 'node:tty';
import { printable } from '../control-characters.js';
import { writeError } from './standard-streams.js';

/** Clears the line that the cursor is in, and goes to its start. */
const CLEAR_LINE = '\r\u001b[K';

const USUAL_COLUMNS = 80;

/**
 * Standard error: all that the command line says beside its data. What comes from outside is made
 * harmless here, for it may reach a terminal.
 */
export class Diagnostics {
  /** Whether it is a terminal. */
  readonly isTerminal = isatty(2);
  readonly #quiet: boolean;
  #status = '';

  /** With `quiet` only errors, and what was asked for by name, are said. */
  constructor(quiet: boolean) {
    this.#quiet = quiet;
  }

  /** Why the command could not be carried out. */
  error(message: string): void {
    this.print(indented(`robots-filter: ${message}`));
  }

  /** Something that the user may want to know, on one line; not said with `--quiet`. */
  note(message: string): void {
    if (!this.#quiet) this.print(printable(`robots-filter: ${message}`));
  }

  /** Prints lines, above the status line if there is one. */
  print(lines: string): void {
    const text = lines.split('\n').map(printable).join('\n');
    const clear = this.#status === '' ? '' : CLEAR_LINE;
    writeError(`${clear}${text}\n${this.#status}`);
  }

  /**
   * Puts a line in the place of the last such line, to be overwritten in turn; an empty one takes
   * it away. For terminals.
   */
  status(line: string): void {
    // A terminal that does not know its width says 0.
    const columns = process.stderr.columns || USUAL_COLUMNS;
    const text = printable(line).slice(0, columns - 1);
    if (text === this.#status) return;
    this.#status = text;
    writeError(`${CLEAR_LINE}${text}`);
  }
}

/**
 * A message of several lines, of which none but the first can pass for a message: a name in it may
 * have a line end.
 */
export function indented(message: string): string {
  return message
    .split('\n')
    .map((line, index) =>
      index === 0 || line === '' || line.startsWith('  ') ? line : `  ${line}`,
    )
    .join('\n');
}
