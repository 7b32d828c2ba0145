import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { describe, expect } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { DecidedRules } from '../../src/inspect/host-order.js';
import { ruleText } from '../../src/inspect/host-report.js';
import { readTable } from '../../src/judge/open-table.js';
import { Table } from '../../src/judge/table.js';
import type { Judgement } from '../../src/kernel/session.js';
import { Filter } from '../../src/pipeline/filter.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { MainThread } from '../../src/workers/main-thread.js';
import { lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

/** A version of the robots.txt of a host: a table of its own has it. */
interface Version {
  readonly since: number;
  readonly source: string;
  readonly table: Table;
}

interface Asked {
  readonly host: string;
  readonly url: string;
  readonly seconds: number;
}

const AGENTS = ['bot', 'other', '*'];
const RULES = ['/', '/a', '/a/b', '/*.b$', '/a*c', '/c'];
const PATHS = ['/', '/a', '/a/b', '/x.b', '/a/c', '/c/', '/robots.txt'];
const FIRST = Date.parse('2024-01-01T00:00:00Z') / 1000;
const DAY = 86_400;
const HOSTS = 12;
const SPAN = 60;

const iso = (seconds: number): string => `${new Date(1000 * seconds).toISOString().slice(0, 19)}Z`;
const ndjson = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

function randomBody(random: Random): string {
  const group = (agent: string): string => {
    const paths = new Set(Array.from({ length: random.between(1, 3) }, () => random.pick(RULES)));
    const rules = [...paths].map((path) => `${random.pick(['Allow', 'Disallow'])}: ${path}\n`);
    return `User-agent: ${agent}\n${rules.join('')}\n`;
  };
  const groups = AGENTS.filter(() => random.chance(0.6)).map(group);
  // Two bodies with the same rules would be one version.
  return `${groups.join('')}User-agent: unasked\nDisallow: /${random.between(0, 1e9)}\n`;
}

/** Hosts whose robots.txt files come again, as a file of records, and each version on its own. */
class World {
  readonly versions = new Map<string, readonly Version[]>();
  readonly records: string;

  constructor(random: Random) {
    const records: object[] = [];
    for (let index = 0; index < HOSTS; index++) {
      const host = `h${index}.example`;
      const bodies = Array.from({ length: 3 }, () => randomBody(random));
      const days = new Set(
        Array.from({ length: random.pick([1, 2, 12]) }, () => random.between(0, SPAN)),
      );
      const versions: Version[] = [];
      let before = '';
      // The first byte of such a time could be the form of an authority.
      const seconds = [
        ...(index % 3 === 0 ? [3 * 2 ** 24 + index] : []),
        ...[...days].sort((a, b) => a - b).map((day) => FIRST + day * DAY),
      ];
      for (const since of seconds) {
        const body = random.pick(bodies);
        const status = random.pick([200, 200, 200, 404, 503]);
        records.push({
          host,
          status,
          fetched: iso(since),
          ...(status === 200 ? { robots: body } : {}),
        });
        const said = status === 200 ? body : String(status);
        if (said === before) continue;
        before = said;
        const source = `r.ndjson:${records.length}`;
        const builder = new TableBuilder();
        builder.add(host, body, { status, source });
        versions.push({ since, source, table: Table.from(builder.build()) });
      }
      this.versions.set(host, versions);
    }
    this.records = ndjson(records);
  }

  asked(random: Random, count: number): Asked[] {
    const hosts = [...this.versions.keys(), 'unknown.example'];
    return Array.from({ length: count }, () => {
      const host = random.pick(hosts);
      const seconds = FIRST + DAY * random.between(-2, SPAN + 2) + random.between(-1, 1);
      return { host, url: `https://${host}${random.pick(PATHS)}`, seconds };
    });
  }

  /** The version in force at a time, by a linear search. */
  at(host: string, seconds: number): Version | undefined {
    return this.versions.get(host)?.findLast(({ since }) => since <= seconds);
  }

  /** The version that decides if all of them count. */
  ever(host: string, url: string, agent: string): Version | undefined {
    const versions = this.versions.get(host) ?? [];
    const denying = versions.findLast(({ table }) => table.verdict(url, agent).verdict === 'deny');
    return denying ?? versions.at(-1);
  }
}

/** The rows of `--stats-by rule` without the sources, in any order: the counts of each version. */
function expectedRows(
  asked: readonly Asked[],
  versionFor: (each: Asked, agent: string) => Version | undefined,
): Map<string, number> {
  const rows = new Map<string, number>();
  for (const each of asked) {
    for (const agent of AGENTS) {
      const version = versionFor(each, agent);
      const judgement: Judgement | undefined = version?.table.verdict(each.url, agent);
      const row =
        judgement?.rule === undefined || version === undefined
          ? [agent, null, null, null, null]
          : [agent, each.host, judgement.rule.line, judgement.rule.text, iso(version.since)];
      const key = JSON.stringify(row);
      rows.set(key, (rows.get(key) ?? 0) + 1);
    }
  }
  return rows;
}

interface Row {
  readonly agent: string;
  readonly host: string | null;
  readonly line: number | null;
  readonly rule: string | null;
  readonly records: number;
  readonly source: string | null;
  readonly version: string | null;
}

const keyOf = ({ agent, host, line, rule, version }: Row): string =>
  JSON.stringify([agent, host, line, rule, version]);

async function rowsOf(it: Workplace, words: string): Promise<Row[]> {
  const { code, text, stderr } = await it.run(`-q ${words} -a ${AGENTS.join()} in.ndjson`);
  expect(code, stderr).toBe(0);
  return lines(text).map((line) => JSON.parse(line) as Row);
}

async function placed(random: Random, count: number) {
  const world = new World(random);
  const asked = world.asked(random, count);
  const it = workplace();
  it.write('r.ndjson', world.records);
  it.write('in.ndjson', ndjson(asked.map(({ url, seconds }) => ({ url, t: iso(seconds) }))));
  for (const more of ['-o h.table', '--shards 3 -o sharded']) {
    const { code, stderr } = await it.run(`compile -q --history --robots-dir r.ndjson ${more}`);
    expect(code, stderr).toBe(0);
  }
  return { world, asked, it };
}

/** The same table in three forms. */
const SOURCES = ['--table h.table', '--table sharded', '--robots-dir r.ndjson'];

describe('--stats-by rule', () => {
  test('counts each version apart, as tables of single versions have its rules', async () => {
    const random = new Random(4801);
    const seen = { versions: 0, decided: 0, early: 0 };
    for (let run = cases(1); run > 0; run--) {
      const { world, asked, it } = await placed(random, 600);
      const middle = FIRST + (SPAN * DAY) / 2;
      const questions = [
        ['--time-field t', ({ host, seconds }: Asked) => world.at(host, seconds)],
        ['--in-force ever', ({ host, url }: Asked, agent: string) => world.ever(host, url, agent)],
        [`--as-of ${iso(middle)}`, ({ host }: Asked) => world.at(host, middle)],
      ] as const;
      for (const [question, versionFor] of questions) {
        const expected = expectedRows(asked, versionFor);
        const sources = question.startsWith('--as-of') ? SOURCES.slice(0, 2) : SOURCES;
        for (const source of sources) {
          const threads = source === '--table sharded' ? '--threads 2 ' : '';
          const words = `${source} ${question} ${threads}--stats-by rule --format ndjson`;
          const rows = await rowsOf(it, words);
          expect(new Map(rows.map((row) => [keyOf(row), row.records]))).toEqual(expected);
          const top = source === '--table h.table' ? await rowsOf(it, `${words} --top 2`) : rows;
          for (const agent of AGENTS) {
            const ofAgent = (some: readonly Row[]) => some.filter((row) => row.agent === agent);
            const decided = ofAgent(rows).filter(({ host }) => host !== null);
            const counts = decided.map(({ records }) => records);
            expect(counts).toEqual(counts.toSorted((a, b) => b - a));
            const first = ofAgent(top).filter(({ host }) => host !== null);
            expect(first.slice(0, 2)).toEqual(decided.slice(0, 2));
            const sum = ofAgent(rows).reduce((all, { records }) => all + records, 0);
            expect(sum).toBe(asked.length);
          }
          for (const { host, version, source } of rows) {
            if (host === null) continue;
            const found = world.versions.get(host)?.find(({ since }) => iso(since) === version);
            expect(source).toBe(found?.source);
            seen.versions++;
            if (version?.startsWith('1971')) seen.early++;
          }
        }
        seen.decided += [...expected.values()].reduce((sum, count) => sum + count);
      }
    }
    expect(seen.versions).toBeGreaterThan(300);
    expect(seen.early).toBeGreaterThan(10);
    expect(seen.decided).toBeGreaterThan(5000);
  });

  test('counts what --explain explains, in every form', async () => {
    const { it } = await placed(new Random(4802), 300);
    const question = '--table h.table --time-field t';
    const explained = await it.run(`-q ${question} -a bot --explain in.ndjson`);
    const counts = new Map<string, number>();
    for (const record of lines(explained.text)) {
      const { rule, version } = JSON.parse(record);
      if (rule === undefined || rule === null) continue;
      const key = [rule.line, rule.text, rule.source, version].join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(counts.size).toBeGreaterThan(15);
    const csv = await it.run(`-q ${question} -a bot --stats-by rule --format csv in.ndjson`);
    const [first = '', ...rows] = lines(csv.text);
    expect(first).toBe('agent,host,line,rule,records,source,version');
    const decided = rows.map((row) => row.split(',')).filter(([, host]) => host !== '');
    expect(
      new Map(
        decided.map(([, , line, rule, count, source, version]) => [
          [line, rule, source, version].join(),
          Number(count),
        ]),
      ),
    ).toEqual(counts);
    const table = await it.run(`-q ${question} -a bot --stats-by rule in.ndjson`);
    const words = lines(table.text).map((line) => line.split(/ {2,}/));
    expect(words[0]?.at(-1)).toBe('version');
    expect(words.slice(1).map((row) => row.at(-1))).toEqual([
      ...decided.map(([, , , , , , version]) => version),
      '-',
    ]);
  });

  test('counts in several memories as in one', async () => {
    const random = new Random(4806);
    const { world, asked, it } = await placed(random, 300);
    const table = await readTable(join(it.path, 'sharded'), { bankBytes: 1 });
    expect(table.banks).toHaveLength(3);
    const filter = new Filter({
      table,
      pool: new MainThread(),
      settings: {
        agents: AGENTS.map((agent) => parseAgent(agent, 'rfc9309')),
        output: 'verdicts',
        unknown: 'unknown',
        explain: false,
        strict: false,
        urlField: ['url'],
        timeField: ['t'],
        verdictField: undefined,
        maxLineBytes: 1000,
        countHosts: false,
        countByRule: true,
      },
    });
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const stream = Readable.from([Buffer.from(it.read('in.ndjson'))]);
    await filter.run({ kind: 'stream', name: 'input', stream, format: 'ndjson' }, nowhere);
    const { rules } = filter.ruleCounts();
    const decided = new DecidedRules(table.view, rules);
    const found = rules.map((counted): [string, number] => {
      const { host, since, rule } = decided.find(counted);
      const key = [AGENTS[counted.agent], host.host, rule.line, ruleText(rule), iso(since ?? 0)];
      return [JSON.stringify(key), counted.count];
    });
    await filter.close();
    const expected = expectedRows(asked, ({ host, seconds }) => world.at(host, seconds));
    for (const agent of AGENTS) expected.delete(JSON.stringify([agent, null, null, null, null]));
    expect(new Map(found)).toEqual(expected);
    expect(expected.size).toBeGreaterThan(30);
  });

  test('has no version in runs without times', async () => {
    const { it } = await placed(new Random(4803), 100);
    for (const source of [...SOURCES, '--robots-dir r.ndjson --in-force latest']) {
      const { text } = await it.run(`-q ${source} --stats-by rule --format csv in.ndjson`);
      expect(lines(text)[0]).toBe('agent,host,line,rule,records,source');
      const { code } = await it.run(`-q ${source} --report r.json --format verdicts in.ndjson`);
      expect(code).toBe(0);
      expect(it.read('r.json')).not.toContain('"version"');
    }
  });
});

describe('--report', () => {
  test('names the versions of the rules that deny most', async () => {
    const random = new Random(4804);
    const { world, asked, it } = await placed(random, 400);
    const expected = new Map<string, number>();
    const rules = expectedRows(asked, ({ host, seconds }) => world.at(host, seconds));
    for (const [key, count] of rules) {
      const [, host, line, rule, version] = JSON.parse(key) as string[];
      if (rule?.startsWith('Disallow') !== true) continue;
      const own = JSON.stringify([host, line, rule, version]);
      expected.set(own, (expected.get(own) ?? 0) + count);
    }
    expect(expected.size).toBeGreaterThan(15);
    const seen = new Set(
      asked.filter(({ host, seconds }) => world.at(host, seconds)).map(({ host }) => host),
    );
    for (const source of SOURCES) {
      const words = `${source} --time-field t -a ${AGENTS.join()} --format verdicts in.ndjson`;
      const { code, stderr } = await it.run(`-q --report r.json ${words}`);
      expect(code, stderr).toBe(0);
      const report = JSON.parse(it.read('r.json'));
      expect(report.records).toBe(asked.length);
      expect(report.hosts.seen).toBe(seen.size);
      expect(report.ages).toBeNull();
      for (const { urls } of report.agents) {
        const counts = Object.values(urls as Record<string, number>);
        expect(counts.reduce((sum, count) => sum + count)).toBe(asked.length);
      }
      const found: [string, number][] = report.denying.rules.map(
        (each: Row & { denied: number }) => [
          JSON.stringify([each.host, each.line, each.rule, each.version]),
          each.denied,
        ],
      );
      const counts = [...expected.values()].sort((a, b) => b - a);
      expect(found.map(([, count]) => count)).toEqual(counts.slice(0, 50));
      for (const [key, count] of found) expect(count).toBe(expected.get(key));
      const page = await it.run(`-q --report r.html ${words}`);
      expect(page.code, page.stderr).toBe(0);
      expect(it.read('r.html')).toContain(`, in force from ${JSON.parse(found[0]?.[0] ?? '')[3]}`);
    }
  });

  test('leaves out hosts whose robots.txt is too old', async () => {
    const { world, asked, it } = await placed(new Random(4805), 300);
    const time = FIRST + SPAN * DAY;
    const words = `--as-of ${iso(time)} --max-age 20d --explain --format ndjson in.ndjson`;
    const explained = await it.run(`-q --table h.table ${words} --report r.json`);
    const hosts = new Set<string>();
    let old = 0;
    for (const [index, line] of lines(explained.text).entries()) {
      const { reason } = JSON.parse(line) as { reason: string };
      if (reason === 'no-recent-capture') old++;
      else if (reason !== 'unknown-host') hosts.add(asked[index]?.host ?? '');
    }
    expect(old).toBeGreaterThan(20);
    expect(hosts.size).toBeGreaterThan(2);
    expect(hosts.size).toBeLessThan(world.versions.size);
    const report = JSON.parse(it.read('r.json'));
    expect(report.hosts.seen).toBe(hosts.size);
    const outcomes: { reason: string; urls: number }[] = report.agents[0].outcomes;
    expect(outcomes.find(({ reason }) => reason === 'no-recent-capture')?.urls).toBe(old);
  });
});
