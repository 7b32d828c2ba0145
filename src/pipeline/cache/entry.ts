import type { Authority } from '../../protocol/authority.js';
import type { FetchFinding, FetchReading } from './fetch-record.js';

/** One robots.txt as a cache holds it: what it says is not looked at yet. */
export interface CacheEntry {
  readonly authority: Authority;
  /**
   * At most `maxBodyBytes + 1` octets, so that the parser sees that more was there. The next
   * entry's may overwrite it.
   */
  readonly body: Uint8Array;
  /**
   * The file's path below the directory (`example.com/robots.txt`), or `FILE.ndjson:LINE` for a
   * record.
   */
  readonly source: string;
  /** The status code of the response (RFC 9110 section 15), where the cache tells it. */
  readonly status: number | undefined;
  /**
   * What a fetch has found, where there is a record of it beside the file: it counts before
   * `status`.
   */
  readonly fetched?: FetchFinding;
}

/**
 * Why something in a cache did not become an entry.
 *
 * - `not-a-host`: the name of a file or directory, or the host of a record, is no authority.
 * - `aside`: a file that is a document or data by its name.
 * - `bad-record`: a line that is no usable record, or a robots.json that is none, or another
 *   host's: a robots.txt beside that does not count.
 * - `unreadable`: a file, directory or link that cannot be read, or vanished meanwhile.
 * - `not-a-file`: a pipe, socket or device, or a directory in the place of a file.
 * - `link-outside`: a symbolic link that leaves the directory.
 * - `too-deep`: nested deeper than any known layout.
 * - `no-robots-txt`: a directory of a host without a robots.txt, or without the one that its
 *   robots.json speaks of.
 * - `compressed`: a body that is compressed, as a server may send it: its rules cannot be read.
 * - `not-text`: a body that is a file of another format, such as Parquet or WARC, or has controls
 *   as only binary data have.
 * - `too-large`: a body that would not fit in memory.
 * - `over-budget`: a body of more records and wildcards than the budget for a file allows:
 *   everything is denied; found by who builds a table, not by who reads.
 */
export type CacheWarningCode =
  | 'not-a-host'
  | 'aside'
  | 'bad-record'
  | 'unreadable'
  | 'not-a-file'
  | 'link-outside'
  | 'too-deep'
  | 'no-robots-txt'
  | 'compressed'
  | 'not-text'
  | 'too-large'
  | 'over-budget';

export interface CacheWarning {
  readonly code: CacheWarningCode;
  /**
   * The path of the file: the directory as it was given, and in it names whose
   * octets that are not UTF-8, C0 controls and DEL stand as `\xNN`. For `over-budget`, which is
   * found later, the source of the entry.
   */
  readonly path: string;
  /** Number of the line of a record, from 1. */
  readonly line?: number;
  /** What was found and what became of it, without the path. May quote text from the file. */
  readonly message: string;
}

/** How a cache is read. */
export interface CacheOptions {
  /**
   * Whether symbolic links may lead out of a directory; default false. Links that stay inside are
   * followed anyway.
   */
  readonly followLinks?: boolean;
  /** The parsing limit in octets (RFC 9309 section 2.5); may be `Infinity`. */
  readonly maxBodyBytes: number;
  /**
   * How records of fetches are understood: the time, and the days for which what is unreachable
   * denies.
   */
  readonly fetchReading?: FetchReading | undefined;
}

/** There is a robots.txt in a cache. */
export interface EntryEvent {
  readonly kind: 'entry';
  readonly entry: CacheEntry;
}

/** Something was left out of a cache. */
export interface WarningEvent {
  readonly kind: 'warning';
  readonly warning: CacheWarning;
}

/**
 * The octets of a body that are read: one more than the parsing limit, which tells the parser of
 * the cut.
 */
export function bodyLimit(maxBodyBytes: number): number {
  return Math.floor(maxBodyBytes) + 1;
}
