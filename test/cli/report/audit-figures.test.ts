import { expect, test } from 'vitest';
import { lines } from '../command-line.js';
import { countsBy, type Explained, RECORD_KINDS } from './expected-figures.js';
import { number, share } from './expected-page.js';
import { AGENTS, type GeneratedFile, type GeneratedRun, generatedRun } from './generated-run.js';
import { elements, tablesOf, textOfHtml } from './page-tables.js';
import { keysOf, plainGroups } from './robots-text.js';

const UNKNOWN = ['other.example', 'h0.example:7', 'https://h0.example:9'];
const EXTENTS = ['none', 'part', 'all', 'unknown'];

/** For each rule of a generated file paths that it matches, and paths that only others match. */
const PROBES = ['/', '/z', '/a', '/ab', '/a/b', '/a/bc', '/c', '/<b>&"', '/d/.gif', '/d/x.gif'];
PROBES.push('/d/x.gif?', '/e', '/ef', '/exfy', '/q', '/q?x=1', '/\u00fc', '/g', '/gx');

/** What the audit must find at a host, by its name in reports. */
interface Expected {
  readonly label: string;
  readonly access: string;
  readonly file: GeneratedFile | undefined;
  /** For each agent. */
  readonly allowed: readonly string[];
  readonly by: readonly string[];
}

/** Whose group decides for an agent. */
function deciderOf(agent: string, robots: string): string {
  const tokens = new Set(plainGroups(robots).flatMap((group) => [...group.tokens]));
  const own = agent.toLowerCase().split('>');
  if (own.some((token) => token !== '*' && tokens.has(token))) return 'own';
  return tokens.has('*') ? 'any' : 'nobody';
}

/** Asks the filter about the probes at each host. */
async function expectedHosts({ place, files }: GeneratedRun): Promise<Expected[]> {
  const rootOf = (label: string) => (label.includes('://') ? label : `https://${label}`);
  const urls = files.flatMap(({ label }) => PROBES.map((path) => `${rootOf(label)}${path}\n`));
  const words = ['--table', 'robots.table', '-a', AGENTS.join(), '-q'];
  const { text } = await place.run([...words, '--format', 'ndjson', '--explain'], urls.join(''));
  const records = lines(text).map((line) => JSON.parse(line) as Explained);
  const known = files.map((file, index): Expected => {
    const own = records.slice(index * PROBES.length, (index + 1) * PROBES.length);
    const allowed = AGENTS.map((agent) => {
      const verdicts = new Set(own.map((each) => each.verdicts[agent]));
      if (verdicts.size > 1) return 'part';
      return verdicts.has('allow') ? 'all' : 'none';
    });
    const { label, robots, status } = file;
    const by = AGENTS.map((agent) => deciderOf(agent, robots ?? ''));
    // A group without a rule that decides is told from no group by the reason.
    for (const [agent, name] of AGENTS.entries()) {
      const isNoGroup = own.every(({ reasons }) => reasons[name] === 'no-group');
      expect(isNoGroup).toBe(by[agent] === 'nobody' && robots !== undefined);
    }
    const access =
      status === undefined ? 'successful' : status === 404 ? 'unavailable' : 'unreachable';
    return { label, access, file, allowed, by };
  });
  const unknown = UNKNOWN.map(
    (label): Expected => ({
      label,
      access: 'unknown',
      file: undefined,
      allowed: AGENTS.map(() => 'unknown'),
      by: [],
    }),
  );
  return [...known, ...unknown];
}

const nones = ({ allowed }: { readonly allowed: readonly string[] }) =>
  allowed.filter((each) => each === 'none').length;

interface Strict {
  readonly host: string;
  readonly allowed: readonly string[];
}

/** The strictest first, then by name. */
function byStrictness(a: Strict, b: Strict): number {
  return nones(b) - nones(a) || (a.host < b.host ? -1 : 1);
}

function expectedAudit(hosts: readonly Expected[]) {
  const count = (holds: (host: Expected) => boolean) => hosts.filter(holds).length;
  return {
    hosts: hosts.length,
    agents: AGENTS.map((agent, index) => ({
      agent,
      extents: countsBy(EXTENTS, (extent) => count(({ allowed }) => allowed[index] === extent)),
      by: countsBy(['own', 'any', 'nobody'], (decider) =>
        count(({ access, by }) => access === 'successful' && by[index] === decider),
      ),
    })),
    access: countsBy(['successful', 'unavailable', 'unreachable', 'unknown'], (access) =>
      count((host) => host.access === access),
    ),
    records: countsBy(RECORD_KINDS, (kind) =>
      count(({ file }) => keysOf(file?.robots ?? '').has(kind)),
    ),
    strictest: hosts
      .filter((host) => nones(host) > 0)
      .map(({ label, allowed }) => ({ host: label, allowed }))
      .sort(byStrictness),
  };
}

test('every figure of an audit is what explained records and the files add up to', async () => {
  const run = generatedRun(4);
  const { place } = run;
  const hosts = await expectedHosts(run);
  place.write('hosts.txt', hosts.map(({ label }) => `${label}\n`).join(''));
  const words = ['audit', '-q', '--table', 'robots.table', '-a', AGENTS.join()];
  for (const file of ['r.json', 'r.html']) {
    const { code } = await place.run([...words, '--hosts', 'hosts.txt', '--report', file]);
    expect(code).toBe(0);
  }
  const { schema, source, profile, created, ...figures } = JSON.parse(place.read('r.json'));
  expect({ schema, source, profile }).toEqual({
    schema: 'robots-filter/audit/1',
    source: 'robots.table',
    profile: 'rfc9309',
  });
  expect(Date.now() - Date.parse(created)).toBeLessThan(60_000);
  const expected = expectedAudit(hosts);
  // Authorities of one host come in the order of the table.
  const order = (figures.strictest as Strict[]).map(nones);
  expect(order).toEqual(order.toSorted((a, b) => b - a));
  figures.strictest.sort(byStrictness);
  expect(figures).toEqual({
    ...expected,
    agents: expected.agents.map(({ extents, ...others }) => ({ ...others, ...extents })),
  });
  // The figures must not be equal because they are all 0.
  for (const { agent, by, extents } of expected.agents) {
    const { own, ...others } = { ...by, ...extents };
    for (const count of Object.values(others)) expect(count).toBeGreaterThan(2);
    if (agent !== '*') expect(own).toBeGreaterThan(2);
  }
  // All are listed.
  expect(expected.strictest.length).toBeLessThan(100);
  expect(expected.strictest.length).toBeGreaterThan(20);

  const page = place.read('r.html');
  const { agents, access, records, strictest } = expected;
  const numbers = (counts: Record<string, number>, keys: readonly string[]) =>
    keys.map((key) => number(counts[key] ?? Number.NaN));
  const shares = (counts: Record<string, number>) =>
    Object.entries(counts).map(([name, n]) => [name, number(n), share(n, hosts.length)]);
  const tables = tablesOf(page);
  const [strict] = tables.splice(4);
  const byText = (a: readonly string[], b: readonly string[]) => (a.join() < b.join() ? -1 : 1);
  expect(strict?.header).toEqual(['host', ...AGENTS]);
  expect(strict?.rows.toSorted(byText)).toEqual(
    strictest.map(({ host, allowed }) => [host, ...allowed]).sort(byText),
  );
  expect(tables.map(({ header }) => header.length)).toEqual([5, 4, 4, 3]);
  expect(tables.map(({ rows }) => rows.map((row) => row.slice(0, 1 + AGENTS.length)))).toEqual([
    agents.map(({ agent, extents }) => [agent, ...numbers(extents, EXTENTS)]),
    agents.map(({ agent, by }) => [agent, ...numbers(by, ['own', 'any', 'nobody'])]),
    shares(access).map((row) => [...row, expect.any(String)]),
    shares(records),
  ]);
  expect(strict?.caption).toMatch(new RegExp(`^${strictest.length} hosts `));
  const sorted = agents
    .map(({ extents }) => extents)
    .sort((a, b) => (b.none ?? 0) - (a.none ?? 0) || (a.all ?? 0) - (b.all ?? 0));
  const said = elements(page, 'span').filter((span) => span.startsWith('<span class="counts"'));
  expect(said.map(textOfHtml)).toEqual(
    sorted.map(
      ({ none = 0, all = 0 }) =>
        `${share(none, hosts.length)} none, ${share(all, hosts.length)} all`,
    ),
  );
  const drawn = elements(page, 'svg').map((bar) =>
    Array.from(bar.matchAll(/ width="([\d.]+)"/g), ([, width]) => width),
  );
  expect(drawn).toEqual(
    sorted.map((each) =>
      EXTENTS.map((extent) => ((1000 * (each[extent] ?? 0)) / hosts.length).toFixed(1)),
    ),
  );
});
