import { expect, test } from 'vitest';
import { type Workplace, workplace } from './command-line.js';

/** Records of robots.txt files whose names and rules need to be escaped. */
function hostile(): Workplace {
  const place = workplace();
  const robots = 'User-agent: *\nDisallow: /<b>&"\u202e\u001b[31m\n';
  place.write('a<b>.ndjson', JSON.stringify({ host: 'h.example', robots }));
  return place;
}

const WORDS = ['--robots-dir', 'a<b>.ndjson', '-a', 'GPTBot,CCBot', '-q'];

test('a page escapes what comes from outside, loads nothing, and runs nothing', async () => {
  const place = hostile();
  const urls = 'https://h.example/<b>&"%E2%80%AE%1B[31m\n';
  const { code, text } = await place.run([...WORDS, '--report', 'r.html'], urls);
  expect([code, text]).toEqual([0, `deny,deny\t${urls}`]);
  const page = place.read('r.html');
  expect(page).toContain('Disallow: /&lt;b&gt;&amp;&quot;\\u{202e}\\x1b[31m');
  expect(page).toContain('a&lt;b&gt;.ndjson');
  expect(page).not.toContain('<b>.');
  expect(page).not.toMatch(/<script|<img|<link|src=|href=|url\(|@import|https?:|NaN|undefined/);
});

test('a report that has no form or place is refused before the run', async () => {
  const place = hostile();
  for (const [options, message] of [
    [['--report', 'r.pdf'], 'Use --report report.html, or --report report.json'],
    [['--report', 'nowhere/r.html'], 'nowhere'],
    [['--report', 'r.json', '-o', './r.json'], 'are one file'],
    [['--report', './urls.json', 'urls.json'], 'would replace the input urls.json'],
    [['--report', 'a<b>.ndjson.json', '--robots-dir', 'a<b>.ndjson.json'], 'a<b>.ndjson.json'],
  ] as const) {
    const { code, stderr, text } = await place.run([...WORDS, ...options], 'https://a.example/\n');
    expect([code, text]).toEqual([2, '']);
    expect(stderr).toContain(message);
  }
});
