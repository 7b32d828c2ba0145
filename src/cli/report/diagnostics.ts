import { CommanderError } from 'commander';
import { printable } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { STANDARD_ERROR_DESCRIPTOR, writeError } from '../process.js';
import { FAILURE, SUCCESS } from '../usage-error.js';
import { isCapableTerminal, paintOf } from './terminal.js';

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

/** System errors that the user can remedy, and that are not faults of the program. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
]);

function isRefusal(error: unknown): error is Error & { code: unknown } {
  return (
    error instanceof Error && 'syscall' in error && 'code' in error && REFUSALS.has(error.code)
  );
}

/**
 * Reports on standard error why a command failed.
 *
 * @returns the exit code: 0 if commander ended the command after it printed help or the version
 */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : FAILURE;
  new Diagnostics(true).error(messageOf(error));
  return FAILURE;
}

function messageOf(error: unknown): string {
  if (error instanceof RobotsFilterError) return error.message;
  if (isRefusal(error) && (error.code === 'EMFILE' || error.code === 'ENFILE')) {
    return `${error.message}. Use fewer --threads, or raise the limit of open files (ulimit -n)`;
  }
  if (isRefusal(error)) {
    return `${error.message}. Check permissions, free space and open files, then run it again`;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `internal error; please report it with these lines.\n${trace}`;
}

/** Milliseconds before the line appears on a terminal: a short run shows none. */
const TERMINAL_DELAY = 1000;
/** Milliseconds between two updates of the line on a terminal. */
const TERMINAL_INTERVAL = 200;

/** Shows progress on standard error: one overwritten line on a terminal, otherwise a log. */
export class ProgressLine {
  readonly #diagnostics: Diagnostics;
  readonly #describe: () => string;
  readonly #start = performance.now();
  readonly #timer: NodeJS.Timeout;
  /** Removes the line if a second signal ends the process at once. */
  readonly #erase = (): void => this.#diagnostics.status('');

  /** @param logInterval milliseconds between two lines of the log */
  constructor(diagnostics: Diagnostics, describe: () => string, logInterval: number) {
    this.#diagnostics = diagnostics;
    this.#describe = describe;
    this.#timer = setInterval(
      () => this.#show(),
      diagnostics.isTerminal ? TERMINAL_INTERVAL : logInterval,
    );
    this.#timer.unref();
    process.on('exit', this.#erase);
  }

  /** Removes the line from a terminal, or prints the last line of the log. */
  end(): void {
    clearInterval(this.#timer);
    process.off('exit', this.#erase);
    if (this.#diagnostics.isTerminal) this.#erase();
    else this.#show();
  }

  #show(): void {
    const line = this.#describe();
    if (!this.#diagnostics.isTerminal) this.#diagnostics.print(line);
    else if (performance.now() - this.#start >= TERMINAL_DELAY) this.#diagnostics.status(line);
  }
}
