import { expect, test } from 'vitest';
import type { AuditFigures } from '../../src/cli/report/audit-figures.js';
import { type Workplace, workplace } from './command-line.js';

const AGENTS = ['GPTBot', 'CCBot', 'OtherBot'];
const BODY = 'User-agent: *\nDisallow: /\n';
const DIRECTORY = "a<b>&'c\u001b[31m";

/** Robots.txt files in a directory whose name needs escaping. */
function hosts(): Workplace {
  const place = workplace();
  place.write(`${DIRECTORY}/h.example`, BODY);
  return place;
}

test('a page escapes what comes from outside, loads nothing, and runs nothing', async () => {
  const place = hosts();
  const words = ['audit', '-q', '--robots-dir', DIRECTORY, '-a', AGENTS.join(',')];
  const { code } = await place.run([...words, '--report', 'r.html']);
  expect(code).toBe(0);
  const page = place.read('r.html');
  expect(page).toContain('a&lt;b&gt;&amp;&#39;c\\x1b[31m');
  expect(page).not.toContain('a<b>');
  expect(page).not.toMatch(/<script(?! type="application\/json")|<img|<link|src=|href=|url\(/);
  expect(page).not.toMatch(/@import|https?:|NaN|undefined/);
});

test('the report is whole if the reader of the rows goes away', async () => {
  const place = hosts();
  const records = Array.from({ length: 20_000 }, (_, index) =>
    JSON.stringify({ host: `h${index}.example`, robots: BODY }),
  );
  place.write('many.ndjson', `${records.join('\n')}\n`);
  const words = `audit -q --robots-dir many.ndjson -a ${AGENTS.join(',')} --report r.json --format csv`;
  const { code, stderr } = await place.shellAlone(`set -o pipefail; $rf ${words} | head -n 1`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { hosts: counted } = JSON.parse(place.read('r.json')) as AuditFigures;
  expect(counted).toBe(20_000);
});

test('a report of another ending, or that cannot be written, is an error', async () => {
  const place = hosts();
  const words = ['audit', '-q', '--robots-dir', DIRECTORY, '-a', 'GPTBot', '--report'];
  const ending = await place.run([...words, 'report.pdf']);
  expect(ending.code).toBe(2);
  expect(ending.stderr).toContain('Use --report report.html, or --report report.json');
  const nowhere = await place.run([...words, 'nowhere/report.html']);
  expect(nowhere.code).toBe(2);
  expect(nowhere.stderr).toContain('nowhere');
});

test('a web page in place of a robots.txt is counted, listed and shown', async () => {
  const place = hosts();
  place.write(`${DIRECTORY}/page.example`, '<!doctype html>\n<title>User-agent: *</title>\n');
  const words = ['audit', '-q', '--robots-dir', DIRECTORY, '-a', AGENTS.join(',')];
  for (const file of ['r.json', 'r.html']) await place.run([...words, '--report', file]);
  const { hosts: all, files, records, shared } = JSON.parse(place.read('r.json')) as AuditFigures;
  expect([all, files, records?.['web-page'], shared]).toEqual([2, 2, 1, []]);
  const page = place.read('r.html');
  expect(page).toContain('1 host (50.0\u00a0%) sent a web page in place of a robots.txt.');
  expect(page).toContain('A robots.txt was read for each of the 2 hosts.');
  const { text } = await place.run(['records', DIRECTORY, '--kind', 'web-page', '-q']);
  expect(JSON.parse(text)).toMatchObject({ host: 'page.example', kind: 'web-page', parsed: null });
});

test('two files are the same, however groups of the same rules are cut', async () => {
  const place = hosts();
  const [rules, other] = ['Disallow: /\n', 'Disallow: /x\n'];
  const bodies = {
    'joined.example': `User-agent: a\nUser-agent: b\n${rules}`,
    'apart.example': `User-agent: b\n${rules}\n# once more\nUser-agent: A\n${rules}`,
    'empty.example': `User-agent: b\nUser-agent: a\n${rules}\nUser-agent: a\nCrawl-delay: 2\n`,
    'other.example': `User-agent: b\n${rules}User-agent: a\n${other}`,
  };
  const records = Object.entries(bodies).map(([host, robots]) => JSON.stringify({ host, robots }));
  place.write('records.ndjson', records.join('\n'));
  await place.run('audit -q records.ndjson -a a,b --report r.json');
  const { files, shared } = JSON.parse(place.read('r.json')) as AuditFigures;
  expect([files, shared.map((file) => [file.of, file.hosts])]).toEqual([2, [['apart.example', 3]]]);
});

test('an audit of a list leaves hosts out of which nothing is known, and says how many', async () => {
  const place = hosts();
  place.write(`${DIRECTORY}/open.example`, '');
  place.write('list', 'h.example\nopen.example\nnone.example\nother.example:81\n');
  const words = ['audit', '-q', '--robots-dir', DIRECTORY, '-a', 'GPTBot', '--hosts', 'list'];
  await place.run([...words, '--report', 'r.html']);
  const page = place.read('r.html');
  expect(page).toContain('2 hosts with a known answer, 2 distinct robots.txt files, 1 crawler.');
  expect(page).toContain('<h1>50.0\u00a0% of hosts, and 50.0\u00a0% of distinct robots.txt files,');
  expect(page).toContain('Nothing is known of 2 more hosts of the list (50.0\u00a0%). The figures');
  expect(page).toContain('<th scope="row">Nothing is known of it here.</th>');
});

test('files count once in a table in shards, too, and rows come only if asked for', async () => {
  const place = workplace();
  const bodies = [
    BODY,
    '# a comment\nUser-agent: *\nDisallow: /\n',
    'User-agent: CCBot\nDisallow: /a\n',
  ];
  const records = Array.from({ length: 40 }, (_, index) =>
    JSON.stringify({ host: `h${index}.example`, robots: bodies[index % 3] }),
  );
  place.write('many.ndjson', `${records.join('\n')}\n`);
  await place.run('compile -q --records --robots-dir many.ndjson -o one.table');
  await place.run('compile -q --records --shards 3 --robots-dir many.ndjson -o parts');
  const figuresOf = async (table: string) => {
    const words = ['audit', '-q', '--table', table, '-a', AGENTS.join(','), '--report', 'r.json'];
    expect((await place.run(words)).text).toBe('');
    const rows = await place.run([...words, '--format', 'csv']);
    expect(rows.text.split('\n').length).toBe(2 + 40 * AGENTS.length);
    const { source, created, ...figures } = JSON.parse(place.read('r.json'));
    return figures;
  };
  const figures = await figuresOf('one.table');
  expect(await figuresOf('parts')).toEqual(figures);
  expect([figures.hosts, figures.files]).toEqual([40, 2]);
  const lines = ['User-agent: *', 'Disallow: /'];
  expect(figures.shared[0]).toMatchObject({ of: 'h0.example', hosts: 27, lines });
});

test('a page says what its bars stand for, and which shared file has no rules', async () => {
  const place = workplace();
  const bodies = ['', '', 'User-agent: *\n', 'User-agent: *\n', BODY];
  const records = bodies.map((robots, at) => JSON.stringify({ host: `h${at}.example`, robots }));
  place.write('r.ndjson', records.join('\n'));
  const words = ['audit', '-q', '--robots-dir', 'r.ndjson', '-a', AGENTS.join(',')];
  expect((await place.run([...words, '--report', 'r.html'])).code).toBe(0);
  const page = place.read('r.html');
  expect(page).toContain('The longest bar stands for 33.3\u00a0%.');
  expect(page).toContain(
    '50.0\u00a0% of the hosts that forbid GPTBot, CCBot and OtherBot nothing (2 hosts) have a robots.txt without rules for these crawlers',
  );
  expect(page).toContain('<pre>User-agent: *\n# no rule</pre>');
});
