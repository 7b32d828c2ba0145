/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

export interface TurnLimits {
  /** Maximum number of turns at one key at a time. */
  readonly atOnce: number;
  /** Milliseconds from the end of a turn to the next turn at the same key. */
  readonly pause: number;
  /** Maximum number of fetches that wait for one key. */
  readonly mostWaiting: number;
}

/** The turns that are held at a key, and the queue for it. */
interface Queue {
  readonly key: string;
  held: number;
  /** The waiting fetches, in the order of their arrival. */
  readonly waiting: Set<(end: EndTurn) => void>;
  /** The timer of the pause after a turn. */
  pause: NodeJS.Timeout | undefined;
}

/**
 * Turns at keys, such as hosts or addresses: a limited number at a time, with a pause after each. A
 * key takes memory only while turns are held, fetches wait or the pause runs.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #queues = new Map<string, Queue>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Takes a turn if one is free now. */
  tryTake(key: string): EndTurn | undefined {
    const queue = this.#queues.get(key) ?? this.#open(key);
    return queue.waiting.size === 0 && this.#isFree(queue) ? this.#grant(queue) : undefined;
  }

  /** Whether the queue for a key is full. */
  isCrowded(key: string): boolean {
    return (this.#queues.get(key)?.waiting.size ?? 0) >= this.#limits.mostWaiting;
  }

  /** Waits for a turn. Rejects with the signal's reason when the signal is aborted. */
  take(key: string, signal: AbortSignal): Promise<EndTurn> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const queue = this.#queues.get(key) ?? this.#open(key);
      const leave = () => {
        queue.waiting.delete(granted);
        if (queue.waiting.size === 0) queue.pause?.unref();
        this.#closeIdle(queue);
        reject(signal.reason);
      };
      const granted = (end: EndTurn) => {
        signal.removeEventListener('abort', leave);
        resolve(end);
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.waiting.add(granted);
      // If everything waits, only this timer keeps the process alive.
      queue.pause?.ref();
      this.#grantNext(queue);
    });
  }

  /** Ends all pauses. */
  close(): void {
    for (const { pause } of this.#queues.values()) clearTimeout(pause);
    this.#queues.clear();
  }

  #open(key: string): Queue {
    const queue = { key, held: 0, waiting: new Set<(end: EndTurn) => void>(), pause: undefined };
    this.#queues.set(key, queue);
    return queue;
  }

  #isFree(queue: Queue): boolean {
    return queue.held < this.#limits.atOnce && queue.pause === undefined;
  }

  #grant(queue: Queue): EndTurn {
    queue.held++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      queue.held--;
      this.#afterTurn(queue);
    };
  }

  #afterTurn(queue: Queue): void {
    const { pause } = this.#limits;
    if (pause === 0) {
      this.#grantNext(queue);
      return;
    }
    clearTimeout(queue.pause);
    queue.pause = setTimeout(() => {
      queue.pause = undefined;
      this.#grantNext(queue);
    }, pause);
    if (queue.waiting.size === 0) queue.pause.unref();
  }

  #grantNext(queue: Queue): void {
    for (const granted of queue.waiting) {
      if (!this.#isFree(queue)) return;
      queue.waiting.delete(granted);
      granted(this.#grant(queue));
    }
    this.#closeIdle(queue);
  }

  #closeIdle(queue: Queue): void {
    const idle = queue.held === 0 && queue.waiting.size === 0 && queue.pause === undefined;
    if (idle && this.#queues.get(queue.key) === queue) this.#queues.delete(queue.key);
  }
}
