import { expect, test } from 'vitest';
import { lines } from '../command-line.js';
import { countsBy, type Explained, RECORD_KINDS } from './expected-figures.js';
import { AGENTS, type GeneratedFile, type GeneratedRun, generatedRun } from './generated-run.js';
import { grouped } from './grouped.js';
import { figuresOf, tablesOf } from './page-tables.js';
import { contentOf, keysOf, plainGroups } from './robots-text.js';

const UNKNOWN = ['other.example', 'h0.example:7', 'https://h0.example:9'];
const REACHES = ['none', 'part', 'all'] as const;
const OUTCOMES = [...REACHES, 'unavailable', 'unreachable', 'unknown'];
const ANY = AGENTS.indexOf('*');

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
  /** Whether the home page is allowed. */
  readonly home: readonly boolean[];
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
    const home = AGENTS.map((agent) => own[0]?.verdicts[agent] === 'allow');
    const { label, robots, status } = file;
    const by = AGENTS.map((agent) => deciderOf(agent, robots ?? ''));
    // A group without a rule that decides is told from no group by the reason.
    for (const [agent, name] of AGENTS.entries()) {
      const isNoGroup = own.every(({ reasons }) => reasons[name] === 'no-group');
      expect(isNoGroup).toBe(by[agent] === 'nobody' && robots !== undefined);
    }
    const access =
      status === undefined ? 'successful' : status === 404 ? 'unavailable' : 'unreachable';
    return { label, access, file, allowed, by, home };
  });
  const unknown = UNKNOWN.map(
    (label): Expected => ({
      label,
      access: 'unknown',
      file: undefined,
      allowed: AGENTS.map(() => 'unknown'),
      by: [],
      home: AGENTS.map(() => false),
    }),
  );
  return [...known, ...unknown];
}

type Parts = readonly Expected[];

/** What a host, with all its schemes and ports, or a file is for an agent. */
function outcomeOf(parts: Parts, agent: number): string {
  const known = parts.filter(({ access }) => access !== 'unknown');
  if (known.length === 0) return 'unknown';
  if (!known.some(({ access }) => access === 'successful')) {
    return known.some(({ access }) => access === 'unavailable') ? 'unavailable' : 'unreachable';
  }
  const extents = new Set(known.map(({ allowed }) => allowed[agent] ?? ''));
  return extents.size > 1 ? 'part' : ([...extents][0] ?? '');
}

function hostOf({ label }: Expected): string {
  return label.replace(/^https:\/\//, '').replace(/:.*$/, '');
}

function expectedAudit(all: readonly Expected[]) {
  const hosts = grouped(all, hostOf);
  const read = all.filter(({ access }) => access === 'successful');
  const files = grouped(read, ({ file }) => contentOf(file?.robots ?? ''));
  const hostsWhere = (holds: (parts: Parts) => boolean) => [...hosts.values()].filter(holds).length;
  const filesWhere = (holds: (parts: Parts) => boolean) =>
    [...files.values()].filter(([one]) => one !== undefined && holds([one])).length;
  const both = (holds: (parts: Parts) => boolean) => ({
    hosts: hostsWhere(holds),
    files: filesWhere(holds),
  });
  const isBest = (parts: Parts, agent: number, decider: string): boolean => {
    const own = parts.filter(({ access }) => access === 'successful').map(({ by }) => by[agent]);
    return ['own', 'any', 'nobody'].find((each) => own.includes(each)) === decider;
  };
  const dates = all.flatMap(({ file }) => file?.date ?? []).map((date) => Math.floor(date / 1000));
  const iso = (seconds: number) => new Date(1000 * seconds).toISOString().replace('.000', '');
  const accessOf = (parts: Parts) =>
    ['successful', 'unavailable', 'unreachable', 'unknown'].find((access) =>
      parts.some((part) => part.access === access),
    );
  return {
    files,
    hostsOf: (content: string): string[] =>
      [...hosts].flatMap(([host, parts]) => {
        const contents = new Set(
          parts.map(({ access, file }) =>
            access === 'successful' ? contentOf(file?.robots ?? '') : access,
          ),
        );
        return contents.size === 1 && contents.has(content) ? [host] : [];
      }),
    figures: {
      hosts: hosts.size,
      files: files.size,
      agents: AGENTS.map((agent, index) => ({
        agent,
        hosts: countsBy(OUTCOMES, (outcome) =>
          hostsWhere((parts) => outcomeOf(parts, index) === outcome),
        ),
        files: countsBy(REACHES, (reach) =>
          filesWhere((parts) => outcomeOf(parts, index) === reach),
        ),
        partWithoutHome: both(
          (parts) => outcomeOf(parts, index) === 'part' && !parts.some(({ home }) => home[index]),
        ),
        shutOutAlone: both(
          (parts) => outcomeOf(parts, index) === 'none' && outcomeOf(parts, ANY) !== 'none',
        ),
        by: countsBy(['own', 'any', 'nobody'], (decider) =>
          hostsWhere((parts) => isBest(parts, index, decider)),
        ),
      })),
      access: countsBy(['successful', 'unavailable', 'unreachable', 'unknown'], (access) =>
        hostsWhere((parts) => accessOf(parts) === access),
      ),
      captured: {
        first: iso(Math.min(...dates)),
        last: iso(Math.max(...dates)),
        dated: dates.length,
        undated: all.filter(({ file }) => file !== undefined).length - dates.length,
      },
      records: countsBy([...RECORD_KINDS, 'web-page'], (kind) =>
        hostsWhere((parts) => parts.some(({ file }) => keysOf(file?.robots ?? '').has(kind))),
      ),
    },
  };
}

interface FileFigures {
  readonly of: string;
  readonly hosts: number;
  readonly allowed: readonly string[];
  readonly lines: readonly string[];
}

interface AgentFigures {
  readonly agent: string;
  readonly largest: Readonly<
    Record<string, { readonly of: string; readonly hosts: number } | null>
  >;
}

/** Pairs of agents to which a file allows different extents. */
function differences(allowed: readonly string[]): number {
  const pairs = allowed.flatMap((one, index) =>
    allowed.slice(index + 1).map((other) => one !== other),
  );
  return pairs.filter(Boolean).length;
}

test('every figure of an audit is what explained records and the files add up to', async () => {
  const run = generatedRun(4);
  const { place } = run;
  const all = await expectedHosts(run);
  place.write('hosts.txt', all.map(({ label }) => `${label}\n`).join(''));
  const words = ['audit', '-q', '--table', 'robots.table', '-a', AGENTS.join()];
  for (const file of ['r.json', 'r.html']) {
    const { code, text } = await place.run([...words, '--hosts', 'hosts.txt', '--report', file]);
    expect({ code, text }).toEqual({ code: 0, text: '' });
  }
  const report = JSON.parse(place.read('r.json'));
  const { schema, source, profile, created, program, shared, apart, ...figures } = report;
  expect({ schema, source, profile, program }).toEqual({
    schema: 'robots-filter/audit/2',
    source: 'robots.table',
    profile: 'rfc9309',
    program: expect.stringMatching(/^robots-filter \d/),
  });
  expect(Date.now() - Date.parse(created)).toBeLessThan(60_000);
  const { figures: expected, files, hostsOf } = expectedAudit(all);
  const operated = { operator: expect.any(String), list: 'ai-training', obeys: 'yes' };
  const known = { ...operated, purpose: expect.any(String) };
  const extra = (agent: string) => (['GPTBot', 'CCBot'].includes(agent) ? known : {});
  const largest = expect.anything();
  expect(figures).toEqual({
    ...expected,
    agents: expected.agents.map((each) => ({ ...each, ...extra(each.agent), largest })),
  });
  // The figures must not be equal because they are all 0.
  const sums: Record<string, number> = {};
  for (const { agent, ...counted } of expected.agents) {
    for (const [member, counts] of Object.entries(counted)) {
      for (const [kind, count] of Object.entries(counts)) {
        const key = `${member} ${kind}`;
        sums[key] = (sums[key] ?? 0) + count;
      }
    }
  }
  for (const [key, sum] of Object.entries(sums)) expect([key, sum > 2]).toEqual([key, true]);
  expect(Object.keys(sums)).toHaveLength(16);

  // The files: each with the hosts that have it and no other, and what it allows.
  const contentsOf = (host: string) =>
    [...files].filter(([, parts]) => parts.some((part) => hostOf(part) === host));
  const most = Math.max(...[...files.keys()].map((content) => hostsOf(content).length));
  expect(shared[0].hosts).toBe(most);
  expect(most).toBeGreaterThan(3);
  const scores = [...files.values()].map(([one]) => differences(one?.allowed ?? []));
  expect(differences(apart[0].allowed)).toBe(Math.max(...scores));
  for (const list of [shared, apart] as FileFigures[][]) {
    expect(list.length).toBe(10);
    const order = list.map(({ hosts, allowed }) =>
      list === shared ? [hosts, 0] : [differences(allowed), hosts],
    );
    expect(order).toEqual(order.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => c - a || d - b));
    for (const { of, hosts, allowed, lines: text } of list) {
      const found = contentsOf(of).map(([content, [one]]) => ({
        hosts: hostsOf(content).length,
        allowed: one?.allowed,
      }));
      expect(found).toContainEqual({ hosts, allowed });
      expect(text.length).toBeLessThan(14);
    }
  }
  for (const [index, { largest: own }] of (figures.agents as AgentFigures[]).entries()) {
    for (const [reach, file] of Object.entries(own)) {
      const alike = [...files].filter(([, [one]]) => one?.allowed[index] === reach);
      const counts = alike.map(([content]) => hostsOf(content).length);
      expect(file?.hosts ?? 0).toBe(Math.max(0, ...counts));
      if (file === null) continue;
      const ofHost = contentsOf(file.of).map(([content]) => hostsOf(content).length);
      expect(ofHost).toContain(file.hosts);
    }
  }

  // The page has the same figures, and its tables show them.
  const page = place.read('r.html');
  expect(figuresOf(page)).toEqual({ ...report, created: expect.any(String) });
  const [table] = tablesOf(page);
  const cell = (part: number, whole: number) =>
    `${part.toLocaleString('en')} (${((100 * part) / whole).toFixed(1)}\u00a0%)`;
  expect(table?.rows).toEqual(
    expected.agents.map(({ agent, hosts, files: ofFiles, by }) => [
      agent,
      ...REACHES.flatMap((reach) => [
        cell(hosts[reach] ?? 0, expected.hosts - (expected.access.unknown ?? 0)),
        cell(ofFiles[reach] ?? 0, expected.files),
      ]),
      String(by.own),
    ]),
  );
});

test('an audit of a host with two robots.txt files counts the host once, in all outputs', async () => {
  const run = generatedRun(4);
  const words = ['audit', '--table', 'robots.table', '-a', 'CCBot', '--report', 'r.json'];
  const { stderr } = await run.place.run(words);
  const { hosts } = JSON.parse(run.place.read('r.json'));
  const names = new Set(run.files.map(({ host }) => host));
  expect(hosts).toBe(names.size);
  expect(run.files.length).toBeGreaterThan(names.size);
  expect(stderr).toContain(`CCBot: ${names.size} hosts: `);
});
