import { describe, expect, it } from 'vitest';
import { type OracleGroup, readGroups } from '../../oracle/robots.js';
import { verdictOf } from '../../oracle/verdict.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Table, tableIn, tableMemory } from '../../src/judge/table.js';
import { tableAt } from '../../src/judge/table-memory.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

/** A robots.txt that was fetched. */
interface Fetched {
  readonly key: string;
  readonly seconds: number;
  readonly body: string;
  readonly status: number;
  readonly source: string;
}

const RULES = ['/', '/a', '/a/b', '/*.b$', '/a*c', '/c'];
const AGENTS = ['bot', 'other'];
const PATHS = ['/', '/a', '/a/b', '/x.b', '/a/c', '/c/', '/robots.txt'];
const SCHEMES = ['http', 'https'] as const;
const DEFAULT_PORTS = { http: ':80', https: ':443' };
const PORTS = ['', ':8080'];
/** Ports of URLs, and of authorities without a scheme. */
const ALL_PORTS = [...PORTS, ':80', ':443'];

function randomBody(random: Random): string {
  // With a rule that repeats another, two bodies would be one version.
  const paths = new Set(Array.from({ length: random.between(0, 3) }, () => random.pick(RULES)));
  const rules = [...paths].map((path) => `${random.pick(['Allow', 'Disallow'])}: ${path}\n`);
  return `User-agent: ${random.pick([...AGENTS, '*'])}\n${rules.join('')}`;
}

/** An authority of a host, with or without a scheme. */
function randomKey(random: Random, host: string): string {
  return random.chance(0.5)
    ? `${random.pick(SCHEMES)}://${host}${random.pick(PORTS)}`
    : `${host}${random.pick(ALL_PORTS)}`;
}

/** The origins for which an authority counts. */
function originsOf(key: string): string[] {
  if (key.includes('://')) return [key];
  return SCHEMES.map((scheme) => originOf(scheme, key));
}

/** An origin without the port that its scheme has anyway. */
function originOf(scheme: (typeof SCHEMES)[number], hostAndPort: string): string {
  const port = DEFAULT_PORTS[scheme];
  const isDefault = hostAndPort.endsWith(port);
  return `${scheme}://${isDefault ? hostAndPort.slice(0, -port.length) : hostAndPort}`;
}

/** Robots.txt files of few hosts at few times, in any order: times and bodies often repeat. */
function randomFiles(random: Random): Fetched[] {
  const hosts = ['a.example', 'b.example', 'www.a.example'];
  const bodies = Array.from({ length: 4 }, () => randomBody(random));
  return Array.from({ length: random.between(1, 30) }, (_, index) => ({
    key: randomKey(random, random.pick(hosts)),
    seconds: 1_000_000 + random.between(0, 20),
    body: random.pick(bodies),
    status: random.pick([200, 200, 200, 404, 503]),
    source: `f:${index + 1}`,
  }));
}

function compiled(files: readonly Fetched[]): Table {
  const builder = new TableBuilder({ history: true });
  for (const { key, seconds, body, status, source } of files) {
    builder.add(key, body, { date: 1000 * seconds + 999, status, source });
  }
  return Table.from(builder.build());
}

/**
 * The file of an origin that was in force at a time, by a linear search: the newest of the files
 * that name the scheme, or else of the others.
 */
function inForce(files: readonly Fetched[], origin: string, time: number): Fetched | undefined {
  let found: Fetched | undefined;
  for (const file of files) {
    if (!originsOf(file.key).includes(origin) || file.seconds > time) continue;
    const isNamed = file.key === origin;
    const wasNamed = found?.key === origin;
    if (found && (isNamed === wasNamed ? file.seconds < found.seconds : wasNamed)) continue;
    found = file;
  }
  return found;
}

const groupsOf = new Map<string, readonly OracleGroup[]>();

function expected(file: Fetched | undefined, isKnown: boolean, agent: string, url: string): string {
  if (file === undefined) return `unknown ${isKnown ? 'before-first-capture' : 'unknown-host'}`;
  if (url.endsWith('/robots.txt')) return 'allow robots-txt';
  if (file.status === 404) return 'allow unavailable';
  if (file.status === 503) return 'deny unreachable';
  const groups = groupsOf.get(file.body) ?? [...readGroups(Buffer.from(file.body), 'rfc9309')];
  groupsOf.set(file.body, groups);
  const { verdict, line } = verdictOf(groups, 'rfc9309', [agent], url);
  return line === 0 ? verdict : `${verdict} ${line}`;
}

describe('a table with histories', () => {
  it('answers for each time as a list of files does, and is sound', async () => {
    const random = new Random(47);
    const seen = { questions: 0, before: 0, changed: 0, ties: 0, shared: 0 };
    for (let run = cases(30); run > 0; run--) {
      const files = randomFiles(random);
      const table = compiled(files);
      await table.verify();
      const memory = tableMemory(table);
      expect(memory.header.version).toBe(11);
      for (const time of [...Array.from({ length: 23 }, (_, at) => 999_999 + at), 0xffff_fffe]) {
        const then = tableIn(tableAt(memory, time), 'then');
        for (const scheme of SCHEMES) {
          for (const host of ['a.example', 'www.a.example', 'c.example']) {
            const asked = host + random.pick(ALL_PORTS);
            const key = originOf(scheme, asked);
            const file = inForce(files, key, time);
            const isKnown = files.some((each) => originsOf(each.key).includes(key));
            const url = `${scheme}://${asked}${random.pick(PATHS)}`;
            const agent = random.pick(AGENTS);
            const wanted = expected(file, isKnown, agent, url);
            const { verdict, reason, rule } = then.verdict(url, agent);
            const got = rule === undefined ? `${verdict} ${reason}` : `${verdict} ${rule.line}`;
            expect(`${got} `.startsWith(`${wanted} `), `${got} for ${wanted}: ${url}`).toBe(true);
            if (rule !== undefined) expect(sourcesOf(files, key, file)).toContain(rule.source);
            expect(then.verdicts([url, url], agent)).toEqual([verdict, verdict]);
            seen.questions++;
            if (wanted.endsWith('before-first-capture')) seen.before++;
            if (file?.body !== inForce(files, key, 0xffff_ffff)?.body) seen.changed++;
            const claimants = files.filter((each) => originsOf(each.key).includes(key));
            if (claimants.filter(({ seconds }) => seconds === file?.seconds).length > 1)
              seen.ties++;
            if (new Set(claimants.map((each) => each.key)).size > 1) seen.shared++;
          }
        }
      }
    }
    expect(seen.questions).toBeGreaterThan(4000);
    expect(seen.before).toBeGreaterThan(200);
    expect(seen.changed).toBeGreaterThan(500);
    expect(seen.ties).toBeGreaterThan(25);
    expect(seen.shared).toBeGreaterThan(500);
  });

  it('answers without a time as a table of the newest files does', () => {
    const random = new Random(48);
    for (let run = cases(30); run > 0; run--) {
      const files = randomFiles(random);
      const plain = new TableBuilder();
      for (const file of [...files].sort((a, b) => a.seconds - b.seconds)) {
        plain.add(file.key, file.body, { status: file.status, source: file.source });
      }
      const newest = Table.from(plain.build());
      expect(tableMemory(newest).header.version).toBe(9);
      const table = compiled(files);
      for (const origin of files.flatMap(({ key }) => originsOf(key))) {
        for (const path of PATHS) {
          expect(table.verdict(origin + path, 'bot')).toEqual(newest.verdict(origin + path, 'bot'));
        }
      }
    }
  });

  it('takes 20 bytes for a version whose rules are there already', () => {
    const bytesOf = (versions: number): number => {
      const builder = new TableBuilder({ history: true });
      for (let version = 0; version < versions; version++) {
        const body = `User-agent: *\nDisallow: /${version % 2}\n`;
        builder.add('a.example', body, { date: 1e9 * (1 + version), source: 'one' });
      }
      return builder.build().length;
    };
    const [few, many] = [bytesOf(100), bytesOf(1100)];
    expect(many - few).toBeGreaterThanOrEqual(20_000);
    expect(many - few).toBeLessThanOrEqual(20_064);
  });

  it('has no file without a date', () => {
    const builder = new TableBuilder({ history: true });
    builder.add('a.example', 'User-agent: *\nDisallow: /\n');
    builder.add('b.example', 'User-agent: *\nDisallow: /\n', { date: 999 });
    builder.add('c.example', 'User-agent: *\nDisallow: /\n', { date: 1000 });
    expect(Table.from(builder.build()).hosts).toBe(1);
  });
});

/** The sources that the file in force may have: equal neighbours are one version, the first. */
function sourcesOf(files: readonly Fetched[], key: string, file: Fetched | undefined): string[] {
  return files
    .filter(
      (each) =>
        originsOf(each.key).includes(key) &&
        each.body === file?.body &&
        each.status === file?.status,
    )
    .map(({ source }) => source);
}
