import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { Random } from '../random/random.js';
import { lines, type Workplace, workplace } from './command-line.js';
import { figuresOf } from './report/page-tables.js';

const AGENTS = ['GPTBot', 'CCBot', '*'];
const HOSTS = 60;

const BODIES = [
  'User-agent: *\nDisallow: /\n',
  'User-agent: *\nDisallow:\n',
  'User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /a\nSitemap: https://a.example/s\n',
  'User-agent: GPTBot\nContent-Signal: ai-train=no\nDisallow: /x\nCrawl-delay: <b>&\n',
  'Sitemap: https://a.example/1.xml\nSitemap: https://a.example/2.xml\n',
  'User-agent: CCBot\nDisallow: /*.gif$\nAllow: /a.gif\n',
  'User-agent: *\nDisallow: /private/\n',
];

type Row = Readonly<Record<string, unknown>>;

/** Two directories of the same hosts, in each of which some have other files or none. */
function twoSides(): Workplace {
  const place = workplace();
  const random = new Random(27);
  for (const side of ['old', 'new']) {
    const records = Array.from({ length: HOSTS }, (_, index) => {
      const host = `h${index}.example`;
      const robots = side === 'old' || random.chance(0.5) ? BODIES[index % 7] : random.pick(BODIES);
      if (random.chance(0.1)) return '';
      return JSON.stringify(random.chance(0.1) ? { host, status: 503 } : { host, robots });
    });
    place.write(`${side}/records.ndjson`, records.filter((record) => record !== '').join('\n'));
  }
  return place;
}

async function rowsOf(place: Workplace, words: readonly string[]): Promise<Row[]> {
  const { code, text } = await place.run([...words, '--format', 'ndjson']);
  expect(code).toBe(0);
  return lines(text).map((line) => JSON.parse(line) as Row);
}

/** A value as text. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(' ') : String(value ?? '');
}

const SELECTIONS = [[], ['--only', 'none'], ['--only', 'unknown']];

test('an audit has the rows of NDJSON in Parquet, and keys beside them, selected or not', async () => {
  const place = twoSides();
  const words = ['audit', '-q', '--robots-dir', 'old', '-a', AGENTS.join()];
  const all = await rowsOf(place, words);
  for (const selection of SELECTIONS) {
    const rows = await rowsOf(place, [...words, ...selection]);
    const only = selection[1];
    expect(rows).toEqual(all.filter(({ allowed }) => only === undefined || allowed === only));
    const command = [...words, ...selection].map((word) => `'${word}'`).join(' ');
    const { code, stderr } = await place.shell(`$rf ${command} --format parquet > a.parquet`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { buffer, byteOffset, length } = readFileSync(join(place.path, 'a.parquet'));
    const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
    const columns = rows.map((row) => {
      const integers = ['rules', 'root_line'];
      const cells = Object.entries(row).map(([name, value]) => {
        const text = value === null ? undefined : textOf(value);
        return [name, text !== undefined && integers.includes(name) ? Number(text) : text];
      });
      const host = String(row['host']);
      const keys = { surt_host_name: `example,${host.split('.')[0]}`, registered_domain: host };
      return { ...Object.fromEntries(cells), ...keys } as Row;
    });
    const read = await parquetReadObjects({ file });
    expect(read.map((row) => ({ ...row }))).toEqual(columns.map(withoutNulls(read)));
  }
  expect(all.length).toBeGreaterThan(AGENTS.length * HOSTS * 0.8);
});

test('the keys of an audit in Parquet are of the host, whatever its row names', async () => {
  const place = workplace();
  place.write('robots.ndjson', '{"host":"https://www.example.co.uk","robots":"Disallow:"}');
  place.write('hosts.txt', 'www.example.co.uk\nexample.co.uk:8080\n[::1]\nhttp://192.0.2.1\n');
  place.write('robots.txt', 'User-agent: *\nDisallow: /a\n');
  const keysOf = async (command: string) => {
    const { code, stderr } = await place.shell(`$rf audit -q ${command} > a.parquet`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { buffer, byteOffset, length } = readFileSync(join(place.path, 'a.parquet'));
    const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
    const rows = await parquetReadObjects({ file });
    return rows.map((row) => [row['host'], row['surt_host_name'], row['registered_domain']]);
  };
  expect(await keysOf('robots.ndjson --hosts hosts.txt --format parquet')).toEqual([
    ['http://192.0.2.1', '1,2,0,192', null],
    ['[::1]', null, null],
    ['example.co.uk:8080', 'uk,co,example:8080', 'example.co.uk'],
    ['https://www.example.co.uk', 'uk,co,example', 'example.co.uk'],
  ]);
  // One robots.txt names no host.
  expect(await keysOf('robots.txt --format parquet')).toEqual([['robots.txt', null, null]]);
});

/** Readers show null as `undefined` or as `null`. */
function withoutNulls(read: readonly Row[]) {
  const nothing = read.some((row) => Object.values(row).includes(null)) ? null : undefined;
  return (row: Row): Row =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? nothing]));
}

type Counts = Readonly<Record<string, number>>;

interface Change {
  readonly of: string;
  readonly hosts: number;
  readonly changes: readonly {
    readonly agents: readonly string[];
    readonly effect: string;
    readonly path: string | null;
    readonly oldRule: string | null;
    readonly newRule: string | null;
  }[];
}

/** What a row of a diff says of its agent; of changes between parts it does not say which way. */
function effectsIn({ change, old, new: next }: Row): readonly string[] {
  if (change === 'added' || change === 'removed') return [change];
  if (change === 'rules') return ['narrower', 'other', 'wider'];
  if (next === 'none') return ['shutOut'];
  if (old === 'none') return ['letIn'];
  return [next === 'part' ? 'narrower' : 'wider'];
}

test('the report of a diff adds up its rows, by host and by change', async () => {
  const place = twoSides();
  const words = ['diff', 'old', 'new', '-a', AGENTS.join()];
  const rows = await rowsOf(place, [...words, '-q']);
  const { code, text } = await place.run([...words, '-q', '--report', 'r.json']);
  expect({ code, text }).toEqual({ code: 0, text: '' });
  await place.run([...words, '-q', '--report', 'r.html']);
  const report = JSON.parse(place.read('r.json'));
  const page = place.read('r.html');
  expect(figuresOf(page)).toEqual({ ...report, created: expect.any(String) });
  const { schema, old, new: next, what, compared, changed, agents, changes } = report;
  expect({ schema, old, next, what }).toEqual({
    ...{ schema: 'robots-filter/diff/2', old: 'old', next: 'new', what: 'host' },
  });
  expect(compared).toBe(HOSTS);
  expect(changed).toBe(new Set(rows.map(({ host }) => host)).size);
  const seen = new Map<string, number>();
  for (const { agent, hosts } of agents as { agent: string; hosts: Counts }[]) {
    const own = rows.filter((row) => row.agent === agent);
    const sum = Object.values(hosts).reduce((total, count) => total + count, 0);
    expect(sum).toBe(own.length);
    for (const effect of ['added', 'removed', 'shutOut', 'letIn']) {
      const count = own.filter((row) => effectsIn(row)[0] === effect).length;
      expect([agent, effect, hosts[effect]]).toEqual([agent, effect, count]);
      seen.set(effect, (seen.get(effect) ?? 0) + count);
    }
    const certain = own.filter((row) => row.change === 'extent' && row.new === 'part');
    const letIn = certain.filter((row) => row.old === 'none').length;
    expect(hosts.narrower).toBeGreaterThanOrEqual(certain.length - letIn);
  }
  for (const effect of ['added', 'removed', 'shutOut', 'letIn']) {
    expect(seen.get(effect)).toBeGreaterThan(2);
  }
  // Each change is one that rows tell, with its path and its rules.
  expect(changes.length).toBeGreaterThan(10);
  for (const { of, changes: own } of changes as Change[]) {
    for (const { agents: names, effect, path, oldRule, newRule } of own) {
      for (const agent of names) {
        const row = rows.find((each) => each.host === of && each.agent === agent);
        expect(row === undefined ? [] : effectsIn(row)).toContain(effect);
        const told = { path: row?.path, oldRule: row?.old_rule, newRule: row?.new_rule };
        expect(told).toEqual({ path, oldRule, newRule });
      }
    }
  }
  expect(page).not.toMatch(
    /<script(?! type="application\/json")|<img|<link|src=|href=|url\(|@import/,
  );
  expect(page).not.toMatch(/NaN|undefined/);
});

test('the report of a diff says which way changes between parts go', async () => {
  const place = workplace();
  const pairs = {
    narrower: ['Disallow: /a', 'Disallow: /a\nDisallow: /b'],
    wider: ['Disallow: /a\nDisallow: /b/*.gif$', 'Disallow: /a'],
    other: ['Disallow: /a', 'Disallow: /b'],
    shutOut: ['Disallow: /a', 'Disallow: /'],
    letIn: ['Disallow: /', 'Disallow: /a'],
  };
  for (const [effect, sides] of Object.entries(pairs)) {
    for (const [index, rules] of sides.entries()) {
      for (const number of ['1', '2']) {
        const name = `${['old', 'new'][index]}/${effect.toLowerCase()}${number}.example`;
        place.write(name, `User-agent: *\n${rules}\n`);
      }
    }
  }
  const { code } = await place.run('diff -q old new -a GPTBot --report r.json');
  expect(code).toBe(0);
  const [{ hosts, files, largest }] = JSON.parse(place.read('r.json')).agents;
  for (const effect of Object.keys(pairs)) {
    expect([effect, hosts[effect], files[effect]]).toEqual([effect, 2, 1]);
    expect(largest[effect]).toEqual({ of: `${effect.toLowerCase()}1.example`, hosts: 2 });
  }
});

test('the report of a diff of URLs counts and shows them', async () => {
  const place = twoSides();
  const words = ['diff', 'old', 'new', '-a', AGENTS.join(), '-q', '--urls', '-'];
  const urls = Array.from({ length: HOSTS }, (_, host) => `https://h${host}.example/a\n`).join('');
  const { text } = await place.run([...words, '--format', 'ndjson', '--report', 'r.json'], urls);
  const rows = lines(text).map((line) => JSON.parse(line) as Row);
  const { compared, changed, agents, changes } = JSON.parse(place.read('r.json'));
  expect([compared, changed]).toEqual([HOSTS, new Set(rows.map(({ url }) => url)).size]);
  for (const { agent, urls: counts } of agents as { agent: string; urls: Counts }[]) {
    const own = rows.filter((row) => row.agent === agent);
    const decided = own.filter(({ old, new: next }) => old !== 'unknown' && next !== 'unknown');
    const denied = decided.filter((row) => row.new === 'deny').length;
    const expected = {
      denied,
      allowed: decided.length - denied,
      moved: own.length - decided.length,
    };
    expect(counts).toEqual(expected);
  }
  expect(rows.length).toBeGreaterThan(20);
  const [first] = changes as Change[];
  expect(first?.of).toBe(rows[0]?.url);
});

test('a report without differences says so', async () => {
  const place = twoSides();
  const { code, text } = await place.run('diff -q old old --report r.html');
  expect({ code, text }).toEqual({ code: 0, text: '' });
  expect(place.read('r.html')).toContain('There is no difference.');
});
