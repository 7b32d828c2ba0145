import { header, type RingWords, SLOT_WRITING, SLOT_WRITTEN, WRITER } from './ring-words.js';

/**
 * Who writes what is JUDGED, where the workers write themselves: one of them at a time. And what of
 * a slot's output is out.
 */
export class WriterRole {
  readonly #words: RingWords;

  constructor(words: RingWords) {
    this.#words = words;
  }

  /** Makes the worker the writer if there is none; says whether. */
  become(worker: number): boolean {
    return Atomics.compareExchange(this.#words.all, WRITER, 0, worker + 1) === 0;
  }

  /** To be called by the writer, which looks afterwards whether something has become due. */
  resign(): void {
    Atomics.store(this.#words.all, WRITER, 0);
  }

  isHeldBy(worker: number): boolean {
    return Atomics.load(this.#words.all, WRITER) === worker + 1;
  }

  /** Octets of the output of the slot's batch that are out. */
  written(slot: number): number {
    return this.#words.counter(header(slot) / 2 + SLOT_WRITTEN);
  }

  /** To be called before octets of the slot's output are written; `endWrite` says how many were. */
  beginWrite(slot: number): void {
    Atomics.store(this.#words.all, header(slot) + SLOT_WRITING, 1);
  }

  endWrite(slot: number, octets: number): void {
    this.#words.setCounter(header(slot) / 2 + SLOT_WRITTEN, this.written(slot) + octets);
    Atomics.store(this.#words.all, header(slot) + SLOT_WRITING, 0);
  }

  isWriting(slot: number): boolean {
    return Atomics.load(this.#words.all, header(slot) + SLOT_WRITING) !== 0;
  }
}
