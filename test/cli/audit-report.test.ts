import { expect, test } from 'vitest';
import type { AuditFigures } from '../../src/cli/report/audit-figures.js';
import { Random } from '../random/random.js';
import { type Workplace, workplace } from './command-line.js';

const AGENTS = ['GPTBot', 'CCBot', 'OtherBot'];
const HOSTS = 150;

const BODIES = [
  'User-agent: *\nDisallow: /\n',
  'User-agent: *\nDisallow:\n',
  'User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /a\nSitemap: https://a.example/s\n',
  'User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\nCrawl-delay: 1\n',
  'Sitemap: https://a.example/s.xml\n',
  'License: https://a.example/l.xml\nUser-agent: OtherBot\nAllow: /\n',
];

/** Robots.txt files of many hosts, in a directory whose name needs escaping. */
function hosts(): { readonly place: Workplace; readonly directory: string } {
  const place = workplace();
  const random = new Random(27);
  const directory = "a<b>&'c";
  const records = Array.from({ length: HOSTS }, (_, index) => {
    const host = `h${index}.example`;
    if (random.chance(0.1)) return JSON.stringify({ host, status: random.pick([404, 503]) });
    return JSON.stringify({ host, robots: random.pick(BODIES) });
  });
  place.write(`${directory}/records.ndjson`, `${records.join('\n')}\n`);
  return { place, directory };
}

interface Row {
  readonly host: string;
  readonly agent: string;
  readonly allowed: 'all' | 'part' | 'none' | 'unknown';
  readonly group: string | null;
  readonly sitemaps: readonly string[] | null;
  readonly access: 'successful' | 'unavailable' | 'unreachable';
}

test('every figure of a report is what the rows add up to', async () => {
  const { place, directory } = hosts();
  const words = ['audit', '-q', '--robots-dir', directory, '-a', AGENTS.join(',')];
  const { code, text } = await place.run([...words, '--format', 'ndjson', '--report', 'r.json']);
  expect(code).toBe(0);
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  const figures = JSON.parse(place.read('r.json')) as AuditFigures;
  const count = (wanted: (row: Row) => boolean) => rows.filter(wanted).length;
  expect(figures).toMatchObject({ schema: 'robots-filter/audit/1', hosts: HOSTS });
  for (const each of figures.agents) {
    for (const allowed of ['all', 'part', 'none', 'unknown'] as const) {
      expect(each[allowed]).toBe(
        count((row) => row.agent === each.agent && row.allowed === allowed),
      );
    }
    const read = (row: Row) => row.agent === each.agent && row.access === 'successful';
    expect(each.by).toEqual({
      own: count((row) => read(row) && row.group === each.agent.toLowerCase()),
      any: count((row) => read(row) && row.group === '*'),
      nobody: count((row) => read(row) && row.group === null),
    });
    expect(each.none).toBeGreaterThan(10);
  }
  const first = (row: Row) => row.agent === 'GPTBot';
  for (const access of ['successful', 'unavailable', 'unreachable'] as const) {
    expect(figures.access[access]).toBe(count((row) => first(row) && row.access === access));
  }
  expect(figures.records?.sitemap).toBe(count((row) => first(row) && row.sitemaps !== null));
  const denials = figures.strictest.map(({ host, allowed }) => {
    const own = rows.filter((row) => row.host === host);
    expect(allowed).toEqual(own.map((row) => row.allowed));
    return allowed.filter((each) => each === 'none').length;
  });
  expect(denials.length).toBeGreaterThan(20);
  expect(denials).toEqual(denials.toSorted((a, b) => b - a));
});

test('the page has the figures, loads nothing, and runs nothing', async () => {
  const { place, directory } = hosts();
  const words = ['audit', '-q', '--robots-dir', directory, '-a', AGENTS.join(',')];
  await place.run([...words, '--report', 'r.json']);
  const { code } = await place.run([...words, '--report', 'r.html']);
  expect(code).toBe(0);
  const page = place.read('r.html');
  const figures = JSON.parse(place.read('r.json')) as AuditFigures;
  for (const { agent, none, part, all } of figures.agents) {
    expect(page).toContain(
      `<th scope="row">${agent}</th><td>${none}</td><td>${part}</td><td>${all}</td>`,
    );
    expect(page).toContain(`aria-label="${agent}: `);
  }
  expect(page).toContain('a&lt;b&gt;&amp;&#39;c');
  expect(page).not.toContain('a<b>');
  expect(page).not.toMatch(/<script|<img|<link|src=|href=|url\(|@import|https?:|NaN|undefined/);
});

test('the report is whole if the reader of the rows goes away', async () => {
  const { place } = hosts();
  const records = Array.from({ length: 20_000 }, (_, index) =>
    JSON.stringify({ host: `h${index}.example`, robots: BODIES[0] }),
  );
  place.write('many.ndjson', `${records.join('\n')}\n`);
  const words = `audit -q --robots-dir many.ndjson -a ${AGENTS.join(',')} --report r.json`;
  const { code, stderr } = await place.shellAlone(`set -o pipefail; $rf ${words} | head -n 1`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { hosts: counted } = JSON.parse(place.read('r.json')) as AuditFigures;
  expect(counted).toBe(20_000);
});

test('a report of another ending, or that cannot be written, is an error', async () => {
  const { place, directory } = hosts();
  const words = ['audit', '-q', '--robots-dir', directory, '-a', 'GPTBot', '--report'];
  const ending = await place.run([...words, 'report.pdf']);
  expect(ending.code).toBe(2);
  expect(ending.stderr).toContain('Use --report report.html, or --report report.json');
  const nowhere = await place.run([...words, 'nowhere/report.html']);
  expect(nowhere.code).toBe(2);
  expect(nowhere.stderr).toContain('nowhere');
});
