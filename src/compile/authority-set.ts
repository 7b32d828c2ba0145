/** The authorities of a table, sorted by host; the later robots.txt of two wins. */

import { RobotsFilterError } from '../base/errors.js';
import { sortStrings } from '../base/string-sort.js';
import {
  type Authority,
  DEFAULT_PORTS,
  formatAuthority,
  type Scheme,
} from '../protocol/authority.js';
import { MAX_HOST_BYTES, SCHEME_FTP, SCHEME_HTTP, SCHEME_HTTPS } from '../table/format.js';
import { ByteStore, type HashKey, Uint32List } from './byte-store.js';
import { Histories, type Version } from './histories.js';

const SCHEMES: readonly (readonly [bit: number, defaultPort: number])[] = [
  [SCHEME_HTTP, DEFAULT_PORTS.http],
  [SCHEME_HTTPS, DEFAULT_PORTS.https],
  [SCHEME_FTP, DEFAULT_PORTS.ftp],
];

const SCHEME_BITS: Readonly<Record<Scheme, number>> = {
  http: SCHEME_HTTP,
  https: SCHEME_HTTPS,
  ftp: SCHEME_FTP,
};

const UNKNOWN_SCHEME = 0;
/** The schemes of an authority whose scheme is unknown. */
const ASSUMED_SCHEMES = SCHEME_HTTP | SCHEME_HTTPS;
/**
 * The ports that an authority of unknown scheme shares with one that has no port: `h:443` and `h`
 * both count for `https://h`.
 */
const SHARED_PORTS: readonly number[] = [DEFAULT_PORTS.http, DEFAULT_PORTS.https];

/** The claim of an authority that names its scheme. It is above all claims by order. */
const NAMED_SCHEME = Number.POSITIVE_INFINITY;

/**
 * A key is the host, a zero, the scheme, 1 if there is a port, and the port in big-endian order.
 * Sorted by key, the authorities of a host are neighbours. KEY_TAIL counts everything except the
 * host.
 */
const KEY_TAIL = 5;

const INITIAL_ENTRIES = 64;

/** Words of an authority. They are contiguous, because tables are written in another order. */
const WORDS = 5;
const WORD_BODY = 0;
const WORD_SOURCE = 1;
const WORD_SOURCE_NUMBER = 2;
const WORD_BODY_BYTES = 3;
const WORD_DATE = 4;

/** The robots.txt that an authority has. */
interface AuthorityFile {
  /** The number of the body among those of the contents: BODY_… or FIRST_BODY and more. */
  readonly body: number;
  /** Template and number of the source: see SourceTemplates. */
  readonly source: number;
  readonly sourceNumber: number;
  readonly bodyBytes: number;
  /** When it was fetched, in seconds since 1970; 0 if unknown. */
  readonly date: number;
  /** As in VersionDetails. */
  readonly isAgain?: boolean;
  readonly isGuess?: boolean;
}

/** The schemes of a host at one port, and the authority that decides for them. */
export interface HostEntry {
  /** 0 for the default port of the scheme. */
  readonly port: number;
  /** SCHEME_… bits. */
  readonly schemes: number;
  readonly authority: number;
  /** The other authorities whose histories count here too. */
  readonly others: readonly number[];
}

/** What an authority has of a scheme at a port: the newest date decides, then the claim. */
interface Claim {
  readonly claim: number;
  /** Without histories the same for all. */
  readonly date: number;
  readonly authority: number;
  readonly others: number[];
}

/** All authorities, sorted by key. So the authorities of a host are neighbours. */
export interface SortedAuthorities {
  /** The number of each. */
  readonly numbers: Int32Array;
  /** The host of each. */
  readonly hosts: HostNames;
  /** 1 for each that has neither a scheme nor a port. */
  readonly isPlain: Uint8Array;
  /** What AuthoritySet has for each. */
  readonly robots: Uint32Array;
  readonly sources: Uint32Array;
  readonly sourceNumbers: Uint32Array;
}

/**
 * Checks that an authority can be in a table.
 *
 * @throws RobotsFilterError `usage` for a host that is empty or longer than 255 bytes, and for
 *   port 0
 */
export function checkAuthority(authority: Authority, source: string): void {
  const { length } = authority.host;
  if (authority.port === 0) {
    throw new RobotsFilterError(
      'usage',
      `${JSON.stringify(formatAuthority(authority))} (${source}): nothing can be fetched from port 0. Leave it out`,
    );
  }
  if (length > 0 && length <= MAX_HOST_BYTES) return;
  throw new RobotsFilterError(
    'usage',
    `${JSON.stringify(formatAuthority(authority))} (${source}) has no host of 1 to ${MAX_HOST_BYTES} bytes. Use parseAuthority`,
  );
}

const key = new Uint8Array(MAX_HOST_BYTES + KEY_TAIL);

/** The key of an authority; the next call overwrites it. */
export function authorityKey({ scheme, host, port }: Authority): Uint8Array {
  const isDefault = scheme !== undefined && port === DEFAULT_PORTS[scheme];
  const { length } = host;
  for (let at = 0; at < length; at++) key[at] = host.charCodeAt(at);
  const bit = scheme === undefined ? UNKNOWN_SCHEME : SCHEME_BITS[scheme];
  return completeKey(length, bit, isDefault ? undefined : port);
}

/** Writes the tail of the key whose host has this length. */
function completeKey(length: number, scheme: number, port: number | undefined): Uint8Array {
  key[length] = 0;
  key[length + 1] = scheme;
  key[length + 2] = port === undefined ? 0 : 1;
  key[length + 3] = port === undefined ? 0 : port >> 8;
  key[length + 4] = port === undefined ? 0 : port;
  return key.subarray(0, length + KEY_TAIL);
}

/** The authorities of a table and their files; no authority has an object. */
export class AuthoritySet {
  /** Keys of the authorities, numbered like the authorities. */
  readonly keys: ByteStore;

  readonly #robotsRecordOfBody: readonly number[];
  readonly #recordListOfBody: readonly number[];
  /** Number of calls of `set`. */
  revision = 0;
  /** Whether any file that was set has a date. */
  hasDates = false;
  /** All files of each authority; `undefined` if only the last one counts. */
  readonly #histories: Histories | undefined;
  /** The words of all authorities, WORDS for each. */
  #words = new Uint32Array(WORDS * INITIAL_ENTRIES);
  /** Number of authorities that have a file. */
  #filed = 0;
  /** 1 for each authority that is a guess: see VersionDetails. */
  #guesses: Uint32List | undefined;
  /**
   * The revision at which each authority of unknown scheme got its file. Without an authority that
   * has a shared port, no order matters and none is kept. Files from before the first one have 0.
   */
  #orders: Uint32List | undefined;

  /**
   * @param robotsRecordOfBody the robots record of each body; may grow later
   * @param recordListOfBody the list of each body's other records, plus one, or 0; may grow later
   * @param keepsHistories whether all files of an authority count, each from its date on; then each
   *   file must have a date
   */
  constructor(
    robotsRecordOfBody: readonly number[],
    recordListOfBody: readonly number[],
    key: HashKey,
    keepsHistories = false,
  ) {
    this.#histories = keepsHistories ? new Histories() : undefined;
    this.#robotsRecordOfBody = robotsRecordOfBody;
    this.#recordListOfBody = recordListOfBody;
    this.keys = new ByteStore(key);
  }

  /** Number of authorities. */
  get count(): number {
    return this.keys.count;
  }

  /**
   * Sets the file of an authority. The authority must have been added to `keys` just before, or
   * have a file.
   *
   * @returns whether the file overrides an earlier one, for at least one scheme and port, because
   *   it came later
   */
  set(authority: number, file: AuthorityFile): boolean {
    const { body, source, sourceNumber, bodyBytes, date } = file;
    this.revision++;
    if (this.#histories !== undefined) {
      this.#histories.add(authority, file);
      // The authority itself has the newest file.
      if (authority < this.#filed && date < this.date(authority)) return false;
    }
    if (file.isGuess === true) this.#guesses ??= new Uint32List();
    this.#guesses?.set(authority, file.isGuess === true ? 1 : 0);
    const at = WORDS * authority;
    if (at >= this.#words.length) this.#grow();
    this.#words[at + WORD_BODY] = body;
    this.#words[at + WORD_SOURCE] = source;
    this.#words[at + WORD_SOURCE_NUMBER] = sourceNumber;
    this.#words[at + WORD_BODY_BYTES] = bodyBytes;
    this.#words[at + WORD_DATE] = date;
    if (date !== 0) this.hasDates = true;
    const isNew = authority === this.#filed;
    if (isNew) this.#filed++;
    const overrides = this.#noteOrder(authority);
    return this.#histories === undefined && (!isNew || overrides);
  }

  /** Whether files without a scheme lose to an entry whose scheme is a guess. */
  isDoubtful({ authority, others }: HostEntry): boolean {
    return (
      this.#guesses?.get(authority) === 1 &&
      others.some((other) => this.#tail(other).scheme === UNKNOWN_SCHEME)
    );
  }

  /** Whether authorities have histories. */
  get keepsHistories(): boolean {
    return this.#histories !== undefined;
  }

  /** The versions of the robots.txt of an entry, by rising date; none without histories. */
  versions({ authority, others }: HostEntry): readonly Version[] {
    if (this.#histories === undefined) return [];
    const robotsOf = (body: number): number => this.robotsOf(body);
    const overrides = this.#tail(authority).scheme !== UNKNOWN_SCHEME;
    return this.#histories.of(authority, { others, overrides, robotsOf });
  }

  /**
   * Notes that the file of an authority is the latest one.
   *
   * @returns whether another authority, of unknown scheme too, has a file for the same place
   */
  #noteOrder(authority: number): boolean {
    const { scheme, port } = this.#tail(authority);
    if (scheme !== UNKNOWN_SCHEME) return false;
    const isShared = port !== undefined && SHARED_PORTS.includes(port);
    if (isShared) this.#orders ??= new Uint32List();
    if (this.#orders === undefined) return false;
    this.#orders.set(authority, this.revision);
    if (isShared) return this.#hasPort(authority, undefined);
    return port === undefined && SHARED_PORTS.some((shared) => this.#hasPort(authority, shared));
  }

  /** Whether the host of an authority has an authority of unknown scheme with this port. */
  #hasPort(authority: number, port: number | undefined): boolean {
    const host = this.host(authority);
    key.set(host);
    return this.keys.has(completeKey(host.length, UNKNOWN_SCHEME, port));
  }

  /** The robots record of the authority's body. */
  robots(authority: number): number {
    return this.robotsOf(this.#word(authority, WORD_BODY));
  }

  /** The robots record of a body. */
  robotsOf(body: number): number {
    return this.#robotsRecordOfBody[body] as number;
  }

  /** The list of the body's other records plus one; 0 if it has none. */
  recordList(authority: number): number {
    return this.#recordListOfBody[this.#word(authority, WORD_BODY)] as number;
  }

  /** In seconds since 1970; 0 if unknown. */
  date(authority: number): number {
    return this.#word(authority, WORD_DATE);
  }

  source(authority: number): number {
    return this.#word(authority, WORD_SOURCE);
  }

  sourceNumber(authority: number): number {
    return this.#word(authority, WORD_SOURCE_NUMBER);
  }

  bodyBytes(authority: number): number {
    return this.#word(authority, WORD_BODY_BYTES);
  }

  /** The canonical host of an authority. */
  host(authority: number): Uint8Array {
    const key = this.keys.get(authority);
    return key.subarray(0, key.length - KEY_TAIL);
  }

  /** Total length of the files of all authorities. */
  get allBodyBytes(): number {
    let bytes = 0;
    for (let authority = 0; authority < this.count; authority++) bytes += this.bodyBytes(authority);
    return bytes;
  }

  /** All authorities, sorted by key. */
  sorted(): SortedAuthorities {
    const numbers = sortStrings(this.keys, MAX_HOST_BYTES + KEY_TAIL);
    return { numbers, ...this.#hostsOf(numbers), ...this.#filesOf(numbers) };
  }

  #hostsOf(authorities: Int32Array): Pick<SortedAuthorities, 'hosts' | 'isPlain'> {
    const { keys } = this;
    const hosts = new HostNames(this.count, keys.bytes - KEY_TAIL * this.count);
    const isPlain = new Uint8Array(this.count);
    for (let index = 0; index < authorities.length; index++) {
      keys.prefetch(authorities, index);
      const authority = authorities[index] as number;
      const memory = keys.memory(authority);
      const start = keys.offset(authority);
      const length = keys.length(authority) - KEY_TAIL;
      hosts.add(memory, start, length);
      const tail = start + length;
      if (memory[tail + 1] === UNKNOWN_SCHEME && memory[tail + 2] === 0) isPlain[index] = 1;
    }
    return { hosts, isPlain };
  }

  #filesOf(
    authorities: Int32Array,
  ): Pick<SortedAuthorities, 'robots' | 'sources' | 'sourceNumbers'> {
    const robots = new Uint32Array(this.count);
    const sources = new Uint32Array(this.count);
    const sourceNumbers = new Uint32Array(this.count);
    for (let index = 0; index < authorities.length; index++) {
      const authority = authorities[index] as number;
      robots[index] = this.robots(authority);
      sources[index] = this.source(authority);
      sourceNumbers[index] = this.sourceNumber(authority);
    }
    return { robots, sources, sourceNumbers };
  }

  /**
   * The entries of a host whose authorities are `sorted[low]` to `sorted[high - 1]`, by port and
   * scheme. If two authorities claim a scheme at a port, the one with a scheme wins, otherwise the
   * one that got its file last; with histories the one that has the newest file.
   */
  entriesOf(sorted: Int32Array, low: number, high: number): HostEntry[] {
    if (high - low === 1) {
      const authority = sorted[low] as number;
      const { scheme, port } = this.#tail(authority);
      const schemes = scheme || ASSUMED_SCHEMES;
      if (port === undefined) return [{ port: 0, schemes, authority, others: [] }];
    }
    const claims = new Map<number, Claim>();
    for (let index = low; index < high; index++) {
      const authority = sorted[index] as number;
      const { scheme, port } = this.#tail(authority);
      const isNamed = scheme !== UNKNOWN_SCHEME;
      const claim = isNamed ? NAMED_SCHEME : (this.#orders?.get(authority) ?? 0);
      const date = isNamed || this.#histories === undefined ? NAMED_SCHEME : this.date(authority);
      for (const [bit, defaultPort] of SCHEMES) {
        if (((scheme === UNKNOWN_SCHEME ? ASSUMED_SCHEMES : scheme) & bit) === 0) continue;
        const effectivePort = port === undefined || port === defaultPort ? 0 : port;
        const place = effectivePort * 8 + bit;
        const other = claims.get(place);
        if (other === undefined) {
          claims.set(place, { claim, date, authority, others: [] });
        } else if (other.date < date || (other.date === date && other.claim < claim)) {
          const others = [...other.others, other.authority];
          claims.set(place, { claim, date, authority, others });
        } else {
          other.others.push(authority);
        }
      }
    }
    const places = [...claims.keys()].sort((a, b) => a - b);
    const entries: HostEntry[] = [];
    for (const place of places) {
      const { authority, others } = claims.get(place) as Claim;
      const port = place >> 3;
      const schemes = place & 7;
      const last = entries.at(-1);
      const entry = { port, schemes, authority, others };
      if (last !== undefined && last.port === port && this.#haveSameFile(last, entry)) {
        entries[entries.length - 1] = { ...last, schemes: last.schemes | schemes };
      } else {
        entries.push(entry);
      }
    }
    return entries;
  }

  #haveSameFile(one: HostEntry, other: HostEntry): boolean {
    const [a, b] = [one.authority, other.authority];
    if (this.#histories !== undefined) {
      return a === b && one.others.length === 0 && other.others.length === 0;
    }
    return (
      this.robots(a) === this.robots(b) &&
      this.recordList(a) === this.recordList(b) &&
      this.date(a) === this.date(b) &&
      this.source(a) === this.source(b) &&
      this.sourceNumber(a) === this.sourceNumber(b)
    );
  }

  #tail(authority: number): { scheme: number; port: number | undefined } {
    const { keys } = this;
    const memory = keys.memory(authority);
    const at = keys.offset(authority) + keys.length(authority) - KEY_TAIL;
    const port = ((memory[at + 3] as number) << 8) | (memory[at + 4] as number);
    return { scheme: memory[at + 1] as number, port: memory[at + 2] === 1 ? port : undefined };
  }

  #word(authority: number, word: number): number {
    return this.#words[WORDS * authority + word] as number;
  }

  #grow(): void {
    const words = this.#words;
    this.#words = new Uint32Array(2 * words.length);
    this.#words.set(words);
  }
}

/** The hosts of a table in order, numbered from 0. A byte with its length precedes each host. */
export class HostNames {
  count = 0;
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;

  /** @param bytes total length of the hosts */
  constructor(hosts: number, bytes: number) {
    this.#bytes = new Uint8Array(hosts + bytes);
    this.#starts = new Uint32Array(hosts + 1);
  }

  static of(hosts: readonly Uint8Array[]): HostNames {
    const names = new HostNames(
      hosts.length,
      hosts.reduce((sum, host) => sum + host.length, 0),
    );
    for (const host of hosts) names.add(host, 0, host.length);
    return names;
  }

  /** Appends the host at `start` in `from`. */
  add(from: Uint8Array, start: number, length: number): void {
    const bytes = this.#bytes;
    let at = this.#starts[this.count] as number;
    bytes[at++] = length;
    for (let index = 0; index < length; index++) bytes[at + index] = from[start + index] as number;
    this.#starts[++this.count] = at + length;
  }

  /**
   * Keeps the first of equal neighbours. Returns the former number of each host that is kept, and
   * the former number of hosts.
   */
  dropRepeats(): Uint32Array {
    const bytes = this.#bytes;
    const starts = this.#starts;
    const former = new Uint32Array(this.count + 1);
    let kept = 0;
    for (let host = 0; host < this.count; host++) {
      const start = starts[host] as number;
      const end = starts[host + 1] as number;
      if (kept > 0 && this.#isAt(kept - 1, start, end)) continue;
      if (kept < host) {
        const to = starts[kept] as number;
        bytes.copyWithin(to, start, end);
        starts[kept + 1] = to + end - start;
      }
      former[kept++] = host;
    }
    former[kept] = this.count;
    this.count = kept;
    return former.subarray(0, kept + 1);
  }

  /** Whether a host, as stored, equals the bytes from `start` to `end`. */
  #isAt(host: number, start: number, end: number): boolean {
    const bytes = this.#bytes;
    const last = this.#starts[host + 1] as number;
    const length = end - start;
    if (last - (this.#starts[host] as number) !== length) return false;
    for (let back = 1; back <= length; back++) {
      if (bytes[last - back] !== bytes[end - back]) return false;
    }
    return true;
  }

  get(host: number): Uint8Array {
    return this.#bytes.subarray(
      (this.#starts[host] as number) + 1,
      this.#starts[host + 1] as number,
    );
  }

  length(host: number): number {
    return (this.#starts[host + 1] as number) - (this.#starts[host] as number) - 1;
  }

  /** The byte before a host, which holds its length. */
  lengthByte(host: number): number {
    return this.#bytes[this.#starts[host] as number] as number;
  }

  /** Copies a host to `to`. */
  write(host: number, to: Uint8Array, at: number): void {
    const bytes = this.#bytes;
    const start = (this.#starts[host] as number) + 1;
    const length = this.length(host);
    for (let index = 0; index < length; index++) to[at + index] = bytes[start + index] as number;
  }

  /** The hosts from one number to another as stored, lengths included. */
  span(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[from] as number, this.#starts[to] as number);
  }
}
