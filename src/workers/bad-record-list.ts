import {
  BAD,
  BAD_COUNT,
  BAD_FIRST,
  BAD_WORDS,
  header,
  LINES,
  MAX_BAD_LISTED,
  type RingWords,
  SLOT_BAD,
  SLOT_BAD_COUNT,
} from './ring-words.js';

/** A record that could not be judged; `reason` is one of the kernel's REASON_…. */
export interface ListedRecord {
  /** From 1. */
  readonly line: number;
  readonly reason: number;
}

/** The first bad records of a flow, over all its inputs; the writer enters them. */
export class BadRecordList {
  readonly #words: RingWords;

  constructor(words: RingWords) {
    this.#words = words;
  }

  /** Lines count from 1 again: to be called before each input. */
  beginInput(): void {
    this.#words.set(BAD_FIRST, this.#words.get(BAD_COUNT));
  }

  /**
   * Lists the slot's bad records, whose absolute lines are known now; to be called when its output
   * is written. A batch that is judged again finds its records listed.
   */
  list(slot: number): void {
    const words = this.#words;
    const at = header(slot);
    const before = words.counter(LINES);
    const count = words.get(at + SLOT_BAD_COUNT);
    for (let i = 0; i < count; i++) {
      const listed = words.get(BAD_COUNT);
      if (listed === MAX_BAD_LISTED) return;
      const entry = BAD + listed * BAD_WORDS;
      const line = before + 1 + words.get(at + SLOT_BAD + 2 * i);
      const last = listed > words.get(BAD_FIRST) ? words.counter((entry - BAD_WORDS) / 2) : 0;
      if (line <= last) continue;
      words.setCounter(entry / 2, line);
      words.set(entry + 2, words.get(at + SLOT_BAD + 2 * i + 1));
      Atomics.store(words.all, BAD_COUNT, listed + 1);
    }
  }

  /** The bad record at which a strict run stops: the first of the slot whose turn it is. */
  strict(slot: number): ListedRecord {
    const words = this.#words;
    const at = header(slot) + SLOT_BAD;
    return { line: words.counter(LINES) + 1 + words.get(at), reason: words.get(at + 1) };
  }

  /** Records that have been listed, from the given one on. */
  from(first: number): ListedRecord[] {
    const words = this.#words;
    const records: ListedRecord[] = [];
    const count = Atomics.load(words.all, BAD_COUNT);
    for (let i = first; i < count; i++) {
      const entry = BAD + i * BAD_WORDS;
      records.push({ line: words.counter(entry / 2), reason: words.get(entry + 2) });
    }
    return records;
  }
}
