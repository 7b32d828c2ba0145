import { constants } from 'node:os';
import { wakeOpenings } from '../openings.js';

/** Signals that ask a program to end. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Milliseconds: a named pipe may be opened only after the signal. */
const WAKE_AGAIN = 20;

/** What a shell says of a program that a signal ended. */
const SIGNAL_EXIT = 128;

/**
 * Listens for signals: the first ends the run in an orderly way, when what was begun is done; the
 * second at once. Files that are not complete by then go with the process (unfinished-files.ts).
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #onSignal = (name: (typeof SIGNALS)[number]): void => {
    const code = SIGNAL_EXIT + constants.signals[name];
    if (this.exitCode !== undefined) this.#endAtOnce(name, code);
    this.exitCode = code;
    this.#controller.abort();
    this.#waking = setInterval(wakeOpenings, WAKE_AGAIN);
    wakeOpenings();
  };

  #waking: NodeJS.Timeout | undefined;

  /** Set once a signal has come: 130 for SIGINT. */
  exitCode: number | undefined;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Ends the process by the signal itself, of which shells say the same, behind all that is done at
   * an exit: an exit waits for threads to come out of the batch that they judge, which rules and
   * URLs made for it can draw out to seconds.
   */
  #endAtOnce(name: (typeof SIGNALS)[number], code: number): never {
    process.on('exit', () => {
      this.end();
      process.kill(process.pid, name);
    });
    process.exit(code);
  }

  /** Leaves signals to the system again. */
  end(): void {
    clearInterval(this.#waking);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }
}
