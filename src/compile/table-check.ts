import { RobotsFilterError } from '../errors.js';
import { PROFILES, type Profile } from '../protocol/profile.js';
import { checksum } from './checksum.js';
import {
  BUCKET_OCTETS,
  BUCKET_SLOTS,
  CACHE_LINE_OCTETS,
  FLAG_REDUCED,
  HEADER_AUTHORITIES,
  HEADER_AUTOMATA,
  HEADER_BUCKETS,
  HEADER_CHECKSUM,
  HEADER_COMPILED_OCTETS,
  HEADER_FLAGS,
  HEADER_HOSTS,
  HEADER_LENGTH,
  HEADER_LONGEST_PROBE,
  HEADER_OCTETS,
  HEADER_PROFILE,
  HEADER_ROBOTS,
  HEADER_RULES,
  HEADER_SECTIONS,
  HEADER_TOKENS,
  HEADER_VERSION,
  HEADER_ZEROS,
  MAGIC_HIGH,
  MAGIC_LOW,
  SECTION_BUCKETS,
  SECTION_END,
  SECTION_HOSTS,
  SECTION_TOKENS,
  TAIL_OCTETS,
  VERSION,
} from './format.js';

/** The sections in their order. */
export const SECTION_NAMES = ['tokens', 'buckets', 'hosts', 'sources'] as const;

export type SectionName = (typeof SECTION_NAMES)[number];

/** The header of a table that was found whole. */
export interface TableHeader {
  readonly version: number;
  readonly profile: Profile;
  /** Octets of the whole table. */
  readonly length: number;
  /** Whether it knows only the product tokens that it names. */
  readonly reduced: boolean;
  readonly hosts: number;
  readonly authorities: number;
  /** Distinct robots.txt files, by what they say. */
  readonly robots: number;
  readonly automata: number;
  /** Rules of all automata. */
  readonly rules: number;
  /** Product tokens, `*` and the empty one included. */
  readonly tokens: number;
  /** Of BUCKET_SLOTS slots each. */
  readonly buckets: number;
  /** In buckets. */
  readonly longestProbe: number;
  /** Octets of robots.txt that were compiled, modulo 2^32. */
  readonly compiledOctets: number;
  /** For each section where it starts and ends; the padding behind it counts as its own. */
  readonly sections: Readonly<
    Record<SectionName, { readonly start: number; readonly end: number }>
  >;
}

const MIN_OCTETS = HEADER_OCTETS + TAIL_OCTETS;
const TOKEN_ENTRY_OCTETS = 8;
const MIN_HOST_OCTETS = 5;
const FIXED_TOKENS = 2;

/** What to do about a table that is not as it was written. */
const COMPILE_AGAIN = 'compile it again';

/**
 * Checks that octets are a whole table of this version, as `TableBuilder` wrote it, and reads its
 * header. Every octet counts: that no single one can differ unnoticed is what the checksum is for.
 * `name` is what messages call it, such as its path. Who has computed the checksum of the octets
 * already gives it.
 *
 * @throws RobotsFilterError `table` if it is foreign, newer, truncated or damaged, with the cause
 *   and the remedy.
 */
export function checkTable(bytes: Uint8Array, name: string, computed?: number): TableHeader {
  const header = checkHeader(bytes, bytes.length, name, () => computed ?? checksum(bytes));
  for (let at = header.length - TAIL_OCTETS; at < header.length; at++) {
    if (bytes[at] !== 0) {
      throw damagedTable(name, `octet ${at} behind its last section is not zero`);
    }
  }
  return header;
}

/**
 * How many octets a table has, as its header says, with which `bytes` begin; `undefined` if that is
 * no table's. Nothing is checked.
 */
export function lengthSaid(bytes: Uint8Array): number | undefined {
  if (bytes.length < HEADER_OCTETS) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isTable = view.getUint32(0, true) === MAGIC_LOW && view.getUint32(4, true) === MAGIC_HIGH;
  return isTable ? view.getUint32(HEADER_LENGTH, true) : undefined;
}

/**
 * Checks what is known of a table before the rest of it is read: that it is one, its version, and
 * its length.
 *
 * @param head the table's first octets, its header if it is as long
 * @param octets how many octets there are; `undefined` where the end is not known yet, as of a pipe
 * @throws RobotsFilterError as `checkTable`
 */
export function checkBeginning(head: Uint8Array, octets: number | undefined, name: string): void {
  const refuse = (cause: string, remedy: string): RobotsFilterError =>
    new RobotsFilterError('table', `${name}: ${cause}: ${remedy}`);

  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const word = (at: number): number => view.getUint32(at, true);
  if (head.length < HEADER_VERSION || word(0) !== MAGIC_LOW || word(4) !== MAGIC_HIGH) {
    const remedy = 'give a file that `robots-filter compile` wrote';
    throw refuse(head.length === 0 ? 'the file is empty' : 'not a table of robots-filter', remedy);
  }
  if (head.length < HEADER_OCTETS) {
    throw refuse(
      `truncated within its header: ${head.length} octets of at least ${MIN_OCTETS}`,
      `copy it again, or ${COMPILE_AGAIN}`,
    );
  }
  const version = word(HEADER_VERSION);
  if (version > VERSION) {
    throw refuse(
      `the table is newer: got v${version}, this build reads v${VERSION}`,
      `upgrade robots-filter, or ${COMPILE_AGAIN} with this build`,
    );
  }
  if (version < VERSION) {
    throw refuse(
      `the table is older: got v${version}, this build reads v${VERSION}`,
      COMPILE_AGAIN,
    );
  }
  const length = word(HEADER_LENGTH);
  if (octets !== undefined && octets < length) {
    throw refuse(`truncated: ${octets} octets of ${length}`, `copy it again, or ${COMPILE_AGAIN}`);
  }
  if (octets !== undefined && octets > length) {
    throw refuse(`octets follow its end at ${length}`, `cut them off, or ${COMPILE_AGAIN}`);
  }
}

/**
 * Checks the header of a table of so many octets, which `bytes` begin with, and reads it.
 *
 * @param checksumOfAll works out the checksum of the table
 * @throws RobotsFilterError as `checkTable`
 */
export function checkHeader(
  bytes: Uint8Array,
  octets: number,
  name: string,
  checksumOfAll: () => number,
): TableHeader {
  checkBeginning(bytes, octets, name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (at: number): number => view.getUint32(at, true);
  const length = word(HEADER_LENGTH);

  const damaged = (what: string): RobotsFilterError => damagedTable(name, what);
  if (length < MIN_OCTETS) throw damaged(`its header says that it has ${length} octets`);
  const sum = checksumOfAll();
  if (sum !== word(HEADER_CHECKSUM)) {
    throw damaged(`its checksum is ${hex(word(HEADER_CHECKSUM))}, that of its content ${hex(sum)}`);
  }

  // What follows can fail only in a table that something else than this program has made.
  const profile = PROFILES[word(HEADER_PROFILE)];
  if (profile === undefined) throw damaged(`it names profile ${word(HEADER_PROFILE)}`);
  const flags = word(HEADER_FLAGS);
  if ((flags & ~FLAG_REDUCED) !== 0) throw damaged(`it has flags ${hex(flags)}`);
  if (word(HEADER_ZEROS) !== 0) throw damaged(`octet ${HEADER_ZEROS} of its header is not zero`);
  const starts = Array.from({ length: SECTION_END + 1 }, (_, section) =>
    word(HEADER_SECTIONS + 4 * section),
  );
  starts.forEach((start, section) => {
    const least = section === 0 ? HEADER_OCTETS : (starts[section - 1] as number);
    const fits =
      section === 0
        ? start === HEADER_OCTETS
        : section === SECTION_END
          ? start === length - TAIL_OCTETS
          : start % CACHE_LINE_OCTETS === 0;
    if (start < least || !fits) {
      throw damaged(`its ${SECTION_NAMES[section] ?? 'last section'} cannot be at ${start}`);
    }
  });

  const header: TableHeader = {
    version: word(HEADER_VERSION),
    profile,
    length,
    reduced: (flags & FLAG_REDUCED) !== 0,
    hosts: word(HEADER_HOSTS),
    authorities: word(HEADER_AUTHORITIES),
    robots: word(HEADER_ROBOTS),
    automata: word(HEADER_AUTOMATA),
    rules: word(HEADER_RULES),
    tokens: word(HEADER_TOKENS),
    buckets: word(HEADER_BUCKETS),
    longestProbe: word(HEADER_LONGEST_PROBE),
    compiledOctets: word(HEADER_COMPILED_OCTETS),
    sections: Object.fromEntries(
      SECTION_NAMES.map((section, index) => [
        section,
        { start: starts[index] as number, end: starts[index + 1] as number },
      ]),
    ) as TableHeader['sections'],
  };
  const octetsOf = (section: number): number =>
    (starts[section + 1] as number) - (starts[section] as number);
  if (
    header.tokens < FIXED_TOKENS ||
    header.tokens * TOKEN_ENTRY_OCTETS > octetsOf(SECTION_TOKENS) ||
    header.buckets === 0 ||
    header.buckets * BUCKET_OCTETS !== octetsOf(SECTION_BUCKETS) ||
    2 * header.hosts > header.buckets * BUCKET_SLOTS ||
    header.hosts * MIN_HOST_OCTETS > octetsOf(SECTION_HOSTS) ||
    header.longestProbe === 0 ||
    header.longestProbe > header.buckets
  ) {
    throw damaged('the numbers in its header contradict one another');
  }
  return header;
}

function damagedTable(name: string, what: string): RobotsFilterError {
  return new RobotsFilterError(
    'table',
    `${name}: damaged: ${what}: copy it again, or ${COMPILE_AGAIN}`,
  );
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}
