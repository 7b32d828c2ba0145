import { readFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { wakeOpenings } from '../files/openings.js';
import { errorCode } from '../files/system-error.js';
import { isClosed, outputError } from '../pipeline/output/output.js';

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
    await endOfTurn(); // This turn may have looked already.
    await endOfTurn();
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

/** The path that stands for standard output. */
export const STANDARD_OUTPUT = '-';

export const STANDARD_OUTPUT_DESCRIPTOR = 1;
export const STANDARD_ERROR_DESCRIPTOR = 2;

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
