/** Entries: what every source of robots.txt files gives, and the warnings about what it skips. */

import type { VersionDetails } from '../compile/compiled-robots.js';
import type { Authority } from '../protocol/authority.js';
import type { Profile } from '../protocol/verdict.js';
import type { FetchOutcome, FetchReading } from './fetch-state.js';

/** One robots.txt of a cache, before parsing. */
export interface CacheEntry {
  readonly authority: Authority;
  /**
   * The body, of at most `maxBodyBytes + 1` bytes. The additional byte shows the parser that the
   * body was longer. The next entry may overwrite the body.
   */
  readonly body: Uint8Array;
  /**
   * The path of the file in the robots directory (`example.com/robots.txt`), or `FILE.ndjson:LINE`
   * for a record.
   */
  readonly source: string;
  /** The status code of the response (RFC 9110 section 15), if the cache has it. */
  readonly status: number | undefined;
  /** When it was fetched, in milliseconds since 1970, if the cache says so beside it. */
  readonly date?: number | undefined;
  /** The finding of the last fetch, if there is a robots.json. Overrides `status`. */
  readonly fetched?: FetchOutcome;
  /** What else is known of a version. Overrides `status` and `fetched`. */
  readonly known?: Pick<VersionDetails, 'access' | 'compiledFrom' | 'isAgain' | 'isGuess'>;
}

/**
 * The reason why something in a cache was skipped, or of a warning about an entry.
 *
 * - `not-a-host`: the name of a file or directory, or the host of a record, is not an authority.
 * - `document`: a file whose name marks it as a document or data.
 * - `bad-record`: a line that is not a usable record; or a robots.json that is damaged or names
 *   another host, so that the robots.txt beside it is skipped too.
 * - `bad-date`: a record with a date that a table with histories cannot use. It is left out there.
 * - `unreadable`: a file, directory or link that cannot be read, or vanished during the run.
 * - `not-a-file`: a pipe, socket or device, or a directory in place of a file.
 * - `link-outside`: a symbolic link that leaves the directory.
 * - `too-deep`: nested deeper than any layout.
 * - `no-robots-txt`: the directory of a host without a robots.txt, or without the robots.txt that
 *   its robots.json describes.
 * - `compressed`: a compressed body, or one in UTF-16 or UTF-32 without its byte order mark.
 * - `not-text`: a body of another format, such as Parquet or WARC.
 * - `binary`: binary data without a known format. It is not skipped: it is read as text.
 * - `too-large`: a body that would not fit in memory.
 * - `truncated`: a robots.txt that a fetch has truncated, read with a greater limit than the fetch
 *   had; rules may be missing.
 * - `damaged-record`: a damaged place in an archive; the captures there are lost.
 * - `broken-response`: a capture whose body is cut short, or cannot be decoded; it counts as
 *   unreachable.
 * - `no-payload`: captures that refer to an earlier capture, which is missing. The capture before
 *   counts.
 * - `no-target`: authorities whose robots.txt redirects to a URL that was not captured.
 * - `too-many-versions`: authorities whose robots.txt changes so often in a history that the oldest
 *   versions are left out.
 * - `without-records`: a table that keeps no other records, for a table that is to keep them.
 * - `overlapping-versions`: histories of several sources that overlap, of which one tells only when
 *   its versions were found first and last. This is found by compiling, not by reading.
 * - `overridden`: a file without a scheme that loses to an entry of a table for one scheme. This is
 *   found by compiling, not by reading.
 * - `over-budget`: a body with more records and wildcards than a file may have. Everything is
 *   denied. This is found by compiling, not by reading.
 * - `too-many-authorities`: a host with more schemes and ports than a table can have of one host.
 *   This too is found by compiling.
 */
export type CacheWarningCode =
  | 'not-a-host'
  | 'document'
  | 'bad-record'
  | 'bad-date'
  | 'unreadable'
  | 'not-a-file'
  | 'link-outside'
  | 'too-deep'
  | 'no-robots-txt'
  | 'compressed'
  | 'not-text'
  | 'binary'
  | 'too-large'
  | 'truncated'
  | 'damaged-record'
  | 'broken-response'
  | 'no-payload'
  | 'no-target'
  | 'too-many-versions'
  | 'without-records'
  | 'overlapping-versions'
  | 'overridden'
  | 'over-budget'
  | 'too-many-authorities';

export interface CacheWarning {
  readonly code: CacheWarningCode;
  /**
   * The path of the file: the robots directory as given, then names in the form of `displayName`.
   * For `over-budget`, the source of the entry; for `too-many-authorities`, the host.
   */
  readonly path: string;
  /** Number of the line of a record, from 1. */
  readonly line?: number;
  /** Offset of the record of an archive in its file, in bytes. */
  readonly offset?: number;
  /** Number of cases that the warning stands for. Default 1. */
  readonly count?: number;
  /** The finding and its consequence, without the path. May quote the file. */
  readonly message: string;
}

/** Options for reading a cache. */
export interface CacheOptions {
  /** The parsing limit in bytes (RFC 9309 section 2.5); may be `Infinity`. */
  readonly maxBodyBytes: number;
  /** Captures after this moment do not count; milliseconds since 1970. Default: all count. */
  readonly asOf?: number | undefined;
  /** Whether a record with a date that cannot be used gets a warning. Default false. */
  readonly needsDates?: boolean | undefined;
  /** The profile by which the status of an answer is read. Default `rfc9309`. */
  readonly profile?: Profile | undefined;
  /** How fetch states are interpreted. */
  readonly fetchReading?: FetchReading | undefined;
}

/** A robots.txt was found in a cache. */
export interface EntryEvent {
  readonly kind: 'entry';
  readonly entry: CacheEntry;
}

/** Something in a cache was skipped. */
export interface WarningEvent {
  readonly kind: 'warning';
  readonly warning: CacheWarning;
}

/** Bytes of a body that are read: one more than the limit shows that the body was longer. */
export function bodyLimit(maxBodyBytes: number): number {
  return Math.floor(maxBodyBytes) + 1;
}
