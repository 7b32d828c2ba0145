import {
  RECORDS_COUNT,
  RECORDS_DATE,
  RECORDS_ENTRIES,
  RECORDS_ENTRY_BYTES,
  RECORDS_ENTRY_DATED,
  RECORDS_ENTRY_PLAIN,
  RECORDS_LIST,
} from '../../table/format.js';
import type { AuthoritySet } from '../intern/authority-set.js';
import type { ByteStore } from '../intern/byte-store.js';
import { Uint32List } from '../intern/uint32-list.js';
import type { HostClusters } from './host-clusters.js';
import type { HostRecords } from './host-records.js';
import { OffsetMap } from './offset-map.js';
import type { TableChunk, TablePieces } from './table-chunk.js';

/** Words of an entry before it is written: authority, record list plus one, date. */
const WORDS = 3;

/** The section of records: the other records of the robots.txt files, and their dates. */
export class RecordSection {
  /** Length of the section; 0 if the table keeps no records. */
  readonly bytes: number;
  readonly #lists: ByteStore | undefined;
  readonly #offsets: OffsetMap;
  /** The words of all entries; an authority is its offset in the section of hosts. */
  readonly #words = new Uint32List();
  readonly #count: number;
  readonly #entryBytes: number;

  /** @param lists the record lists; `undefined` if the table keeps no records */
  constructor(
    hosts: HostRecords,
    clusters: HostClusters,
    authorities: AuthoritySet,
    lists: ByteStore | undefined,
  ) {
    this.#lists = lists;
    this.#offsets = new OffsetMap(lists?.count ?? 0);
    this.#entryBytes = authorities.hasDates ? RECORDS_ENTRY_DATED : RECORDS_ENTRY_PLAIN;
    this.#count = 0;
    this.bytes = 0;
    if (lists === undefined) return;
    let listBytes = 0;
    clusters.eachHost((host) => {
      const start = clusters.hostStart(host);
      hosts.eachAuthority(host, (authority, offset) => {
        const list = authorities.recordList(authority);
        const date = authorities.date(authority);
        if (list === 0 && date === 0) return;
        if (list !== 0 && this.#offsets.place(list - 1, listBytes)) {
          listBytes += lists.length(list - 1);
        }
        this.#words.push(start + offset);
        this.#words.push(list);
        this.#words.push(date);
      });
    });
    this.#count = this.#words.length / WORDS;
    this.bytes = this.#listsStart + listBytes;
  }

  /** Offset in the section of the record lists. */
  get #listsStart(): number {
    return RECORDS_ENTRIES + this.#count * this.#entryBytes;
  }

  /**
   * Returns the section; its head, each entry and each list is a piece.
   *
   * @param section start of the section in the table
   * @param hostSection start of the section of hosts
   */
  pieces(section: number, hostSection: number): TablePieces {
    const lists = this.#lists;
    const offsets = this.#offsets;
    const entries = this.bytes === 0 ? 0 : this.#count;
    const pieces = this.bytes === 0 ? 0 : 1 + entries + offsets.count;
    const listOf = (piece: number): number => offsets.item(piece - 1 - entries);
    let next = 0;
    const bytesOf = (piece: number): number => {
      if (piece === pieces) return 0;
      if (piece === 0) return RECORDS_ENTRIES;
      if (piece <= entries) return this.#entryBytes;
      return lists?.length(listOf(piece)) ?? 0;
    };
    return {
      get nextBytes() {
        return bytesOf(next);
      },
      write: (chunk) => {
        const bytes = bytesOf(next);
        if (next === 0) this.#writeHead(chunk);
        else if (next <= entries) this.#writeEntry(next - 1, chunk, section, hostSection);
        else if (lists !== undefined) chunk.bytes.set(lists.get(listOf(next)), chunk.end);
        chunk.end += bytes;
        next++;
      },
    };
  }

  #writeHead({ view, end }: TableChunk): void {
    view.setUint32(end + RECORDS_COUNT, this.#count, true);
    view.setUint32(end + RECORDS_ENTRY_BYTES, this.#entryBytes, true);
  }

  #writeEntry(
    entry: number,
    { view, end }: TableChunk,
    section: number,
    hostSection: number,
  ): void {
    const words = this.#words;
    const list = words.get(WORDS * entry + 1);
    const listStart = section + this.#listsStart + (list === 0 ? 0 : this.#offsets.start(list - 1));
    view.setUint32(end, hostSection + words.get(WORDS * entry), true);
    view.setUint32(end + RECORDS_LIST, list === 0 ? 0 : listStart, true);
    if (this.#entryBytes === RECORDS_ENTRY_DATED) {
      view.setUint32(end + RECORDS_DATE, words.get(WORDS * entry + 2), true);
    }
  }
}
