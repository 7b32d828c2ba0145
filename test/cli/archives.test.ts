import { describe, expect } from 'vitest';
import { DICTIONARY, framesWith, rawFrameNaming } from '../files/zstd-dictionary.js';
import { rawFrame, skippable } from '../files/zstd-frames.js';
import { captureOf, framesOf, membersOf, responseOf, robotsOf } from '../warc/warc-bytes.js';
import { test } from './command-line.js';

const URL_A = 'https://a.example/robots.txt';

function captureAt(date: string, path: string): Buffer {
  return captureOf(URL_A, responseOf(200, robotsOf(path)), { date });
}

const CRAWL = Buffer.concat([
  captureAt('2025-03-10T12:00:00Z', '/noon'),
  captureAt('2025-03-10T23:59:59.999Z', '/night'),
  captureAt('2025-03-11T00:00:00Z', '/next'),
]);

describe('captures of WARC files', () => {
  test('decide verdicts, directly and compiled, up to --as-of', async ({ place }) => {
    place.write('crawl.warc', CRAWL);
    const input = ['noon', 'night', 'next'].map((path) => `https://a.example/${path}\n`).join('');
    const denied = async (...args: string[]): Promise<string> => {
      const { code, text, stderr } = await place.run([...args, '--denied'], input);
      // Before the first capture there is no robots.txt, which is refused.
      expect(code).toBe(stderr.includes('Use a later --as-of') ? 2 : 0);
      return text.trim().replace('https://a.example/', '');
    };
    const dates = [
      [undefined, 'next'],
      ['2025-03-09', ''],
      ['2025-03-10', 'night'],
      ['2025-03-10T11:59', ''],
      ['2025-03-10T12:00', 'noon'],
      ['2025-03-10T12:00:00', 'noon'],
      ['2025-03-10T23:59:59.998Z', 'noon'],
      ['2025-03-10T23:59:59Z', 'night'],
      ['2025-03-11T00:00:00.000Z', 'next'],
    ] as const;
    for (const [index, [asOf, path]] of dates.entries()) {
      const args = ['--robots-dir', 'crawl.warc', ...(asOf === undefined ? [] : ['--as-of', asOf])];
      expect(await denied(...args), asOf).toBe(path);
      const { code } = await place.run(['compile', ...args, '-o', 'out.table']);
      expect(code).toBe(path === '' ? 2 : 0);
      if (path === '' || index > 3) continue;
      expect(await denied('--table', 'out.table'), asOf).toBe(path);
    }
  });

  test('--as-of takes a date or time in UTC, and no table in an audit', async ({ place }) => {
    place.write('crawl.warc', CRAWL);
    for (const date of [
      'yesterday',
      '2025-3-10',
      '2025-02-30',
      '2025-03-10Z',
      '2025-03-10T12',
      '2025-03-10 12:00',
      '2025-03-10T12:00:00+01:00',
      '2025-03-10T24:00:01',
      '2025-03-10T12:00:00.',
      '2025-03-10T12:00.5',
      '',
    ]) {
      const { code, stderr } = await place.run(['--robots-dir', 'crawl.warc', '--as-of', date], '');
      expect({ code, date }).toEqual({ code: 2, date });
      expect(stderr).toContain('such as 2025-03-10 or 2025-03-10T12:00:00Z');
    }
    const { code, stderr } = await place.run('audit --table x --as-of 2025-03-10', '');
    expect(code).toBe(2);
    expect(stderr).toContain('--as-of has no effect on a table');
  });

  test('name their damage by file and offset, and count it', async ({ place }) => {
    const damaged = captureOf('https://b.example/robots.txt', responseOf(200, robotsOf('/b')), {
      fields: { 'Content-Length': '33' },
    });
    const bytes = Buffer.concat([CRAWL, ...Array.from({ length: 40 }, () => damaged), CRAWL]);
    place.write('crawl.warc', bytes);
    const { code, stderr } = await place.run('compile --robots-dir crawl.warc -o t');
    expect(code).toBe(0);
    expect(stderr).toContain(
      `robots-filter: warning: crawl.warc:${CRAWL.length}: Damaged: the length of the record is wrong; skipped.\n`,
    );
    expect(stderr).toContain(
      'robots-filter: 40 warnings about robots.txt files, the first 10 of them above: 40 damaged-record\n',
    );
    expect(stderr).toContain('t: 1 host from 1 file');
  });

  test('count after a member that is no record, which is named', async ({ place }) => {
    const records = [captureAt('2024-01-01', '/old'), captureAt('2026-01-01', '/new')];
    const [old, latest] = records as [Buffer, Buffer];
    for (const [name, store] of [
      ['crawl.warc.gz', membersOf],
      ['crawl.warc.zst', framesOf],
    ] as const) {
      place.write(name, store([old, Buffer.from('hello'), latest]));
      const { text, stderr } = await place.run(
        ['--robots-dir', name, '--denied'],
        'https://a.example/old\nhttps://a.example/new\n',
      );
      expect(text, name).toBe('https://a.example/new\n');
      expect(stderr).toBe(
        `robots-filter: warning: ${name}:${store([old]).length}: Damaged: no record begins here; skipped.\n`,
      );
    }
  });

  test('in zstd may have a dictionary of their own; others are refused, or skipped', async ({
    place,
  }) => {
    const capture = captureAt('2025-03-10', '/x');
    const stored = skippable(DICTIONARY, 13);
    const input = 'https://a.example/x\n';
    for (const [name, stored] of [
      ['raw', skippable(DICTIONARY, 13)],
      ['packed', skippable(rawFrame(DICTIONARY), 13)],
    ] as const) {
      const frames = await framesWith(DICTIONARY, [capture]);
      place.write(`${name}.warc.zst`, Buffer.concat([stored, ...frames]));
      const { code, text, stderr } = await place.run(
        ['--robots-dir', `${name}.warc.zst`, '--denied'],
        input,
      );
      expect({ code, text, name }).toEqual({ code: 0, text: input, name });
      expect(stderr).not.toContain('warning');
    }
    place.write('dir/needy.warc.zst', Buffer.concat([rawFrameNaming(capture), capture]));
    place.write('dir/cut.warc.zst', stored.subarray(0, 100));
    place.write('dir/plain.warc.zst', framesOf([capture]));
    for (const [name, reason] of [
      ['needy', 'a dictionary is needed'],
      ['cut', 'its dictionary is cut short'],
    ] as const) {
      const message = `dir/${name}.warc.zst: The zstd data is not supported: ${reason}.`;
      const named = await place.run(['--robots-dir', `dir/${name}.warc.zst`], '');
      expect({ code: named.code, name }).toEqual({ code: 2, name });
      expect(named.stderr).toContain(message);
      const { code, text, stderr } = await place.run('--robots-dir dir --denied', input);
      expect({ code, text }).toEqual({ code: 0, text: input });
      expect(stderr).toContain(`warning: ${message}`);
      expect(stderr).not.toContain('damaged');
    }
  });

  test('under another name are refused with the remedy', async ({ place }) => {
    place.write('crawl.ndjson', CRAWL);
    const { code, stderr } = await place.run('--robots-dir crawl.ndjson crawl.ndjson');
    expect(code).toBe(2);
    expect(stderr).toContain('is a WARC file, which is not read under this name');
  });

  test('of an ARC file are not read: the message says how to convert it', async ({ place }) => {
    const arc =
      'filedesc://a.arc 0.0.0.0 20100101000000 text/plain 76\n1 0 Archive\nURL IP-address Archive-date Content-type Archive-length\n\n' +
      'http://a.example/robots.txt 192.0.2.1 20100101000000 text/plain 34\nHTTP/1.1 200 OK\r\n\r\nDisallow: /x\n\n';
    const plain = Buffer.from(arc);
    const stored = { plain, gzip: membersOf([plain]), zstd: framesOf([plain]) } as const;
    const files: Readonly<Record<string, keyof typeof stored>> = {
      'a.arc': 'plain',
      'a.arc.gz': 'gzip',
      'a.warc': 'plain',
      'a.warc.gz': 'gzip',
      'b.warc.gz': 'plain',
      'b.warc.zst': 'plain',
      'a.warc.zst': 'zstd',
      'a.ndjson': 'plain',
      'a.ndjson.gz': 'gzip',
      'a.txt': 'gzip',
      a: 'zstd',
    };
    /** @param where says how the file is compressed; `undefined` for an input of URLs */
    const refused = async (name: string, where: string | undefined, ...args: string[]) => {
      const { code, text, stderr } = await place.run(args, 'https://a.example/x\n');
      expect([args, code, text]).toEqual([args, 2, '']);
      const end = where === undefined ? ', not one URL per line. ' : `${where}; `;
      expect(stderr).toContain(`${name}: is an ARC file${end}`);
      expect(stderr).toContain('Convert it to WARC: warcio recompress FILE.arc.gz FILE.warc.gz. ');
    };
    place.write('hosts/b.example', 'Disallow: /');
    for (const [name, form] of Object.entries(files)) {
      place.write(name, stored[form]);
      const where = form === 'plain' ? '' : ` in ${form} data`;
      await refused(name, where, '--robots-dir', name);
      if (name === 'a') await refused(name, undefined, '--robots-dir', 'hosts', name);
      if (!name.startsWith('a.')) continue;
      await refused(name, where, 'lint', name);
      if (!name.includes('ndjson')) await refused(name, where, 'captures', name);
    }
    await refused('a.arc', undefined, '--robots-dir', 'hosts', 'a.arc');
    await refused('a.arc.gz', ' in gzip data', 'check', 'a.arc.gz', 'bot', '/');
    await refused('a.arc.gz', ' in gzip data', 'records', 'a.arc.gz');
    await refused('a.arc', '', 'audit', '--robots-dir', 'a.arc');
    place.write('list.paths', 'a.arc.gz\n');
    await refused('a.arc.gz', ' in gzip data', 'compile', '--robots-dir', 'list.paths', '-o', 't');
    for (const name of ['a.arc.gz', 'a.warc.gz']) place.write(`hosts/${name}`, stored.gzip);
    const { code, text, stderr } = await place.run(
      ['--robots-dir', 'hosts'],
      'https://b.example/x\n',
    );
    expect([code, text]).toEqual([0, 'allow\thttps://b.example/x\n']);
    expect(stderr).toContain('hosts/a.arc.gz: The name marks an ARC file, which is not read; ');
    expect(stderr).toContain('hosts/a.warc.gz: The file is an ARC file in gzip data; ');
    expect(stderr.split('warcio recompress')).toHaveLength(3);
  });

  test('in zstd are named by the offsets of their frames', async ({ place }) => {
    const records = ['a', 'b', 'c'].map((host) =>
      captureOf(`https://${host}.example/robots.txt`, responseOf(200, robotsOf('/x'))),
    );
    const [a, b, c] = records as [Buffer, Buffer, Buffer];
    const damaged = Buffer.from(framesOf([b]));
    damaged[0] = 0;
    place.write('crawl.warc.zst', Buffer.concat([framesOf([a]), damaged, framesOf([c])]));
    const input = ['a', 'b', 'c'].map((host) => `https://${host}.example/x\n`).join('');
    const { text, stderr } = await place.run(
      ['--robots-dir', 'crawl.warc.zst', '--explain'],
      input,
    );
    const at = framesOf([a]).length;
    expect(text).toContain('\tcrawl.warc.zst:0\n');
    expect(text).toContain('unknown\thttps://b.example/x\t');
    expect(text).toContain(`\tcrawl.warc.zst:${framesOf([a, b]).length}\n`);
    expect(stderr).toContain(`crawl.warc.zst:${at}: Damaged: the zstd data is damaged`);
    // Of a file that begins with damage, the name tells the compression.
    const members = Buffer.from(membersOf([a, b]));
    members[0] = 0;
    place.write('first.warc.zst', Buffer.concat([damaged, framesOf([c])]));
    place.write('first.warc.gz', members);
    for (const [name, host] of [
      ['first.warc.zst', 'c'],
      ['first.warc.gz', 'b'],
    ] as const) {
      const first = await place.run(['--robots-dir', name, '--denied'], input);
      expect(first.text, name).toBe(`https://${host}.example/x\n`);
      expect(first.stderr).toContain(`${name}:0: Damaged: `);
    }
  });
});
