import {
  HEADER_RECORDS,
  HEADER_SECTIONS,
  RECORDS_COUNT,
  RECORDS_DATE,
  RECORDS_ENTRIES,
  RECORDS_ENTRY_BYTES,
  RECORDS_ENTRY_DATED,
  RECORDS_ENTRY_PLAIN,
  RECORDS_LIST,
  SECTION_END,
} from '../table/format.js';
import { readRecordList, type TableRecord } from '../table/record-list.js';
import type { AuthorityRecords } from './table-content.js';
import type { TableReader } from './table-reader.js';

const NOTHING: AuthorityRecords = { list: 0, records: [], date: undefined };

/** Finds the other records of authorities in the section of records of a table. */
export class RecordIndex {
  /** Whether the table has the section. */
  readonly isPresent: boolean;
  readonly #reader: TableReader;
  readonly #entries: number;
  readonly #count: number;
  readonly #entryBytes: number;
  readonly #end: number;
  /** The list that was read last: equal files share a list. */
  #list = 0;
  #records: readonly TableRecord[] = [];

  constructor(reader: TableReader) {
    this.#reader = reader;
    const section = reader.u32(HEADER_RECORDS);
    this.isPresent = section !== 0;
    this.#entries = section + RECORDS_ENTRIES;
    this.#end = reader.u32(HEADER_SECTIONS + 4 * SECTION_END);
    this.#count = this.isPresent ? reader.u32(section + RECORDS_COUNT) : 0;
    this.#entryBytes = this.isPresent ? reader.u32(section + RECORDS_ENTRY_BYTES) : 0;
    if (!this.isPresent) return;
    if (this.#entryBytes !== RECORDS_ENTRY_PLAIN && this.#entryBytes !== RECORDS_ENTRY_DATED) {
      throw reader.damaged(`the entries of its records have ${this.#entryBytes} bytes`);
    }
    if (this.#entries + this.#count * this.#entryBytes > this.#end) {
      throw reader.damaged(`it has ${this.#count} entries of records, beyond their section`);
    }
  }

  /** The records of the authority at an offset. */
  of(authority: number): AuthorityRecords {
    const reader = this.#reader;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = this.#entries + middle * this.#entryBytes;
      const there = reader.u32(entry);
      if (there < authority) low = middle + 1;
      else if (there > authority) high = middle;
      else return this.#entry(entry);
    }
    return NOTHING;
  }

  /** The records of a list. */
  listAt(list: number): readonly TableRecord[] {
    if (list === 0) return [];
    if (list !== this.#list) {
      const { records } = readRecordList(this.#reader.bytes, list, this.#end, (_at, what) =>
        this.#reader.damaged(what),
      );
      this.#records = records;
      this.#list = list;
    }
    return this.#records;
  }

  #entry(at: number): AuthorityRecords {
    const reader = this.#reader;
    const list = reader.u32(at + RECORDS_LIST);
    const date = this.#entryBytes === RECORDS_ENTRY_DATED ? reader.u32(at + RECORDS_DATE) : 0;
    return new RecordsEntry(this, list, date === 0 ? undefined : date);
  }
}

/** The records of an authority, which are read when they are needed. */
class RecordsEntry implements AuthorityRecords {
  readonly list: number;
  readonly date: number | undefined;
  readonly #index: RecordIndex;

  constructor(index: RecordIndex, list: number, date: number | undefined) {
    this.#index = index;
    this.list = list;
    this.date = date;
  }

  get records(): readonly TableRecord[] {
    return this.#index.listAt(this.list);
  }
}
