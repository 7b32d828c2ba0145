import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetMetadata } from 'hyparquet';
import { expect } from 'vitest';
import { widthOnTerminal } from '../../src/cli/text.js';
import { lines, test, type Workplace, workplace } from './command-line.js';

const AGENTS = ['GPTBot', 'CCBot', 'GPTBot>CCBot', '*'];

const FILES: Readonly<Record<string, string>> = {
  'all.example': 'User-agent: *\nDisallow:\n',
  'none.example': 'User-agent: *\nDisallow: /\nAllow: /robots.txt$\n',
  'cancelled.example': 'User-agent: *\nDisallow: /a\nAllow: /a\n',
  'own.example': 'User-agent: *\nDisallow: /\n\nUser-agent: CCBot\nCrawl-delay: 5\nAllow: /\n',
  'records.example': [
    'Sitemap: https://records.example/1.xml',
    'License: https://records.example/l',
    'User-agent: GPTBot',
    'Content-Signal: ai-train=no',
    'Disallow: /x,"y',
    'User-agent: *',
    'Content-Usage: train-ai=n',
    'Crawl-delay: soon',
    'Sitemap: https://records.example/2.xml',
    'Disallow: /',
  ].join('\n'),
};

async function prepared(): Promise<Workplace> {
  const place = workplace();
  for (const [host, text] of Object.entries(FILES)) place.write(`robots/${host}`, text);
  place.write('robots/https/example.com_8443/robots.txt', 'User-agent: *\nDisallow: /8443\n');
  place.write(
    'more.ndjson',
    '{"host":"gone.example","status":404}\n{"host":"down.example","status":503}\n',
  );
  const source = ['--robots-dir', 'robots', '--robots-dir', 'more.ndjson'];
  // Threads would take longer to start.
  await place.run(['compile', '--records', ...source, '-o', 't', '-q'], '', { cores: 1 });
  return place;
}

interface Row {
  readonly host: string;
  readonly agent: string;
  readonly allowed: string;
  readonly root: string;
  readonly root_line: number | null;
  readonly [column: string]: unknown;
}

function rowsOf(text: string): Row[] {
  return lines(text).map((line) => JSON.parse(line) as Row);
}

test('an audit agrees with what the filter says of many paths, whatever it reads', async () => {
  const place = await prepared();
  const args = ['-a', AGENTS.join(), '--format', 'ndjson'];
  const audit = await place.run(['audit', '--table', 't', ...args]);
  expect(audit.code).toBe(0);
  const rows = rowsOf(audit.text);
  const hosts = [...new Set(rows.map(({ host }) => host))];
  const names = hosts.map((host) => host.replace('https://', ''));
  expect(names).toEqual([...names].sort());
  expect(rows.length).toBe(hosts.length * AGENTS.length);

  // An independent count: verdicts of the filter on paths of each host.
  const paths = [
    '/',
    '/a',
    '/ab',
    '/q',
    '/private/',
    '/private/open',
    '/x.gif',
    '/cc/',
    '/8443',
    '/x,"y',
  ];
  const roots = hosts.map((host) => (host.includes('://') ? host : `https://${host}`));
  const urls = roots.flatMap((root) => paths.map((path) => ({ url: root + path })));
  const filtered = await place.run(
    ['--table', 't', '-a', AGENTS.join(), '--explain', '--input', 'ndjson'],
    urls.map((url) => `${JSON.stringify(url)}\n`).join(''),
  );
  const explained = lines(filtered.text).map(
    (line) =>
      JSON.parse(line) as {
        verdicts: Record<string, string>;
        rules?: Record<string, { line: number } | null>;
      },
  );
  // A host has several rows where its schemes and ports differ, and is counted once.
  const found: Record<string, Map<string, string>> = {};
  for (const { host, agent, allowed, root, root_line } of rows) {
    const start = hosts.indexOf(host) * paths.length;
    const judged = explained.slice(start, start + paths.length);
    const verdicts = new Set(judged.map(({ verdicts }) => verdicts[agent]));
    const truth = verdicts.size === 2 ? 'part' : verdicts.has('allow') ? 'all' : 'none';
    expect({ host, agent, allowed }).toEqual({ host, agent, allowed: truth });
    expect(root).toBe(judged[0]?.verdicts[agent]);
    expect(root_line).toBe(judged[0]?.rules?.[agent]?.line ?? null);
    const of = found[agent] ?? new Map<string, string>();
    found[agent] = of;
    const name = new URL(host.includes('://') ? host : `https://${host}`).hostname;
    of.set(name, (of.get(name) ?? truth) === truth ? truth : 'part');
  }
  for (const agent of AGENTS) {
    const truths = [...(found[agent]?.values() ?? [])];
    expect(truths.length).toBeLessThan(hosts.length);
    const [all, part, none] = ['all', 'part', 'none'].map(
      (truth) => truths.filter((each) => each === truth).length,
    );
    expect(audit.stderr).toContain(
      `${agent}: ${truths.length} hosts: ${all} all, ${part} part, ${none} none\n`,
    );
  }

  const sources = ['--robots-dir', 'robots', '--robots-dir', 'more.ndjson'];
  const fromFiles = await place.run(['audit', ...sources, ...args]);
  expect(fromFiles.text).toBe(audit.text);
});

test('lists of a host that are too long are cut in each row, and records has them whole', async ({
  place,
}) => {
  const sitemaps = Array.from({ length: 5000 }, (_, index) => `https://a.example/${index}.xml`);
  const text = `User-agent: *\nDisallow: /\n${sitemaps.map((url) => `Sitemap: ${url}\n`).join('')}`;
  const licence = `License: https://b.example/${'x'.repeat(4000)}\n`;
  place.write('sites/a.example', text);
  place.write('sites/b.example', licence.repeat(3));
  const args = ['-q', '--robots-dir', 'sites', '-a', '@all-known', '--format', 'ndjson'];
  const rows = rowsOf((await place.run(['audit', ...args])).text);
  let shown = 0;
  for (let characters = 0; ; shown++) {
    characters += (sitemaps[shown] as string).length;
    if (characters > 4096) break;
  }
  for (const { host, sitemaps: cut, preferences } of rows) {
    if (host === 'b.example') {
      expect(preferences).toEqual([licence.trim(), '\u2026 2 more']);
      continue;
    }
    expect(cut).toEqual([...sitemaps.slice(0, shown), `\u2026 ${5000 - shown} more`]);
  }
  expect(rows.length).toBeGreaterThan(200);
  const { text: whole } = await place.run('records -q sites --kind sitemap');
  expect(lines(whole).map((line) => JSON.parse(line).value)).toEqual(sitemaps);
});

test('in a table for people, columns grow with their values, and wide characters count', async ({
  place,
}) => {
  const long = `${'long-name-'.repeat(4)}x.example`;
  place.write(`sites/${long}`, 'User-agent: *\nDisallow: /\n');
  place.write('sites/z.example', `User-agent: *\nCrawl-delay: ${'界'.repeat(40)}\nDisallow:\n`);
  const agents = ['cohere-training-data-crawler', 'GPTBot'];
  const audit = await place.run(['audit', '-q', '--robots-dir', 'sites', '-a', agents.join()]);
  const [header = '', ...rows] = lines(audit.text);
  const placesOf = (word: string): number[] =>
    rows.map((row) => widthOnTerminal(row.slice(0, row.indexOf(word))));
  expect(header.indexOf('allowed')).toBe(28 + 2 + 28 + 2);
  expect(rows.map((row) => row.includes('z.example'))).toEqual([false, false, true, true]);
  const [none, , all] = [...placesOf('none').slice(0, 2), placesOf(' all ')[2]];
  expect([none, all]).toEqual([long.length + 2 + 28 + 2, long.length + 2 + 28 + 1]);
  const [first, second, third, fourth] = placesOf('successful');
  expect([first, third]).toEqual([second, fourth]);
  // Of 40 characters of two columns, 29 fit into 60.
  expect(rows[3]).toContain(` ${'界'.repeat(29)}\u2026 `);
});

test('an audit shows groups, records and unknown hosts, and can be limited', async () => {
  const place = await prepared();
  place.write('hosts', 'records.example\n\nhttps://nowhere.example/x\nOWN.example\n');
  const args = ['audit', '--table', 't', '-a', 'CCBot,GPTBot', '--hosts', 'hosts'];
  const csv = await place.run([...args, '--format', 'csv', '-q']);
  expect(csv.stderr).toBe('');
  expect(lines(csv.text)).toEqual([
    'host,agent,allowed,group,rules,root,root_line,crawl_delay,sitemaps,preferences,access,date',
    'https://nowhere.example,CCBot,unknown,,,,,,,,,',
    'https://nowhere.example,GPTBot,unknown,,,,,,,,,',
    'own.example,CCBot,all,ccbot,1,allow,6,5,,,successful,',
    'own.example,GPTBot,none,*,1,deny,2,,,,successful,',
    'records.example,CCBot,none,*,1,deny,10,soon,https://records.example/1.xml https://records.example/2.xml,License: https://records.example/l Content-Usage: train-ai=n,successful,',
    'records.example,GPTBot,part,gptbot,1,allow,,,https://records.example/1.xml https://records.example/2.xml,License: https://records.example/l Content-Signal: ai-train=no,successful,',
  ]);
  const only = await place.run([...args, '--format', 'ndjson', '--only', 'none', '-q']);
  expect(rowsOf(only.text).map(({ host, agent }) => [host, agent])).toEqual([
    ['own.example', 'GPTBot'],
    ['records.example', 'CCBot'],
  ]);
  const table = await place.run([...args, '--only', 'all', '-q']);
  expect(table.text).toMatch(
    /^host +agent +allowed .*\nown\.example +CCBot +all +ccbot +1 +allow +6 +5 +- +- +successful +-\n$/,
  );
  place.write('bad', 'a b\n');
  place.write('hosts.gz', gzipSync(place.read('hosts')));
  const compressed = await place.run([...args.slice(0, -1), 'hosts.gz', '--format', 'csv', '-q']);
  expect(compressed.text).toBe(csv.text);
  const forms = [
    'https://u:p@records.example/',
    'https:nowhere.example',
    'https:\\\\nowhere.example\\x',
    'https:////OWN.example./x',
  ];
  place.write('forms', `${forms.join('\n')}\n`);
  const read = await place.run([...args.slice(0, -1), 'forms', '--format', 'csv', '-q']);
  expect(read.stderr).toBe('');
  expect(read.text).toBe(csv.text);
  // A column would become part of the host.
  place.write('columns', 'https://own.example\t5\n');
  const columns = await place.run([...args.slice(0, -1), 'columns']);
  expect(columns.stderr).toContain('columns:1: "https://own.example\\t5" is not a host.');
  const bad = await place.run([...args.slice(0, -1), 'bad']);
  expect([bad.code, bad.stderr]).toEqual([
    2,
    expect.stringMatching(/^robots-filter: bad:1: "a b" is not a host\. Use /),
  ]);
  const both = await place.run('audit -a x');
  expect([both.code, both.stderr]).toEqual([
    2,
    expect.stringContaining('audit needs robots.txt files or a table'),
  ]);
});

test.each([
  ['records t --as-of 2025-03-10', '--as-of has no effect on a table'],
  ['records t --max-robots-bytes 600000', 'Use it with robots-filter compile'],
  ['records t --profile google', 't was compiled with --profile rfc9309'],
  ['diff t t --host-column site', '--host-column has no effect on a table'],
  ['audit --table t --stale unknown', '--stale has no effect on a table'],
])('%s is refused', async (words, message) => {
  const place = await prepared();
  const { code, text, stderr } = await place.run(words.split(' '));
  expect({ code, text }).toEqual({ code: 2, text: '' });
  expect(stderr).toContain(message);
  // The files of the other side are read as the option says.
  expect(await place.run('diff t robots --max-robots-bytes 600000'.split(' '))).toMatchObject({
    code: 0,
  });
});

test('records are the same from a file, a directory and a table', async () => {
  const place = await prepared();
  const kinds = ['--kind', 'sitemap,crawl-delay', '--kind', 'content-signal'];
  const table = await place.run(['records', 't', ...kinds]);
  const directory = await place.run(['records', 'robots', ...kinds]);
  expect(table).toMatchObject({ code: 0, stderr: '' });
  expect(directory.text).toBe(table.text);
  const rows = rowsOf(table.text);
  expect(
    rows.map(({ host, line, kind, group, parsed }) => [host, line, kind, group, parsed]),
  ).toEqual([
    ['own.example', 5, 'crawl-delay', ['ccbot'], 5],
    ['records.example', 1, 'sitemap', null, 'https://records.example/1.xml'],
    ['records.example', 4, 'content-signal', ['gptbot'], { 'ai-train': 'no' }],
    ['records.example', 8, 'crawl-delay', ['*'], null],
    ['records.example', 9, 'sitemap', null, 'https://records.example/2.xml'],
  ]);
  const file = await place.run(['records', 'robots/records.example', ...kinds, '--format', 'csv']);
  expect(lines(file.text)[3]).toBe(',8,crawl-delay,*,soon,,false');
  // Node connects a child process to its parent by sockets, which no path opens.
  const body = readFileSync(join(place.path, 'robots/records.example'), 'utf8');
  const streamed = await place.runAlone(['records', '-', ...kinds, '--format', 'csv'], body);
  expect(streamed).toMatchObject({ code: 0, text: file.text, stderr: '' });
  const wrong = await place.run('records t --kind sitemaps');
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('There is no kind "sitemaps"'),
  ]);
  await place.run('compile --robots-dir robots -o plain -q');
  const plain = await place.run('records plain');
  expect([plain.code, plain.text, plain.stderr]).toEqual([
    0,
    '',
    expect.stringContaining('Compile it with --records'),
  ]);
});

test('a row of a record names no more than 1,000 crawlers', async ({ place }) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const name = (n: number) =>
    [n, n / 26, n / 676].map((at) => letters[Math.floor(at) % 26]).join('');
  const names = Array.from({ length: 1_100 }, (_, index) => name(index));
  const agents = names.map((each) => `User-agent: ${each}\n`).join('');
  place.write('r.txt', `${agents}Noindex: /a\nNoindex: /b\nDisallow: /\n`);
  const { text } = await place.run('records r.txt');
  const groups = lines(text).map((line) => JSON.parse(line).group);
  expect(groups).toEqual([names.slice(0, 1000), names.slice(0, 1000)]);
});

test('inspect and check show records, and speak JSON', async () => {
  const place = await prepared();
  const host = await place.run('inspect t records.example -a CCBot');
  expect(host).toMatchObject({ code: 0, stderr: '' });
  expect(lines(host.text)).toEqual([
    'http://records.example, https://records.example',
    '  source  records.example',
    '  access  successful',
    '  agent   CCBot: none allowed, group *; / deny by line 10',
    '          crawl-delay soon',
    '          License: https://records.example/l',
    '          Content-Usage: train-ai=n',
    '',
    '       1  Sitemap: https://records.example/1.xml',
    '       2  License: https://records.example/l',
    '       9  Sitemap: https://records.example/2.xml',
    '',
    '          User-agent: *',
    '       7  Content-usage: train-ai=n',
    '       8  Crawl-delay: soon',
    '      10  Disallow: /',
  ]);
  const json = await place.run('inspect t records.example --json');
  expect(JSON.parse(json.text)).toMatchObject({
    host: 'records.example',
    schemes: ['http', 'https'],
    port: null,
    access: 'successful',
    records: [{ line: 1, kind: 'sitemap' }, { kind: 'license' }, { line: 9 }],
    agents: [],
    groups: [
      { productTokens: ['*'], rules: [{ line: 10, kind: 'disallow', pattern: '/' }] },
      {
        productTokens: ['gptbot'],
        rules: [{ line: 5, kind: 'disallow', pattern: '/x,"y' }],
        records: [{ line: 4, kind: 'content-signal', parsed: { 'ai-train': 'no' } }],
      },
    ],
  });
  const totals = JSON.parse((await place.run('inspect t --json --verify')).text);
  expect(totals).toMatchObject({ version: 9, agents: null, verified: { records: 7 } });
  expect(totals.hosts).toBe(totals.verified.hosts);
  const agentOnly = await place.run('inspect t -a x');
  expect([agentOnly.code, agentOnly.stderr]).toEqual([
    2,
    expect.stringContaining('inspect t HOST --agent x'),
  ]);

  const urls = ['/x,"y', 'https://a.example/img/1', '/other'];
  const robots = [
    FILES['records.example']?.replace(
      'Content-Signal',
      'Content-Usage: train-ai=y\nContent-Usage: /img train-ai=n,search=y\nContent-Usage: /img train-ai=y\nContent-Signal',
    ),
  ].join('');
  const check = await place.run(['check', '--json', '-q', '-', 'GPTBot', ...urls], robots);
  expect(check.code).toBe(1);
  const sitemaps = ['https://records.example/1.xml', 'https://records.example/2.xml'];
  const preferences = {
    contentSignal: { 'ai-train': 'no' },
    license: ['https://records.example/l'],
  };
  expect(lines(check.text).map((line) => JSON.parse(line))).toEqual([
    {
      url: urls[0],
      verdict: 'deny',
      reason: 'rule',
      rule: { line: 8, text: 'Disallow: /x,"y', agent: 'GPTBot' },
      crawlDelay: null,
      sitemaps,
      preferences: null,
    },
    expect.objectContaining({
      verdict: 'allow',
      preferences: { ...preferences, contentUsage: { 'train-ai': 'n', search: 'y' } },
    }),
    expect.objectContaining({
      rule: null,
      preferences: { ...preferences, contentUsage: { 'train-ai': 'y' } },
    }),
  ]);
});

test('Parquet has row groups of bounded length, also of hosts that are not in the table', async ({
  place,
}) => {
  const hosts = 131_072 + 5;
  place.write('hosts', Array.from({ length: hosts }, (_, at) => `h${at}.example\n`).join(''));
  const args = '--robots-dir robots --hosts hosts -a GPTBot --format parquet';
  const { code, stdout } = await place.run(`audit ${args}`);
  expect(code).toBe(0);
  const { buffer, byteOffset, length } = stdout;
  const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
  const groups = parquetMetadata(file).row_groups.map(({ num_rows: rows }) => Number(rows));
  expect(groups).toEqual([131_072, hosts - 131_072]);
});
