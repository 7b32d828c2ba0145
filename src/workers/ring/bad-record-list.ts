import {
  BAD_COUNT,
  badEntry,
  MAX_BAD_LISTED,
  SLOT_BAD_COUNT,
  slotBadEntry,
  slotWord,
} from './ring-words.js';
import type { SharedWords } from './shared-words.js';
import type { WriterRole } from './writer-role.js';

/** A record that could not be judged; `reason` is one of the kernel's REASON_…. */
export interface ListedRecord {
  /** Number of the line in the input, from 1. */
  readonly line: number;
  readonly reason: number;
}

/** The first bad records of a flow, over all its inputs. The writer enters them. */
export class BadRecordList {
  readonly #words: SharedWords;
  readonly #writer: WriterRole;

  constructor(words: SharedWords, writer: WriterRole) {
    this.#words = words;
    this.#writer = writer;
  }

  /**
   * Lists the bad records of the slot whose turn it is; to be called once for each of its outputs.
   */
  list(slot: number): void {
    const count = this.#words.load(slotWord(slot, SLOT_BAD_COUNT));
    for (let index = 0; index < count; index++) {
      const listed = this.#words.load(BAD_COUNT);
      if (listed === MAX_BAD_LISTED) return;
      const { line, reason } = this.#record(slot, index);
      const entry = badEntry(listed);
      this.#words.store64(entry.line, line);
      this.#words.store(entry.reason, reason);
      this.#words.store(BAD_COUNT, listed + 1);
    }
  }

  /** The bad record at which a strict run stops: the first of the slot whose turn it is. */
  strict(slot: number): ListedRecord {
    return this.#record(slot, 0);
  }

  /** The listed records from this index on. */
  from(first: number): ListedRecord[] {
    const records: ListedRecord[] = [];
    const count = this.#words.load(BAD_COUNT);
    for (let index = first; index < count; index++) {
      const entry = badEntry(index);
      records.push({
        line: this.#words.load64(entry.line),
        reason: this.#words.load(entry.reason),
      });
    }
    return records;
  }

  /** Replaces the contents of the list by these records. */
  restore(records: readonly ListedRecord[]): void {
    records.forEach(({ line, reason }, index) => {
      const entry = badEntry(index);
      this.#words.store64(entry.line, line);
      this.#words.store(entry.reason, reason);
    });
    this.#words.store(BAD_COUNT, records.length);
  }

  /** A bad record of the slot whose turn it is. */
  #record(slot: number, index: number): ListedRecord {
    const entry = slotBadEntry(slot, index);
    return {
      line: this.#writer.linesBefore + 1 + this.#words.load(entry.line),
      reason: this.#words.load(entry.reason),
    };
  }
}
