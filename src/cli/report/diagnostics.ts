import { printable } from '../../control-characters.js';
import { STANDARD_ERROR_DESCRIPTOR, writeError } from '../process/standard-streams.js';
import { isCapableTerminal, paintOf } from './colour.js';

/** Clears the cursor's line and moves to its start. */
const CLEAR_LINE = '\r\u001b[K';

const DEFAULT_COLUMNS = 80;

/** Prefix of every message. */
const PROGRAM = 'robots-filter:';
const WARNING = 'warning:';

/**
 * Writes all messages of the command line to standard error. Escapes control characters: names and
 * records come from outside and may reach a terminal.
 */
export class Diagnostics {
  /** Whether standard error is a terminal on which a line can be overwritten. */
  readonly isTerminal = isCapableTerminal(STANDARD_ERROR_DESCRIPTOR);
  readonly #quiet: boolean;
  #status = '';

  /** @param quiet whether to drop notes */
  constructor(quiet: boolean) {
    this.#quiet = quiet;
  }

  /** Prints why the command failed. */
  error(message: string): void {
    this.#write(errorMessage(message));
  }

  /** Prints a line that may interest the user, unless `quiet` is set. */
  note(message: string): void {
    if (this.#quiet) return;
    const text = printable(message);
    const paint = paintOf(STANDARD_ERROR_DESCRIPTOR);
    this.#write(
      text.startsWith(WARNING)
        ? `${PROGRAM} ${paint('warning', WARNING)}${text.slice(WARNING.length)}`
        : `${PROGRAM} ${text}`,
    );
  }

  /** Prints lines, above the status line if there is one. */
  print(lines: string): void {
    this.#write(lines.split('\n').map(printable).join('\n'));
  }

  #write(text: string): void {
    const clear = this.#status === '' ? '' : CLEAR_LINE;
    writeError(`${clear}${text}\n${this.#status}`);
  }

  /**
   * Shows a line on a terminal until the next one overwrites it; an empty line removes it. In a
   * narrow window its last parts, after commas, are left out.
   */
  status(line: string): void {
    // A terminal that does not know its width reports 0.
    const columns = process.stderr.columns || DEFAULT_COLUMNS;
    const text = fitted(printable(line), columns - 1);
    if (text === this.#status) return;
    this.#status = text;
    writeError(`${CLEAR_LINE}${text}`);
  }
}

/** Leaves out the last parts of a line, so that the rest fits. */
function fitted(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const end = line.lastIndexOf(', ', columns);
  return line.slice(0, end > 0 ? end : columns);
}

/** The message of an error, on several lines or one, for standard error. */
export function errorMessage(message: string): string {
  const text = indented(message).split('\n').map(printable).join('\n');
  return `${paintOf(STANDARD_ERROR_DESCRIPTOR)('error', PROGRAM)} ${text}`;
}

/**
 * Indents all lines but the first. A name in a message may contain a line end, and must not forge
 * another message.
 */
function indented(message: string): string {
  return message
    .split('\n')
    .map((line, index) =>
      index === 0 || line === '' || line.startsWith('  ') ? line : `  ${line}`,
    )
    .join('\n');
}
