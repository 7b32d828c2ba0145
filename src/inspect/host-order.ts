/** Hosts and rules in the order in which reports show them. */

import { firstStrings, type Strings, sortStrings } from '../base/string-sort.js';
import { MAX_HOST_BYTES } from '../table/format.js';
import { rulesOf } from '../view/automaton-view.js';
import { SHARD_SPAN } from '../view/shard-view.js';
import type { MergedGroup, TableAuthority, TableHost, TableRule } from '../view/table-content.js';
import type { TableView } from '../view/table-view.js';

/** Hosts for which there is room at first. */
const INITIAL = 1024;

/** Bytes of a count before a name. */
const COUNT_BYTES = 8;

/** The offsets of all host records of a table, sorted by host. */
export function sortedPlaces(view: TableView): Float64Array {
  const names = new PlacedNames(view);
  const { places } = names;
  return Float64Array.from(sortStrings(names, MAX_HOST_BYTES), (item) => places[item] as number);
}

/** Things that have a count and a host. */
interface CountedOfHosts {
  /** Positive numbers. */
  readonly counts: Float64Array;
  /** The offset of the record of a host in the table. */
  placeOf(index: number): number;
}

/**
 * The indices of the greatest counts, greatest first. Equal counts are sorted by host, then by
 * index.
 *
 * @param top number of them; all if undefined
 */
export function mostCounted(
  view: TableView,
  counted: CountedOfHosts,
  top = counted.counts.length,
): Int32Array {
  return firstStrings(new CountedNames(view, counted), CountedNames.longest, top);
}

/**
 * Strings that begin with a count, of which greater ones come first, and go on with a host, a zero
 * and the index, so that no two are equal.
 */
class CountedNames implements Strings {
  static readonly longest = COUNT_BYTES + MAX_HOST_BYTES + 8;
  readonly count: number;
  readonly #view: TableView;
  readonly #words: Uint32Array;
  readonly #counted: CountedOfHosts;

  constructor(view: TableView, counted: CountedOfHosts) {
    const { buffer, byteOffset, length } = counted.counts;
    this.#view = view;
    // The bits of positive numbers have the order of the numbers (IEEE 754).
    this.#words = new Uint32Array(buffer, byteOffset, 2 * length);
    this.#counted = counted;
    this.count = length;
  }

  word(item: number, offset: number): number {
    if (offset < COUNT_BYTES) return ~(this.#words[2 * item + (offset === 0 ? 1 : 0)] as number);
    const place = this.#counted.placeOf(item);
    return this.#view.shardAt(place).nameWord(place, offset - COUNT_BYTES, item);
  }
}

/** The names of the hosts of a table where they lie there. */
class PlacedNames implements Strings {
  readonly count: number;
  readonly places: Float64Array;
  readonly #view: TableView;

  constructor(view: TableView) {
    this.#view = view;
    let places = new Float64Array(INITIAL);
    let count = 0;
    for (const at of view.hostPlaces()) {
      if (count === places.length) {
        const more = new Float64Array(2 * count);
        more.set(places);
        places = more;
      }
      places[count++] = at;
    }
    this.count = count;
    this.places = places;
  }

  word(item: number, offset: number): number {
    const place = this.places[item] as number;
    return this.#view.shardAt(place).nameWord(place, offset, 0);
  }
}

/** The place of a rule: see RuleCount. */
interface DecidedRule {
  readonly version: number;
  readonly line: number;
}

/** A rule of a table, and the robots.txt that has it. */
interface PlacedRule {
  readonly host: Pick<TableHost, 'host'>;
  /** With the robots record and the source of the version. */
  readonly authority: TableAuthority;
  /** From when on the version is in force, in seconds since 1970; `undefined` if not known. */
  readonly since: number | undefined;
  readonly rule: TableRule;
  /** The merged group that has the rule, and all its rules by line, ascending. */
  readonly group: MergedGroup;
  readonly rules: ReadonlyMap<number, TableRule>;
}

/** A group, and its rules by line once they are read. */
interface ReadGroup {
  readonly group: MergedGroup;
  rules: ReadonlyMap<number, TableRule> | undefined;
}

/** Finds rules by the place that the kernel reports: a version of a robots.txt, and a line. */
export class DecidedRules {
  readonly #view: TableView;
  /** The authorities of versions that have a history. */
  readonly #authorities: ReadonlyMap<number, number>;
  /** The groups of the robots record that was read last: neighbours often share a record. */
  #robots = 0;
  #groups: readonly ReadGroup[] = [];

  /**
   * @param decided the rules that will be looked for, if the run asked for times; otherwise their
   *   versions are authorities
   */
  constructor(view: TableView, decided: readonly DecidedRule[] = []) {
    this.#view = view;
    this.#authorities = authoritiesOf(view, decided);
  }

  /**
   * Finds a rule.
   *
   * @throws RobotsFilterError `table` if the table has no such rule
   */
  find({ version, line }: DecidedRule): PlacedRule {
    const { host, authority, since } = this.#versionAt(version);
    if (authority !== undefined) {
      for (const read of nearestFirst(this.#groupsOf(authority.robots), line)) {
        const { group } = read;
        read.rules ??= new Map(rulesOf(this.#view, group).map((each) => [each.line, each]));
        const { rules } = read;
        const rule = rules.get(line);
        if (rule !== undefined) return { host, authority, since, rule, group, rules };
      }
    }
    const { reader } = this.#view.shardAt(version);
    const at = version % SHARD_SPAN;
    throw reader.damaged(`the robots.txt at ${at} has no rule on line ${line}`);
  }

  /** The offset of the record of the host whose robots.txt has a rule. */
  placeOfHost({ version }: Pick<DecidedRule, 'version'>): number {
    return this.#view.placeOfAuthority(this.#authorities.get(version) ?? version);
  }

  #versionAt(version: number): {
    readonly host: Pick<TableHost, 'host'>;
    readonly authority: TableAuthority | undefined;
    readonly since: number | undefined;
  } {
    const view = this.#view;
    const owner = this.#authorities.get(version);
    if (owner === undefined) {
      const host = view.hostAt(view.placeOfAuthority(version));
      const authority = host.authorities.find(({ at }) => at === version);
      return { host, authority, since: undefined };
    }
    const host = view.nameAt(view.placeOfAuthority(owner));
    const { since, version: authority } = view.shardAt(owner).versionAt(owner, version);
    return { host: { host }, authority, since };
  }

  #groupsOf(robots: number): readonly ReadGroup[] {
    if (robots !== this.#robots) {
      this.#groups = this.#view.groups(robots).map((group) => ({ group, rules: undefined }));
      this.#robots = robots;
    }
    return this.#groups;
  }
}

/**
 * The authorities of those rules whose version has a history, by the version. A version does not
 * know its authority, so the hosts of the table are read once.
 */
function authoritiesOf(
  view: TableView,
  decided: readonly DecidedRule[],
): ReadonlyMap<number, number> {
  const authorities = new Map<number, number>();
  if (decided.length === 0) return authorities;
  const versions = Float64Array.from(new Set(decided.map(({ version }) => version))).sort();
  for (const place of view.hostPlaces()) {
    for (const { authority, first, end } of view.shardAt(place).historiesAt(place)) {
      for (let index = firstNotBelow(versions, first); ; index++) {
        const version = versions[index];
        if (version === undefined || version >= end) break;
        authorities.set(version, authority);
      }
    }
  }
  return authorities;
}

/** The index of the first of some ascending numbers that is at least `least`. */
function firstNotBelow(numbers: Float64Array, least: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * All groups, those first whose rules begin last before the line: the rule is theirs, so that few
 * groups of many are read.
 */
function* nearestFirst(groups: readonly ReadGroup[], line: number): Iterable<ReadGroup> {
  let nearest = 0;
  for (const { group } of groups) {
    for (const { firstLine } of group.groups) {
      if (firstLine <= line) nearest = Math.max(nearest, firstLine);
    }
  }
  const isNear = ({ group }: ReadGroup): boolean =>
    group.groups.some(({ firstLine }) => firstLine === nearest);
  for (const group of groups) if (isNear(group)) yield group;
  for (const group of groups) if (!isNear(group)) yield group;
}
