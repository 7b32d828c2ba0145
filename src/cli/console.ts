/**
 * What every command shares with whoever started it: exit codes, usage errors, standard output and
 * error, signals, messages and progress.
 */

import { readFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { CommanderError } from 'commander';
import { printable } from '../base/control-characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { wakeOpenings } from '../files/openings.js';
import { errorCode } from '../files/system-error.js';
import { isClosed, outputError } from '../pipeline/output/output.js';
import {
  isCapableTerminal,
  paintOf,
  STANDARD_ERROR_DESCRIPTOR,
  STANDARD_OUTPUT_DESCRIPTOR,
} from './text.js';

/** Characters that no shell interprets, beside letters and digits. */
const PLAIN = '_-+=@%:,./';

/** An error about the command line; the message says what to type instead. */
export function usageError(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}

/** Words as they are typed into a shell, so that each remains one word. */
export function shellWords(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  const isPlain = [...word].every(
    (character) =>
      (character >= 'a' && character <= 'z') ||
      (character >= 'A' && character <= 'Z') ||
      (character >= '0' && character <= '9') ||
      PLAIN.includes(character),
  );
  return isPlain && word !== '' ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Exit code of a command that succeeded, whatever the verdicts. */
export const SUCCESS = 0;

/** Exit code of `check`, and of the filter with `--exit-code`, if some URL is not allowed. */
export const NOT_ALLOWED = 1;

/** Exit code of `diff --exit-code` if there is a difference. */
export const DIFFERENT = 1;

/** Exit code of `lint` if there are errors, or more warnings than `--max-warnings`. */
export const FOUND = 1;

/** Exit code of an error, as in grep and diff. */
export const FAILURE = 2;

/** The commands in addition to the filter, which has no name. */
export const COMMAND_NAMES = [
  'compile',
  'fetch',
  'check',
  'lint',
  'inspect',
  'audit',
  'records',
  'diff',
  'shard',
  'captures',
  'agents',
  'serve',
  'completion',
] as const;

// ---- The process: its descriptors, its signals, its memory

/** Signals that ask the program to end. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Milliseconds between two wake-ups: a named pipe may be opened after the signal. */
const WAKE_INTERVAL = 20;

/** The exit status of a program that a signal ended is this number plus the signal's number. */
const SIGNAL_EXIT = 128;

/**
 * Listens for signals. The first signal ends the run after the work under way, the second ends the
 * process at once. Unfinished files are deleted when the process exits (files/replacement.ts).
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #onSignal = (name: (typeof SIGNALS)[number]): void => {
    const code = SIGNAL_EXIT + constants.signals[name];
    if (this.exitCode !== undefined) this.#endAtOnce(name, code);
    this.exitCode = code;
    this.#controller.abort();
    this.#waking = setInterval(wakeOpenings, WAKE_INTERVAL);
    wakeOpenings();
  };

  #waking: NodeJS.Timeout | undefined;

  /** The exit code once a signal has come: 130 for SIGINT. */
  exitCode: number | undefined;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Hears a signal that has come: Node looks for signals once in each turn of its event loop. */
  async hear(): Promise<void> {
    await new Promise(setImmediate); // This turn may have looked already.
    await new Promise(setImmediate);
  }

  /** A signal that the first operating system signal aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Ends the process at once. Raises the signal again after the exit handlers, so that the shell
   * sees the true status. A plain exit would wait for threads to finish their batches, for seconds
   * on hostile input.
   */
  #endAtOnce(name: (typeof SIGNALS)[number], code: number): never {
    process.on('exit', () => {
      this.end();
      process.kill(process.pid, name);
    });
    process.exit(code);
  }

  /** Restores the default effect of the signals. */
  end(): void {
    clearInterval(this.#waking);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}

/**
 * Does work that a signal may stop. An error after a signal is a consequence of it.
 *
 * @returns the result of the work, or the exit code after a signal
 */
export async function interruptible<Result>(
  work: (interruption: Interruption) => Promise<Result>,
): Promise<Result | number> {
  const interruption = new Interruption();
  try {
    return await work(interruption);
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    interruption.end();
  }
}

/** The path that stands for standard output. */
export const STANDARD_OUTPUT = '-';

/** Milliseconds between two writes to a full descriptor that another process made non-blocking. */
const RETRY_INTERVAL = 2;

/**
 * Writes text or bytes to standard output. `process.stdout` would make a pipe non-blocking for all
 * processes that share it.
 *
 * @returns false if the reader has gone away
 * @throws RobotsFilterError `output`
 */
export function writeOutput(content: string | Uint8Array): boolean {
  try {
    return writeContent(STANDARD_OUTPUT_DESCRIPTOR, content);
  } catch (error) {
    throw outputError('standard output', error, '');
  }
}

/** Writes text to standard error. A closed or full standard error is ignored. */
export function writeError(text: string): void {
  try {
    writeContent(STANDARD_ERROR_DESCRIPTOR, text);
  } catch {
    // The failure cannot be reported anywhere.
  }
}

function writeContent(descriptor: number, content: string | Uint8Array): boolean {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (isClosed(error)) return false;
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_INTERVAL);
    }
  }
  return true;
}

/**
 * Greatest resident memory of the process so far, in bytes. On Linux `process.resourceUsage()`
 * would give that of the program that started this one, if it was greater: the kernel keeps the
 * value when a process becomes another program.
 */
export function peakMemory(): number {
  return highWaterMark() ?? process.resourceUsage().maxRSS * 1024;
}

/** The value that Linux keeps for the program; undefined on other systems. */
function highWaterMark(): number | undefined {
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'latin1');
  } catch {
    return undefined;
  }
  const kibibytes = /^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

// ---- Messages on standard error

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
