import { withoutTruncatedLine } from '../protocol/truncated-line.js';
import type { CacheEntry, CacheOptions, CacheWarningCode } from './entry.js';
import type { Body, FileAccess, FilePath, LongBody, Skip } from './file.js';
import type { Place } from './listing.js';
import { examineBody, type Notice } from './unusable-body.js';

/**
 * Maximum length in bytes of bodies that are read several at a time; longer ones are read singly.
 */
export const SHORT_BODY = 64 * 1024;

/** The message for a directory with the name of a file. */
export const NO_FILE = 'A directory, not a file; skipped.';

/** Settings for reading items. */
export interface ReadContext {
  readonly access: FileAccess;
  readonly options: CacheOptions;
}

/** An entry without its body. */
export interface PendingEntry {
  readonly entry: Omit<CacheEntry, 'body'>;
  /** SHA-256 of the body that a fetch stored, in hexadecimal; `undefined` if none is known. */
  readonly sha256?: string | undefined;
  /** Length of the body that a fetch stored and truncated, in bytes; `undefined` if it is whole. */
  readonly truncatedAt?: number | undefined;
}

/** Something skipped with a warning. */
export interface SkippedItem {
  readonly kind: 'skipped';
  /** The path for messages. */
  readonly displayPath: string;
  readonly skip: Skip;
}

/** A robots.txt that is too long to be read together with others. */
export interface LongItem {
  readonly kind: 'long';
  readonly path: FilePath;
  readonly displayPath: string;
  readonly pending: PendingEntry;
}

/** A file of records. */
export interface RecordFileItem {
  readonly kind: 'records';
  readonly path: FilePath;
  readonly displayPath: string;
  /** The beginning of the sources of its entries: `FILE.ndjson`. */
  readonly source: string;
}

/** An item that has its own parts: a file of records, or the directory of a scheme. */
export type Nested = RecordFileItem | { readonly kind: 'scheme'; readonly place: Place };

/** A robots.txt that has been read. */
export interface EntryItem {
  readonly kind: 'entry';
  readonly entry: CacheEntry;
  /** The path for messages. */
  readonly displayPath?: string;
  /** What is to be said about the body. */
  readonly notice?: Notice;
}

/** The meaning of a name in a robots directory. */
export type Item = EntryItem | LongItem | Nested | { readonly kind: 'ignored' } | SkippedItem;

/** The item for something that is skipped. */
export function skipped(displayPath: string, code: CacheWarningCode, message: string): SkippedItem {
  return { kind: 'skipped', displayPath, skip: { kind: 'skip', code, message } };
}

/** The item for the result of `readBody`. */
export function itemOf(
  result: Body | LongBody | Skip,
  path: FilePath,
  displayPath: string,
  pending: PendingEntry,
): EntryItem | LongItem | SkippedItem {
  switch (result.kind) {
    case 'body':
      return itemOfBody(result.bytes, displayPath, pending);
    case 'long':
      return { kind: 'long', path, displayPath, pending };
    case 'skip':
      return { kind: 'skipped', displayPath, skip: result };
  }
}

/** The item for a body: an entry, unless the body is unusable. */
export function itemOfBody(
  body: Uint8Array,
  displayPath: string,
  pending: PendingEntry,
): EntryItem | SkippedItem {
  const found = examineBody(body, pending.entry.authority, pending.sha256);
  if (found?.kind === 'skip') return { kind: 'skipped', displayPath, skip: found };
  // A shorter file has been edited by hand, and counts as it is.
  const { entry, truncatedAt } = pending;
  const isTruncated = truncatedAt !== undefined && body.length >= truncatedAt;
  return {
    kind: 'entry',
    entry: { ...entry, body: isTruncated ? withoutTruncatedLine(body) : body },
    ...(found === undefined ? {} : { displayPath, notice: found }),
  };
}
