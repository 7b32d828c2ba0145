import type { Diagnostics } from './diagnostics.js';

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
