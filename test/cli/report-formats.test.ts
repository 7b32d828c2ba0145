import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { Random } from '../random/random.js';
import { lines, type Workplace, workplace } from './command-line.js';
import { tablesOf } from './report/page-tables.js';

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

/** The rows of the tables of a page, as texts. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(' ') : String(value ?? '');
}

function textsOf(rows: readonly Row[]): string[][] {
  return rows.map((row) => Object.values(row).map(textOf));
}

const SELECTIONS = [[], ['--only', 'none'], ['--only', 'unknown']];

test('an audit has the same rows in Parquet and on a page as in NDJSON, selected or not', async () => {
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
      return Object.fromEntries(cells) as Row;
    });
    const read = await parquetReadObjects({ file });
    expect(read.map((row) => ({ ...row }))).toEqual(columns.map(withoutNulls(read)));
    const page = await place.run([...words, ...selection, '--format', 'html']);
    expect(page.code).toBe(0);
    const tables = tablesOf(page.text);
    if (rows.length > 0) expect(tables.at(-1)?.rows).toEqual(textsOf(rows));
    // The figures are those of all hosts.
    for (const agent of AGENTS) {
      const count = (allowed: string) =>
        String(all.filter((row) => row.agent === agent && row.allowed === allowed).length);
      const counts = ['none', 'part', 'all', 'unknown'].map(count);
      expect(tables[0]?.rows.find(([name]) => name === agent)).toEqual([agent, ...counts]);
    }
  }
  expect(all.length).toBeGreaterThan(AGENTS.length * HOSTS * 0.8);
});

/** Readers show null as `undefined` or as `null`. */
function withoutNulls(read: readonly Row[]) {
  const nothing = read.some((row) => Object.values(row).includes(null)) ? null : undefined;
  return (row: Row): Row =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? nothing]));
}

test('a diff has the same rows on a page as in NDJSON, and adds them up', async () => {
  const place = twoSides();
  const words = ['diff', 'old', 'new', '-a', AGENTS.join()];
  const rows = await rowsOf(place, [...words, '-q']);
  const { text: page, stderr } = await place.run([...words, '--format', 'html']);
  const tables = tablesOf(page);
  expect(tables.at(-1)?.rows).toEqual(textsOf(rows));
  const counts = new Map<string, number>();
  for (const { agent, change, old, new: next } of rows) {
    let kind = String(change);
    if (kind === 'extent') kind = `${old} \u2192 ${next}`;
    if (kind === 'rules') kind = 'by other rules';
    const key = `${kind} ${agent}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const shown = new Map<string, number>();
  const [, ...kinds] = tables[0]?.header ?? [];
  for (const [agent, ...numbers] of tables[0]?.rows ?? []) {
    kinds.forEach((kind, index) => {
      if (numbers[index] !== '0') shown.set(`${kind} ${agent}`, Number(numbers[index]));
    });
  }
  expect(shown).toEqual(counts);
  expect(counts.size).toBeGreaterThan(10);
  expect(page).not.toMatch(/<script|<img|<link|src=|href=|url\(|@import|NaN|undefined/);
  for (const agent of AGENTS) expect(stderr).toContain(`${agent}: `);

  const urls = 'https://h0.example/\nhttps://h2.example/a\nhttps://h9.example/x\n';
  const verdicts = [...words, '-q', '--urls', '-'];
  const before = await place.run([...verdicts, '--format', 'ndjson'], urls);
  const urlPage = await place.run([...verdicts, '--format', 'html'], urls);
  const judged = lines(before.text).map((line) => JSON.parse(line) as Row);
  expect(judged.length).toBeGreaterThan(0);
  expect(tablesOf(urlPage.text).at(-1)?.rows).toEqual(textsOf(judged));
});

test('a page without differences says so', async () => {
  const place = twoSides();
  const { code, text } = await place.run('diff -q old old --format html');
  expect(code).toBe(0);
  expect(text).toContain('There is no difference.');
  expect(text).toContain('There is no row.');
});
