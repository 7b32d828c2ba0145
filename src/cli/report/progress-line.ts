import type { Diagnostics } from './diagnostics.js';

/** Milliseconds between two updates of the line on a terminal. */
const TERMINAL_INTERVAL = 200;

/** Shows progress on standard error: one overwritten line on a terminal, otherwise a log. */
export class ProgressLine {
  readonly #diagnostics: Diagnostics;
  readonly #describe: () => string;
  readonly #timer: NodeJS.Timeout;

  /** @param logInterval milliseconds between two lines of the log */
  constructor(diagnostics: Diagnostics, describe: () => string, logInterval: number) {
    this.#diagnostics = diagnostics;
    this.#describe = describe;
    this.#timer = setInterval(
      () => this.#show(),
      diagnostics.isTerminal ? TERMINAL_INTERVAL : logInterval,
    );
    this.#timer.unref();
  }

  /** Removes the line from a terminal, or prints the last line of the log. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#diagnostics.isTerminal) this.#diagnostics.status('');
    else this.#show();
  }

  #show(): void {
    const line = this.#describe();
    if (this.#diagnostics.isTerminal) this.#diagnostics.status(line);
    else this.#diagnostics.print(line);
  }
}
