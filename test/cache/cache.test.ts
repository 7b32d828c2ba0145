import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import { readLines } from '../../src/files/lines.js';
import { formatAuthority } from '../../src/protocol/authority.js';
import { cacheParts } from '../../src/sources/cache.js';
import type { CacheEntry } from '../../src/sources/entry.js';
import { byteNamesIn, splitNames } from '../../src/sources/item.js';
import { type Reading, readCache, readParts } from './read-cache.js';

let root: string;
let outside: string;

beforeEach(() => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'robots-cache-')));
  root = join(base, 'robots');
  outside = join(base, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
});

afterEach(() => rmSync(dirname(root), { recursive: true, force: true }));

function read(
  path = root,
  options: { followLinks?: boolean; maxBodyBytes?: number } = {},
): Promise<Reading> {
  return readCache(path, { maxBodyBytes: 512_000, ...options });
}

function put(path: string, body: string | Uint8Array = `# ${path}\n`): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), body);
}

function text(entry: CacheEntry | undefined): string {
  return entry === undefined ? 'no entry' : Buffer.from(entry.body).toString('utf8');
}

/** The same records with bodies that are quick to compare. */
function comparable({ entries, ...rest }: Reading) {
  const digest = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');
  return { ...rest, entries: entries.map((entry) => ({ ...entry, body: digest(entry.body) })) };
}

function authorities({ entries }: Reading): string[] {
  return entries.map(({ authority }) => formatAuthority(authority));
}

function sources({ entries }: Reading): string[] {
  return entries.map(({ source }) => source);
}

/** The warnings as `CODE PATH[:LINE]`, paths below the robots directory. */
function warned({ warnings }: Reading): string[] {
  return warnings.map(({ code, path, line }) => {
    const below = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
    return `${code} ${below}${line === undefined ? '' : `:${line}`}`;
  });
}

function records(...values: unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

describe('layouts of a directory', () => {
  it('reads every layout and gives each file its authority and source', async () => {
    const expected = [
      ['a.example', 'a.example'],
      ['b.example.txt', 'b.example'],
      ['c.example-robots.txt', 'c.example'],
      ['d.example/robots.txt', 'd.example'],
      ['ftp/e.example/robots.txt', 'ftp://e.example'],
      ['http/f.example/robots.txt', 'http://f.example'],
      ['https/g.example/robots.txt', 'https://g.example'],
      ['https/h.example', 'https://h.example'],
      ['https/i.example.txt', 'https://i.example'],
      ['localhost', 'localhost'],
    ] as const;
    for (const [path] of expected) put(path);
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(sources(reading)).toEqual(expected.map(([path]) => path));
    expect(authorities(reading)).toEqual(expected.map(([, authority]) => authority));
    for (const entry of reading.entries) {
      expect(text(entry)).toBe(`# ${entry.source}\n`);
      expect(entry.status).toBeUndefined();
    }
  });

  it('reads ports after a colon or an underscore, and IP addresses', async () => {
    const expected = [
      ['192.0.2.1:81', '192.0.2.1:81'],
      ['[2001:DB8::1]/robots.txt', '[2001:db8::1]'],
      ['[::1]', '[::1]'],
      ['[::1]:8080-robots.txt', '[::1]:8080'],
      ['[::1]_8080', '[::1]:8080'],
      ['a.example:8080', 'a.example:8080'],
      ['b.example_8080.txt', 'b.example:8080'],
      ['c.example_443/robots.txt', 'c.example:443'],
      ['http/d.example_80/robots.txt', 'http://d.example'],
      ['http/e.example:443/robots.txt', 'http://e.example:443'],
      ['https/f.example_443/robots.txt', 'https://f.example'],
      ['my_host.example', 'my_host.example'],
    ] as const;
    for (const [path] of expected) put(path);
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(sources(reading)).toEqual(expected.map(([path]) => path));
    expect(authorities(reading)).toEqual(expected.map(([, authority]) => authority));
  });

  it('recognises the endings of names in capitals too', async () => {
    const expected = [
      ['EX2.COM-Robots.TXT', 'ex2.com'],
      ['EXAMPLE.COM.TXT', 'example.com'],
      ['ex1.com.Robots.txt', 'ex1.com'],
      ['https/B.EXAMPLE_8443.Txt', 'https://b.example:8443'],
    ] as const;
    for (const [path] of expected) put(path);
    put('x.NDJSON', records({ host: 'x.example', robots: '' }));
    for (const name of ['README.TXT', 'Licence.Txt', 'CHANGES.MD']) put(name);
    put('Robots.TXT');
    const reading = await read();
    expect(sources(reading)).toEqual([...expected.map(([path]) => path), 'x.NDJSON:1']);
    expect(authorities(reading)).toEqual([
      ...expected.map(([, authority]) => authority),
      'x.example',
    ]);
    expect(warned(reading)).toEqual([
      'document CHANGES.MD',
      'document Licence.Txt',
      'document README.TXT',
      'not-a-host Robots.TXT',
    ]);
  });

  it('skips documents and data files, but not hosts that end like them', async () => {
    const documents = [
      'Changelog.md',
      'LICENSE',
      'LICENSE-MIT',
      'README',
      'README.md',
      'SECURITY.md',
      'SHA256SUMS',
      'a.example.bak',
      'a.example~',
      'https/NOTICE.txt',
      'index.html',
      'license.md',
      'list.csv',
      'list.json.gz',
      'robots-mini.warc.cdx',
      'robots.table',
      'x.arrow',
    ];
    const hosts = [
      ['EXAMPLE.com', 'example.com'],
      ['README.robots.txt', 'readme'],
      ['example.md', 'example.md'],
      ['example.sh', 'example.sh'],
      ['example.zip', 'example.zip'],
      ['h.example.robots.txt', 'h.example'],
      ['localhost', 'localhost'],
      ['news', 'news'],
      ['readme.com', 'readme.com'],
      ['readme.io.txt', 'readme.io'],
    ] as const;
    for (const name of documents) put(name);
    for (const [name] of hosts) put(name);
    put('.DS_Store');
    put('.a.example.swp');
    const reading = await read();
    expect(authorities(reading)).toEqual(hosts.map(([, host]) => host));
    expect(warned(reading).sort()).toEqual(documents.map((name) => `document ${name}`).sort());
  });

  it('reads records from .jsonl files too', async () => {
    put('a.jsonl', records({ host: 'a.example', robots: '' }));
    put('b.jsonl.gz', gzipSync(records({ host: 'b.example', robots: '' })));
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(authorities(reading)).toEqual(['a.example', 'b.example']);
    expect(authorities(await read(join(root, 'a.jsonl')))).toEqual(['a.example']);
  });

  it('reads HOST_PORT in names of files only', async () => {
    put('my_2024');
    put(
      'r.ndjson',
      records(
        { host: 'my_2024', robots: '' },
        { host: 'example.com:', robots: '' },
        { url: 'http://my_2024/robots.txt', robots: '' },
      ),
    );
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(authorities(reading)).toEqual(['my:2024', 'my_2024', 'example.com', 'http://my_2024']);
  });

  it('skips files and records for port 0, with a warning', async () => {
    put('a.example_0');
    put('b.example:0/robots.txt');
    put(
      'r.ndjson',
      records({ host: 'c.example:0', robots: '' }, { url: 'http://d.example:0/', robots: '' }),
    );
    const reading = await read();
    expect(reading.entries).toEqual([]);
    expect(warned(reading)).toEqual([
      'not-a-host a.example_0',
      'not-a-host b.example:0',
      'not-a-host r.ndjson:1',
      'not-a-host r.ndjson:2',
    ]);
    for (const { message } of reading.warnings) expect(message).toContain('from port 0');
  });

  it('reads host names in upper case and in Unicode', async () => {
    put('EXAMPLE.com');
    put('bücher.example');
    const reading = await read();
    expect(authorities(reading)).toEqual(['example.com', 'xn--bcher-kva.example']);
    expect(sources(reading)).toEqual(['EXAMPLE.com', 'bücher.example']);
  });

  it('reads files in the byte order of their paths, whatever the order of creation', async () => {
    const names = [
      'b.example',
      'a.example/robots.txt',
      'a.example-x',
      'a.example.txt',
      'é.example',
    ];
    const astral = '𐐀.example';
    const high = 'ｚ.example';
    for (const name of [astral, ...names, high]) put(name);
    const reading = await read();
    const inOrder = [astral, high, ...names].sort((one, other) =>
      Buffer.compare(Buffer.from(one), Buffer.from(other)),
    );
    expect(sources(reading)).toEqual(inOrder);
    // By UTF-16 code units, the default order of strings, these two are the other way round.
    expect(inOrder.indexOf(high)).toBeLessThan(inOrder.indexOf(astral));
  });

  it('skips hidden files silently, and reads robots.json as the state of a fetch', async () => {
    put('.DS_Store');
    put('.git/config');
    put('robots.json');
    put('a.example/robots.txt');
    put('a.example/robots.json', '{"accessResult":"successful"}');
    put('b.example/robots.json', '{"accessResult":"unreachable"}');
    put('b.example/.hidden');
    put('c.example/.hidden');
    put('https/.hidden');
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(sources(reading)).toEqual(['a.example/robots.txt', 'b.example/robots.json']);
    expect(reading.entries.map(({ fetched }) => fetched?.access)).toEqual([
      'successful',
      'unreachable',
    ]);
  });

  it('warns of names that are not a host', async () => {
    put('info@example.com');
    put('two words');
    put('some one/robots.txt');
    put('a.example:99999');
    put('robots.txt');
    put('https/robots.txt');
    put('a.example');
    const reading = await read();
    expect(sources(reading)).toEqual(['a.example']);
    expect(warned(reading)).toEqual([
      'not-a-host a.example:99999',
      'not-a-host https/robots.txt',
      'not-a-host info@example.com',
      'not-a-host robots.txt',
      'not-a-host some one',
      'not-a-host two words',
    ]);
  });

  it('warns of files nested deeper than any layout, and of empty directories', async () => {
    put('2024/a.example/robots.txt');
    put('https/b.example/robots.txt');
    put('https/backup/c.example/robots.txt');
    put('https/x.ndjson', records({ host: 'd.example', robots: '' }));
    put('e.example/index.html');
    mkdirSync(join(root, 'f.example'));
    mkdirSync(join(root, 'g.example/robots.txt'), { recursive: true });
    mkdirSync(join(root, 'h.example/.git'), { recursive: true });
    const reading = await read();
    expect(sources(reading)).toEqual(['https/b.example/robots.txt']);
    expect(warned(reading)).toEqual([
      'too-deep 2024',
      'no-robots-txt e.example',
      'no-robots-txt f.example',
      'not-a-file g.example/robots.txt',
      'too-deep https/backup',
      'too-deep https/x.ndjson',
    ]);
  });

  it('reads one byte more than the parsing limit (RFC 9309 section 2.5), and everything without a limit', async () => {
    const body = Buffer.alloc(300_000, 'x');
    put('a.example', body);
    put('b.example', body.subarray(0, 100_000));
    put('c.example', '');
    put('d.ndjson', records({ host: 'd.example', robots: body.toString() }));
    const lengths = async (maxBodyBytes: number) =>
      (await read(root, { maxBodyBytes })).entries.map(({ body: { length } }) => length);
    expect(await lengths(100_000)).toEqual([100_001, 100_000, 0, 100_001]);
    expect(await lengths(299_999)).toEqual([300_000, 100_000, 0, 300_000]);
    expect(await lengths(10)).toEqual([11, 11, 0, 11]);
    expect(await lengths(Number.POSITIVE_INFINITY)).toEqual([300_000, 100_000, 0, 300_000]);
  });

  it('keeps the order across parts, and among bodies that are read separately', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `h${String(i).padStart(4, '0')}.example`);
    for (const [i, name] of names.entries()) put(name, i % 100 === 7 ? 'x'.repeat(70_000) : name);
    const many = await read();
    expect(sources(many)).toEqual(names);
    expect(many.entries.filter(({ body }) => body.length === 70_000)).toHaveLength(10);

    for (const name of names.slice(0, 4)) put(name, Buffer.alloc(9 * 1024 * 1024, '#'));
    const large = await read(root, { maxBodyBytes: Number.POSITIVE_INFINITY });
    expect(sources(large)).toEqual(names);
  });

  it('gives the same result when files are read concurrently', async () => {
    for (let i = 0; i < 600; i++) put(`h${i}.example${i % 3 === 0 ? '/robots.txt' : ''}`);
    put('h1.example', 'x'.repeat(100_000));
    put('no host');
    put('https/a.example/robots.txt');
    symlinkSync('h1.example', join(root, 'link.example'));
    symlinkSync(outside, join(root, 'outside.example'));
    const place = { path: root, displayPath: root, prefix: '', scheme: undefined };
    const access = { boundary: Buffer.from(root), concurrent: true };
    const names = await byteNamesIn(root);
    const concurrent = await readParts(splitNames(names, place, access), { maxBodyBytes: 512_000 });
    expect(concurrent.entries).toHaveLength(602);
    expect(concurrent.warnings).toHaveLength(2);
    expect(comparable(concurrent)).toEqual(comparable(await read()));
  });

  it('can be abandoned half-way', async () => {
    for (let i = 0; i < 600; i++) put(`h${i}.example`);
    const z = join(outside, 'z.ndjson.gz');
    const body = 'x'.repeat(2000);
    const lines = records(
      ...Array.from({ length: 2000 }, () => ({ host: 'z.example', robots: body })),
    );
    writeFileSync(z, gzipSync(lines));
    for (const path of [root, z]) {
      for (const stop of [0, 1, 2]) {
        let seen = 0;
        for await (const part of cacheParts(path, false)) {
          expect(part.kind).toBe(path === z ? 'lines' : 'names');
          if (seen++ === stop) break;
        }
        expect(seen).toBe(stop + 1);
      }
    }
  });
});

describe('names that are not UTF-8 or hold control characters', () => {
  it.runIf(process.platform === 'linux')('are printable in warnings', async () => {
    const name = Buffer.concat([
      Buffer.from(`${root}/caf`),
      Buffer.from([0xe9, 0x1b]),
      Buffer.from('.example'),
    ]);
    writeFileSync(name, '');
    put('a\u001b[31m\n.example');
    put('b.example');
    const reading = await read();
    expect(sources(reading)).toEqual(['b.example']);
    expect(warned(reading)).toEqual([
      'not-a-host a\\x1b[31m\\x0a.example',
      'not-a-host caf\\xe9\\x1b.example',
    ]);
  });

  it('are printable in the source of a record, on one line', async () => {
    put('a\tb\n.ndjson', records({ host: 'a.example', robots: '' }));
    expect(sources(await read())).toEqual(['a\\x09b\\x0a.ndjson:1']);
  });
});

describe('symbolic links', () => {
  beforeEach(() => {
    put('a.example/robots.txt', 'inside');
    writeFileSync(join(outside, 'robots.txt'), 'outside');
    writeFileSync(join(outside, 'x.ndjson'), records({ host: 'x.example', robots: 'outside' }));
  });

  it('are followed if they stay inside the directory', async () => {
    symlinkSync('a.example/robots.txt', join(root, 'b.example'));
    symlinkSync('a.example', join(root, 'c.example'));
    symlinkSync(join(root, 'b.example'), join(root, 'd.example.txt'));
    mkdirSync(join(root, 'e.example'));
    symlinkSync('../a.example/robots.txt', join(root, 'e.example/robots.txt'));
    symlinkSync('.', join(root, 'https'));
    const reading = await read();
    expect(sources(reading)).toEqual([
      'a.example/robots.txt',
      'b.example',
      'c.example/robots.txt',
      'd.example.txt',
      'e.example/robots.txt',
      'https/a.example/robots.txt',
      'https/b.example',
      'https/c.example/robots.txt',
      'https/d.example.txt',
      'https/e.example/robots.txt',
    ]);
    expect(new Set(reading.entries.map(text))).toEqual(new Set(['inside']));
    // The directory itself is taken for the directory of a host named https, and not read again.
    expect(warned(reading)).toEqual(['too-deep https/https']);
  });

  it('out of the directory are followed only on request', async () => {
    symlinkSync(join(outside, 'robots.txt'), join(root, 'b.example'));
    symlinkSync(outside, join(root, 'c.example'));
    mkdirSync(join(root, 'd.example'));
    symlinkSync('../../outside/robots.txt', join(root, 'd.example/robots.txt'));
    symlinkSync('../outside/x.ndjson', join(root, 'e.ndjson'));
    symlinkSync(outside, join(root, 'https'));
    // Through a link that stays inside, to a link that leads outside.
    symlinkSync('b.example', join(root, 'f.example'));

    const reading = await read();
    expect(sources(reading)).toEqual(['a.example/robots.txt']);
    expect(warned(reading)).toEqual([
      'link-outside b.example',
      'link-outside c.example',
      'link-outside d.example/robots.txt',
      'link-outside e.ndjson',
      'link-outside f.example',
      'link-outside https',
    ]);

    mkdirSync(join(outside, 'g.example'));
    writeFileSync(join(outside, 'g.example/robots.txt'), 'outside');
    const followed = await read(root, { followLinks: true });
    expect(sources(followed)).toEqual([
      'a.example/robots.txt',
      'b.example',
      'c.example/robots.txt',
      'd.example/robots.txt',
      'e.ndjson:1',
      'f.example',
      'https/g.example/robots.txt',
    ]);
    expect(followed.entries.slice(1).map(text)).toEqual(Array(6).fill('outside'));
    expect(warned(followed)).toEqual(['not-a-host https/robots.txt', 'too-deep https/x.ndjson']);
  });

  it('to a directory whose path has the same beginning lead outside', async () => {
    mkdirSync(`${root}-too`);
    writeFileSync(join(`${root}-too`, 'b.example'), '');
    symlinkSync(join(`${root}-too`, 'b.example'), join(root, 'b.example'));
    expect(warned(await read())).toEqual(['link-outside b.example']);
  });

  it('that form a loop or dangle are warnings', async () => {
    symlinkSync('b.example', join(root, 'b.example'));
    symlinkSync('d.example', join(root, 'c.example'));
    symlinkSync('c.example', join(root, 'd.example'));
    symlinkSync('missing', join(root, 'e.example'));
    symlinkSync('..', join(root, 'a.example/up'));
    for (const followLinks of [false, true]) {
      const reading = await read(root, { followLinks });
      expect(sources(reading)).toEqual(['a.example/robots.txt']);
      expect(warned(reading)).toEqual([
        'unreadable b.example',
        'unreadable c.example',
        'unreadable d.example',
        'unreadable e.example',
      ]);
    }
  });

  it('may be the directory itself', async () => {
    symlinkSync(root, join(outside, 'cache'));
    symlinkSync('a.example', join(root, 'b.example'));
    const reading = await read(join(outside, 'cache'));
    expect(sources(reading)).toEqual(['a.example/robots.txt', 'b.example/robots.txt']);
    expect(reading.warnings).toEqual([]);
  });
});

describe('a compressed body', () => {
  const gzip = gzipSync('User-agent: *\nDisallow: /\n');
  const zstd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00]);
  const base64 = (bytes: Buffer) => bytes.toString('base64');

  it('is skipped, since it would allow everything if it were read as text', async () => {
    put('a.example', gzip);
    put('b.example/robots.txt', zstd);
    put('c.example', Buffer.concat([gzip, Buffer.alloc(100_000, 'x')]));
    put('d.ndjson', records({ host: 'd.example', robots_base64: base64(gzip) }));
    put('e.example', '\x1f\x8b no gzip, but text that begins so');
    const reading = await read();
    expect(sources(reading)).toEqual(['e.example']);
    expect(warned(reading)).toEqual([
      'compressed a.example',
      'compressed b.example/robots.txt',
      'compressed c.example',
      'compressed d.ndjson:1',
    ]);
    expect(reading.warnings[0]?.message).toContain(
      'gzip data, not text; skipped. Decompress it (gzip -dc)',
    );
    expect(reading.warnings[1]?.message).toContain('zstd -dc');
  });

  it('is skipped even without magic bytes at its start, if it holds rules once decoded', async () => {
    const rules = 'User-agent: *\nDisallow: /\n';
    const utf16 = (text: string) => Buffer.from(text, 'utf16le');
    const NULS = Buffer.alloc(2);
    const utf32 = (mark: string) =>
      Buffer.concat(Array.from(mark + rules, (letter) => Buffer.concat([utf16(letter), NULS])));
    const filling = Array.from({ length: 3000 }, (_, at) => `# ${(at * at) % 9973}\n`).join('');
    const xz = Buffer.from('fd377a585a000004e6d6b446020021011600000074', 'hex');
    const bodies: Readonly<Record<string, string | Buffer>> = {
      'brotli.example': brotliCompressSync(rules + filling),
      'deflate.example': deflateRawSync(rules),
      'deflate-long.example': deflateRawSync(rules + filling),
      'zlib-window.example': deflateSync(rules, { windowBits: 9 }),
      'zlib-replaced.example': deflateSync(rules + filling).toString('utf8'),
      'gzip-newline.example': Buffer.concat([Buffer.from('\n'), gzip]),
      'gzip-latin1.example': gzip.toString('latin1'),
      'gzip-replaced.example': ` ${gzipSync(rules + filling).toString('utf8')}`,
      'zstd-replaced.example': `${zstd.toString('utf8')}${'\0'.repeat(20)}`,
      'zstd-latin1.example': `${zstd.toString('latin1')}${'\0'.repeat(20)}`,
      'xz-replaced.example': xz.toString('utf8'),
      'utf16-le.example': utf16(rules),
      'utf16-be.example': utf16(rules).swap16(),
      'utf16-latin1.example': utf16(`\ufeff${rules}`).toString('latin1'),
      'utf16-replaced.example': utf16(`\ufeff${rules}`).toString('utf8'),
      'utf32-le.example': utf32(''),
      'utf32-mark.example': utf32('\ufeff'),
    };
    for (const [host, body] of Object.entries(bodies)) put(`${host}.txt`, body);
    const base64s = Object.entries(bodies).map(([host, body]) => ({
      host,
      robots_base64: Buffer.from(body as string).toString('base64'),
    }));
    put('records.ndjson', records(...base64s));
    const reading = await read();
    expect(sources(reading)).toEqual([]);
    expect(reading.warnings).toHaveLength(Object.keys(bodies).length * 2);
    for (const { code, message } of reading.warnings) {
      expect(code).toBe('compressed');
      expect(message).toMatch(/skipped\. .* Until then URLs of \S+\.example are unknown, unless/);
    }
    const wide = reading.warnings.filter(({ message }) => message.includes('Save it as UTF-8.'));
    expect(wide).toHaveLength(12);
  });

  it('is used if it is binary data without rules: an icon, or a page that is padded', async () => {
    const rules = 'User-agent: *\nDisallow: /secret\n';
    const png = Buffer.from(
      '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489',
      'hex',
    );
    const bodies: Readonly<Record<string, string | Buffer>> = {
      'icon.example': Buffer.from('00000100030030300000010020a8250000360000002020', 'hex'),
      'nul.example': Buffer.alloc(1000),
      'nul-padded.example': `Sorry, Page Not Found${'\0'.repeat(370)}`,
      'pdf.example': Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(200, 7)]),
      'png.example': png,
      'png-replaced.example': png.toString('utf8'),
      'png-gzip.example': Buffer.concat([Buffer.from([7, 7]), gzipSync(png)]),
      'rules-padded.example': `${rules}${'\0'.repeat(400)}`,
      'utf16-controls.example': Buffer.from(
        `\ufeff${'\0'.repeat(10)}${'x'.repeat(150)}`,
        'utf16le',
      ),
    };
    for (const [host, body] of Object.entries(bodies)) put(`${host}.txt`, body);
    const base64s = Object.entries(bodies).map(([host, body]) => ({
      host: `r.${host}`,
      robots_base64: Buffer.from(body as string).toString('base64'),
    }));
    put('records.ndjson', records(...base64s));
    const reading = await read();
    const count = Object.keys(bodies).length;
    expect(reading.entries).toHaveLength(2 * count);
    expect(reading.warnings).toHaveLength(2 * count);
    for (const { code, message } of reading.warnings) {
      expect(code).toBe('binary');
      expect(message).toMatch(/every URL of \S+\.example is allowed/);
    }
    const padded = reading.entries.find(({ source }) => source === 'rules-padded.example.txt');
    expect(Buffer.from(padded?.body ?? []).toString()).toContain(rules);
  });

  it('is used if it is text: with a few control characters, in UTF-16, or with replacement characters', async () => {
    const rules = 'User-agent: *\nDisallow: /\n';
    put('a.example', `${rules}\0`);
    put('b.example', `${rules}\t\f\v\x1b[1m\x1b[0m\x1a`);
    put('c.example', Buffer.from(`\ufeff${rules}`, 'utf16le'));
    put('d.example', Buffer.from(`\ufeff${rules}`, 'utf16le').swap16());
    // As in the robots.txt of activity.huaweicloud.com, whose comments had another encoding.
    put('e.example', `# ${'\ufffd'.repeat(200)}\n${rules}`);
    put('f.example', `${rules}${'\0'.repeat(1)}${'# \x80\x9f\n'.repeat(100)}`);
    put('g.example', `${rules.repeat(40)}${'\0'.repeat(2000)}`);
    put('h.example', '');
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(reading.entries).toHaveLength(8);
  });

  it('is used if an error status makes its bytes irrelevant, or if fetch received exactly those bytes', async () => {
    put('a.ndjson', records({ host: 'a.example', status: 404, robots_base64: base64(gzip) }));
    put('b.ndjson', records({ host: 'b.example', status: 200, robots_base64: base64(gzip) }));
    const fetched = (host: string, body: Buffer) => {
      const sha256 = createHash('sha256').update(body).digest('hex');
      const lastSuccess = { sha256, bytes: body.length, finalUrl: `https://${host}/robots.txt` };
      put(`${host}/robots.txt`, gzip);
      put(`${host}/robots.json`, JSON.stringify({ accessResult: 'successful', lastSuccess }));
    };
    fetched('c.example', gzip);
    fetched('d.example', Buffer.from('User-agent: *'));
    const nuls = Buffer.alloc(100);
    fetched('g.example', nuls);
    put('g.example/robots.txt', nuls);
    // Only the beginning of a longer one is read.
    const long = Buffer.concat([gzip, Buffer.alloc(600_000, '#')]);
    fetched('h.example', long);
    put('h.example/robots.txt', long);
    put('e.example/robots.txt', gzip);
    put('e.example/robots.json', '{"status":200}');
    put('f.example/robots.txt', gzip);
    put('f.example/robots.json', '{bad');
    const reading = await read();
    expect(warned(reading)).toEqual([
      'compressed b.ndjson:1',
      'compressed d.example/robots.txt',
      'compressed e.example/robots.txt',
      'bad-record f.example/robots.json',
    ]);
    expect(sources(reading)).toEqual([
      'a.ndjson:1',
      'c.example/robots.txt',
      'g.example/robots.txt',
      'h.example/robots.txt',
    ]);
  });

  it('is an error if it is a file of records; the message says how to turn it into text', async () => {
    const xz = Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]);
    const lines = records({ host: 'd.example', robots: '' });
    const damaged = Buffer.from(gzipSync(lines));
    damaged[2] = 0;
    const path = join(root, 'x.ndjson.gz');
    for (const [bytes, sentence] of [
      [xz, 'is xz data; plain UTF-8, gzip and zstd are read. Send it through "xz -dc"'],
      [gzipSync(gzipSync(lines)), 'is gzip data in gzip data;'],
      [gzipSync(xz), 'Send it through "gzip -dc | xz -dc" and pipe the result in.'],
      [Buffer.from(`\ufeff${lines}`, 'utf16le'), 'is UTF-16 text;'],
      [damaged, 'the gzip data is damaged'],
    ] as const) {
      writeFileSync(path, bytes);
      await expect(read(), sentence).rejects.toMatchObject({
        name: 'RobotsFilterError',
        code: 'input',
        message: expect.stringContaining(`${path}: `),
      });
      await expect(read()).rejects.toThrow(sentence);
    }
  });
});

describe('a file that is not regular', () => {
  it.runIf(process.platform === 'linux')(
    'is skipped without waiting for it: pipes, sockets, devices',
    async () => {
      execFileSync('mkfifo', [join(root, 'a.example'), join(root, 'b.ndjson')]);
      put('c.example');
      mkdirSync(join(root, 'd.example'));
      execFileSync('mkfifo', [join(root, 'd.example/robots.txt')]);
      symlinkSync('/dev/zero', join(root, 'e.example'));
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(root, 'f.example'), resolve));
      try {
        const reading = await read(root, { followLinks: true });
        expect(sources(reading)).toEqual(['c.example']);
        expect(warned(reading)).toEqual([
          'not-a-file a.example',
          'not-a-file b.ndjson',
          'not-a-file d.example/robots.txt',
          'not-a-file e.example',
          'not-a-file f.example',
        ]);
      } finally {
        server.close();
      }
    },
  );
});

describe('a file that cannot be read', () => {
  it('is an error if it is the given path, with a remedy', async () => {
    const missing = join(root, 'missing');
    await expect(read(missing)).rejects.toThrow(RobotsFilterError);
    await expect(read(missing)).rejects.toMatchObject({
      code: 'input',
      message: `${missing}: cannot be read: it does not exist (ENOENT). Name a directory of robots.txt files, or a file of records or captures (*.ndjson, *.ndjson.gz, *.ndjson.zst, *.jsonl, *.jsonl.gz, *.jsonl.zst, *.parquet, *.warc, *.warc.gz, *.warc.zst, *.paths, *.paths.gz, *.paths.zst).`,
    });
    put('a.example');
    await expect(read(join(root, 'a.example'))).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining('neither a directory nor a file of records'),
    });
  });

  it.skipIf(process.getuid?.() === 0)(
    'is an error or a warning if permission is denied',
    async () => {
      put('a.example');
      put('b.example');
      put('c.example/robots.txt');
      put('https/d.example/robots.txt');
      put('e.ndjson');
      const closed = ['a.example', 'c.example', 'https', 'e.ndjson'].map((name) =>
        join(root, name),
      );
      for (const path of closed) chmodSync(path, 0);
      try {
        const reading = await read();
        expect(sources(reading)).toEqual(['b.example']);
        expect(warned(reading)).toEqual([
          'unreadable a.example',
          'unreadable c.example/robots.json',
          'unreadable e.ndjson',
          'unreadable https',
        ]);
        chmodSync(root, 0);
        await expect(read()).rejects.toMatchObject({ code: 'input' });
      } finally {
        for (const path of [root, ...closed]) chmodSync(path, 0o700);
      }
    },
  );

  it('is a warning if the file vanished after it was listed', async () => {
    for (const name of ['a.example', 'b.example/robots.txt', 'c.example', 'd.ndjson']) put(name);
    put('https/e.example');
    const names = await byteNamesIn(root);
    for (const name of ['a.example', 'b.example', 'd.ndjson', 'https']) {
      rmSync(join(root, name), { recursive: true });
    }
    const place = { path: root, displayPath: root, prefix: '', scheme: undefined };
    const access = { boundary: Buffer.from(root), concurrent: false };
    const reading = await readParts(splitNames(names, place, access), { maxBodyBytes: 1 });
    expect(sources(reading)).toEqual(['c.example']);
    expect(warned(reading)).toEqual([
      'unreadable a.example',
      'unreadable b.example',
      'unreadable d.ndjson',
      'unreadable https',
    ]);
  });
});

describe('files of records', () => {
  const good = { host: 'a.example', robots: 'User-agent: *\nDisallow: /é\u0000\r' };

  it('are read plain and as gzip, from a directory or as the path itself', async () => {
    put('1.ndjson', records(good, { ...good, host: 'b.example:8080', status: 200 }));
    put('2.ndjson.gz', gzipSync(records({ ...good, host: 'c.example' })));
    put('3.ndjson.gz', records({ ...good, host: 'd.example' }));
    put('4.ndjson', gzipSync(records({ ...good, host: 'e.example' })));
    put('b.example');
    put('5.ndjson', '');
    put('6.ndjson.gz', gzipSync(''));
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(sources(reading)).toEqual([
      '1.ndjson:1',
      '1.ndjson:2',
      '2.ndjson.gz:1',
      '3.ndjson.gz:1',
      '4.ndjson:1',
      'b.example',
    ]);
    expect(authorities(reading).slice(0, 5)).toEqual([
      'a.example',
      'b.example:8080',
      'c.example',
      'd.example',
      'e.example',
    ]);
    expect(reading.entries.map(({ status }) => status)).toEqual([
      undefined,
      200,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(new Set(reading.entries.slice(0, 5).map(text))).toEqual(new Set([good.robots]));

    const alone = await read(join(root, '2.ndjson.gz'));
    expect(sources(alone)).toEqual(['2.ndjson.gz:1']);
  });

  it('name the host, or the URL of its robots.txt, or both', async () => {
    put(
      'x.ndjson',
      records(
        { url: 'https://a.example:8443/robots.txt', robots: '' },
        { url: 'http://b.example/robots.txt', robots: '' },
        { host: 'c.example', url: 'https://c.example/robots.txt', robots: '' },
        { host: null, url: 'ftp://d.example/robots.txt', robots: '' },
        { host: 'https://e.example', robots: '' },
        { host: 'http://f.example/', robots: '' },
        { host: 'http://g.example/robots.txt', url: 'http://g.example:80/robots.txt', robots: '' },
        { host: 'h.example:443', url: 'https://h.example/robots.txt', robots: '' },
        { host: 'J.example.', url: 'ftp://j.example/robots.txt', status: 404 },
        { host: '[::1]:8080', robots: '' },
      ),
    );
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(authorities(reading)).toEqual([
      'https://a.example:8443',
      'http://b.example',
      'c.example',
      'ftp://d.example',
      'https://e.example',
      'http://f.example',
      'http://g.example',
      'h.example:443',
      'j.example',
      '[::1]:8080',
    ]);
  });

  it("are not lines of a crawler's log: such lines unblock no host and override no record", async () => {
    const known = { url: 'http://h.example/robots.txt', robots: 'User-agent: *\nDisallow: /\n' };
    const lines = [
      { host: 'h.example', url: 'http://h.example/page', status: 404 },
      { host: 'http://h.example/page', status: 404 },
      { host: 'http://h.example?robots.txt', status: 404 },
      { url: 'http://h.example/page', status: 404, robots: '' },
      { url: 'http://h.example/page', robots: 'noindex' },
      { url: 'http://h.example/page', robots: 'noindex', status: 200 },
      { url: 'http://h.example/', robots: '' },
      { url: 'http://h.example', robots_base64: '' },
      { url: 'http://h.example?/robots.txt', status: 404 },
      { url: 'http://h.example#/robots.txt', status: 404 },
      { url: 'http://h.example/robots.txt?x', robots: '' },
      { url: 'http://h.example/x//y/robots.txt', robots: '' },
      { url: 'http:\\\\h.example\\page//x/robots.txt', robots: '' },
      { url: 'h.example', status: 404 },
      { url: 'h.example/robots.txt', status: 404 },
      { host: 'h.example', url: 'h.example', status: 404 },
      { host: 'h.example', url: 404, status: 404 },
      { host: 'h.example', url: 'http://x.example/robots.txt', robots: '' },
      { host: 'h.example', url: 'http://h.example:8080/robots.txt', robots: '' },
      { host: 'http://h.example', url: 'https://h.example/robots.txt', robots: '' },
      { host: 'h.example:443', url: 'http://h.example/robots.txt', robots: '' },
    ];
    put('x.ndjson', records(known, ...lines));
    const reading = await read();
    expect(sources(reading)).toEqual(['x.ndjson:1']);
    expect(reading.warnings.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 2));
  });

  it('hold the body as text or as base64, or only a status', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80]);
    const base64 = bytes.toString('base64');
    put(
      'x.ndjson',
      records(
        { host: 'a.example', robots_base64: base64 },
        { host: 'b.example', robots_base64: base64.replaceAll('=', '') },
        { host: 'c.example', robots_base64: '', robots: 'text' },
        { host: 'd.example', robots_base64: null, robots: 'text' },
        { host: 'e.example', status: 404 },
        { host: 'f.example', robots: null, status: 503 },
        { host: 'g.example', robots: 'gone', status: 410 },
        { host: 'h.example', robots: '', status: null },
        { url: 'https://i.example:8080/robots.txt', status: 404 },
        { url: 'https://j.example/robots.txt', host: 'j.example', status: 404 },
        { url: 'https://k.example/robots.txt', robots: 'text', status: 200 },
        { host: 'l.example', robots: 'text', status: '503' },
        { host: 'm.example', robots: 'text', status: '200.00' },
        { host: 'n.example', robots: '', status_code: 503 },
        { host: 'o.example', fetch_status: '404', status_code: 404, status: null },
      ),
    );
    const { entries, warnings } = await read();
    expect(warnings).toEqual([]);
    expect(
      entries.map(({ body, status }) => [Buffer.from(body).toString('latin1'), status]),
    ).toEqual([
      [bytes.toString('latin1'), undefined],
      [bytes.toString('latin1'), undefined],
      ['', undefined],
      ['text', undefined],
      ['', 404],
      ['', 503],
      ['gone', 410],
      ['', undefined],
      ['', 404],
      ['', 404],
      ['text', 200],
      ['text', 503],
      ['text', 200],
      ['', 503],
      ['', 404],
    ]);
  });

  it('continue after each bad record, with a warning that names its line', async () => {
    const bad: readonly (readonly [line: string | Buffer, code: string, reason: string])[] = [
      ['not json', 'bad-record', 'not JSON'],
      ['{"host":"a.example","robots":"', 'bad-record', 'not JSON'],
      ['[]', 'bad-record', 'not a JSON object'],
      ['null', 'bad-record', 'not a JSON object'],
      ['"a.example"', 'bad-record', 'not a JSON object'],
      ['{}', 'bad-record', 'no "host" or "url"'],
      ['{"robots":""}', 'bad-record', 'no "host" or "url"'],
      ['{"__proto__":{"host":"a.example","robots":""}}', 'bad-record', 'no "host" or "url"'],
      ['{"host":1,"robots":""}', 'bad-record', '"host" is not a string'],
      ['{"url":{},"robots":""}', 'bad-record', '"url" is not a string'],
      ['{"host":"a b","robots":""}', 'not-a-host', '"a b", not a host'],
      ['{"host":"","robots":""}', 'not-a-host', '"", not a host'],
      ['{"url":"mailto:a@b.example","robots":""}', 'not-a-host', 'not an http, https or ftp URL'],
      [`{"host":"${'a b'.repeat(1000)}","robots":""}`, 'not-a-host', '…", not a host'],
      ['{"host":"a.example"}', 'bad-record', 'no "robots"'],
      ['{"host":"a.example","robots":null}', 'bad-record', 'no "robots"'],
      ['{"host":"a.example","robots":["x"]}', 'bad-record', '"robots" is not a string'],
      ['{"host":"a.example","robots_base64":1}', 'bad-record', '"robots_base64" is not a string'],
      ['{"host":"a.example","robots_base64":"@@@@"}', 'bad-record', 'not base64'],
      ['{"host":"a.example","robots_base64":"QUJ"} x', 'bad-record', 'not JSON'],
      ['{"host":"a.example","robots_base64":"Q"}', 'bad-record', 'not base64'],
      ...['true', '"abc"', '""', '"200.5"', '" 200"', '"2e2"', '"20"', '"200."', '[200]', '{}'].map(
        (status) =>
          [
            `{"host":"a.example","robots":"","status":${status}}`,
            'bad-record',
            'status code',
          ] as const,
      ),
      [
        '{"host":"a.example","robots":"","status":"no"}',
        'bad-record',
        '"status" is "no", not a status code from 100 to 999; skipped.',
      ],
      ['{"host":"a.example","robots":"","status":0}', 'bad-record', 'status code'],
      ['{"host":"a.example","robots":"","status":200.5}', 'bad-record', 'status code'],
      [
        '{"host":"a.example","robots":"","status_code":"no"}',
        'bad-record',
        '"status_code" is "no", not a status code from 100 to 999; skipped.',
      ],
      [
        '{"host":"a.example","robots":"","status":200,"fetch_status":503}',
        'bad-record',
        '"status" is 200, but "fetch_status" is 503; skipped.',
      ],
      ['{"host":"a.example","status":200}', 'bad-record', '"status" is a success, but'],
      ['{"url":"https://a.example/robots.txt","status":204}', 'bad-record', 'is a success'],
      [
        '{"url":"https://a.example/page","status":404}',
        'bad-record',
        'not the URL of a robots.txt',
      ],
      ['{"url":"https://a.example/x/robots.txt","status":404}', 'bad-record', 'not the URL of a'],
      ['{"url":"https://a.example/robots.txt?","status":500}', 'bad-record', 'not the URL of a'],
      ['{"url":"https://a.example","status":404}', 'bad-record', 'not the URL of a robots.txt'],
      [Buffer.from('{"host":"a.example","robots":"\xe9"}', 'latin1'), 'bad-record', 'not UTF-8'],
    ];
    const parts: Buffer[] = [];
    for (const [index, [line]] of bad.entries()) {
      parts.push(
        Buffer.from(line),
        Buffer.from(`\n${records({ ...good, host: `h${index}.example` })}`),
      );
    }
    put('x.ndjson', Buffer.concat(parts));
    const reading = await read();
    expect(sources(reading)).toEqual(bad.map((_, index) => `x.ndjson:${index * 2 + 2}`));
    expect(warned(reading)).toEqual(
      bad.map(([, code], index) => `${code} x.ndjson:${index * 2 + 1}`),
    );
    for (const [index, { message }] of reading.warnings.entries()) {
      expect(message).toContain(bad[index]?.[2]);
      expect(message.length).toBeLessThan(250);
    }
  });

  it('may begin with a BOM, have CRLF, empty lines, and no line end at the end', async () => {
    const line = JSON.stringify(good);
    put('x.ndjson', `\ufeff${line}\r\n\r\n  \n${line}\r\n\n${line}`);
    const reading = await read();
    expect(reading.warnings).toEqual([]);
    expect(sources(reading)).toEqual(['x.ndjson:1', 'x.ndjson:4', 'x.ndjson:6']);
  });

  it('use the last of duplicate members, as JSON.parse does', async () => {
    put('x.ndjson', '{"host":"a.example","host":"b.example","robots":"1","robots":"2"}\n');
    const reading = await read();
    expect(authorities(reading)).toEqual(['b.example']);
    expect(reading.entries.map(text)).toEqual(['2']);
  });

  it('skip only the lines that are larger or nested deeper than a record can be', async () => {
    const path = join(root, 'x.ndjson');
    put('x.ndjson', records(good));
    // 65 MiB of holes.
    truncateSync(path, 65 * 1024 * 1024);
    appendFileSync(path, `\n${records(good)}${'['.repeat(2 * 1024 * 1024)}\n`);
    const quotes = `\\"\\\\`.repeat(1024 * 1024);
    appendFileSync(path, `{"host":"b.example","robots":"${quotes}"}\n`);
    appendFileSync(path, `{"host":"c.example","robots":"${quotes}\n`);
    const reading = await read(root, { maxBodyBytes: Number.POSITIVE_INFINITY });
    expect(sources(reading)).toEqual(['x.ndjson:1', 'x.ndjson:3', 'x.ndjson:5']);
    expect(text(reading.entries[2])).toBe('"\\'.repeat(1024 * 1024));
    expect(reading.warnings.map(({ line, message }) => [line, message.slice(0, 40)])).toEqual([
      [2, 'The line is longer than 64 MiB; skipped.'.slice(0, 40)],
      [4, 'The line holds more than 1 MiB outside strings; skipped.'.slice(0, 40)],
      [6, expect.stringMatching(/^The line is not JSON/)],
    ]);
  });

  it('may consist of several gzip members', async () => {
    const members = ['a.example', 'b.example'].map((host) => gzipSync(records({ ...good, host })));
    put('x.ndjson.gz', Buffer.concat(members));
    expect(authorities(await read())).toEqual(['a.example', 'b.example']);
  });

  it('are an error that names the file if gzip data is truncated or damaged', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => ({
      host: `h${i}.example`,
      robots: `# ${i * 7919}`,
    }));
    const packed = gzipSync(records(...lines));
    const path = join(root, 'x.ndjson.gz');
    for (const length of [2, 5, 10, 11, 1000, packed.length - 8, packed.length - 1]) {
      writeFileSync(path, packed.subarray(0, length));
      await expect(read(), `${length} bytes`).rejects.toMatchObject({
        name: 'RobotsFilterError',
        code: 'input',
        message: `${path}: the gzip data is damaged or truncated (unexpected end of file). Download the file again, or take it out of the directory.`,
      });
    }
    const damaged = Buffer.from(packed);
    damaged[packed.length - 6] = (damaged[packed.length - 6] ?? 0) ^ 1;
    writeFileSync(path, damaged);
    await expect(read(path)).rejects.toMatchObject({
      code: 'input',
      message: expect.stringContaining(`${path}: the gzip data is damaged`),
    });
  });

  it('come in order from plain and gzip data', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => ({
      host: `h${i}.example`,
      robots: i % 100 === 0 ? '#'.repeat(100_000) : `# ${i}`,
    }));
    put('x.ndjson', records(...lines));
    const plain = await read();
    expect(authorities(plain)).toEqual(lines.map(({ host }) => host));
    expect(plain.entries.map(text)).toEqual(lines.map(({ robots }) => robots));
    put('x.ndjson', gzipSync(records(...lines)));
    expect(comparable(await read())).toEqual(comparable(plain));
  });

  it.runIf(process.platform === 'linux')('may be a pipe if the path is one', async () => {
    const pipe = join(outside, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const packed = gzipSync(records(good));
    for (const data of [packed, gunzipSync(packed)]) {
      writeFileSync(join(outside, 'data'), data);
      const writer = spawn('cp', ['--', join(outside, 'data'), pipe], { stdio: 'ignore' });
      const ended = once(writer, 'exit');
      expect(sources(await read(pipe))).toEqual(['pipe:1']);
      expect(await ended).toEqual([0, null]);
    }
  });
});

describe('lines', () => {
  const bytes = Buffer.from('one\n\n\r\nlonger than ten\nexactly 10\n01234567890\nlast');

  async function cut(chunks: Iterable<Buffer>, maxBytes: number): Promise<string[]> {
    async function* stream() {
      yield* chunks;
    }
    const lines: string[] = [];
    for await (const { number, bytes: line } of readLines(stream(), maxBytes)) {
      lines.push(`${number} ${line === undefined ? 'too long' : JSON.stringify(line.toString())}`);
    }
    return lines;
  }

  it('are the same however the stream is split', async () => {
    const expected = [
      '1 "one"',
      '2 ""',
      '3 "\\r"',
      '4 too long',
      '5 "exactly 10"',
      '6 too long',
      '7 "last"',
    ];
    expect(await cut([bytes], 10)).toEqual(expected);
    for (let at = 0; at <= bytes.length; at++) {
      expect(await cut([bytes.subarray(0, at), bytes.subarray(at)], 10)).toEqual(expected);
    }
    for (let size = 1; size < 12; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await cut(chunks, 10)).toEqual(expected);
    }
  });

  it('longer than the limit are not held in memory', async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    function* endless() {
      for (let i = 0; i < 300; i++) yield chunk;
      yield Buffer.from('\nnext');
    }
    expect(await cut(endless(), 1024)).toEqual(['1 too long', '2 "next"']);
  });

  it('are none in an empty stream', async () => {
    expect(await cut([], 10)).toEqual([]);
    expect(await cut([Buffer.alloc(0), Buffer.from('\n')], 10)).toEqual(['1 ""']);
  });
});
