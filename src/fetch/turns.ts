/** Ends a turn; more than once does no harm. */
export type EndTurn = () => void;

export interface TurnLimits {
  /** Turns of one key at a time. */
  readonly atOnce: number;
  /** Milliseconds from the end of a turn to the next one of the same key. */
  readonly pause: number;
  /** How many may wait for one key. */
  readonly mostWaiting: number;
}

/** Who holds a key, and who waits for it. */
interface Line {
  readonly key: string;
  held: number;
  /** First come, first served. */
  readonly waiting: Set<(end: EndTurn) => void>;
  /** Set during the pause after a turn. */
  pause: NodeJS.Timeout | undefined;
}

/**
 * Turns by key, such as a host or an address: so many at a time, with a pause after each. A key
 * takes memory only while it is held, waited for or in its pause.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #lines = new Map<string, Line>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Takes a turn that is free at once. */
  tryTake(key: string): EndTurn | undefined {
    const line = this.#lines.get(key) ?? this.#open(key);
    return line.waiting.size === 0 && this.#isFree(line) ? this.#grant(line) : undefined;
  }

  /** Whether no more can wait for a key. */
  isCrowded(key: string): boolean {
    return (this.#lines.get(key)?.waiting.size ?? 0) >= this.#limits.mostWaiting;
  }

  /** Waits in line for a turn. Rejects with the signal's reason when that is aborted. */
  take(key: string, signal: AbortSignal): Promise<EndTurn> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const line = this.#lines.get(key) ?? this.#open(key);
      const leave = () => {
        line.waiting.delete(granted);
        if (line.waiting.size === 0) line.pause?.unref();
        this.#closeIdle(line);
        reject(signal.reason);
      };
      const granted = (end: EndTurn) => {
        signal.removeEventListener('abort', leave);
        resolve(end);
      };
      signal.addEventListener('abort', leave, { once: true });
      line.waiting.add(granted);
      // Nothing else may keep the process alive while all wait.
      line.pause?.ref();
      this.#grantNext(line);
    });
  }

  /** Ends all pauses. */
  close(): void {
    for (const { pause } of this.#lines.values()) clearTimeout(pause);
    this.#lines.clear();
  }

  #open(key: string): Line {
    const line = { key, held: 0, waiting: new Set<(end: EndTurn) => void>(), pause: undefined };
    this.#lines.set(key, line);
    return line;
  }

  #isFree(line: Line): boolean {
    return line.held < this.#limits.atOnce && line.pause === undefined;
  }

  #grant(line: Line): EndTurn {
    line.held++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      line.held--;
      this.#afterTurn(line);
    };
  }

  #afterTurn(line: Line): void {
    const { pause } = this.#limits;
    if (pause === 0) {
      this.#grantNext(line);
      return;
    }
    clearTimeout(line.pause);
    line.pause = setTimeout(() => {
      line.pause = undefined;
      this.#grantNext(line);
    }, pause);
    if (line.waiting.size === 0) line.pause.unref();
  }

  #grantNext(line: Line): void {
    for (const granted of line.waiting) {
      if (!this.#isFree(line)) return;
      line.waiting.delete(granted);
      granted(this.#grant(line));
    }
    this.#closeIdle(line);
  }

  #closeIdle(line: Line): void {
    const idle = line.held === 0 && line.waiting.size === 0 && line.pause === undefined;
    if (idle && this.#lines.get(line.key) === line) this.#lines.delete(line.key);
  }
}
