/** The figures of a report, counted anew: from records with --explain, and robots.txt files. */

import { AGENTS, type GeneratedFile, STALE_BEFORE } from './generated-run.js';
import { grouped } from './grouped.js';
import { contentOf, keysOf, mergedGroups, type PlainMergedGroup } from './robots-text.js';

/** A record that came out of the filter as NDJSON with --explain. */
export interface Explained {
  readonly url?: string;
  readonly verdicts: Readonly<Record<string, string>>;
  readonly reasons: Readonly<Record<string, string>>;
  readonly rules?: Readonly<Record<string, ExplainedRule | null>>;
}

interface ExplainedRule {
  readonly line: number;
  readonly text: string;
  readonly source: string;
}

const NOT_OF_HOSTS = ['unknown-host', 'invalid-url', 'no-url', 'no-object', 'no-json'];
NOT_OF_HOSTS.push('tab-in-line', 'return-in-line');
/** The ground of a verdict, by its verdict and reason; `noUrl` for all others. */
const GROUNDS: Readonly<Record<string, readonly string[]>> = {
  allowedByRule: ['allow rule'],
  unopposed: ['allow no-rule', 'allow no-group', 'allow robots-txt'],
  noRobotsTxt: ['allow unavailable'],
  deniedByRule: ['deny rule'],
  serverFailed: ['deny unreachable'],
  overBudget: ['deny over-budget'],
  neverAsked: ['allow unknown-host', 'deny unknown-host', 'unknown unknown-host'],
  noUrl: [],
};
const VERDICTS = ['allow', 'deny', 'unknown', 'invalid'];
export const RECORD_KINDS = [
  'sitemap',
  'crawl-delay',
  'content-usage',
  'content-signal',
  'license',
];

/** Maximum number of hosts and of rules in a report. */
const MOST = 30;

const isOfHost = ({ reasons }: Explained) => !NOT_OF_HOSTS.includes(reasons.Other ?? '');
const hostOf = ({ url }: Explained) => new URL(url ?? '').hostname;

/** A number for each word. */
export function countsBy(words: readonly string[], count: (word: string) => number) {
  return Object.fromEntries(words.map((word) => [word, count(word)]));
}

/** The records of each host that has a robots.txt for them. */
export function recordsByHost(records: readonly Explained[]): Map<string, Explained[]> {
  return grouped(records.filter(isOfHost), hostOf);
}

/** Every figure but those of time and memory, and the rules that deny. */
export function expectedFigures(records: readonly Explained[], files: readonly GeneratedFile[]) {
  const hosts = recordsByHost(records);
  const hostsWhere = (holds: (own: readonly Explained[]) => boolean) =>
    [...hosts.values()].filter(holds).length;
  const seen = files.filter(({ host }) => hosts.has(host));
  const filesWhere = (holds: (file: GeneratedFile) => boolean) =>
    new Set(seen.filter(holds).map(({ host }) => host)).size;
  return {
    records: records.length,
    hosts: { table: new Set(files.map(({ host }) => host)).size, seen: hosts.size },
    files: new Set([...hosts.keys()].flatMap((host) => filesOf(host, files))).size,
    agents: AGENTS.map((agent) => agentFigures(agent, records, hosts, files)),
    access: countsBy(['unavailable', 'unreachable'], (reason) =>
      hostsWhere((own) => own.some(({ reasons }) => reasons.Other === reason)),
    ),
    ages: {
      dated: filesWhere(({ date }) => date !== undefined),
      stale: filesWhere(({ date }) => date !== undefined && date < STALE_BEFORE),
    },
    captured: captured(seen),
    otherRecords: countsBy([...RECORD_KINDS, 'web-page'], (kind) =>
      filesWhere(({ robots }) => keysOf(robots ?? '').has(kind)),
    ),
    busiest: [...hosts]
      .sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
      .slice(0, MOST)
      .map(([host, own]) => ({
        host,
        urls: own.length,
        allowed: AGENTS.map(
          (agent) => own.filter(({ verdicts }) => verdicts[agent] === 'allow').length,
        ),
      })),
  };
}

/** The distinct robots.txt files of a host as one text; none if no file was read. */
function filesOf(host: string, files: readonly GeneratedFile[]): string[] {
  const own = files.filter((file) => file.host === host);
  if (own.every(({ robots }) => robots === undefined)) return [];
  const contents = own.map(({ robots, status }) =>
    robots === undefined ? String(status) : contentOf(robots),
  );
  return [[...new Set(contents)].sort().join(' ')];
}

function captured(files: readonly GeneratedFile[]) {
  const dates = files.flatMap(({ date }) => date ?? []).map((date) => Math.floor(date / 1000));
  const iso = (seconds: number) => new Date(1000 * seconds).toISOString().replace('.000', '');
  return {
    first: iso(Math.min(...dates)),
    last: iso(Math.max(...dates)),
    dated: dates.length,
    undated: files.length - dates.length,
  };
}

function agentFigures(
  agent: string,
  records: readonly Explained[],
  hosts: ReadonlyMap<string, readonly Explained[]>,
  files: readonly GeneratedFile[],
) {
  const isAllowed = ({ verdicts }: Explained) => verdicts[agent] === 'allow';
  const groundOf = ({ verdicts, reasons }: Explained) =>
    Object.keys(GROUNDS).find((ground) =>
      GROUNDS[ground]?.includes(`${verdicts[agent]} ${reasons[agent]}`),
    ) ?? 'noUrl';
  const extentOf = (own: readonly Explained[]) => {
    if (own.every(isAllowed)) return 'all';
    return own.some(isAllowed) ? 'part' : 'none';
  };
  const extents = Array.from(hosts.values(), extentOf);
  const read = [...hosts].filter(([host]) => filesOf(host, files).length > 0);
  const byFile = grouped(read, ([host]) => filesOf(host, files).join());
  const ofFiles = Array.from(byFile.values(), (own) => extentOf(own.flatMap(([, each]) => each)));
  const denied = Array.from(byFile.values(), (own) => {
    const counts = own.map(([, each]) => each.filter((record) => !isAllowed(record)).length);
    return {
      urls: counts.reduce((sum, count) => sum + count, 0),
      hosts: counts.filter((count) => count > 0).length,
    };
  });
  const mostDenied = Math.max(...denied.map(({ urls }) => urls));
  const outcomes = grouped(records, ({ verdicts, reasons }) =>
    [verdicts[agent], reasons[agent]].join(' '),
  );
  return {
    agent,
    urls: countsBy(
      VERDICTS,
      (verdict) => records.filter(({ verdicts }) => verdicts[agent] === verdict).length,
    ),
    hosts: countsBy(
      ['all', 'part', 'none'],
      (extent) => extents.filter((each) => each === extent).length,
    ),
    outcomes: Array.from(outcomes, ([key, own]) => {
      const [verdict, reason] = key.split(' ');
      const isCounted = own.some(isOfHost);
      return {
        verdict,
        reason,
        urls: own.length,
        hosts: isCounted ? new Set(own.map(hostOf)).size : null,
      };
    }),
    files: countsBy(
      ['all', 'part', 'none'],
      (extent) => ofFiles.filter((each) => each === extent).length,
    ),
    grounds: Object.fromEntries(
      Object.keys(GROUNDS).map((ground) => {
        const own = records.filter((record) => groundOf(record) === ground);
        const isCounted = ground !== 'neverAsked' && ground !== 'noUrl';
        return [
          ground,
          { urls: own.length, hosts: isCounted ? new Set(own.map(hostOf)).size : null },
        ];
      }),
    ),
    largest: denied.filter(({ urls }) => urls === mostDenied),
  };
}

/** A rule that denied, and what the report may say about its place: see `groupsWith`. */
export interface ExpectedRule {
  readonly figures: {
    readonly host: string;
    readonly source: string;
    readonly line: number;
    readonly rule: string;
    readonly denied: number;
    readonly deniedToAgents: readonly number[];
  };
  readonly places: readonly {
    readonly group: readonly string[];
    readonly around: readonly { readonly line: number; readonly rule: string }[];
  }[];
}

/** The rules that denied URLs, by source and line, most first. */
export function expectedRules(
  records: readonly Explained[],
  files: readonly GeneratedFile[],
): Map<string, ExpectedRule> {
  const denials = records.flatMap(({ verdicts, rules }) =>
    AGENTS.flatMap((agent) => {
      const rule = rules?.[agent];
      return verdicts[agent] === 'deny' && rule ? [{ ...rule, agent }] : [];
    }),
  );
  const byRule = grouped(denials, ({ source, line }) => `${source}:${line}`);
  const sorted = [...byRule].sort(([, a], [, b]) => b.length - a.length);
  return new Map(
    sorted.map(([key, own]) => {
      const { source, line, text } = own[0] as (typeof own)[number];
      const file = files.find((each) => each.source === source);
      return [
        key,
        {
          figures: {
            host: file?.label ?? '',
            source,
            line,
            rule: text,
            denied: own.length,
            deniedToAgents: AGENTS.map(
              (agent) => own.filter((each) => each.agent === agent).length,
            ),
          },
          places: mergedGroups(file?.robots ?? '').flatMap((group) => placeIn(group, line)),
        },
      ];
    }),
  );
}

/** A group that has a rule, and two rules before and after it. */
function placeIn({ tokens, rules }: PlainMergedGroup, line: number) {
  const at = rules.findIndex((rule) => rule.line === line);
  if (at < 0) return [];
  const around = rules.slice(Math.max(0, at - 2), at + 3);
  return [{ group: tokens, around: around.map((rule) => ({ line: rule.line, rule: rule.text })) }];
}

/** The number of rules in a report. */
export const MOST_RULES = MOST;
