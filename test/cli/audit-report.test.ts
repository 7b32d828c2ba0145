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
