import { linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test, type Workplace, workplace } from './command-line.js';

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
  expect(page).not.toMatch(/<script(?! type="application\/json")|<img|<link|src=|href=|url\(/);
  expect(page).not.toMatch(/@import|https?:|NaN|undefined/);
});

test('a report that has no form or place is refused before the run', async () => {
  const place = hostile();
  place.write('urls.json', '[]');
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

test('a report in place of the output or an input is refused, whatever its name', async ({
  place,
}) => {
  const url = 'https://example.com/private/x\n';
  place.write('in.json', `["${url.trim()}"]`);
  place.write('urls.txt', url);
  symlinkSync('out.json', join(place.path, 'link.json'));
  symlinkSync('in.json', join(place.path, 'in-link.json'));
  mkdirSync(join(place.path, 'dir'));
  symlinkSync('dir', join(place.path, 'dir-link'));
  const run = '$rf --robots-dir robots -q';
  const oneFile = (a: string, b: string) => `--report ${a} and -o ${b} are one file`;
  const behind = (stream: string) => `would replace the file behind standard ${stream}`;
  for (const [command, message] of [
    [`${run} --report out.json urls.txt > out.json`, behind('output')],
    [`${run} --report out.json urls.txt >> out.json`, behind('output')],
    [`${run} --report link.json urls.txt > out.json`, behind('output')],
    [`${run} --report out.json -o - urls.txt > out.json`, behind('output')],
    [`${run} --report in.json < in.json`, behind('input')],
    [`${run} --report in.json in-link.json`, 'would replace the input in-link.json'],
    [`${run} --report out.json -o link.json urls.txt`, oneFile('out.json', 'link.json')],
    [`${run} --report link.json -o out.json urls.txt`, oneFile('link.json', 'out.json')],
    [
      `${run} --report dir/a.json -o dir-link/a.json urls.txt`,
      oneFile('dir/a.json', 'dir-link/a.json'),
    ],
    ['$rf audit --robots-dir robots --report out.json > out.json', behind('output')],
  ] as const) {
    const { code, stderr } = await place.shell(command);
    expect([command, code]).toEqual([command, 2]);
    expect(stderr).toContain(message);
    expect(stderr).toContain('Name another file');
  }
  expect(place.read('in.json')).toContain(url.trim());

  // The links dangle, or end in a file: both names of a hard link stay.
  rmSync(join(place.path, 'out.json'));
  const dangling = await place.shell(`${run} --report out.json -o link.json urls.txt`);
  expect([dangling.code, dangling.stderr]).toEqual([2, expect.stringContaining('are one file')]);
  place.write('a.json', 'old');
  linkSync(join(place.path, 'a.json'), join(place.path, 'b.json'));
  expect((await place.shell(`${run} --report a.json -o b.json urls.txt`)).code).toBe(0);
  expect(place.read('b.json')).toBe(`deny\t${url}`);
  expect(place.read('a.json')).toContain('"records"');
});

test('the headline leaves out URLs without a known robots.txt, and the page says so', async () => {
  const place = workplace();
  const robots = 'User-agent: GPTBot\nDisallow: /no\n';
  const records = ['a', 'b'].map((name) => JSON.stringify({ host: `${name}.example`, robots }));
  place.write('r.ndjson', records.join('\n'));
  const of = (host: string, paths: readonly string[]) =>
    paths.map((path) => `https://${host}.example/${path}`);
  const known = [...of('a', ['no/1', '2', '3', '4', '5', '6', '7']), ...of('b', ['no/8'])];
  const urls = [...known, ...of('c', ['1', '2', '3', '4', '5', '6', '7']), 'no URL'].join('\n');
  const words = ['--robots-dir', 'r.ndjson', '-a', 'GPTBot', '-q', '--report', 'r.html'];
  for (const unknown of ['unknown', 'allow', 'deny']) {
    expect((await place.run([...words, '--unknown', unknown], urls)).code).toBe(0);
    const page = place.read('r.html');
    const denied = unknown === 'deny' ? 56.3 : 12.5;
    expect(page).toContain(
      'GPTBot may not fetch 25.0\u00a0% of the URLs whose robots.txt is known.',
    );
    expect(page).toContain('50.0\u00a0% of the hosts deny it all of their URLs in this list');
    expect(page).toContain('16 records, 2 hosts with a known robots.txt');
    expect(page).toContain('For 43.8\u00a0% of the records (7) no robots.txt is known');
    expect(page).toContain(`${denied}\u00a0% of all records are denied to GPTBot.`);
    expect(page).toContain(
      '43.8\u00a0% of all records (7) are URLs of a.example, which denies GPTBot 14.3\u00a0% of them.',
    );
  }
});
