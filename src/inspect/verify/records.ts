import {
  RECORDS_COUNT,
  RECORDS_DATE,
  RECORDS_ENTRIES,
  RECORDS_ENTRY_BYTES,
  RECORDS_ENTRY_DATED,
  RECORDS_ENTRY_PLAIN,
  RECORDS_LIST,
} from '../../table/format.js';
import { readRecordList } from '../../table/record-list.js';
import type { TableHeader } from '../../table/table-check.js';
import type { HostCheck } from './hosts.js';
import type { TableBytes } from './table-bytes.js';

/** Counts of the section of records. */
export interface VerifiedRecords {
  /** Record lists, and the records in them. */
  readonly recordLists: number;
  readonly records: number;
}

/**
 * Checks the section of records: the entries ascend, each is of an authority, and the lists follow
 * one another in the order in which the entries need them.
 */
export function checkRecords(
  table: TableBytes,
  { sections }: TableHeader,
  hosts: HostCheck,
): VerifiedRecords {
  const { start, end } = sections.records;
  if (start === end) return { recordLists: 0, records: 0 };
  const fault = (at: number, what: string): Error => table.fault('records', at, what);
  const count = table.u32(start + RECORDS_COUNT);
  const entryBytes = table.u32(start + RECORDS_ENTRY_BYTES);
  if (entryBytes !== RECORDS_ENTRY_PLAIN && entryBytes !== RECORDS_ENTRY_DATED) {
    throw fault(start + RECORDS_ENTRY_BYTES, `entries of ${entryBytes} bytes`);
  }
  const entries = start + RECORDS_ENTRIES;
  const lists = entries + count * entryBytes;
  if (lists > end) throw fault(start, `there are ${count} entries, beyond the section`);
  const starts = new Set<number>();
  let next = lists;
  let last = 0;
  let records = 0;
  for (let entry = entries; entry < lists; entry += entryBytes) {
    const authority = table.u32(entry);
    if (authority <= last) throw fault(entry, 'the entries do not ascend');
    last = authority;
    if (!hosts.hasAuthority(authority)) throw fault(entry, `no authority is at ${authority}`);
    const list = table.u32(entry + RECORDS_LIST);
    const date = entryBytes === RECORDS_ENTRY_DATED ? table.u32(entry + RECORDS_DATE) : 0;
    if (list === 0 && date === 0) throw fault(entry, 'an entry without records and date');
    if (list === 0 || starts.has(list)) continue;
    if (list !== next) throw fault(entry, `no record list starts at ${list}`);
    const read = readRecordList(table.bytes, list, end, fault);
    let line = 0;
    for (const record of read.records) {
      if (record.line < line) throw fault(list, 'the records are not in the order of their lines');
      line = record.line;
    }
    starts.add(list);
    records += read.records.length;
    next = read.end;
  }
  table.zeros('records', next, end);
  return { recordLists: starts.size, records };
}
