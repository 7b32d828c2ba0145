import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { widthOnTerminal } from '../../src/cli/text.js';
import { LINT_RULE_NAMES } from '../../src/lint/rules.js';
import { lines, workplace } from './command-line.js';

const BAD = 'User-agent: GPTBot/1.0\nDisallow: private\nDisallow: /a\nDisallow: /a\n';

describe('robots-filter lint', () => {
  it('prints the place, the line, carets and the fix, and fails if there is an error', async () => {
    const place = workplace();
    place.write('r.txt', BAD);
    place.write('good.txt', 'User-agent: *\nDisallow: /private/\n');
    const { code, text, stderr } = await place.run('lint r.txt');
    expect(code).toBe(1);
    expect(lines(text).slice(0, 4)).toEqual([
      'r.txt:2:11: error: The pattern "private" begins with neither "/" nor "*", and matches nothing (RFC 9309 section 2.2.2). [pattern-without-slash]',
      '  2 | Disallow: private',
      '    |           ^^^^^^^',
      '    = fix: Write "/private", or "*private" for any place in the path.',
    ]);
    expect(stderr).toBe('robots-filter: 1 file: 1 error, 0 warnings, 1 note\n');
    const good = await place.run('lint --quiet good.txt');
    expect(good).toMatchObject({ code: 0, text: '', stderr: '' });
  });

  it('chooses rules, and fails by --max-warnings', async () => {
    const place = workplace();
    place.write('r.txt', 'User-agent: *\nDisallow: /\n');
    const [free, bounded, off, opinions] = await Promise.all([
      place.run('lint r.txt'),
      place.run('lint --max-warnings 0 r.txt'),
      place.run('lint --max-warnings=0 --disable everything-denied r.txt'),
      place.run('lint --format summary --enable trailing-slash --severity error robots'),
    ]);
    expect([free.code, bounded.code, off.code]).toEqual([0, 1, 0]);
    expect(free.text).toContain('[everything-denied]');
    expect(off.text).toBe('');
    expect(opinions.text).toBe('trailing-slash\tnote\t2\t1\n');
  });

  it('reads directories and records, each with its host', async () => {
    const place = workplace();
    place.write('some/a.example', 'Sitemap: https://b.example/s.xml\n');
    place.write(
      'some/more.ndjson',
      '{"host":"c.example","robots":"Disallow: /"}\n{"host":"d.example","status":404}\nnoise\n',
    );
    place.write('some/a.warc', 'WARC/1.0\r\n');
    const { code, text, stderr } = await place.run('lint --format json some');
    const findings = lines(text).map((line) => JSON.parse(line));
    expect(code).toBe(1);
    expect(findings).toMatchObject([
      {
        file: 'some/a.example',
        authority: 'a.example',
        line: 1,
        column: 10,
        endColumn: 33,
        rule: 'sitemap-of-another-host',
        severity: 'note',
      },
      {
        record: 1,
        authority: 'c.example',
        line: 1,
        column: 1,
        rule: 'rule-outside-group',
        severity: 'error',
      },
    ]);
    expect(stderr).toContain('some/a.warc:0: ');
    expect(stderr).toContain('more.ndjson:3: ');
    expect(stderr).toContain('2 files: 1 error, 0 warnings, 1 note in 2 files');
  });

  it('reads WARC files: the latest capture of each host, and where redirects lead', async () => {
    const place = workplace();
    const capture = (date: string, url: string, response: string): string =>
      `WARC/1.0\nWARC-Type: response\nWARC-Date: 2025-01-${date}T00:00:00Z\nWARC-Target-URI: ${url}\nContent-Length: ${response.length}\n\n${response}\n\n`;
    const found = (robots: string): string => `HTTP/1.1 200 OK\n\n${robots}`;
    const moved = 'HTTP/1.1 301 Moved\nLocation: https://b.example/real.txt\n\n';
    const records = [
      capture('02', 'https://a.example/robots.txt', found('Disalow: /new')),
      capture('01', 'https://a.example/robots.txt', found('Disallow: /old')),
      capture('03', 'https://b.example/robots.txt', moved),
      capture('03', 'http://b.example/robots.txt', moved),
      capture('03', 'https://c.example/robots.txt', 'HTTP/1.1 404 Gone\n\nDisallow: /'),
      capture('03', 'https://b.example/real.txt', found('Disallow: /real')),
    ];
    place.write('crawl/1.warc', records.join(''));
    place.write('urls.txt', 'https://b.example/x\nhttps://b.example/y\nhttp://nowhere.example/\n');
    const offsetOf = (record: number): number => records.slice(0, record).join('').length;
    const expected = [
      ['https://a.example', offsetOf(0), 'misspelt-record'],
      ['https://b.example', offsetOf(5), 'rule-outside-group'],
      ['http://b.example', offsetOf(5), 'rule-outside-group'],
    ];
    for (const name of ['crawl', 'crawl/1.warc']) {
      const { text } = await place.run(['lint', '-q', '--format', 'json', name]);
      const findings = lines(text).map((line) => JSON.parse(line));
      expect(findings.map(({ file }) => file)).toEqual(findings.map(() => 'crawl/1.warc'));
      expect(findings.map((each) => [each.authority, each.record, each.rule])).toEqual(expected);
    }
    for (const name of ['crawl', 'crawl/1.warc']) {
      const before = ['--as-of', '2025-01-01', '--format', 'json'];
      const { text } = await place.run(['lint', '-q', ...before, name]);
      const findings = lines(text).map((line) => JSON.parse(line));
      expect(findings.map((each) => [each.authority, each.record, each.rule])).toEqual([
        ['https://a.example', offsetOf(1), 'rule-outside-group'],
      ]);
    }
    place.write('r.ndjson', '{"host":"a.example","robots":""}');
    for (const [name, shown] of [
      ['-', 'standard input'],
      ['robots/example.com', 'robots/example.com'],
      ['r.ndjson', 'r.ndjson'],
    ] as const) {
      const { code, stderr } = await place.run(['lint', '--as-of', '2025-01-01', name]);
      expect(code).toBe(2);
      expect(stderr).toContain(`captures of WARC files, and ${shown} has none. Leave --as-of out`);
    }
    const words = ['lint', 'crawl', '--urls', 'urls.txt', '--format', 'json'];
    const { text, stderr } = await place.run(words);
    expect(lines(text).map((line) => JSON.parse(line).authority)).toEqual(['https://b.example']);
    expect(stderr).toContain('no robots.txt was read for 1 of the 2 authorities in urls.txt.');
  });

  it.each([
    'https://a.example/',
    'https://u:p@a.example/x',
    'https://u@a.example:443?q',
    'https:////a.example/',
    'https:\\\\a.example\\x',
    'https:a.example',
    'HTTPS:/A.example./?u=http://b.example/',
    'a.example',
    'a.example:443',
  ])('--urls takes a URL as the filter reads it, or a host: %s', async (url) => {
    const place = workplace();
    place.write('urls.txt', `${url}\n`);
    const record = JSON.stringify({ url: 'https://a.example/robots.txt', robots: 'Disalow: /' });
    place.write('r.ndjson', `${record}\n`);
    const words = ['lint', 'r.ndjson', '--urls', 'urls.txt', '--format', 'json'];
    const { code, text } = await place.run(words);
    expect(lines(text).map((line) => JSON.parse(line).authority)).toEqual(['https://a.example']);
    expect(code).toBe(1);
  });

  it('writes SARIF', async () => {
    const place = workplace();
    place.write('a b.txt', BAD);
    const { text } = await place.run(['lint', '--format', 'sarif', 'a b.txt', '-'], '<html>');
    const { version, runs } = JSON.parse(text);
    expect(version).toBe('2.1.0');
    expect(runs[0].tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(LINT_RULE_NAMES);
    expect(runs[0].results).toMatchObject([
      {
        ruleId: 'pattern-without-slash',
        level: 'error',
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'a%20b.txt' },
              region: { startLine: 2, startColumn: 11, endColumn: 18 },
            },
          },
        ],
      },
      { ruleId: 'duplicate-rule', level: 'note' },
      { ruleId: 'html', level: 'error' },
    ]);
    place.write('r.ndjson', `${JSON.stringify({ host: 'a.example', robots: BAD })}\n`);
    const records = await place.run('lint --format sarif r.ndjson');
    // The lines of a robots.txt are not those of the file of records.
    expect(JSON.parse(records.text).runs[0].results[0].locations).toEqual([
      {
        physicalLocation: { artifactLocation: { uri: 'r.ndjson' } },
        logicalLocations: [{ name: 'a.example', fullyQualifiedName: 'a.example/robots.txt:2:11' }],
      },
    ]);
    for (const { ruleId, ruleIndex } of runs[0].results) {
      expect(LINT_RULE_NAMES[ruleIndex]).toBe(ruleId);
    }
  });

  it('fixes files that are named, and nothing else', async () => {
    const place = workplace();
    place.write('r.txt', BAD);
    const fixed = await place.run('lint --fix --opinions r.txt');
    expect(place.read('r.txt')).toBe('User-agent: GPTBot\nDisallow: private\nDisallow: /a\n');
    expect(fixed.stderr).toContain('r.txt: 2 edits');
    expect(fixed.text).toContain('r.txt:2:11: error');
    const refused = await place.run('lint --fix robots');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('Name the robots.txt itself');
  });

  it.each([
    [['nosuch.txt'], 'nosuch.txt: no such file'],
    [
      ['https://a.example/robots.txt'],
      'curl -s https://a.example/robots.txt | robots-filter lint -',
    ],
    [['a.warc.gz'], 'a.warc.gz: no such file'],
    [['--urls', 'urls.txt', '-'], 'a robots.txt without a host. Leave --urls out'],
    [
      ['urls.txt'],
      'robots-filter fetch --robots-dir robots urls.txt, then: robots-filter lint robots --urls urls.txt',
    ],
    [['--enable', 'trailing-slsh', 'robots'], 'Did you mean trailing-slash?'],
    [['--enable', 'html', '--disable', 'html', 'robots'], '--enable and --disable both name html'],
    [[], "missing required argument 'files'"],
  ])('%j is refused', async (args, message) => {
    const place = workplace();
    place.write('urls.txt', 'https://a.example/x\nhttp://b.example/y\n');
    const { code, text, stderr } = await place.run(['lint', ...args]);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  });

  it('lints the other files if one cannot be read, and fails', async () => {
    const place = workplace();
    place.write('a.txt', BAD);
    place.write('b.txt', 'Disalow: /\n');
    const words = ['lint', '--format', 'sarif', 'a.txt', 'nosuch.txt', 'b.txt'];
    const { code, text, stderr } = await place.run(words);
    expect(code).toBe(2);
    const rules = JSON.parse(text).runs[0].results.map((each: { ruleId: string }) => each.ruleId);
    expect(rules).toEqual(['pattern-without-slash', 'duplicate-rule', 'misspelt-record']);
    expect(lines(stderr)).toEqual([
      'robots-filter: nosuch.txt: no such file. Check the spelling and the working directory.',
      'robots-filter: 2 files: 2 errors, 0 warnings, 1 note in 2 files',
    ]);
  });

  it('fails if a file in a directory cannot be read, and lints the others', async () => {
    const place = workplace();
    place.write('cache/a.example', 'Disalow: /\n');
    place.write('cache/README.md', 'No robots.txt\n');
    expect((await place.run('lint cache')).code).toBe(1);
    mkdirSync(join(place.path, 'cache/b.example/robots.txt'), { recursive: true });
    symlinkSync('nowhere', join(place.path, 'cache/c.example'));
    symlinkSync('d.example', join(place.path, 'cache/d.example'));
    const { code, text, stderr } = await place.run('lint --format summary cache');
    expect({ code, text }).toEqual({ code: 2, text: 'misspelt-record\terror\t1\t1\n' });
    const message =
      'robots-filter: 3 robots.txt files could not be read: cache/b.example/robots.txt and 2 more. Mend, replace or remove such a file';
    expect(lines(stderr).at(-1)).toBe(message);
    const quiet = await place.run('lint --quiet --format summary cache');
    expect(quiet).toMatchObject({ code: 2, stderr: `${message}\n` });
  });

  it('follows links that lead out of a directory only with --follow-links', async () => {
    const place = workplace();
    place.write('cache/a.example', 'Disalow: /\n');
    place.write('elsewhere/b.example', 'Disalow: /\n');
    symlinkSync('../elsewhere/b.example', join(place.path, 'cache/b.example'));
    const words = ['lint', '--format', 'summary', 'cache'];
    const { code, text, stderr } = await place.run(words);
    expect({ code, text }).toEqual({ code: 1, text: 'misspelt-record\terror\t1\t1\n' });
    expect(stderr).toContain('--follow-links follows it.');
    const followed = await place.run([...words, '--follow-links']);
    expect(followed).toMatchObject({ code: 1, text: 'misspelt-record\terror\t2\t2\n' });
  });

  it('finds a binary body in a directory, which a crawler reads as text', async () => {
    const place = workplace();
    place.write('cache/a.example', Buffer.alloc(100, 1));
    const { code, text, stderr } = await place.run('lint --format summary cache');
    expect({ code, text }).toEqual({ code: 1, text: 'another-format\terror\t1\t1\n' });
    expect(stderr).toContain('every URL of a.example is allowed');
  });

  it('fails if the body of a file in a directory is compressed', async () => {
    const place = workplace();
    place.write('cache/a.example', gzipSync('User-agent: *\n'));
    const { code, stderr } = await place.run('lint --quiet cache');
    expect(code).toBe(2);
    expect(stderr).toContain('1 robots.txt file could not be read: cache/a.example. ');
  });

  it('ends quietly with success if the reader goes away', async () => {
    const place = workplace();
    const records = Array.from({ length: 20_000 }, (_, index) =>
      JSON.stringify({ host: `h${index}.example`, robots: BAD }),
    );
    place.write('r.ndjson', `${records.join('\n')}\n`);
    const line = 'set -o pipefail; $rf lint r.ndjson | head -n 1';
    const { code, text, stderr } = await place.shell(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(text).toMatch(/^h0\.example .*\n$/);
  });

  it('puts carets below wide characters, tabs and halves of long lines', async () => {
    const record = `Disallow:\t/界/${'😀'.repeat(60)}/a b`;
    const { text } = await workplace().run('lint -q -', `User-agent: *\n${record}\n`);
    const [, source = '', carets = ''] = lines(text);
    expect(source.endsWith('/a b')).toBe(true);
    expect(source).not.toContain('\ufffd');
    expect(widthOnTerminal(carets)).toBe(widthOnTerminal(source) - 1);
    const short = await workplace().run('lint -q -', 'User-agent: *\nDisallow:\t/界 b\n');
    expect(lines(short.text).slice(1, 3)).toEqual([
      '  2 | Disallow:    /界 b',
      '    |                 ^',
    ]);
  });

  it('shows no control character of a file', async () => {
    const { text } = await workplace().run(
      ['lint', '-'],
      'User-agent: *\nDisallow: \u001b[31mred\u202e\n',
    );
    expect(text).toContain('\\x1b[31mred\\u{202e}');
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });
});
