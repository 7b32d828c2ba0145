/** The figures of a filter run, for --report. */

import { DistinctRobots } from '../../inspect/distinct-robots.js';
import { DecidedRules, mostCounted } from '../../inspect/host-order.js';
import {
  authorityLabel,
  isoSeconds,
  plainText,
  RECORD_FIGURES,
  type RecordFigure,
  ruleText,
} from '../../inspect/host-report.js';
import { HOST_COUNTS_REASONS, REASON_BITS, REASON_MASK } from '../../kernel/layout.js';
import type {
  Extents,
  HostCounts,
  NamedAgent,
  NamedAgents,
  RuleCount,
} from '../../pipeline/counts.js';
import type { Filter } from '../../pipeline/filter.js';
import type { Agent } from '../../protocol/agent.js';
import {
  REASONS,
  type Reason,
  VERDICTS,
  type Verdict,
  WITHOUT_ROBOTS,
} from '../../protocol/verdict.js';
import type { TableView } from '../../view/table-view.js';
import {
  type AgentInfo,
  type CaptureDates,
  DateRange,
  type ReportAbout,
  zeros,
} from './figures.js';
import { type AskedUse, countsOf, useFigures } from './statistics.js';

/** URLs and hosts with one verdict for one reason. */
export interface OutcomeFigures {
  readonly verdict: Verdict;
  readonly reason: Reason;
  readonly urls: number;
  /** Hosts with such a URL; `null` if the table has no robots.txt for the URLs. */
  readonly hosts: number | null;
}

/**
 * What verdicts rest on. Of allowed URLs: a rule allows them; a robots.txt was read, and no rule
 * objects; there is no robots.txt. Of denied ones: a rule; a server that failed; a robots.txt that
 * takes too long. Of others: no robots.txt is known; the record has no URL.
 */
export const GROUNDS = [
  'allowedByRule',
  'unopposed',
  'noRobotsTxt',
  'deniedByRule',
  'serverFailed',
  'overBudget',
  'neverAsked',
  'noUrl',
] as const;
export type Ground = (typeof GROUNDS)[number];

/** The verdicts of one agent. */
interface AgentShares extends AgentInfo {
  readonly urls: Readonly<Record<Verdict, number>>;
  /** Hosts whose URLs are all allowed, partly allowed, and all denied. */
  readonly hosts: Extents;
  /** The same of distinct robots.txt files, by the URLs of all hosts that have one. */
  readonly files: Extents;
  readonly outcomes: readonly OutcomeFigures[];
  /** URLs, and hosts with such a URL; `null` for hosts that are not counted. */
  readonly grounds: Readonly<
    Record<Ground, { readonly urls: number; readonly hosts: number | null }>
  >;
  /** The robots.txt that denies most URLs, by one of its hosts; `null` if none denies any. */
  readonly largest: { readonly of: string; readonly hosts: number; readonly urls: number } | null;
}

/** The records of agents that they name. */
interface NamedShares {
  readonly urls: Readonly<Record<Verdict, number>>;
  /** As of AgentShares; `null` if there were too many to count each one. */
  readonly hosts: Extents | null;
}

/** The agents that records name. */
export interface NamedFigures {
  /**
   * Those with most denied URLs, then with most URLs. Last `*`, which has the records that name no
   * crawler.
   */
  readonly agents: readonly (AgentInfo & NamedShares)[];
  /** The others together, and their number, which leaves `missed` out; `null` if all are above. */
  readonly others: (NamedShares & { readonly agents: number }) | null;
  /** Records of agents that were too many to be told apart: any of the above may lack some. */
  readonly missed: number;
}

/** A rule that denied URLs. */
export interface DenyingRule {
  readonly host: string;
  readonly source: string;
  /**
   * ISO 8601: from when on its robots.txt is in force, `null` if that is not known. Only if the
   * run asked for times.
   */
  readonly version?: string | null;
  readonly line: number;
  readonly rule: string;
  /** Product tokens of the groups with the rule, in lower case. */
  readonly group: readonly string[];
  /** URLs that the rule denied, counted once for each agent; and those of each agent. */
  readonly denied: number;
  readonly deniedToAgents: readonly number[];
  /** The agents that records name to which it denied most; absent unless records name agents. */
  readonly deniedToNamed?: readonly { readonly agent: string; readonly urls: number }[];
  /** The rule, and the rules next to it in its group. */
  readonly around: readonly { readonly line: number; readonly rule: string }[];
}

/** Every figure of a run of the filter. docs/formats.md describes the JSON. */
export interface FilterFigures extends ReportAbout {
  readonly schema: 'robots-filter/filter/2';
  /** Whether the whole input was read. */
  readonly complete: boolean;
  /** Records with a URL, and without. */
  readonly records: number;
  /** Hosts of the table; and those with a robots.txt for some URL, which all figures count. */
  readonly hosts: { readonly table: number; readonly seen: number };
  /** Distinct robots.txt files that were read of these hosts; those of a host count together. */
  readonly files: number;
  /** If records name their agents, one for all of them together. */
  readonly agents: readonly AgentShares[];
  /** Absent unless records name their agents. */
  readonly named?: NamedFigures;
  /** Answers about uses, counted by URL; absent if no use was asked about. */
  readonly uses?: ReturnType<typeof useFigures>;
  /** Hosts without a robots.txt that could be read. */
  readonly access: Readonly<Record<'unavailable' | 'unreachable', number>>;
  /**
   * Hosts with a dated robots.txt, and with one older than a day; `null` if the table keeps no
   * records, or answers for a time.
   */
  readonly ages: { readonly dated: number; readonly stale: number } | null;
  /** When the robots.txt files of these hosts were captured; `null` where `ages` is. */
  readonly captured: CaptureDates | null;
  /** Hosts with records of a kind; `null` where `ages` is. */
  readonly otherRecords: Readonly<Record<RecordFigure, number>> | null;
  /** The hosts with most URLs, and how many of them each agent may fetch. */
  readonly busiest: readonly {
    readonly host: string;
    readonly urls: number;
    readonly allowed: readonly number[];
  }[];
  /** The rules that deny most. Each count may lack up to `missed`, which is 0 if all are exact. */
  readonly denying: { readonly missed: number; readonly rules: readonly DenyingRule[] };
  /** The statistics of the run: see `statisticsFigures`. */
  readonly run?: object;
}

/** The ground of an outcome. */
function groundOf(verdict: Verdict, reason: Reason): Ground {
  if (WITHOUT_ROBOTS.includes(reason)) return 'neverAsked';
  if (verdict === 'allow') {
    if (reason === 'rule') return 'allowedByRule';
    return reason === 'unavailable' ? 'noRobotsTxt' : 'unopposed';
  }
  if (verdict !== 'deny') return 'noUrl';
  if (reason === 'rule') return 'deniedByRule';
  return reason === 'unreachable' ? 'serverFailed' : 'overBudget';
}

/** Hosts in `busiest`. */
const BUSIEST = 30;
/** Rules in `denying`. */
const DENYING = 30;
/** The agent for which records are judged that name no crawler. */
export const NO_CRAWLER = '*';
/** Crawlers in `named`, and agents in `deniedToNamed`. */
const NAMED = 100;
const NAMED_OF_RULE = 10;
/** Rules before and after the rule in `around`. */
const AROUND = 2;
/** Seconds for which a robots.txt should be used at most (RFC 9309 section 2.4). */
const FRESH_SECONDS = 24 * 60 * 60;

/** A run whose filter counted by host and by rule. */
interface ReportedRun {
  readonly filter: Filter;
  readonly view: TableView;
  readonly agents: readonly Agent[];
  readonly uses: readonly AskedUse[];
  readonly described: readonly AgentInfo[];
  /** If records name their agents, these, and a description of each that is shown. */
  readonly named: (MostDenied & { readonly described: readonly AgentInfo[] }) | undefined;
  readonly about: ReportAbout & Pick<FilterFigures, 'complete'>;
  readonly tableHosts: number;
  /** Whether the rules are those of many robots.txt files of an authority, or of a time. */
  readonly byTime: boolean;
  /**
   * The time that ages are counted to, in milliseconds since 1970. `undefined` if the table answers
   * for a time: its dates and records are those of the newest robots.txt files.
   */
  readonly now: number | undefined;
}

/** Counts a run. Memory grows with the hosts that had URLs, not with the URLs. */
export function filterFigures(run: ReportedRun): FilterFigures {
  const { filter, view, agents, described, named, uses, about, tableHosts, byTime, now } = run;
  const tally = filter.tally();
  const { records, outcomes } = tally;
  const counts = filter.hostCounts();
  const files = new SeenFiles(counts, view);
  const shares = described.map((agent, index) => ({
    ...agent,
    ...sharesOf(outcomes[index] ?? [], bitPatterns(counts, index)),
    ...files.figures(index),
  }));
  const hostsWith = (ground: Ground): number => shares[0]?.grounds[ground].hosts ?? 0;
  return {
    schema: 'robots-filter/filter/2',
    ...about,
    records,
    hosts: { table: tableHosts, seen: counts.slots.length },
    files: files.count,
    agents: shares,
    ...(named === undefined ? {} : { named: namedFigures(filter, named) }),
    ...(uses.length === 0 ? {} : { uses: useFigures(tally, uses) }),
    access: { unavailable: hostsWith('noRobotsTxt'), unreachable: hostsWith('serverFailed') },
    ...keptFigures(counts, view, now === undefined ? undefined : now / 1000),
    busiest: Array.from(busiestHosts(counts, view, BUSIEST), ({ slot, host, urls }) => ({
      host,
      urls,
      allowed: agents.map((_, index) => counts.allowed(slot, index)),
    })),
    denying: denyingRules(filter, view, agents.length, byTime, named?.counts),
  };
}

/** Counts of agents that records name, and those that a report shows. */
interface MostDenied {
  readonly counts: NamedAgents;
  readonly shown: readonly NamedAgent[];
}

const countedOf = ({ verdicts }: Pick<NamedAgent, 'verdicts'>, verdict: Verdict): number =>
  verdicts[VERDICTS.indexOf(verdict)] ?? 0;

/** The agents with most denied URLs, then with most URLs. Last the records that name no crawler. */
export function mostDenied(counts: NamedAgents): MostDenied {
  const denied = (agent: NamedAgent): number => countedOf(agent, 'deny');
  // The sort is stable, and those with most records are first.
  const sorted = counts.agents.toSorted((a, b) => denied(b) - denied(a));
  const unnamed = sorted.filter(({ name }) => name === NO_CRAWLER);
  const shown = sorted.filter(({ name }) => name !== NO_CRAWLER).slice(0, NAMED);
  return { counts, shown: [...shown, ...unnamed] };
}

function namedFigures(
  filter: Filter,
  { counts, shown, described }: NonNullable<ReportedRun['named']>,
): NamedFigures {
  const hosts = filter.namedHosts(new Map(shown.map(({ name }, index) => [name, index])));
  const isShown = new Set(shown);
  const left = counts.agents.filter((agent) => !isShown.has(agent));
  const urlsOf = (some: readonly Pick<NamedAgent, 'verdicts'>[]): Record<Verdict, number> => {
    const sum = (verdict: Verdict) =>
      some.reduce((total, each) => total + countedOf(each, verdict), 0);
    return {
      allow: sum('allow'),
      deny: sum('deny'),
      unknown: sum('unknown'),
      invalid: sum('invalid'),
    };
  };
  const missed = counts.others.reduce((sum, count) => sum + count, 0);
  const others = [...left, { verdicts: counts.others }];
  return {
    agents: shown.map((agent, index) => ({
      agent: agent.name,
      ...described[index],
      urls: urlsOf([agent]),
      hosts: hosts?.[index] ?? null,
    })),
    others:
      left.length === 0 && missed === 0
        ? null
        : { agents: left.length, urls: urlsOf(others), hosts: hosts?.[shown.length] ?? null },
    missed,
  };
}

/** The distinct robots.txt files of the hosts that had URLs. */
class SeenFiles {
  readonly #counts: HostCounts;
  readonly #view: TableView;
  /** For each distinct file, or files of a host, the slots of the hosts that have it. */
  readonly #slots: readonly (readonly number[])[];

  constructor(counts: HostCounts, view: TableView) {
    this.#counts = counts;
    this.#view = view;
    const distinct = new DistinctRobots(view);
    const files = new Map<string, number[]>();
    for (const slot of counts.slots) {
      const { authorities } = view.hostAt(view.placeOfSlot(slot));
      if (!authorities.some(({ accessResult }) => accessResult === 'successful')) continue;
      const own = authorities.map((each) => distinct.numberOf(each) ?? each.accessResult);
      const key = [...new Set(own)].sort().join();
      const slots = files.get(key);
      if (slots === undefined) files.set(key, [slot]);
      else slots.push(slot);
    }
    this.#slots = [...files.values()];
  }

  get count(): number {
    return this.#slots.length;
  }

  /** The counts for one agent. */
  figures(agent: number): Pick<AgentShares, 'files' | 'largest'> {
    const files = { all: 0, part: 0, none: 0 };
    let largest: AgentShares['largest'] = null;
    for (const slots of this.#slots) {
      let [allowed, urls, hosts, most, first] = [0, 0, 0, 0, 0];
      for (const slot of slots) {
        const denied = this.#counts.denied(slot, agent);
        allowed += this.#counts.allowed(slot, agent);
        urls += denied;
        if (denied > 0) hosts++;
        if (denied > most) [most, first] = [denied, slot];
      }
      files[urls === 0 ? 'all' : allowed === 0 ? 'none' : 'part']++;
      if (urls <= (largest?.urls ?? 0)) continue;
      largest = { of: this.#view.nameAt(this.#view.placeOfSlot(first)), hosts, urls };
    }
    return { files, largest };
  }
}

/** How many hosts had each set of outcomes, a bit for each outcome. The sets are few. */
function bitPatterns(counts: HostCounts, agent: number): ReadonlyMap<number, number> {
  const patterns = new Map<number, number>();
  for (const slot of counts.slots) {
    const bits = counts.outcomes(slot, agent);
    patterns.set(bits, (patterns.get(bits) ?? 0) + 1);
  }
  return patterns;
}

function sharesOf(
  outcomes: readonly number[],
  patterns: ReadonlyMap<number, number>,
): Pick<AgentShares, 'urls' | 'hosts' | 'outcomes' | 'grounds'> {
  const { verdicts } = countsOf(outcomes);
  const hosts = { all: 0, part: 0, none: 0 };
  for (const [bits, count] of patterns) {
    const allowed = bits & ALLOWED_BITS;
    hosts[allowed === bits ? 'all' : allowed === 0 ? 'none' : 'part'] += count;
  }
  const urlsOf = zeros(GROUNDS);
  const bitsOf = zeros(GROUNDS);
  const found = outcomes.flatMap((urls, outcome): OutcomeFigures[] => {
    const verdict = VERDICTS[outcome >> REASON_BITS];
    const reason = REASONS[outcome & REASON_MASK];
    if (urls === 0 || verdict === undefined || reason === undefined) return [];
    const ground = groundOf(verdict, reason);
    urlsOf[ground] += urls;
    const isOfHosts = OF_HOSTS.includes(verdict) && !WITHOUT_ROBOTS.includes(reason);
    if (!isOfHosts) return [{ verdict, reason, urls, hosts: null }];
    const bit = 2 ** countedBit(outcome);
    bitsOf[ground] += bit;
    return [{ verdict, reason, urls, hosts: hostsWithBits(patterns, bit) }];
  });
  const grounds = GROUNDS.map((ground) => {
    const isCounted = ground !== 'neverAsked' && ground !== 'noUrl';
    const own = isCounted ? hostsWithBits(patterns, bitsOf[ground]) : null;
    return [ground, { urls: urlsOf[ground], hosts: own }] as const;
  });
  return {
    urls: verdicts,
    hosts,
    outcomes: found,
    grounds: Object.fromEntries(grounds) as AgentShares['grounds'],
  };
}

/** Verdicts by a robots.txt. */
const OF_HOSTS: readonly Verdict[] = ['allow', 'deny'];
/** Outcomes with the verdict allow: its number is 0. */
const ALLOWED_BITS = (1 << HOST_COUNTS_REASONS) - 1;
/** The bit of an outcome in `HostCounts.outcomes`. */
function countedBit(outcome: number): number {
  return HOST_COUNTS_REASONS * (outcome >> REASON_BITS) + (outcome & REASON_MASK);
}

/** How many hosts have one of some bits. */
function hostsWithBits(patterns: ReadonlyMap<number, number>, wanted: number): number {
  let hosts = 0;
  for (const [bits, count] of patterns) if ((bits & wanted) !== 0) hosts += count;
  return hosts;
}

/** What the table keeps beside the rules of the hosts that had URLs. */
function keptFigures(
  counts: HostCounts,
  view: TableView,
  now: number | undefined,
): Pick<FilterFigures, 'ages' | 'captured' | 'otherRecords'> {
  if (!view.hasRecords || now === undefined) {
    return { ages: null, captured: null, otherRecords: null };
  }
  const ages = { dated: 0, stale: 0 };
  const captured = new DateRange();
  const otherRecords = zeros(RECORD_FIGURES);
  for (const slot of counts.slots) {
    const { authorities } = view.hostAt(view.placeOfSlot(slot));
    const kept = authorities.map((authority) => view.recordsOf(authority));
    for (const { date } of kept) captured.add(date);
    const dates = kept.flatMap(({ date }) => date ?? []);
    if (dates.length > 0) ages.dated++;
    if (dates.some((date) => now - date > FRESH_SECONDS)) ages.stale++;
    const kinds = new Set<string>(
      kept.flatMap(({ records }) => records.map((record) => record.kind)),
    );
    for (const kind of RECORD_FIGURES) if (kinds.has(kind)) otherRecords[kind]++;
  }
  return { ages, captured: captured.figures, otherRecords };
}

function denyingRules(
  filter: Filter,
  view: TableView,
  agents: number,
  byTime: boolean,
  named: NamedAgents | undefined,
): FilterFigures['denying'] {
  const wanted = { top: DENYING, by: 'sum', denying: true } as const;
  const names = named?.agents.map(({ name }) => name) ?? [];
  const indices = new Map(names.map((name, index) => [name, index]));
  const { rules, missed } = filter.ruleCounts(wanted, indices);
  const denying = overAgents(rules.filter(({ allow }) => !allow));
  const placed = new DecidedRules(view, byTime ? denying : undefined);
  const top = rankedRules(denying, view, placed, DENYING);
  return {
    // `denied` sums up the counts of all agents.
    missed: missed * agents,
    rules: top.map((counted) => {
      const { line, count, ofAgents } = counted;
      const found = placed.find(counted);
      const deniedToAgents = Array.from({ length: agents }, () => 0);
      // The agents that records name are together one.
      for (const each of ofAgents) {
        const index = named === undefined ? each.agent : 0;
        deniedToAgents[index] = (deniedToAgents[index] ?? 0) + each.count;
      }
      const all = [...found.rules.values()];
      const at = all.indexOf(found.rule);
      const around = all.slice(Math.max(at - AROUND, 0), at + AROUND + 1);
      return {
        host: authorityLabel(found.host, found.authority),
        source: plainText(found.authority.source),
        ...(byTime ? { version: isoOf(found.since) ?? null } : {}),
        line,
        rule: ruleText(found.rule),
        group: found.group.productTokens,
        denied: count,
        deniedToAgents,
        ...(named === undefined ? {} : { deniedToNamed: namedOfRule(ofAgents, names) }),
        around: around.map((rule) => ({ line: rule.line, rule: ruleText(rule) })),
      };
    }),
  };
}

/** The agents with most of the counts of a rule. Those that were too many have no name. */
function namedOfRule(
  counts: readonly RuleCount[],
  names: readonly string[],
): { agent: string; urls: number }[] {
  return counts
    .toSorted((a, b) => b.count - a.count || a.agent - b.agent)
    .flatMap(({ agent: index, count: urls }) => {
      const agent = names[index];
      return agent === undefined ? [] : [{ agent, urls }];
    })
    .slice(0, NAMED_OF_RULE);
}

/** A time in seconds since 1970, as ISO 8601. */
export function isoOf(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : isoSeconds(seconds);
}

/** The counts of a rule for some agents. */
interface RuleOverAgents extends Pick<RuleCount, 'version' | 'line'> {
  count: number;
  readonly ofAgents: RuleCount[];
}

/** Adds up the agents of each rule. The rules are sorted by version and line. */
function overAgents(rules: readonly RuleCount[]): RuleOverAgents[] {
  const sums: RuleOverAgents[] = [];
  for (const rule of rules.toSorted((a, b) => a.version - b.version || a.line - b.line)) {
    const last = sums.at(-1);
    if (last?.version === rule.version && last.line === rule.line) {
      last.count += rule.count;
      last.ofAgents.push(rule);
    } else {
      const { version, line, count } = rule;
      sums.push({ version, line, count, ofAgents: [rule] });
    }
  }
  return sums;
}

// ---- The hosts and rules with the greatest counts

/**
 * The rules with the greatest counts, greatest first. Equal counts are sorted by host, then by
 * the version and the line: offsets of hosts differ between a table and its shards.
 *
 * @param rules sorted by version and line
 * @param placed knows their versions
 * @param top number of them; all if undefined
 */
export function rankedRules<Rule extends Pick<RuleCount, 'version' | 'count'>>(
  rules: readonly Rule[],
  view: TableView,
  placed: DecidedRules,
  top: number | undefined,
): Rule[] {
  const ruleAt = (index: number): Rule => rules[index] as Rule;
  const counted = {
    counts: Float64Array.from(rules, ({ count }) => count),
    placeOf: (index: number) => placed.placeOfHost(ruleAt(index)),
  };
  return Array.from(mostCounted(view, counted, top), ruleAt);
}

/** A host of the table with URLs. */
interface BusyHost {
  readonly slot: number;
  readonly host: string;
  readonly urls: number;
}

/** The hosts with most URLs, then by name; all if `top` is undefined. They can be read again. */
export function busiestHosts(
  { slots, urls }: HostCounts,
  view: TableView,
  top: number | undefined,
): Iterable<BusyHost> {
  const placeOf = (index: number): number => view.placeOfSlot(slots[index] as number);
  const most = mostCounted(view, { counts: urls, placeOf }, top);
  return {
    *[Symbol.iterator]() {
      for (const index of most) {
        const host = view.nameAt(placeOf(index));
        yield { slot: slots[index] as number, host, urls: urls[index] as number };
      }
    },
  };
}
