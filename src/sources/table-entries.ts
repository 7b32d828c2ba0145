/** Reads the robots.txt files of tables, so that a table can become a part of another one. */

import { RobotsFilterError } from '../base/errors.js';
import { encodeCompiledBody } from '../compile/compiled-body.js';
import { readTable } from '../judge/open-table.js';
import { hasHistories, type PlacedShard, secondsOfTime } from '../judge/table-memory.js';
import { lowerCaseAscii } from '../protocol/agent.js';
import { type Authority, DEFAULT_PORTS, type Scheme } from '../protocol/authority.js';
import type { Profile } from '../protocol/verdict.js';
import { encodeRecordList } from '../table/record-list.js';
import { verifyShard } from '../verify/verify-table.js';
import { automatonAt } from '../view/automaton-view.js';
import { SHARD_SPAN, type ShardView } from '../view/shard-view.js';
import type { TableAuthority, TableHost, TableVersion } from '../view/table-content.js';
import type { CacheEntry, WarningEvent } from './entry.js';

/** For what a table is read: the table that is to hold its robots.txt files. */
export interface TableUse {
  readonly profile: Profile;
  /** The product tokens that it is reduced to; `undefined` for all. */
  readonly agents?: readonly string[] | undefined;
  /** Whether it keeps other records. */
  readonly records?: boolean | undefined;
  /** Whether it keeps what robots.txt files say about uses. */
  readonly signals?: boolean | undefined;
  /** Whether it keeps all versions; else the newest counts, or that of `asOf`. */
  readonly history?: boolean | undefined;
  /** In milliseconds since 1970. */
  readonly asOf?: number | undefined;
}

/** Some entries of a table. */
export interface TableEntries {
  readonly kind: 'table';
  readonly entries: readonly CacheEntry[];
}

/** Number of entries of a part, and bytes of their bodies. */
const PART_ENTRIES = 1024;
const PART_BYTES = 1024 * 1024;

const SECOND = 1000;

/**
 * Yields the entries of a table, shard by shard. Their bodies are compiled ones
 * (compile/compiled-body.ts). Every byte is verified before: what a forged table says would
 * otherwise stand in a table that looks sound.
 *
 * @param path a table, compressed or not, or the directory of a table in shards
 * @throws RobotsFilterError as `Table.open` and `Table.verify`; `table` for a table of another
 *   profile, `usage` for one without some of the agents, or without histories if there is a time
 */
export async function* tableParts(
  path: string,
  use: TableUse,
): AsyncGenerator<TableEntries | WarningEvent> {
  let shards = 1;
  let isNoted = false;
  for (let shard = 0; shard < shards; shard++) {
    // Of a table in shards the first one comes without a host. One at a time is in memory.
    const reading = shard === 0 ? { hosts: [] } : { parts: { first: shard, last: shard } };
    const table = await readTable(path, reading);
    shards = table.shards.length;
    const placed = table.shards[shard];
    if (placed === undefined) throw new Error(`shard ${shard} was read and is not in memory`);
    const { header, view } = placed;
    verifyShard(view.reader.bytes, header, view.reader.name);
    checkUse(path, placed, hasHistories(table), use);
    if (use.records === true && !view.hasRecords && !isNoted) {
      isNoted = true;
      const message =
        'keeps no sitemaps, crawl-delays and preferences. Compile it again with --records to keep them.';
      yield { kind: 'warning', warning: { code: 'without-records', path, message } };
    }
    yield* partsOf(placed, use);
  }
}

/** @throws RobotsFilterError if a table cannot serve another one */
function checkUse(
  path: string,
  { header, view }: PlacedShard,
  isDated: boolean,
  { profile, agents, signals, asOf }: TableUse,
): void {
  if (header.profile !== profile) {
    throw new RobotsFilterError(
      'table',
      `${path} was compiled with --profile ${header.profile}: no table for ${profile} can be made of it. Compile with --profile ${header.profile}`,
    );
  }
  if (asOf !== undefined && !isDated) {
    throw new RobotsFilterError(
      'usage',
      `--as-of chooses among the versions of a table, and ${path} has no histories. Compile it again with --history, or leave --as-of out`,
    );
  }
  if (signals === true && !view.hasSignals) {
    throw new RobotsFilterError(
      'usage',
      `${path} was compiled without --signals: what its robots.txt files say about uses is not in it. Compile it again with --signals`,
    );
  }
  if (!view.isReduced) return;
  const known = [...view.tokens()].filter((token) => token !== '*' && token !== '');
  const kept = new Set(known);
  const missing = agents?.find((agent) => agent !== '*' && !kept.has(lowerCaseAscii(agent)));
  if (agents !== undefined && missing === undefined) return;
  const lacks = missing === undefined ? '' : `, without ${JSON.stringify(missing)}`;
  throw new RobotsFilterError(
    'usage',
    `${path} was compiled for some agents only${lacks}. Name agents that it has: -a ${known.join()}`,
  );
}

/** The entries of a shard, in parts. */
function* partsOf({ header, view }: PlacedShard, use: TableUse): Generator<TableEntries> {
  const bodies = new CompiledBodies(view, use.records ?? false);
  // The table tells the bytes of all its files together: each counts the same, and the last the
  // rest.
  const share = Math.floor(header.compiledBytes / Math.max(header.authorities, 1));
  let left = header.compiledBytes;
  let entries: CacheEntry[] = [];
  let bytes = 0;
  for (const entry of entriesOf(view, bodies, share, use)) {
    if (entries.length >= PART_ENTRIES || bytes >= PART_BYTES) {
      yield { kind: 'table', entries };
      entries = [];
      bytes = 0;
    }
    entries.push(entry);
    bytes += entry.body.length;
    left -= entry.known?.compiledFrom ?? 0;
  }
  const last = entries.pop();
  if (last === undefined) return;
  const compiledFrom = (last.known?.compiledFrom ?? 0) + left;
  entries.push({ ...last, known: { ...last.known, compiledFrom } });
  yield { kind: 'table', entries };
}

/**
 * The entries of a shard.
 *
 * @param share the bytes that the newest robots.txt of an authority counts; others count none
 */
function* entriesOf(
  shard: ShardView,
  bodies: CompiledBodies,
  share: number,
  { history = false, asOf }: TableUse,
): Generator<CacheEntry> {
  const asked = asOf === undefined ? shard : shard.at(secondsOfTime(asOf));
  const view = history ? shard.withUnknown() : asked;
  for (const host of view.hosts()) {
    for (const { authority, found, shared } of namedAuthorities(view, host, history)) {
      const { records, date } = view.recordsOf(found);
      const isGuess = authority.scheme !== undefined && authority.scheme !== 'ftp';
      const recordList = records.length === 0 ? NO_LIST : encodeRecordList(records);
      const entry = (
        version: TableAuthority,
        date: number | undefined,
        { isAgain = false, list = NO_LIST, compiledFrom = 0 }: EntryDetails = {},
      ): CacheEntry => ({
        authority,
        body: bodies.of(version, list),
        source: JSON.parse(`"${version.source}"`) as string,
        status: undefined,
        date: date === undefined ? undefined : SECOND * date,
        known: { access: version.accessResult, compiledFrom, isAgain, isGuess },
      });
      const versions = history ? view.versionsOf(found) : [];
      const last = versions.at(-1)?.confirmed;
      for (const own of versions) {
        for (const [time, other] of timesOf([own, ...shared])) {
          if (time === last || !isFoundAt(own, other, time)) continue;
          if (time === own.since && other !== own) continue;
          yield entry(other.version, time, { isAgain: other === own && time > own.since });
        }
      }
      // The authority has the source of its newest capture, a version that of its first.
      const isAgain = last !== undefined && last !== versions.at(-1)?.since;
      yield entry(found, last ?? date, { isAgain, list: recordList, compiledFrom: share });
    }
  }
}

const NO_LIST = new Uint8Array(0);

/** What an entry of a table has beside its version and time. */
interface EntryDetails {
  readonly isAgain?: boolean;
  /** The record list. */
  readonly list?: Uint8Array;
  readonly compiledFrom?: number;
}

/** An authority as a robots.txt named it, and what the table has of it. */
interface NamedAuthority {
  readonly authority: Authority;
  readonly found: TableAuthority;
  /** Versions of another authority of which this one is a source. */
  readonly shared: readonly TableVersion[];
}

/**
 * Number of versions that are compared with those of other authorities. The time grows with its
 * square: one host could have millions.
 */
const MOST_SHARED = 256;

/** The scheme that only a file without a scheme has at a port. */
const ASSUMED_AT: ReadonlyMap<number, Scheme> = new Map([
  [DEFAULT_PORTS.http, 'https'],
  [DEFAULT_PORTS.https, 'http'],
]);

/**
 * The authorities of a host as robots.txt files named them. A table does not say whether a file
 * named its scheme. Taken for one that did, it would win over all later files that do not. So an
 * authority of http and https counts as one without a scheme: it is one, or two were equal.
 *
 * `h:443` without a scheme stands for `http://h:443` and `https://h`, as does `h` for `https://h`:
 * the later of them decides there, or both make one history. Likewise `h:80` for `http://h`.
 */
function namedAuthorities(
  view: ShardView,
  { host, authorities }: TableHost,
  history: boolean,
): NamedAuthority[] {
  const only = (found: TableAuthority, scheme: Scheme): boolean =>
    found.schemes.length === 1 && found.schemes[0] === scheme;
  const assumed = authorities.filter((each) => {
    const scheme = ASSUMED_AT.get(each.port ?? 0);
    return scheme !== undefined && only(each, scheme);
  });
  const without = (
    found: TableAuthority,
    shared: readonly TableVersion[] = [],
  ): NamedAuthority => ({
    authority: { scheme: undefined, host, port: found.port },
    found,
    shared,
  });
  const named = (found: TableAuthority): NamedAuthority[] => {
    const isAssumed = found.schemes.includes('http') && found.schemes.includes('https');
    const schemes = found.schemes.filter((scheme) => !isAssumed || scheme === 'ftp');
    return [
      ...(isAssumed ? [without(found)] : []),
      ...schemes.map((scheme) => ({
        authority: { scheme, host, port: found.port },
        found,
        shared: [],
      })),
    ];
  };
  const [ported, ...more] = assumed;
  const scheme = ported?.port === DEFAULT_PORTS.https ? 'https' : 'http';
  const plain = authorities.filter(({ port }) => port === undefined);
  const both = plain.find(({ schemes }) => schemes.includes(scheme));
  if (ported === undefined || both === undefined || more.length > 0) {
    return authorities.flatMap(named);
  }
  if (!only(both, scheme)) {
    // `h` came after `h:443`: with histories, both would count for `https://h`.
    const others = authorities.filter((each) => each !== ported).flatMap(named);
    return history ? authorities.flatMap(named) : [without(ported), ...others];
  }
  const bare = plain.find((each) => only(each, scheme === 'https' ? 'http' : 'https'));
  const sources = bare === undefined ? [ported] : [bare, ported];
  const rest = authorities
    .filter((each) => each !== both && !sources.includes(each))
    .flatMap(named);
  if (!history) {
    const last = sources.findLast((each) => areEqual(each, both));
    if (last === undefined) return authorities.flatMap(named);
    // The last file without a scheme counts for `both`.
    const others = sources.filter((each) => each !== last);
    return [...rest, ...others.map((each) => without(each)), without(last)];
  }
  const versions = view.versionsOf(both);
  if (versions.length > MOST_SHARED) return authorities.flatMap(named);
  const known = sources.flatMap((source) => view.versionsOf(source));
  const areKnown = timesOf(versions).every(([time, version]) =>
    known.some((there) => isFoundAt(there, version, time)),
  );
  // Of two robots.txt files of one second only the table says which counted.
  const byTime = new Map<number, number>();
  const areClear = timesOf(known).every(([time, { version }]) => {
    const there = byTime.get(time) ?? version.robots;
    byTime.set(time, version.robots);
    return there === version.robots;
  });
  if (!areKnown || !areClear) return authorities.flatMap(named);
  return [...rest, ...sources.map((each) => without(each, versions))];
}

function areEqual(one: TableAuthority, other: TableAuthority): boolean {
  return one.robots === other.robots && one.source === other.source;
}

/** The first and the last time of each version. */
function timesOf(
  versions: readonly TableVersion[],
): (readonly [time: number, version: TableVersion])[] {
  return versions.flatMap((version) => {
    const { since, confirmed } = version;
    const first = [since, version] as const;
    return since === confirmed ? [first] : [first, [confirmed, version]];
  });
}

/** Whether a version was found at a time, and is the same as another one. */
function isFoundAt(
  { since, confirmed, version }: TableVersion,
  other: TableVersion,
  time: number,
): boolean {
  return since <= time && time <= confirmed && version.robots === other.version.robots;
}

/** Number of compiled bodies that are kept, and bytes of all of them: many hosts share one. */
const MOST_KEPT = 1 << 14;
const MOST_KEPT_BYTES = 1 << 24;

/** The compiled bodies of a shard. */
class CompiledBodies {
  readonly #view: ShardView;
  readonly #keepsRecords: boolean;
  readonly #kept = new Map<number, Uint8Array>();
  #keptBytes = 0;

  constructor(view: ShardView, keepsRecords: boolean) {
    this.#view = view;
    this.#keepsRecords = keepsRecords;
  }

  of({ accessResult, robots }: TableAuthority, list: Uint8Array): Uint8Array {
    if (accessResult !== 'successful') return NO_LIST;
    const hasList = this.#keepsRecords && list.length > 0;
    const known = hasList ? undefined : this.#kept.get(robots);
    if (known !== undefined) return known;
    const body = this.#make(robots, hasList ? list : NO_LIST);
    if (hasList) return body;
    this.#keptBytes += body.length;
    if (this.#kept.size === MOST_KEPT || this.#keptBytes > MOST_KEPT_BYTES) {
      this.#kept.clear();
      this.#keptBytes = body.length;
    }
    this.#kept.set(robots, body);
    return body;
  }

  #make(robots: number, recordList: Uint8Array): Uint8Array {
    const view = this.#view;
    const numbers = new Map<number, number>();
    const automata: Uint8Array[] = [];
    const numberOf = (at: number): number => {
      if (at === 0) return 0;
      const known = numbers.get(at);
      if (known !== undefined) return known;
      const start = at - view.shard * SHARD_SPAN;
      const { bytes } = automatonAt(view, at);
      const number = automata.push(view.reader.bytes.subarray(start, start + bytes));
      numbers.set(at, number);
      return number;
    };
    const groups = view.groupsAndSignals(robots);
    const lists = groups.map(({ groups }) =>
      groups.map(({ automaton, firstLine }) => [numberOf(automaton), firstLine] as const),
    );
    const tokens = groups.flatMap(({ productTokens }, list) =>
      productTokens.map((token) => [token, list] as const),
    );
    return encodeCompiledBody({ tokens, lists, automata, recordList });
  }
}
