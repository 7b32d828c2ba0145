import type { Authority } from '../protocol/authority.js';
import type { FetchOutcome, FetchReading } from './fetch-outcome.js';

/** One robots.txt of a cache, not parsed yet. */
export interface CacheEntry {
  readonly authority: Authority;
  /**
   * At most `maxBodyBytes + 1` bytes, so that the parser sees that the body was longer. The next
   * entry may overwrite it.
   */
  readonly body: Uint8Array;
  /**
   * The path of the file in the robots directory (`example.com/robots.txt`), or `FILE.ndjson:LINE`
   * for a record.
   */
  readonly source: string;
  /** The status code of the response (RFC 9110 section 15), if the cache has it. */
  readonly status: number | undefined;
  /** What the last fetch found, if there is a robots.json. Overrides `status`. */
  readonly fetched?: FetchOutcome;
}

/**
 * Why something in a cache was skipped.
 *
 * - `not-a-host`: the name of a file or directory, or the host of a record, is not an authority.
 * - `document`: a file whose name marks it as a document or data.
 * - `bad-record`: a line that is not a usable record; or a robots.json that is damaged or names
 *   another host, which skips the robots.txt beside it, too.
 * - `unreadable`: a file, directory or link that cannot be read, or vanished during the run.
 * - `not-a-file`: a pipe, socket or device, or a directory in the place of a file.
 * - `link-outside`: a symbolic link that leaves the directory.
 * - `too-deep`: nested deeper than any layout.
 * - `no-robots-txt`: the directory of a host without a robots.txt, or without the one that its
 *   robots.json describes.
 * - `compressed`: a compressed body.
 * - `not-text`: a body of another format, such as Parquet or WARC, or binary data.
 * - `too-large`: a body that would not fit in memory.
 * - `damaged-record`: damage in an archive, which cost the captures in which it lies.
 * - `cut-short`: a capture whose body is cut short; it counts as unreachable.
 * - `no-payload`: captures that refer to an earlier one, which is missing; the one before counts.
 * - `no-target`: authorities whose robots.txt redirects to a URL that was not captured.
 * - `over-budget`: a body with more records and wildcards than the budget for a file allows.
 *   Everything is denied. Compiling finds it, not reading.
 */
export type CacheWarningCode =
  | 'not-a-host'
  | 'document'
  | 'bad-record'
  | 'unreadable'
  | 'not-a-file'
  | 'link-outside'
  | 'too-deep'
  | 'no-robots-txt'
  | 'compressed'
  | 'not-text'
  | 'too-large'
  | 'damaged-record'
  | 'cut-short'
  | 'no-payload'
  | 'no-target'
  | 'over-budget';

export interface CacheWarning {
  readonly code: CacheWarningCode;
  /**
   * The path of the file: the robots directory as given, then names as `displayName` gives them.
   * For `over-budget` the source of the entry.
   */
  readonly path: string;
  /** Number of the line of a record, from 1. */
  readonly line?: number;
  /** Where a record of an archive lies in its file, in bytes. */
  readonly offset?: number;
  /** Number of cases that the warning stands for. Default 1. */
  readonly count?: number;
  /** What was found and what became of it, without the path. May quote the file. */
  readonly message: string;
}

/** How a cache is read. */
export interface CacheOptions {
  /**
   * Whether symbolic links may lead out of the robots directory. Default false. Links that stay
   * inside are always followed.
   */
  readonly followLinks?: boolean;
  /** The parsing limit in bytes (RFC 9309 section 2.5); may be `Infinity`. */
  readonly maxBodyBytes: number;
  /** Captures after this moment do not count; milliseconds since 1970. Default: all count. */
  readonly asOf?: number | undefined;
  /** How fetch records are understood. */
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

/** The bytes of a body that are read: one more than the limit shows that the body was longer. */
export function bodyLimit(maxBodyBytes: number): number {
  return Math.floor(maxBodyBytes) + 1;
}
