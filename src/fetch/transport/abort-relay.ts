/**
 * Passes the abort of one signal on to many controllers, with one listener. Node warns of a leak if
 * a signal has more than ten listeners.
 */
export class AbortRelay {
  readonly #waiting = new Map<AbortSignal, Waiting>();

  /**
   * Aborts the controller when the signal is aborted, or at once if it already is.
   *
   * @returns a function that ends the connection between the two
   */
  follow(signal: AbortSignal, controller: AbortController, reason: () => unknown): () => void {
    if (signal.aborted) {
      controller.abort(reason());
      return () => undefined;
    }
    const waiting = this.#waiting.get(signal) ?? this.#listen(signal);
    waiting.controllers.set(controller, reason);
    return () => {
      waiting.controllers.delete(controller);
      if (waiting.controllers.size > 0) return;
      signal.removeEventListener('abort', waiting.listener);
      if (this.#waiting.get(signal) === waiting) this.#waiting.delete(signal);
    };
  }

  #listen(signal: AbortSignal): Waiting {
    const controllers = new Map<AbortController, () => unknown>();
    const listener = () => {
      for (const [controller, reason] of controllers) controller.abort(reason());
    };
    const waiting = { controllers, listener };
    signal.addEventListener('abort', listener);
    this.#waiting.set(signal, waiting);
    return waiting;
  }
}

interface Waiting {
  readonly controllers: Map<AbortController, () => unknown>;
  readonly listener: () => void;
}
