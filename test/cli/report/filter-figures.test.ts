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
import { expectedTables, number, share } from './expected-page.js';
import { AGENTS, type GeneratedRun, generatedRun } from './generated-run.js';
import { elements, sortedTable, tablesOf, textOfHtml } from './page-tables.js';

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

/** Figures in which the outcomes of each agent are sorted by text. */
const sortedOutcomes = ({ agents, ...others }: Json) => ({
  ...others,
  agents: (agents as { outcomes: unknown[] }[]).map(({ outcomes, ...figures }) => ({
    ...figures,
    outcomes: byText(outcomes),
  })),
});

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
    const { schema, created, complete, source, profile, denying, ...figures } = report;
    expect({ schema, complete, source, profile }).toEqual({
      schema: 'robots-filter/filter/1',
      complete: true,
      source: 'robots.table',
      profile: 'rfc9309',
    });
    const times = [begun, created, new Date().toISOString()];
    expect(times).toEqual(times.toSorted());
    expect(created).toHaveLength(begun.length);
    const expected = expectedFigures(records, run.files);
    expect(sortedOutcomes(figures)).toEqual(sortedOutcomes(expected));
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
    expect([busiest.length, rules.length]).toEqual([50, 50]);
    for (const { outcomes } of agents) expect(outcomes.length).toBeGreaterThan(9);
  },
);

test('the page shows these figures, and no others', async () => {
  const run = generatedRun(SEED);
  const records = await explained(run, 'unknown');
  for (const file of ['r.json', 'r.html']) {
    const { code } = await run.place.run([...words('unknown'), '--report', file, ...run.inputs]);
    expect(code).toBe(0);
  }
  const page = run.place.read('r.html');
  const figures = expectedFigures(records, run.files);
  const expected = expectedTables(figures);
  const [rules, ...none] = tablesOf(page).slice(expected.length);
  expect(none).toEqual([]);
  for (const [index, table] of tablesOf(page).slice(0, -1).entries()) {
    const own = expected[index];
    if (own === undefined) throw new Error(`${table.caption} is not expected`);
    // Further columns have no figures.
    const rows = table.rows.map((row) => row.slice(0, own.rows[0]?.length));
    expect(sortedTable({ ...table, rows })).toEqual(sortedTable(own));
  }
  const { denying } = JSON.parse(run.place.read('r.json')) as { denying: { rules: JsonRule[] } };
  expect(rules?.caption).toBe(`The ${denying.rules.length} rules that denied most URLs`);
  expect(rules?.rows).toEqual(
    denying.rules.map(({ host, denied, line, rule, deniedToAgents, source }) => {
      const agents = (deniedToAgents as number[]).filter((count) => count > 0);
      return [host, number(denied), String(line), rule, String(agents.length), source];
    }),
  );
  const excerpts = elements(page, 'figure').map((figure) => textOfHtml(figure).split('\n'));
  expect(excerpts).toEqual(
    denying.rules
      .slice(0, 10)
      .map(({ host, line, source, group, around }) => [
        `${host}, line ${line} of ${source}`,
        ...(group as string[]).map((token) => `        User-agent: ${token}`),
        ...(around as { line: number; rule: string }[]).map(
          (each) => `${String(each.line).padStart(6)}  ${each.rule}`,
        ),
      ]),
  );

  // The bars: their words, and the widths of their parts.
  const { agents, hosts } = figures;
  const byDenied = agents.toSorted((a, b) => (b.urls.deny ?? 0) - (a.urls.deny ?? 0));
  const byNone = agents.toSorted((a, b) => (b.hosts.none ?? 0) - (a.hosts.none ?? 0));
  const bars = elements(page, 'svg');
  const widths = [
    ...byDenied.map(({ urls }) => [urls.deny, urls.allow, urls.unknown, urls.invalid]),
    ...byNone.map((each) => [each.hosts.none, each.hosts.part, each.hosts.all]),
  ];
  expect(bars.length).toBe(widths.length);
  for (const [index, counts] of widths.entries()) {
    const whole = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    const drawn = Array.from(bars[index]?.matchAll(/ width="([\d.]+)"/g) ?? [], ([, w]) => w);
    expect(drawn).toEqual(counts.map((count) => ((1000 * (count ?? 0)) / whole).toFixed(1)));
    const label = /aria-label="([^"]*)"/.exec(bars[index] ?? '')?.[1] ?? '';
    const said = Array.from(label.matchAll(/: ([\d,]+) /g), ([, count]) => count);
    expect(said).toEqual(counts.map((count) => number(count ?? 0)));
  }
  const shares = elements(page, 'span').filter((span) => span.startsWith('<span class="counts"'));
  expect(shares.map(textOfHtml)).toEqual([
    ...byDenied.map(({ urls: { deny = 0, allow = 0 } }) =>
      [`${share(deny, run.records)} denied`, `${share(allow, run.records)} allowed`].join(', '),
    ),
    ...byNone.map(({ hosts: { none: denied = 0, all = 0 } }) =>
      [`${share(denied, hosts.seen)} all denied`, `${share(all, hosts.seen)} all allowed`].join(
        ', ',
      ),
    ),
  ]);
  expect(page).toContain(`${number(run.records)} records, ${number(hosts.seen)} hosts of `);
  expect(page).not.toMatch(/<script|<img|<link|src=|href=|url\(|@import|NaN|undefined/);
});

test('docs/formats.md names every member of a report', async () => {
  const run = generatedRun(SEED);
  await run.place.run([...words('unknown'), '--report', 'r.json', ...run.inputs]);
  const { run: _, ...report } = JSON.parse(run.place.read('r.json')) as Json;
  const docs = readFileSync(new URL('../../../docs/formats.md', import.meta.url), 'utf8');
  const section = /^## Report of a run$.*?^## /ms.exec(docs)?.[0] ?? '';
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
