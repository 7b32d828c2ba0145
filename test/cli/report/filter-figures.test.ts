import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lines } from '../command-line.js';
import {
  countsBy,
  type Explained,
  expectedFigures,
  expectedRules,
  MOST_RULES,
} from './expected-figures.js';
import { AGENTS, type GeneratedRun, generatedRun } from './generated-run.js';
import { figuresOf, tablesOf } from './page-tables.js';

/** A report as JSON, whose members the test knows or fails on. */
type Json = Record<string, unknown>;
type JsonRule = { host: string; source: string; line: number; denied: number } & Json;

const SEED = 27;

/** The words of a run without its inputs and formats. */
const words = (unknown: string) => {
  const agents = ['-a', AGENTS.join(), '--unknown', unknown];
  return ['--table', 'robots.table', ...agents, '-q'];
};

async function explained({ place, inputs }: GeneratedRun, unknown: string): Promise<Explained[]> {
  const format = ['--format', 'ndjson', '--explain'];
  const { text } = await place.run([...words(unknown), ...format, ...inputs]);
  return lines(text).map((line) => JSON.parse(line) as Explained);
}

const byText = <Item>(items: readonly Item[]) =>
  items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Figures in which the outcomes of each agent are sorted by text, without what is known of it. */
const sortedOutcomes = ({ agents, ...others }: Json) => ({
  ...others,
  agents: (agents as ({ outcomes: unknown[] } & Json)[]).map((each) => {
    const { outcomes, largest, operator, list, purpose, obeys, ...figures } = each;
    return { ...figures, outcomes: byText(outcomes) };
  }),
});

/** Checks the files that deny most: of equal ones any may be named. */
function checkLargest(
  agents: unknown,
  expected: ReturnType<typeof expectedFigures>['agents'],
): void {
  type Largest = { largest: { of: string; urls: number; hosts: number } | null };
  for (const [index, { largest }] of (agents as Largest[]).entries()) {
    const { of, ...counts } = largest ?? { of: '' };
    expect(expected[index]?.largest).toContainEqual(counts);
    expect(of).toMatch(/^h\d+\.example$/);
  }
}

/** Checks the rules against those that were counted anew; returns those that are not in it. */
function checkRules(rules: readonly JsonRule[], expected: ReturnType<typeof expectedRules>): void {
  const most = Array.from(expected.values(), ({ figures }) => figures.denied);
  expect(rules.map(({ denied }) => denied)).toEqual(most.slice(0, MOST_RULES));
  expect(new Set(rules.map(({ source, line }) => `${source}:${line}`)).size).toBe(rules.length);
  for (const { group, around, ...figures } of rules) {
    const own = expected.get(`${figures.source}:${figures.line}`);
    expect(figures).toEqual(own?.figures);
    const tokens = (group as string[]).toSorted();
    const places = own?.places.map((place) => ({ ...place, group: place.group.toSorted() }));
    expect(places).toContainEqual({ group: tokens, around });
  }
  const order = (rule: JsonRule) => [-rule.denied, rule.host.replace(/^https:\/\/|:.*$/g, '')];
  for (const [index, rule] of rules.entries()) {
    const next = rules[index + 1];
    if (next?.denied === rule.denied)
      expect([order(rule), order(next)]).toEqual(
        [order(rule), order(next)].sort(([, a], [, b]) => ((a ?? '') < (b ?? '') ? -1 : 0)),
      );
  }
}

/** Checks the figures of --stats=json, all but the time and the memory. */
function checkStatistics(statistics: Json, run: GeneratedRun, records: readonly Explained[]): void {
  const { seconds, recordsPerSecond, bytesPerSecond, peakBytes, ...counts } = statistics;
  const { hosts, agents } = expectedFigures(records, run.files);
  const invalid = agents[0]?.urls.invalid;
  expect(counts).toEqual({
    complete: true,
    records: run.records,
    passed: run.records,
    bad: invalid,
    bytes: run.bytes,
    hosts,
    agents: agents.map(({ agent, urls, outcomes }) => {
      const reasons = Object.keys((statistics.agents as { reasons: object }[])[0]?.reasons ?? {});
      return {
        agent,
        verdicts: urls,
        reasons: countsBy(reasons, (reason) =>
          outcomes.filter((it) => it.reason === reason).reduce((sum, { urls: n }) => sum + n, 0),
        ),
      };
    }),
  });
  for (const { reasons } of agents.map(({ outcomes }) => ({ reasons: outcomes }))) {
    expect(reasons.reduce((sum, { urls }) => sum + urls, 0)).toBe(run.records);
  }
  const { wall, setup, filter, user, system, ...rest } = seconds as Record<string, number>;
  expect(rest).toEqual({});
  expect(wall).toBeCloseTo((setup ?? 0) + (filter ?? 0), 6);
  expect(recordsPerSecond).toBeCloseTo(run.records / (filter ?? 0), -1);
  expect(bytesPerSecond).toBeCloseTo(run.bytes / (filter ?? 0), -1);
  for (const figure of [user, system, peakBytes]) expect(figure).toBeGreaterThan(0);
}

test.each(['unknown', 'allow'])(
  'every figure of a report is what explained records add up to: --unknown %s',
  async (unknown) => {
    const run = generatedRun(SEED);
    const records = await explained(run, unknown);
    expect(records.length).toBe(run.records);
    const begun = new Date().toISOString();
    const options = ['--threads', '2', '--report', 'r.json', '--stats=json'];
    const { code, stderr } = await run.place.run([...words(unknown), ...options, ...run.inputs]);
    expect(code).toBe(0);
    const { run: statistics, ...report } = JSON.parse(run.place.read('r.json')) as Json;
    const { schema, created, complete, source, profile, program, denying, ...figures } = report;
    expect({ schema, complete, source, profile }).toEqual({
      schema: 'robots-filter/filter/2',
      complete: true,
      source: 'robots.table',
      profile: 'rfc9309',
    });
    const times = [begun, created, new Date().toISOString()];
    expect(times).toEqual(times.toSorted());
    expect(created).toHaveLength(begun.length);
    const expected = expectedFigures(records, run.files);
    expect(program).toMatch(/^robots-filter \d/);
    expect(sortedOutcomes(figures)).toEqual(sortedOutcomes(expected));
    checkLargest(figures.agents, expected.agents);
    const { rules, ...missed } = denying as { rules: JsonRule[] };
    expect(missed).toEqual({ missed: 0 });
    checkRules(rules, expectedRules(records, run.files));
    checkStatistics(statistics as Json, run, records);
    const { schema: version, report: repeated, ...again } = JSON.parse(stderr) as Json;
    expect(version).toBe('robots-filter/stats/1');
    expect(repeated).toEqual(report);
    checkStatistics(again, run, records);

    // The figures must not be equal because they are all 0.
    const { access, ages, otherRecords, busiest, agents } = expected;
    for (const counts of [access, ages, otherRecords, ...agents.map(({ hosts }) => hosts)]) {
      for (const count of Object.values(counts)) expect(count).toBeGreaterThan(3);
    }
    expect([busiest.length, rules.length]).toEqual([MOST_RULES, MOST_RULES]);
    expect(expected.files).toBeLessThan(expected.hosts.seen / 2);
    for (const { outcomes } of agents) expect(outcomes.length).toBeGreaterThan(9);
  },
);

test('the page embeds the same figures, and its tables show them', async () => {
  const run = generatedRun(SEED);
  for (const file of ['r.json', 'r.html']) {
    const { code } = await run.place.run([...words('unknown'), '--report', file, ...run.inputs]);
    expect(code).toBe(0);
  }
  const report = JSON.parse(run.place.read('r.json'));
  const page = run.place.read('r.html');
  const others = { created: expect.any(String), run: expect.any(Object) };
  expect(figuresOf(page)).toEqual({ ...report, ...others });
  const number = (count: number) => count.toLocaleString('en');
  const tables = tablesOf(page);
  const tableOf = (caption: string) => tables.filter((table) => table.caption.startsWith(caption));
  const { agents, denying, busiest } = report;
  expect(tableOf('Records by verdict').map(({ rows }) => rows)[0]).toEqual(
    agents.map(({ agent, urls }: { agent: string; urls: Record<string, number> }) => [
      agent,
      ...['deny', 'allow', 'unknown', 'invalid'].map((verdict) => number(urls[verdict] ?? 0)),
    ]),
  );
  expect(tableOf('URLs that each rule denied').flatMap(({ rows }) => rows)).toEqual(
    denying.rules.map(({ host, denied, line, rule, deniedToAgents, source }: JsonRule) => {
      const denies = (deniedToAgents as number[]).filter((count) => count > 0).length;
      return [host, number(denied), rule, String(line), String(denies), source];
    }),
  );
  const hosts = tableOf('What the crawlers may fetch of').flatMap(({ rows }) => rows);
  expect(hosts.map(([host, urls]) => [host, urls])).toEqual(
    busiest.map(({ host, urls }: { host: string; urls: number }) => [host, number(urls)]),
  );
  expect(page).not.toMatch(
    /<script(?! type="application\/json")|<img|<link|src=|href=|url\(|@import/,
  );
  expect(page).not.toMatch(/NaN|undefined/);
});

test('docs/formats.md names every member of a report', async () => {
  const run = generatedRun(SEED);
  await run.place.run([...words('unknown'), '--report', 'r.json', ...run.inputs]);
  const { run: _, ...report } = JSON.parse(run.place.read('r.json')) as Json;
  const docs = readFileSync(new URL('../../../docs/formats.md', import.meta.url), 'utf8');
  const section = /^## Reports$.*?^## Report of an audit$/ms.exec(docs)?.[0] ?? '';
  const named = new Set(Array.from(section.matchAll(/`([\w.[\]-]+)`/g), ([, word]) => word));
  const kinds = Object.keys(report.otherRecords as Json);
  const known = [...named, ...kinds, 'allow', 'deny', 'unknown', 'invalid'];
  const members = (value: unknown): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, own]) => [
          ...(Array.isArray(value) ? [] : [key]),
          ...members(own),
        ]);
  const missing = [...new Set(members(report))].filter((member) => !known.includes(member));
  expect(missing).toEqual([]);
});
