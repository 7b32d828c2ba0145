import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { type OracleGroup, readGroups } from '../../oracle/robots.js';
import { verdictOf } from '../../oracle/verdict.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Table } from '../../src/judge/table.js';
import { type FilterStreamOptions, filterStream } from '../../src/library/filter-stream.js';
import type { Verdict } from '../../src/protocol/verdict.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

/** A robots.txt, from its date on. */
interface Fetched {
  readonly seconds: number;
  readonly body: string;
  readonly status: number;
}

/** The robots.txt files of hosts, by host. */
type World = ReadonlyMap<string, readonly Fetched[]>;

const AGENTS = ['bot', 'other', '*'];
const PATHS = ['/', '/a', '/a/b', '/x.b', '/a/c', '/c/', '/robots.txt', '/a?b'];
const RULES = ['/', '/a', '/a/b', '/*.b$', '/a*c', '/c', '/*?'];
const FIRST = 1_700_000_000;
const SPAN = 40;

function randomBody(random: Random): string {
  const group = (): string => {
    const agents = random.chance(0.3) ? ['bot', 'other'] : [random.pick(AGENTS)];
    const paths = new Set(Array.from({ length: random.between(0, 3) }, () => random.pick(RULES)));
    const rules = [...paths].map((path) => `${random.pick(['Allow', 'Disallow'])}: ${path}\n`);
    return `${agents.map((agent) => `User-agent: ${agent}\n`).join('')}${rules.join('')}\n`;
  };
  const groups = Array.from({ length: random.between(1, 3) }, group).join('');
  // Two bodies with the same rules would be one version.
  return `${groups}User-agent: unasked\nDisallow: /${random.between(0, 1e9)}\n`;
}

/** Hosts with up to 40 robots.txt files each, whose bodies come again, in any order. */
function randomWorld(random: Random): World {
  const world = new Map<string, readonly Fetched[]>();
  for (let host = random.between(1, 40); host > 0; host--) {
    const bodies = Array.from({ length: 4 }, () => randomBody(random));
    const files = Array.from({ length: random.pick([1, 2, 5, 40]) }, () => ({
      seconds: FIRST + random.between(0, SPAN),
      body: random.pick(bodies),
      status: random.pick([200, 200, 200, 404, 503]),
    }));
    // Of several of one time the last one counts.
    world.set(`h${host}.example`, [...new Map(files.map((file) => [file.seconds, file])).values()]);
  }
  return world;
}

function compiled(world: World, random: Random): Table {
  const builder = new TableBuilder({ history: true });
  const all = [...world].flatMap(([host, files]) => files.map((file) => ({ host, ...file })));
  while (all.length > 0) {
    const [file] = all.splice(random.between(0, all.length - 1), 1);
    if (file === undefined) break;
    const { host, body, seconds, status } = file;
    builder.add(host, body, { date: 1000 * seconds, status, source: `${host} ${seconds}` });
  }
  return Table.from(builder.build());
}

const groupsOf = new Map<string, readonly OracleGroup[]>();

/** The verdict by one robots.txt: RFC 9309 sections 2.2.2 and 2.3.1. */
function verdictBy({ body, status }: Fetched, agent: string, url: string): Verdict {
  if (url.endsWith('/robots.txt')) return 'allow';
  if (status !== 200) return status === 404 ? 'allow' : 'deny';
  const groups = groupsOf.get(body) ?? [...readGroups(Buffer.from(body), 'rfc9309')];
  groupsOf.set(body, groups);
  return verdictOf(groups, 'rfc9309', [agent], url).verdict;
}

/** The file in force at a time, by a linear search. */
function inForce(files: readonly Fetched[], seconds: number): Fetched | undefined {
  return files.reduce<Fetched | undefined>(
    (found, file) =>
      file.seconds <= seconds && file.seconds > (found?.seconds ?? 0) ? file : found,
    undefined,
  );
}

/** The newest file, and those before it in their order, that say the same: one version. */
function versionOf(files: readonly Fetched[], { seconds, body, status }: Fetched): number {
  let since = seconds;
  const before = files.filter((file) => file.seconds < seconds);
  for (const file of before.sort((a, b) => b.seconds - a.seconds)) {
    const isSame =
      status === 200 ? file.body === body && file.status === 200 : file.status === status;
    if (!isSame) break;
    since = file.seconds;
  }
  return since;
}

const iso = (seconds: number): string => `${new Date(1000 * seconds).toISOString().slice(0, 19)}Z`;

/** The forms in which records have one time. */
const FORMS: readonly ((seconds: number) => string)[] = [
  (seconds) => String(seconds),
  (seconds) => `${seconds}999`,
  (seconds) => `"${iso(seconds)}"`,
  (seconds) => `"${iso(seconds).replace(/\D/g, '')}"`,
  (seconds) => iso(seconds).replace(/\D/g, ''),
  (seconds) => `"${iso(seconds + 3600).slice(0, -1)}\\u002b01:00"`,
];

async function filtered(
  table: Table,
  records: readonly string[],
  options: FilterStreamOptions,
): Promise<Record<string, unknown>[]> {
  const source = new PassThrough();
  source.end(records.map((record) => `${record}\n`).join(''));
  const stream = filterStream(table, { input: 'ndjson', explain: true, threads: 1, ...options });
  const lines = (await textOf(source.pipe(stream))).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** As the record says it, for one agent or several. */
function saidOf(record: Record<string, unknown>, agent: string, member: string): unknown {
  const several = record[`${member}s`] as Record<string, unknown> | undefined;
  return several === undefined ? record[member] : several[agent];
}

describe('the times of records', () => {
  it('choose the robots.txt that a list of files has for them', async () => {
    const random = new Random(4701);
    const seen = { questions: 0, before: 0, edges: 0, denied: 0, changed: 0 };
    for (let run = cases(4); run > 0; run--) {
      const world = randomWorld(random);
      const table = compiled(world, random);
      const agents = random.chance(0.5) ? ['bot'] : AGENTS;
      const hosts = [...world.keys(), 'unknown.example'];
      const asked = Array.from({ length: 800 }, () => {
        const host = random.pick(hosts);
        const files = world.get(host) ?? [];
        // Beside an edge, or anywhere.
        const edge =
          files.length > 0 && random.chance(0.6) ? random.pick(files).seconds : undefined;
        const seconds =
          edge === undefined ? FIRST + random.between(-2, SPAN + 2) : edge + random.between(-1, 1);
        return { host, files, seconds, isEdge: edge !== undefined, path: random.pick(PATHS) };
      });
      // The lines of one host that follow one another share its look-up.
      if (random.chance(0.5)) asked.sort((a, b) => (a.host < b.host ? -1 : 1));
      const got = await filtered(
        table,
        asked.map(({ host, path, seconds }) => {
          const members = [`"url":"https://${host}${path}"`, `"t":${random.pick(FORMS)(seconds)}`];
          if (random.chance(0.5)) members.reverse();
          return `{${members.join(',')}}`;
        }),
        { agents, timeField: 't' },
      );
      expect(got.length).toBe(asked.length);
      const urls = asked.map(({ host, path }) => `https://${host}${path}`);
      const at = asked.map(({ seconds }) => 1000 * seconds + 999);
      const listed = table.verdicts(urls, 'bot', { at });
      expect(listed).toEqual(got.map((record) => saidOf(record, 'bot', 'verdict')));
      const [first = '', time = 0] = [urls[0], at[0]];
      expect(table.verdict(first, 'bot', { at: new Date(time) }).verdict).toBe(listed[0]);
      expect(table.at(time).verdict(first, 'bot')).toEqual(
        table.verdict(first, 'bot', { at: time }),
      );
      for (const [index, { host, path, files, seconds, isEdge }] of asked.entries()) {
        const record = got[index] as Record<string, unknown>;
        const url = `https://${host}${path}`;
        const file = inForce(files, seconds);
        for (const agent of agents) {
          const what = `${url} at ${seconds} for ${agent}: ${JSON.stringify(record)}`;
          const verdict = file === undefined ? 'unknown' : verdictBy(file, agent, url);
          expect(saidOf(record, agent, 'verdict'), what).toBe(verdict);
          const since = file && iso(versionOf(files, file));
          expect(saidOf(record, agent, 'version'), what).toBe(since);
          if (file === undefined) {
            const reason = files.length > 0 ? 'before-first-capture' : 'unknown-host';
            expect(saidOf(record, agent, 'reason'), what).toBe(reason);
          }
          seen.questions++;
          if (verdict === 'deny') seen.denied++;
          const newest = inForce(files, FIRST + SPAN);
          if (newest && file && verdict !== verdictBy(newest, agent, url)) seen.changed++;
        }
        if (file === undefined && files.length > 0) seen.before++;
        if (isEdge) seen.edges++;
      }
    }
    expect(seen.questions).toBeGreaterThan(3100);
    expect(seen.before).toBeGreaterThan(40);
    expect(seen.edges).toBeGreaterThan(800);
    expect(seen.denied).toBeGreaterThan(400);
    expect(seen.changed).toBeGreaterThan(200);
  });

  it('do not matter to what was denied ever, which any file decides', async () => {
    const random = new Random(4702);
    const seen = { questions: 0, older: 0, denied: 0, allowed: 0 };
    for (let run = cases(4); run > 0; run--) {
      const world = randomWorld(random);
      const table = compiled(world, random);
      const agents = random.chance(0.5) ? ['bot'] : AGENTS;
      const hosts = [...world.keys(), 'unknown.example'];
      const asked = Array.from({ length: 500 }, () => [random.pick(hosts), random.pick(PATHS)]);
      const got = await filtered(
        table,
        asked.map(([host, path]) => JSON.stringify({ url: `https://${host}${path}` })),
        { agents, inForce: 'ever' },
      );
      for (const [index, [host = '', path]] of asked.entries()) {
        const record = got[index] as Record<string, unknown>;
        const url = `https://${host}${path}`;
        const files = [...(world.get(host) ?? [])].sort((a, b) => b.seconds - a.seconds);
        for (const agent of agents) {
          const what = `${url} for ${agent}: ${JSON.stringify(record)}`;
          const denying = files.find((file) => verdictBy(file, agent, url) === 'deny');
          const deciding = denying ?? files[0];
          const verdict = denying ? 'deny' : deciding ? 'allow' : 'unknown';
          expect(saidOf(record, agent, 'verdict'), what).toBe(verdict);
          const since = deciding && iso(versionOf(files, deciding));
          expect(saidOf(record, agent, 'version'), what).toBe(since);
          seen.questions++;
          if (denying && denying !== files[0]) seen.older++;
          if (verdict === 'deny') seen.denied++;
          if (verdict === 'allow') seen.allowed++;
        }
      }
    }
    expect(seen.questions).toBeGreaterThan(1900);
    expect(seen.older).toBeGreaterThan(200);
    expect(seen.denied).toBeGreaterThan(400);
    expect(seen.allowed).toBeGreaterThan(200);
  });

  it('may be at most so many days after the last finding', async () => {
    const random = new Random(4703);
    const DAY = 86_400;
    const builder = new TableBuilder({ history: true });
    const found = new Map<string, { readonly seconds: number; readonly path: string }[]>();
    for (let host = 0; host < 6; host++) {
      const days = [...new Set(Array.from({ length: 12 }, () => random.between(0, 300)))];
      const files = days
        .sort((a, b) => a - b)
        .map((day) => ({
          seconds: FIRST + DAY * day,
          path: random.pick(['/a', '/b']),
        }));
      found.set(`h${host}.example`, files);
      for (const { seconds, path } of files) {
        const body = `User-agent: *\nDisallow: ${path}\n`;
        builder.add(`h${host}.example`, body, { date: 1000 * seconds });
      }
    }
    const table = Table.from(builder.build());
    const seen = { old: 0, fresh: 0, before: 0 };
    const expected = (host: string, seconds: number, maxAge: number): string => {
      const files = found.get(host) ?? [];
      const place = files.findLastIndex((file) => file.seconds <= seconds);
      const last = files[place];
      if (last === undefined) return 'before-first-capture';
      const isFoundAgain = files[place + 1]?.path === last.path;
      if (!isFoundAgain && seconds - last.seconds > maxAge * DAY) return 'no-recent-capture';
      return last.path === '/a' ? 'rule' : 'no-rule';
    };
    for (const maxAge of [10, 30, 10_000]) {
      const asked = Array.from({ length: 300 }, () => {
        const host = random.pick([...found.keys()]);
        const { seconds } = random.pick(found.get(host) ?? []);
        const edge = random.pick([0, maxAge * DAY]) + random.between(-1, 1);
        return { host, url: `https://${host}/a`, seconds: seconds + edge };
      });
      const urls = asked.map(({ url }) => url);
      const at = asked.map(({ seconds }) => 1000 * seconds);
      const reasons = asked.map(({ host, seconds }) => expected(host, seconds, maxAge));
      for (const reason of reasons) {
        if (reason === 'no-recent-capture') seen.old++;
        else if (reason === 'before-first-capture') seen.before++;
        else seen.fresh++;
      }
      const got = await filtered(
        table,
        asked.map(({ url, seconds: t }) => JSON.stringify({ url, t })),
        { timeField: 't', maxAge },
      );
      expect(got.map(({ reason }) => reason)).toEqual(reasons);
      expect(
        asked.map(
          ({ url, seconds }) => table.verdict(url, '*', { at: 1000 * seconds, maxAge }).reason,
        ),
      ).toEqual(reasons);
      const verdicts = got.map(({ verdict }) => verdict);
      expect(table.verdicts(urls, ['*'], { at, maxAge })).toEqual(verdicts);
      // Without an age the same query must not stay.
      expect(table.verdicts(urls, ['*'], { at })).toEqual(
        asked.map(({ url, seconds }) => table.at(1000 * seconds).verdict(url, '*').verdict),
      );
      const [{ seconds = 0 } = {}] = asked.slice(-1);
      const then = table.at(1000 * seconds);
      const ofThen = await filtered(
        then,
        asked.map(({ url }) => JSON.stringify({ url })),
        { maxAge },
      );
      const atThen = asked.map(({ host }) => expected(host, seconds, maxAge));
      expect(ofThen.map(({ reason }) => reason)).toEqual(atThen);
      expect(urls.map((url) => then.verdict(url, '*', { maxAge }).reason)).toEqual(atThen);
      expect(then.verdicts(urls, '*', { maxAge })).toEqual(ofThen.map(({ verdict }) => verdict));
    }
    expect(seen.old).toBeGreaterThan(50);
    expect(seen.fresh).toBeGreaterThan(50);
    expect(seen.before).toBeGreaterThan(5);
  });

  it('are refused where they have no effect', () => {
    const plain = new TableBuilder();
    plain.add('a.example', '');
    const dated = new TableBuilder({ history: true });
    dated.add('a.example', '', { date: 1e12 });
    const table = Table.from(dated.build());
    const refusal = (of: Table, options: FilterStreamOptions) => () => filterStream(of, options);
    expect(refusal(Table.from(plain.build()), { input: 'ndjson', timeField: 't' })).toThrow(
      'timeField needs a table with histories',
    );
    expect(refusal(table, { timeField: 't' })).toThrow('has no effect on text');
    expect(refusal(table, { input: 'ndjson', timeField: 't', inForce: 'ever' })).toThrow(
      'Leave one out',
    );
    expect(refusal(table.at(1e12), { inForce: 'ever' })).toThrow('than table.at');
    expect(refusal(table, { input: 'ndjson', timeField: 'url' })).toThrow('name the same member');
    expect(refusal(table, { maxAge: 9 })).toThrow('maxAge needs a time');
    expect(refusal(table, { maxAge: 9, inForce: 'ever' })).toThrow(
      'Add timeField, or ask table.at',
    );
    expect(refusal(table.at(1e12), { maxAge: 0.5 })).toThrow('Use a whole number from 1 to 36500');
    expect(() => table.verdict('x', '*', { maxAge: 9 })).toThrow('Add at, or ask table.at(time)');
    expect(() => table.verdict('x', '*', { at: 1, maxAge: 0 })).toThrow('maxAge is 0. Use a whole');
    expect(() => table.verdicts([], '*', { at: 1, maxAge: 36_501 })).toThrow('from 1 to 36500');
    expect(() => table.verdicts([], '*', { maxAge: 9 })).toThrow('maxAge needs a time');
    expect(() => table.verdicts([], '*', { at: 1, maxAge: '9d' as never })).toThrow(
      'Pass a number',
    );
    const urls = ['https://a.example/'];
    expect(() => table.verdicts(urls, '*', { at: [1, 2] })).toThrow('2 times for 1 URLs');
    expect(() => table.verdicts(urls, '*', { at: ['2024'] as never })).toThrow(
      "the time is '2024'",
    );
    expect(() => table.verdict('x', '*', { at: Number.NaN })).toThrow('the time is NaN');
    const undated = Table.from(plain.build());
    expect(() => undated.verdicts(urls, '*', { at: 1 })).toThrow('has no histories');
  });
});
