/** Checks the header of a table before anything else in the table is believed. */

import { RobotsFilterError } from '../base/errors.js';
import { PROFILES, type Profile } from '../protocol/verdict.js';
import {
  BUCKET_BYTES,
  BUCKET_SLOTS,
  CACHE_LINE_BYTES,
  FLAG_REDUCED,
  FLAG_SIGNALS,
  HEADER_AUTHORITIES,
  HEADER_AUTOMATA,
  HEADER_BUCKETS,
  HEADER_BYTES,
  HEADER_CHECKSUM,
  HEADER_COMPILED_BYTES,
  HEADER_FLAGS,
  HEADER_HOSTS,
  HEADER_LENGTH,
  HEADER_LONGEST_PROBE,
  HEADER_PROFILE,
  HEADER_RECORDS,
  HEADER_ROBOTS,
  HEADER_RULES,
  HEADER_SECTIONS,
  HEADER_TOKENS,
  HEADER_VERSION,
  MAGIC_HIGH,
  MAGIC_LOW,
  OLDEST_VERSION,
  RECORDS_ENTRIES,
  SECTION_BUCKETS,
  SECTION_END,
  SECTION_HOSTS,
  SECTION_SOURCES,
  SECTION_TOKENS,
  TAIL_BYTES,
  TOKEN_ENTRY_BYTES,
  VERSION,
  VERSION_UNREAD,
  VERSION_WITHOUT_HISTORIES,
} from './format.js';

/** The sections in their order. */
export const SECTION_NAMES = ['tokens', 'buckets', 'hosts', 'sources', 'records'] as const;

export type SectionName = (typeof SECTION_NAMES)[number];

/** The header of a table that `checkTable` has accepted. */
export interface TableHeader {
  readonly version: number;
  readonly profile: Profile;
  /** Length of the table in bytes. */
  readonly length: number;
  /** The checksum of the table, which tells it from any other. */
  readonly checksum: number;
  /** Whether the table answers only for the product tokens that it names. */
  readonly reduced: boolean;
  /** Whether the table has what robots.txt files say about uses. */
  readonly signals: boolean;
  /** Whether it keeps other records and dates; its files may have none. */
  readonly records: boolean;
  readonly hosts: number;
  readonly authorities: number;
  /** Robots records: robots.txt files with distinct groups. */
  readonly robots: number;
  readonly automata: number;
  /** Rules of all automata. */
  readonly rules: number;
  /** Product tokens, `*` and the empty one included. */
  readonly tokens: number;
  /** Buckets of BUCKET_SLOTS slots. */
  readonly buckets: number;
  /** In buckets. */
  readonly longestProbe: number;
  /** Total length of the robots.txt files in bytes, modulo 2^32. */
  readonly compiledBytes: number;
  /**
   * Start and end of each section, including the padding after it. A table without records has an
   * empty section of them.
   */
  readonly sections: Readonly<
    Record<SectionName, { readonly start: number; readonly end: number }>
  >;
}

const MIN_BYTES = HEADER_BYTES + TAIL_BYTES;
const MIN_HOST_BYTES = 5;
const FIXED_TOKENS = 2;

const COMPILE_AGAIN = 'compile it again';
const READ_VERSIONS = `v${OLDEST_VERSION} to v${VERSION_WITHOUT_HISTORIES} and v${VERSION}`;
/** The first version with a section of records. */
const VERSION_WITH_RECORDS = 8;

/**
 * The length that the header of a table states; `undefined` if the bytes are not the start of a
 * table.
 */
export function statedLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isTable = view.getUint32(0, true) === MAGIC_LOW && view.getUint32(4, true) === MAGIC_HIGH;
  return isTable ? view.getUint32(HEADER_LENGTH, true) : undefined;
}

/**
 * Checks the beginning of a table before the rest is read: magic, version and length.
 *
 * @param head the first bytes: the header, if the table is that long
 * @param size length of the table in bytes; `undefined` for a pipe, whose end is unknown
 * @throws RobotsFilterError as `checkTable`
 */
export function checkBeginning(head: Uint8Array, size: number | undefined, name: string): void {
  const refuse = (cause: string, remedy: string): RobotsFilterError =>
    new RobotsFilterError('table', `${name}: ${cause}: ${remedy}`);

  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const word = (at: number): number => view.getUint32(at, true);
  if (head.length < HEADER_VERSION || word(0) !== MAGIC_LOW || word(4) !== MAGIC_HIGH) {
    const remedy = 'give a file that `robots-filter compile` wrote';
    throw refuse(head.length === 0 ? 'the file is empty' : 'not a table of robots-filter', remedy);
  }
  if (head.length < HEADER_BYTES) {
    throw refuse(
      `truncated within its header: ${head.length} bytes of at least ${MIN_BYTES}`,
      `copy it again, or ${COMPILE_AGAIN}`,
    );
  }
  const version = word(HEADER_VERSION);
  if (version > VERSION) {
    throw refuse(
      `the table is newer: got v${version}, this build reads ${READ_VERSIONS}`,
      `upgrade robots-filter, or ${COMPILE_AGAIN} with this build`,
    );
  }
  if (version < OLDEST_VERSION || version === VERSION_UNREAD) {
    throw refuse(
      `the table is older: got v${version}, this build reads ${READ_VERSIONS}`,
      COMPILE_AGAIN,
    );
  }
  const length = word(HEADER_LENGTH);
  if (size !== undefined && size < length) {
    throw refuse(`truncated: ${size} bytes of ${length}`, `copy it again, or ${COMPILE_AGAIN}`);
  }
  if (size !== undefined && size > length) {
    throw refuse(`bytes follow its end at ${length}`, `remove them, or ${COMPILE_AGAIN}`);
  }
}

/**
 * Checks the header of a table and reads it.
 *
 * @param bytes the table, or at least its header
 * @param size length of the table in bytes
 * @param checksumOfAll computes the checksum of the table
 * @throws RobotsFilterError as `checkTable`
 */
export function checkHeader(
  bytes: Uint8Array,
  size: number,
  name: string,
  checksumOfAll: () => number,
): TableHeader {
  checkBeginning(bytes, size, name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (at: number): number => view.getUint32(at, true);
  const length = word(HEADER_LENGTH);

  const damaged = (what: string): RobotsFilterError => damagedTable(name, what);
  if (length < MIN_BYTES) throw damaged(`its header states a length of ${length} bytes`);
  const sum = checksumOfAll();
  if (sum !== word(HEADER_CHECKSUM)) {
    throw damaged(`its checksum is ${hex(word(HEADER_CHECKSUM))}, but its content has ${hex(sum)}`);
  }

  // From here on, only a table that another program made can fail.
  const profile = PROFILES[word(HEADER_PROFILE)];
  if (profile === undefined) throw damaged(`it names profile ${word(HEADER_PROFILE)}`);
  const flags = word(HEADER_FLAGS);
  if ((flags & ~(FLAG_REDUCED | FLAG_SIGNALS)) !== 0) throw damaged(`it has flags ${hex(flags)}`);
  const starts = Array.from({ length: SECTION_END + 1 }, (_, section) =>
    word(HEADER_SECTIONS + 4 * section),
  );
  starts.forEach((start, section) => {
    const least = section === 0 ? HEADER_BYTES : (starts[section - 1] as number);
    const fits =
      section === 0
        ? start === HEADER_BYTES
        : section === SECTION_END
          ? start === length - TAIL_BYTES
          : start % CACHE_LINE_BYTES === 0;
    if (start < least || !fits) {
      throw damaged(`its ${SECTION_NAMES[section] ?? 'last section'} cannot be at ${start}`);
    }
  });

  const sectionsEnd = starts[SECTION_END] as number;
  const statedRecords = word(HEADER_RECORDS);
  if (
    statedRecords !== 0 &&
    (word(HEADER_VERSION) < VERSION_WITH_RECORDS ||
      statedRecords % CACHE_LINE_BYTES !== 0 ||
      statedRecords < (starts[SECTION_SOURCES] as number) ||
      statedRecords + RECORDS_ENTRIES > sectionsEnd)
  ) {
    throw damaged(`its records cannot be at ${statedRecords}`);
  }
  const records = statedRecords === 0 ? sectionsEnd : statedRecords;
  // The sections in the order of SECTION_NAMES, and where the last of them ends.
  const bounds = [...starts.slice(0, SECTION_END), records, sectionsEnd];

  const header: TableHeader = {
    version: word(HEADER_VERSION),
    profile,
    length,
    checksum: sum,
    reduced: (flags & FLAG_REDUCED) !== 0,
    signals: (flags & FLAG_SIGNALS) !== 0,
    records: statedRecords !== 0,
    hosts: word(HEADER_HOSTS),
    authorities: word(HEADER_AUTHORITIES),
    robots: word(HEADER_ROBOTS),
    automata: word(HEADER_AUTOMATA),
    rules: word(HEADER_RULES),
    tokens: word(HEADER_TOKENS),
    buckets: word(HEADER_BUCKETS),
    longestProbe: word(HEADER_LONGEST_PROBE),
    compiledBytes: word(HEADER_COMPILED_BYTES),
    sections: Object.fromEntries(
      SECTION_NAMES.map((section, index) => [
        section,
        { start: bounds[index] as number, end: bounds[index + 1] as number },
      ]),
    ) as TableHeader['sections'],
  };
  const bytesOf = (section: number): number =>
    (starts[section + 1] as number) - (starts[section] as number);
  if (
    header.tokens < FIXED_TOKENS ||
    header.tokens * TOKEN_ENTRY_BYTES > bytesOf(SECTION_TOKENS) ||
    header.buckets === 0 ||
    header.buckets * BUCKET_BYTES !== bytesOf(SECTION_BUCKETS) ||
    2 * header.hosts > header.buckets * BUCKET_SLOTS ||
    header.hosts * MIN_HOST_BYTES > bytesOf(SECTION_HOSTS) ||
    header.longestProbe === 0 ||
    header.longestProbe > header.buckets
  ) {
    throw damaged('the numbers in its header contradict one another');
  }
  return header;
}

export function damagedTable(name: string, what: string): RobotsFilterError {
  return new RobotsFilterError(
    'table',
    `${name}: damaged: ${what}: copy it again, or ${COMPILE_AGAIN}`,
  );
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}

/** Maximum bytes of a pattern: its rank, twice that plus one, has 31 bits. */
export const MAX_PATTERN_BYTES = 2 ** 30 - 1;
/**
 * Greatest line of a rule, and greatest line to which the lines of rules are relative: their sum
 * has 32 bits.
 */
export const MAX_LINE = 2 ** 31 - 1;
