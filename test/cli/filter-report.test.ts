import { expect, test } from 'vitest';
import type { FilterFigures } from '../../src/cli/report/filter-figures.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { Random } from '../random/random.js';
import { type Workplace, workplace } from './command-line.js';

const AGENTS = ['GPTBot', 'CCBot', 'Other'];
const HOSTS = 90;
const HOUR = 60 * 60 * 1000;
const FRESH = Date.now() - HOUR;
const STALE = Date.now() - 25 * HOUR;

const BODIES = [
  'User-agent: *\nDisallow: /\n',
  'User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 2\n',
  'User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /<b>&"\nSitemap: https://a.example/s\n',
  'User-agent: CCBot\nUser-agent: GPTBot\nDisallow: /a\nDisallow: /c\n',
  'Sitemap: https://a.example/s.xml\n',
];

/** Robots.txt files of many hosts, and URLs of these and others. */
function run(): { readonly place: Workplace; readonly words: string[]; readonly urls: string } {
  const place = workplace();
  const random = new Random(2);
  const records = Array.from({ length: HOSTS }, (_, index) => {
    const host = `h${index}.example`;
    if (random.chance(0.2)) return { host, status: random.pick([404, 503]) };
    const date = random.pick([undefined, FRESH, STALE]);
    return { host, robots: random.pick(BODIES), date };
  });
  place.write('a<b>.ndjson', `${records.map((each) => JSON.stringify(each)).join('\n')}\n`);
  const builder = new TableBuilder({ records: true });
  for (const { host, robots, status, date } of records) {
    const authority = parseAuthority(host);
    if (authority === undefined) throw new Error(`${host} is not an authority`);
    builder.add(authority, Buffer.from(robots ?? ''), {
      source: `${host}/"`,
      status,
      date,
    });
  }
  place.write('robots.table', builder.build());
  const urls = Array.from({ length: 3_000 }, () => {
    if (random.chance(0.01)) return 'no url';
    // Some hosts have many URLs, some have one, and some are not known.
    const host = Math.floor(random.number() ** 3 * (HOSTS + 20));
    const path = random.pick(['', 'a', 'a/b', 'c', '<b>&"', 'robots.txt', 'z?q=1']);
    return `https://h${host}.example/${path}`;
  });
  const words = ['-a', AGENTS.join(), '-q'];
  return { place, words, urls: `${urls.join('\n')}\n` };
}

const TABLE = ['--table', 'robots.table'];
const NDJSON = ['--robots-dir', 'a<b>.ndjson'];

interface Explained {
  readonly url: string;
  readonly verdicts: Readonly<Record<string, string>>;
  readonly reasons: Readonly<Record<string, string>>;
  readonly rules?: Readonly<
    Record<string, { readonly line: number; readonly text: string; readonly source: string } | null>
  >;
}

const NOTHING_KNOWN = ['unavailable', 'no-group', 'no-rule'];

/** Groups items by a key. */
function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const hostOf = ({ url }: Explained): string => new URL(url).hostname;

test('every figure of a report is what the explained records add up to', async () => {
  const { place, words, urls } = run();
  const explained = await place.run([...TABLE, ...words, '--format', 'ndjson', '--explain'], urls);
  const records = explained.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Explained);
  const options = ['--threads', '2', '--report', 'r.json', '--stats=json'];
  const { code, text, stderr } = await place.run([...TABLE, ...words, ...options], urls);
  expect(code).toBe(0);
  expect(text.split('\n').length).toBe(urls.split('\n').length);
  const figures = JSON.parse(place.read('r.json')) as FilterFigures;

  const ofTable = records.filter(({ verdicts }) => /allow|deny/.test(verdicts.Other ?? ''));
  const hosts = grouped(ofTable, hostOf);
  expect(figures).toMatchObject({ schema: 'robots-filter/filter/1', complete: true });
  expect(figures.records).toBe(records.length);
  expect(figures.hosts).toEqual({ table: HOSTS, seen: hosts.size });

  /** The number of hosts for whose records a condition holds. */
  const hostsWhere = (wanted: (own: readonly Explained[]) => boolean): number =>
    [...hosts.values()].filter(wanted).length;
  for (const { agent, ...shares } of figures.agents) {
    const count = (verdict: string) => records.filter((each) => each.verdicts[agent] === verdict);
    for (const verdict of ['allow', 'deny', 'unknown', 'invalid'] as const) {
      expect(shares.urls[verdict]).toBe(count(verdict).length);
      expect(shares.urls[verdict]).toBeGreaterThan(0);
    }
    const all = hostsWhere((own) => own.every((each) => each.verdicts[agent] === 'allow'));
    const none = hostsWhere((own) => own.every((each) => each.verdicts[agent] === 'deny'));
    expect(shares.hosts).toEqual({ all, part: hosts.size - all - none, none });
    const outcomes = grouped(records, (each) => `${each.verdicts[agent]} ${each.reasons[agent]}`);
    expect(shares.outcomes.length).toBe(outcomes.size);
    expect(outcomes.size).toBeGreaterThan(5);
    for (const { verdict, reason, urls: counted, hosts: withIt } of shares.outcomes) {
      const own = outcomes.get(`${verdict} ${reason}`) ?? [];
      expect(counted).toBe(own.length);
      const isCounted = verdict === 'allow' || verdict === 'deny';
      expect(withIt).toBe(isCounted ? new Set(own.map(hostOf)).size : null);
    }
    const isUnsaid = (each: Explained) => NOTHING_KNOWN.includes(each.reasons[agent] ?? '');
    expect(shares.nothingKnown).toEqual({
      urls: count('allow').filter(isUnsaid).length,
      hosts: hostsWhere((own) => {
        const allowed = own.filter((each) => each.verdicts[agent] === 'allow');
        return allowed.length > 0 && allowed.every(isUnsaid);
      }),
    });
  }
  for (const reason of ['unavailable', 'unreachable'] as const) {
    const expected = hostsWhere((own) => own.some(({ reasons }) => reasons.Other === reason));
    expect(figures.access[reason]).toBe(expected);
    expect(expected).toBeGreaterThan(0);
  }

  const busiest = [...hosts]
    .sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
    .slice(0, 50)
    .map(([host, own]) => ({
      host,
      urls: own.length,
      allowed: AGENTS.map((agent) => own.filter((it) => it.verdicts[agent] === 'allow').length),
    }));
  expect(figures.busiest).toEqual(busiest);

  const denials = records.flatMap((each) =>
    AGENTS.flatMap((agent) => {
      const rule = each.rules?.[agent];
      return each.verdicts[agent] === 'deny' && rule
        ? [{ ...rule, agent, host: hostOf(each) }]
        : [];
    }),
  );
  const rules = grouped(denials, ({ host, line }) => `${host} ${line}`);
  expect(figures.denying.missed).toBe(0);
  expect(figures.denying.rules.length).toBe(Math.min(rules.size, 50));
  const most = Array.from(rules.values(), (own) => own.length).sort((a, b) => b - a);
  expect(figures.denying.rules.map(({ denied }) => denied)).toEqual(most.slice(0, 50));
  for (const { host, line, rule, source, denied, deniedToAgents, around } of figures.denying
    .rules) {
    const own = rules.get(`${host} ${line}`) ?? [];
    expect(own.length).toBe(denied);
    expect([own[0]?.text, own[0]?.source]).toEqual([rule, source]);
    expect(deniedToAgents).toEqual(
      AGENTS.map((agent) => own.filter((each) => each.agent === agent).length),
    );
    expect(around).toContainEqual({ line, rule });
  }

  // What the files themselves say, by host.
  const files = place
    .read('a<b>.ndjson')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { host: string; robots?: string; date?: number })
    .filter(({ host }) => hosts.has(host));
  const withRecord = (name: string) => files.filter(({ robots }) => robots?.includes(name)).length;
  expect(figures.otherRecords).toMatchObject({
    sitemap: withRecord('Sitemap'),
    'crawl-delay': withRecord('Crawl-delay'),
    license: 0,
  });
  const dates = files.flatMap(({ date }) => (date === undefined ? [] : [date]));
  expect(figures.ages).toEqual({
    dated: dates.length,
    stale: dates.filter((date) => date === STALE).length,
  });

  const statistics = JSON.parse(stderr) as { schema: string; report: FilterFigures };
  expect(statistics.schema).toBe('robots-filter/stats/1');
  const { run: _run, ...written } = figures as FilterFigures & { run: object };
  expect(statistics.report).toEqual(written);
});

test('the page has the figures, loads nothing, and runs nothing', async () => {
  const { place, words, urls } = run();
  await place.run([...NDJSON, ...words, '--report', 'r.json'], urls);
  const { code } = await place.run([...NDJSON, ...words, '--report', 'r.html'], urls);
  expect(code).toBe(0);
  const page = place.read('r.html');
  const figures = JSON.parse(place.read('r.json')) as FilterFigures;
  for (const { agent, urls: counts, hosts } of figures.agents) {
    const cells = (numbers: readonly number[]) =>
      numbers.map((number) => `<td>${number.toLocaleString('en')}</td>`).join('');
    const { allow, deny, unknown, invalid } = counts;
    const head = `<th scope="row">${agent}</th>`;
    expect(page).toContain(head + cells([deny, allow, unknown, invalid]));
    expect(page).toContain(head + cells([hosts.none, hosts.part, hosts.all]));
    expect(page).toContain(`aria-label="${agent}: `);
  }
  expect(page).toContain('Disallow: /&lt;b&gt;&amp;&quot;');
  expect(page).toContain('a&lt;b&gt;.ndjson');
  expect(page).not.toContain('<b>.');
  expect(page).not.toMatch(/<script|<img|<link|src=|href=|url\(|@import|https?:|NaN|undefined/);
});

test('a report that has no form or place is refused before the run', async () => {
  const { place, words } = run();
  for (const [options, message] of [
    [['--report', 'r.pdf'], 'Use --report report.html, or --report report.json'],
    [['--report', 'nowhere/r.html'], 'nowhere'],
    [['--report', 'r.json', '-o', './r.json'], 'are one file'],
    [['--report', './urls.json', 'urls.json'], 'would replace the input urls.json'],
    [['--report', 'a<b>.ndjson.json', '--robots-dir', 'a<b>.ndjson.json'], 'a<b>.ndjson.json'],
  ] as const) {
    const { code, stderr, text } = await place.run(
      [...NDJSON, ...words, ...options],
      'https://a.example/\n',
    );
    expect([code, text]).toEqual([2, '']);
    expect(stderr).toContain(message);
  }
});
