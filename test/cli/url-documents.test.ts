import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { test, type Workplace, workplace } from './command-line.js';

/*
 * What is no list of URLs: each message has the command that makes one, and the command is run.
 */

const SITEMAP = `<?xml version="1.0" encoding="UTF-8"?>
<!-- generated -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>
    https://a.example/x?a=1&amp;b=2
  </loc><lastmod>2024-05-01</lastmod></url>
  <url><loc><![CDATA[https://a.example/y]]></loc>
    <image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <image:loc>https://a.example/y.png</image:loc></image:image></url><url><loc>https://a.example/z</loc></url>
</urlset>
`;
const INDEX =
  '\ufeff<sitemapindex><sitemap><loc>https://a.example/x.xml</loc></sitemap></sitemapindex>';
const FEED =
  '<?xml version="1.0"?>\n<rss><channel><loc>https://a.example/x</loc></channel></rss>\n';
const PAGE = `

<!DOCTYPE HTML>
<html><body><p>caf\xe9</p><a href="/x?a=1&amp;b">x</a> <A class=c HREF='https://b.example/y'>y</A>
<a name=z>z</a> <a href="mailto:me@a.example">m</a> <a href="http://[z">z</a> <a href>z</a>
<a href="//c.example/z
">z</a> <a href="javascript://[">z</a> <a href="?p=1">z</a></body></html>
`;
const CRAWL_LOG = `2024-05-01T12:00:00.123Z     1         54 dns:a.example P https://a.example/ text/dns #042 20240501120000123+1 sha1:A - -
2024-05-01T12:00:01.123Z   200       1234 https://a.example/x LL https://a.example/ text/html #042 20240501120001123+90 sha1:A - -
2024-05-01T12:00:02.123Z -9998          - http://a.example/y%20z LL https://a.example/ unknown #042 - - - -
`;
const HEADER = '["urlkey","timestamp","original","mimetype"]';
const WAYBACK = `[${HEADER},
["example,a)/x", "20020120142510", "http://a.example:80/x", "text/html"],
["example,a)/y", "20020120142510", "http://a.example:80/y]", "text/html"],
[],
["example,a)/z 20020120142510"]]
`;
const ROWS = '[[1, "https://a.example/x"], [2, "https://a.example/y"]]';
const ARC = `filedesc://x.arc 0.0.0.0 20240501000000 text/plain 76
1 0 InternetArchive
URL IP-address Archive-date Content-type Archive-length

http://a.example/x 1.2.3.4 20240501000000 text/html 60
HTTP/1.0 200 OK\r

\0\xff https://b.example/ 1.2.3.4 20240501000000

https://a.example/y 1.2.3.4 20240501000001 no-type 200 - - 0 x.arc 0

dns:a.example 1.2.3.4 20240501000002 text/dns 4
a b
`;

/** The URLs that come out of the command in a message. */
function urlsBy(place: Workplace, message: string, file: string): string[] {
  const [, command = ''] = /: ((?:cat|gzip -dc|sed) .*?) \| robots-filter …/.exec(message) ?? [];
  const line = command.replace('FILE', file).replace('https://BASE/', 'https://a.example/');
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `set -o pipefail; ${line}`], {
    cwd: place.path,
    encoding: 'utf8',
  });
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: '' });
  return stdout.split('\n').filter((url) => url !== '');
}

describe('a document that holds URLs', () => {
  const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
    [
      'is a sitemap',
      'sitemap.xml',
      SITEMAP,
      ['https://a.example/x?a=1&b=2', 'https://a.example/y', 'https://a.example/z'],
    ],
    ['is a sitemap', 'index.xml', INDEX, ['https://a.example/x.xml']],
    ['is XML', 'feed.xml', FEED, ['https://a.example/x']],
    [
      'is a web page (HTML)',
      'list.csv',
      PAGE,
      [
        ...['https://a.example/x?a=1&b', 'https://b.example/y', 'http://[z'],
        ...['https://c.example/z', 'https://a.example/?p=1'],
      ],
    ],
    [
      "is Heritrix's crawl.log",
      'crawl.log',
      CRAWL_LOG,
      ['https://a.example/x', 'http://a.example/y%20z'],
    ],
    [
      'is a JSON array of rows',
      'wayback.json',
      WAYBACK,
      ['http://a.example:80/x', 'http://a.example:80/y]'],
    ],
    ['is a JSON array of rows', 'rows', ROWS, ['https://a.example/x', 'https://a.example/y']],
    [
      'is a list with NUL after each URL',
      'found',
      'https://a.example/x\0https://a.example/y z\0',
      ['https://a.example/x', 'https://a.example/y z'],
    ],
    ['is an ARC file', 'f.arc', ARC, ['http://a.example/x', 'https://a.example/y']],
  ];

  test.each(cases)('%s: %s, and the command makes URLs of it', async (what, file, text, urls) => {
    const place = workplace();
    const bytes = Buffer.from(text, text.startsWith('\ufeff') ? 'utf8' : 'latin1');
    place.write(file, bytes);
    place.write(`${file}.gz`, gzipSync(bytes));
    for (const name of [file, `${file}.gz`]) {
      for (const words of ['--robots-dir robots', 'fetch --robots-dir cache', 'shard --of 3']) {
        const { code, text: out, stderr } = await place.run(`${words} ${name}`);
        expect({ code, out }).toEqual({ code: 2, out: '' });
        expect(stderr).toContain(`robots-filter: ${name}: ${what}`);
        if (words.startsWith('--')) expect(urlsBy(place, stderr, name)).toEqual(urls);
      }
    }
    expect(place.names()).not.toContain('cache');
    // Whoever names a format gets it, and is told the same at the end, but of NUL in one URL.
    if (what.includes('NUL')) return;
    const { code, stderr } = await place.run(`--robots-dir robots --input text ${file}`);
    expect(code === 2 || stderr.includes(`The input ${what}`)).toBe(true);
  });

  test('from a pipe that has brought one line is one, too', async ({ place }) => {
    for (const text of [SITEMAP, PAGE.trimStart(), CRAWL_LOG, WAYBACK]) {
      place.write('f', Buffer.from(text, 'latin1'));
      const { code, stderr } = await place.shell(
        '{ head -n 1 f; sleep 0.1; tail -n +2 f; } | $rf --robots-dir robots',
      );
      expect(code).toBe(2);
      expect(stderr).toContain('Cut the URLs out:');
    }
  });

  test('is told from lists of URLs, and from records', async ({ place }) => {
    for (const text of [
      'https://a.example/<html>\n',
      '<https://a.example/>\n',
      '[["a","b"],["c","d"]]\n',
      '[{"url":"https://a.example/"}]',
      '["https://a.example/"]',
      '2024-05-01T12:00:00Z https://a.example/ 200\n',
      '2024-05-01T12:00:00.1Z x y z:\n',
      'https://a.example/x\0y\n',
      'https://a.example/x\nhttps://a.example/y\0https://a.example/z\n',
      '',
    ]) {
      const { code } = await place.run('--robots-dir robots', text);
      expect({ text, code }).toEqual({ text, code: 0 });
    }
  });
});

describe('records without URLs', () => {
  test.each([
    ['hosts', 'hosts.txt', 'a.example\nb.example\n', ['https://a.example', 'https://b.example']],
    [
      'a list in a member',
      'f.ndjson',
      '{"page":{"links":["https://a.example/x","https://a.example/y"]}}\n{"page":{"links":[]}}\n',
      ['https://a.example/x', 'https://a.example/y'],
    ],
  ])('%s: the command makes URLs of them', async (_name, file, text, urls) => {
    const place = workplace();
    place.write(file, text);
    const { code, stderr } = await place.run(`--robots-dir robots ${file}`);
    expect(code).toBe(0);
    expect(urlsBy(place, stderr, file)).toEqual(urls);
  });

  test.each([
    ['hosts', 'a.example\nb.example/?u=https://c.example/\n', "sed 's,^,https://,'"],
    ['in brackets', '<https://a.example/x>\n<https://b.example/y>\n', 'grep'],
    [
      'of wget',
      '--2024-05-01 12:00:00--  https://a.example/x\nSaved\nx https://b.example/y\n',
      'grep',
    ],
    ['in a row', '1|https://a.example/x|a\n2|https://b.example/y|b\n', 'grep'],
    ['in an index', 'example,a)/x 20240501 https://a.example/x text/html\n', 'grep'],
    ['without a scheme', '//a.example/x\n//b.example/y\n', "sed 's,^,https:,'"],
    ['without a host', '/x\n/y\n', "sed 's,^,https://HOST,'"],
  ])('text with URLs %s: %j gets a command that suits it', async (_name, input, start) => {
    const place = workplace();
    place.write('f', input);
    const { code, stderr } = await place.run('--robots-dir robots f');
    expect(code).toBe(0);
    const [, command = ''] = /: ((?:sed|grep) .*) \| robots-filter …/.exec(stderr) ?? [];
    expect(command).toContain(start);
    const line = command.replace('FILE', 'f').replace('HOST', 'a.example');
    const { text } = await place.shell(`${line} | $rf --robots-dir robots`);
    const verdicts = text.trimEnd().split('\n');
    expect(verdicts.length).toBe(Math.min(2, input.trimEnd().split('\n').length));
    for (const verdict of verdicts) expect(verdict).toMatch(/^unknown\thttps:\/\/[ab]\.example/);
  });

  test('a nested member: the option that is named reads it', async ({ place }) => {
    place.write('f.ndjson', '{"request":{"url":"https://example.com/private/"}}\n');
    const { stderr } = await place.run('--robots-dir robots f.ndjson');
    const [, option = ''] = /Use (--url-field \S+)/.exec(stderr) ?? [];
    const { text } = await place.run(`--robots-dir robots ${option} f.ndjson`);
    expect(text).toMatch(/"verdict":"(allow|deny)"/);
  });

  test.each([
    ['cdxj', '{"url":"https://example.com/"}\n', 'ndjson'],
    ['cdxj', 'https://example.com/\n', 'text'],
    ['cdxj', 'url,n\nhttps://example.com/,1\n', 'csv'],
    ['ndjson', 'k 20250101000000 {"url":"https://example.com/"}\n', 'cdxj'],
    ['ndjson', 'https://example.com/\n', 'text'],
  ])('read as %s are named by their own format: %j', async (asked, input, own) => {
    const place = workplace();
    const { code, stderr } = await place.run(`--robots-dir robots --input ${asked}`, input);
    expect(code).toBe(0);
    expect(stderr).toContain(`Use --input ${own}, or leave --input out`);
    const { text } = await place.run(`--robots-dir robots --input ${own}`, input);
    expect(text).not.toContain('invalid');
  });

  test('leave `fetch` nothing to do, which it says', async ({ place }) => {
    const { code, stderr } = await place.run('fetch --robots-dir cache', 'a.example\n');
    expect(code).toBe(0);
    expect(stderr).toContain(
      "no record has a URL, so there is nothing to fetch. If they are hosts, add a scheme: sed 's,^,https://,'",
    );
  });
});
