import { STOP, STOP_ALL } from './ring-words.js';
import type { SharedWords, Word } from './shared-words.js';

/** Milliseconds after which a waiting thread checks again whether it must still wait. */
const LONGEST_WAIT = 1000;

/** Waits of one thread for words of the ring. Any wait may return early: check the word again. */
export class Waits {
  readonly #words: SharedWords;
  /**
   * Whether consumers on this thread may block it. On the main thread they may not, because
   * producer and writer work there too.
   */
  readonly mayBlock: boolean;

  constructor(words: SharedWords, mayBlock: boolean) {
    this.#words = words;
    this.mayBlock = mayBlock;
  }

  /** Whether all threads must return. */
  get stopped(): boolean {
    return this.#words.load(STOP) === STOP_ALL;
  }

  /** Sleeps while the word has this value, unless the run is stopped. */
  block(word: Word, value: number, milliseconds = LONGEST_WAIT): void {
    if (!this.stopped) this.#words.wait(word, value, milliseconds);
  }

  /**
   * As `block`, for the main thread. Only the main thread stops a run, so it cannot miss the stop.
   */
  async inEventLoop(word: Word, value: number): Promise<void> {
    if (!this.stopped) await this.#words.waitAsync(word, value);
  }

  /** As `block` or `inEventLoop`, whichever is allowed on this thread. */
  while(word: Word, value: number): void | Promise<void> {
    return this.mayBlock ? this.block(word, value) : this.inEventLoop(word, value);
  }

  /** Sleeps for this many milliseconds, or until the run is stopped. */
  pause(milliseconds: number): void {
    const stop = this.#words.load(STOP);
    if (stop !== STOP_ALL) this.#words.wait(STOP, stop, milliseconds);
  }
}
