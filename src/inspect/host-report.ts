/** What a table says of a host, for people and as JSON, and the names of its parts in reports. */

import { type Authority, formatAuthority, type Scheme } from '../protocol/authority.js';
import { isOfGroup, recordsFor } from '../protocol/fields.js';
import { parseRecordValue } from '../protocol/preferences.js';
import { escapeText } from '../table/display-text.js';
import type { TableRecord } from '../table/record-list.js';
import { rulesOf } from '../view/automaton-view.js';
import {
  answersFor,
  type MergedGroup,
  type TableAuthority,
  type TableHost,
  type TableRule,
} from '../view/table-content.js';
import type { TableView } from '../view/table-view.js';
import { sortedPlaces } from './host-order.js';
import type { AgentSummary } from './table-audit.js';

/** What a robots.txt says to an agent that was asked for. */
export interface AskedAgent {
  readonly name: string;
  readonly summary: AgentSummary;
}

/** `http://example.com, https://example.com`. */
export function authorityNames({ host }: TableHost, { schemes, port }: TableAuthority): string {
  return schemes.map((scheme: Scheme) => formatAuthority({ scheme, host, port })).join(', ');
}

/**
 * The name of an authority in reports: the host alone if it has http and https at their default
 * ports, HOST:PORT for both at another port, otherwise the URLs of its roots.
 */
export function authorityLabel(
  { host }: Pick<TableHost, 'host'>,
  { schemes, port }: Pick<TableAuthority, 'schemes' | 'port'>,
): string {
  if (schemes.length === 2 && schemes[0] === 'http' && schemes[1] === 'https') {
    return formatAuthority({ scheme: undefined, host, port });
  }
  return schemes.map((scheme: Scheme) => formatAuthority({ scheme, host, port })).join(' ');
}

/** `Disallow: /private`, with the pattern as written. */
export function ruleText({ allow, text }: TableRule): string {
  return `${allow ? 'Allow' : 'Disallow'}: ${plainText(text)}`;
}

/** A text that a table gives escaped as in a JSON string. */
export function plainText(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

/** Kinds of other records (RFC 9309 section 2.2.4) that reports count. */
export const RECORD_FIGURES = [
  'sitemap',
  'crawl-delay',
  'content-usage',
  'content-signal',
  'license',
  'web-page',
] as const;

export type RecordFigure = (typeof RECORD_FIGURES)[number];

/** Describes one authority of a host for people: its access result, its records and its groups. */
export function* authorityLines(
  view: TableView,
  host: TableHost,
  authority: TableAuthority,
  asked: readonly AskedAgent[],
): Iterable<string> {
  const { records, date } = view.recordsOf(authority);
  yield authorityNames(host, authority);
  yield `  source  ${authority.source}`;
  yield `  access  ${authority.accessResult}`;
  if (date !== undefined) yield `  date    ${isoSeconds(date)}`;
  for (const { name, summary } of asked) {
    const { crawlDelay, preferences } = recordsFor(records, summary.tokens);
    yield `  agent   ${name}: ${describe(summary)}`;
    if (crawlDelay !== undefined) yield `          crawl-delay ${escapeText(String(crawlDelay))}`;
    for (const preference of preferences) yield `          ${escapeText(preference)}`;
  }
  const ofFile = records.filter(({ kind }) => !isOfGroup(kind));
  if (ofFile.length > 0) yield '';
  for (const record of ofFile) yield recordLine(record);
  if (authority.accessResult !== 'successful') return;
  const groups = groupsOf(view, authority, asked);
  if (groups.length === 0) yield '  no groups: everything is allowed';
  for (const group of groups) {
    yield '';
    for (const token of group.productTokens) yield `          User-agent: ${token}`;
    const rules = rulesOf(view, group);
    if (rules.length === 0) yield '          # no rule can match: everything is allowed';
    const lines = [
      ...rules.map((rule) => [rule.line, ruleLine(rule)] as const),
      ...recordsOfGroup(records, group).map((record) => [record.line, recordLine(record)] as const),
    ];
    for (const [, text] of lines.sort(([a], [b]) => a - b)) yield text;
  }
}

/** A version of the robots.txt of an authority, and what it says to agents. */
export interface VersionReport {
  /** From when on it is in force, in seconds since 1970. */
  readonly since: number;
  readonly authority: TableAuthority;
  readonly asked: readonly AskedAgent[];
}

/** Describes the versions of one authority of a host for people: a line, and one for each agent. */
export function* historyLines(
  host: TableHost,
  authority: TableAuthority,
  versions: readonly VersionReport[],
): Iterable<string> {
  yield authorityNames(host, authority);
  const access = Math.max(...versions.map(({ authority }) => authority.accessResult.length));
  for (const { since, authority, asked } of versions) {
    yield `  ${isoSeconds(since)}  ${authority.accessResult.padEnd(access)}  ${authority.source}`;
    for (const { name, summary } of asked) yield `      ${name}: ${describe(summary)}`;
  }
}

/** Describes a version of one authority of a host as the members of a JSON object. */
export function versionJson(
  { host }: TableHost,
  { since, authority, asked }: VersionReport,
  next: VersionReport | undefined,
): Readonly<Record<string, unknown>> {
  const { schemes, port, accessResult, source } = authority;
  return {
    host,
    schemes,
    port: port ?? null,
    since: isoSeconds(since),
    until: next === undefined ? null : isoSeconds(next.since),
    access: accessResult,
    source: JSON.parse(`"${source}"`),
    agents: asked.map(({ name, summary }) => ({ agent: name, ...summaryJson(summary) })),
  };
}

/** Describes one authority of a host as the members of a JSON object. */
export function authorityJson(
  view: TableView,
  { host }: TableHost,
  authority: TableAuthority,
  asked: readonly AskedAgent[],
): Readonly<Record<string, unknown>> {
  const { schemes, port, accessResult, source } = authority;
  const { records, date } = view.recordsOf(authority);
  const groups = accessResult === 'successful' ? groupsOf(view, authority, asked) : [];
  return {
    host,
    schemes,
    port: port ?? null,
    source: JSON.parse(`"${source}"`),
    access: accessResult,
    date: date === undefined ? null : isoSeconds(date),
    records: records.filter(({ kind }) => !isOfGroup(kind)).map(recordJson),
    agents: asked.map(({ name, summary }) => {
      const { crawlDelay, preferences } = recordsFor(records, summary.tokens);
      return {
        agent: name,
        ...summaryJson(summary),
        crawlDelay: crawlDelay ?? null,
        preferences,
      };
    }),
    groups: groups.map((group) => ({
      productTokens: group.productTokens,
      rules: rulesOf(view, group).map(({ allow, text, line }) => ({
        line,
        kind: allow ? 'allow' : 'disallow',
        pattern: JSON.parse(`"${text}"`) as string,
      })),
      records: recordsOfGroup(records, group).map(recordJson),
    })),
  };
}

/** All groups, or those that decide for the agents that were asked for. */
function groupsOf(
  view: TableView,
  { robots }: TableAuthority,
  asked: readonly AskedAgent[],
): MergedGroup[] {
  const groups = view.groups(robots);
  if (asked.length === 0) return groups;
  const tokens = new Set(asked.flatMap(({ summary }) => summary.tokens));
  return groups.filter(({ productTokens }) => productTokens.some((token) => tokens.has(token)));
}

function recordsOfGroup(
  records: readonly TableRecord[],
  { productTokens }: MergedGroup,
): TableRecord[] {
  return records.filter((record) =>
    record.productTokens?.some((token) => productTokens.includes(token)),
  );
}

function summaryJson({ reach, tokens, rules, rootAllowed, rootLine }: AgentSummary): object {
  return {
    allowed: reach,
    group: tokens,
    rules,
    root: rootAllowed ? 'allow' : 'deny',
    rootLine: rootLine ?? null,
  };
}

function describe({ reach, tokens, rootAllowed, rootLine }: AgentSummary): string {
  const group = tokens.length === 0 ? 'no group' : `group ${tokens.join(', ')}`;
  const line = rootLine === undefined ? '' : ` by line ${rootLine}`;
  return `${reach} allowed, ${group}; / ${rootAllowed ? 'allow' : 'deny'}${line}`;
}

function ruleLine({ allow, text, line }: TableRule): string {
  return numbered(line, `${allow ? 'Allow' : 'Disallow'}: ${text}`);
}

function recordLine({ kind, line, value, isTruncated }: TableRecord): string {
  const name = kind.charAt(0).toUpperCase() + kind.slice(1);
  return numbered(line, `${name}: ${escapeText(value)}${isTruncated ? '\u2026' : ''}`);
}

function numbered(line: number, text: string): string {
  return `${String(line).padStart(8)}  ${text}`;
}

function recordJson({ kind, line, value, isTruncated }: TableRecord): object {
  const parsed = isTruncated ? undefined : parseRecordValue(kind, value);
  return { line, kind, value, parsed: parsed ?? null, truncated: isTruncated };
}

/** `2025-03-10T12:00:00Z`. */
export function isoSeconds(seconds: number): string {
  return new Date(1000 * seconds).toISOString().replace('.000Z', 'Z');
}

// ---- The hosts of a table, each authority with its label

/** What is reported of a host: a label, and its authority, or none if no robots.txt is known. */
export type LabelledPart = readonly [label: string, authority: TableAuthority | undefined];

/**
 * The hosts of a table by their names, each once.
 *
 * @param asked only these, also those that the table lacks; `undefined` for all of the table
 */
export function* labelledHosts(
  view: TableView,
  asked: ReadonlyMap<string, Authority> | undefined,
): Iterable<readonly [host: string, parts: readonly LabelledPart[]]> {
  if (asked !== undefined) {
    yield* askedIn(view, asked);
    return;
  }
  for (const at of sortedPlaces(view)) {
    const host = view.hostAt(at);
    if (host.authorities.length === 0) continue;
    yield [host.host, host.authorities.map((each) => [authorityLabel(host, each), each])];
  }
}

/** The hosts that were asked for, sorted; of each those schemes and ports, each once. */
function* askedIn(
  view: TableView,
  hosts: ReadonlyMap<string, Authority>,
): Iterable<readonly [host: string, parts: readonly LabelledPart[]]> {
  let host: string | undefined;
  let parts: LabelledPart[] = [];
  const reported = new Set<number>();
  for (const [label, asked] of [...hosts].sort(byHost)) {
    if (asked.host !== host) {
      if (host !== undefined) yield [host, parts];
      reported.clear();
      host = asked.host;
      parts = [];
    }
    const found = view.find(asked.host);
    const answering = found?.authorities.filter((each) => answersFor(each, asked)) ?? [];
    if (found === undefined || answering.length === 0) parts.push([label, undefined]);
    // A list may have a host and its URLs, or a URL of each scheme.
    for (const authority of answering) {
      if (found === undefined || reported.has(authority.at)) continue;
      reported.add(authority.at);
      parts.push([authorityLabel(found, authority), authority]);
    }
  }
  if (host !== undefined) yield [host, parts];
}

type Asked = readonly [label: string, authority: Authority];

function byHost([label, { host }]: Asked, [otherLabel, { host: otherHost }]: Asked): number {
  if (host !== otherHost) return host < otherHost ? -1 : 1;
  return label < otherLabel ? -1 : 1;
}
