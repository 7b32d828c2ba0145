import type { CacheEntry, CacheOptions, CacheWarningCode } from './entry.js';
import type { Body, FileAccess, FilePath, LongBody, Refusal } from './file.js';
import { refuseForeignBody } from './foreign-body.js';
import type { Place } from './listing.js';
import { withoutTornLine } from './torn-line.js';

/** Octets of a body that is read together with others; longer ones are read one at a time. */
export const SHORT_BODY = 64 * 1024;

/** What is said of a directory in the place of a robots.txt. */
export const NO_FILE = 'A directory, no file; left out.';

/** What reading a cache needs everywhere. */
export interface CacheReading {
  readonly access: FileAccess;
  readonly options: CacheOptions;
}

/** An entry whose body is yet to be read. */
export interface Heading {
  readonly entry: Omit<CacheEntry, 'body'>;
  /**
   * Digest of the body that a fetch has put there, in hexadecimal digits; `undefined` where none is
   * known to.
   */
  readonly sha256?: string | undefined;
  /** Octets of the body that a fetch has put there and cut; `undefined` where it was whole. */
  readonly cutAt?: number | undefined;
}

/** Something to be warned of. */
export interface Complaint {
  /** The path for messages. */
  readonly shown: string;
  readonly refusal: Refusal;
}

/** A robots.txt whose body is too long to be read together with others. */
export interface LongFinding {
  readonly kind: 'long';
  readonly path: FilePath;
  readonly shown: string;
  readonly heading: Heading;
}

/** A file of records. */
export interface RecordsFinding {
  readonly kind: 'records';
  readonly path: FilePath;
  readonly shown: string;
  /** What the sources of its entries begin with. */
  readonly name: string;
}

/**
 * Found in a directory, and to be read in its place: a file of records, or the directory of a
 * scheme.
 */
export type Nested = RecordsFinding | { readonly kind: 'scheme'; readonly place: Place };

/** A robots.txt, read. */
export interface EntryFinding {
  readonly kind: 'entry';
  readonly entry: CacheEntry;
}

/** What is left out. */
export interface Refused extends Complaint {
  readonly kind: 'refused';
}

/** What a name turned out to be; `shown` is the path for messages. */
export type Finding =
  | EntryFinding
  | LongFinding
  | Nested
  | { readonly kind: 'passed-over' }
  | Refused;

/** The finding that something is left out. */
export function refused(shown: string, code: CacheWarningCode, message: string): Finding {
  return { kind: 'refused', shown, refusal: { kind: 'refusal', code, message } };
}

/** The finding that the outcome of reading a body stands for. */
export function findingOf(
  outcome: Body | LongBody | Refusal,
  path: FilePath,
  shown: string,
  heading: Heading,
): EntryFinding | LongFinding | Refused {
  switch (outcome.kind) {
    case 'body':
      return findingOfBody(outcome.octets, shown, heading);
    case 'long':
      return { kind: 'long', path, shown, heading };
    case 'refusal':
      return { kind: 'refused', shown, refusal: outcome };
  }
}

/** The finding that a body stands for. */
export function findingOfBody(
  body: Uint8Array,
  shown: string,
  heading: Heading,
): EntryFinding | Refused {
  const refusal = refuseForeignBody(body, heading.sha256);
  if (refusal !== undefined) return { kind: 'refused', shown, refusal };
  // A shorter file is one that somebody has edited: it counts as it is.
  const { entry, cutAt } = heading;
  const torn = cutAt !== undefined && body.length >= cutAt;
  return { kind: 'entry', entry: { ...entry, body: torn ? withoutTornLine(body) : body } };
}
