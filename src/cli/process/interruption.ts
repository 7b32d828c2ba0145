import { constants } from 'node:os';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { wakeOpenings } from '../../files/openings.js';

/** Signals that ask the program to end. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Milliseconds between two wake-ups: a named pipe may be opened after the signal. */
const WAKE_INTERVAL = 20;

/** The exit status of a program that a signal ended is this number plus the signal's number. */
const SIGNAL_EXIT = 128;

/**
 * Listens for signals. The first signal ends the run after the work under way, the second ends the
 * process at once. Unfinished files are deleted when the process exits (unfinished-files.ts).
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
