import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import { describe, expect } from 'vitest';
import { lines, test, workplace } from './command-line.js';

const COMPILE = ['compile', '--robots-dir', 'robots', '-o', 'out.table'];

describe('compile', () => {
  test('writes a table with the verdicts of its robots.txt files, and prints a summary', async ({
    place,
  }) => {
    const { code, text, stderr } = await place.run(COMPILE);
    expect({ code, text }).toEqual({ code: 0, text: '' });
    expect(stderr).toMatch(
      /^robots-filter: out\.table: 2 hosts from 2 files \(\d+ bytes\), 6 rules, [\d,]+ bytes, [\d.]+ s\n$/,
    );
    expect(place.names()).toEqual(['out.table', 'robots']);
    const input =
      'https://example.com/private/\nhttps://www.example.org/a.gif\nhttp://x.example/\n';
    const args = ['--explain', '-a', 'CCBot,*'];
    const direct = await place.run(['--robots-dir', 'robots', ...args], input);
    const fromTable = await place.run(['--table', 'out.table', ...args], input);
    expect(fromTable.text).toBe(direct.text);
    expect(fromTable.text).toContain('Disallow: /private/');
  });

  test('warnings about lines name the command that shows them', async ({ place }) => {
    place.write('a.ndjson', '{"host":"a.example","robots":"User-agent: *\\nDisalow: /"}\n');
    const { stderr } = await place.run('compile --robots-dir a.ndjson -o t');
    const [, command = ''] =
      /1 warning about lines .* robots-filter (lint .*) names the/.exec(stderr) ?? [];
    const { text } = await place.run(command.split(' '));
    expect(text).toContain('a.ndjson:1');
    expect(text).toContain('Disalow');
  });

  test('the same files give the same table', async ({ place }) => {
    await place.run(COMPILE);
    const first = readFileSync(join(place.path, 'out.table'));
    await place.run(COMPILE);
    expect(readFileSync(join(place.path, 'out.table')).equals(first)).toBe(true);
  });

  test('a later file of a host overrides an earlier one of its default port, in order', async ({
    place,
  }) => {
    const lineOf = (host: string, rule: string): string =>
      `${JSON.stringify({ host, robots: `User-agent: *\n${rule}\n` })}\n`;
    const [old, later] = [lineOf('a.example:443', 'Allow: /'), lineOf('a.example', 'Disallow: /')];
    place.write('old.ndjson', old);
    place.write('later.ndjson', later);
    place.write('both.ndjson', old + later);
    place.write('o/a.example_443', 'User-agent: *\nAllow: /\n');
    place.write('n/a.example', 'User-agent: *\nDisallow: /\n');
    const input = 'https://a.example/x\nhttp://a.example/x\nhttp://a.example:443/x\n';
    for (const sources of [['old.ndjson', 'later.ndjson'], ['both.ndjson'], ['o', 'n']]) {
      const words = sources.flatMap((source) => ['--robots-dir', source]);
      const { text, stderr } = await place.run([...words, '--format', 'verdicts'], input);
      expect(lines(text)).toEqual(['deny', 'deny', 'allow']);
      expect(stderr).toBe(
        sources.length > 1
          ? ''
          : 'robots-filter: warning: 1 robots.txt file overrides earlier ones for the same scheme, host and port\n',
      );
      await place.run(['compile', '-q', ...words, '--shards', '2', '-o', 'parts']);
      const parts = await place.run('--table parts --format verdicts', input);
      expect(parts.text).toBe(text);
    }
  });

  test('writes a compressed table by the name of the file, and --table opens it', async ({
    place,
  }) => {
    await place.run(COMPILE);
    const table = readFileSync(join(place.path, 'out.table'));
    const compile = (name: string) => place.run(['compile', '--robots-dir', 'robots', '-o', name]);
    expect((await compile('out.table.gz')).code).toBe(0);
    expect(gunzipSync(readFileSync(join(place.path, 'out.table.gz'))).equals(table)).toBe(true);
    const names = ['out.table', 'out.table.gz', 'out.table.zst'];
    expect((await compile('out.table.zst')).code).toBe(0);
    const frames = readFileSync(join(place.path, 'out.table.zst'));
    expect(Buffer.from(decompress(frames)).equals(table)).toBe(true);
    expect(place.names()).toEqual([...names, 'robots']);
    const input = 'https://example.com/private/\nhttps://www.example.org/a.gif\n';
    const verdicts = await Promise.all(
      names.map(async (name) => (await place.run(['--table', name], input)).text),
    );
    expect(new Set(verdicts).size).toBe(1);
    expect(verdicts[0]).toContain('deny\thttps://example.com/private/\n');
  });

  test.each(['out.table.gz', 'out.table.zst'])(
    'a compressed table that the disk has no room for leaves the old file: %s',
    async (name) => {
      const place = workplace();
      place.write(name, 'old');
      const { code, stderr } = await place.shellAlone(
        `ulimit -f 0; trap "" XFSZ; $rf compile --robots-dir robots -o ${name}`,
      );
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(name) });
      expect(place.read(name)).toBe('old');
      expect(place.names()).toEqual([name, 'robots']);
    },
  );

  test('--quiet prints nothing', async () => {
    expect((await workplace().run([...COMPILE, '-q'])).stderr).toBe('');
  });

  test('a later --robots-dir overrides an earlier one for the same authority', async ({
    place,
  }) => {
    place.write('newer/example.com', 'user-agent: *\ndisallow: /new/\n');
    const input =
      'https://example.com/new/\nhttps://example.com/private/\nhttps://www.example.org/a.gif\n';
    const verdicts = async (...directories: string[]) => {
      const args = directories.flatMap((directory) => ['--robots-dir', directory]);
      const { text } = await place.run(args, input);
      return lines(text).map((line) => line.split('\t')[0]);
    };
    expect(await verdicts('robots', 'newer')).toEqual(['deny', 'allow', 'deny']);
    expect(await verdicts('newer', 'robots')).toEqual(['allow', 'deny', 'deny']);
  });

  test('keeps the old table if a cache cannot be read', async ({ place }) => {
    place.write('out.table', 'old');
    const { code, stderr } = await place.run([...COMPILE, '--robots-dir', 'none']);
    expect(code).toBe(2);
    expect(stderr).toContain('none: cannot be read');
    expect(place.read('out.table')).toBe('old');
    expect(place.names()).toEqual(['out.table', 'robots']);
  });

  test('replaces an old table, but no file that it reads', async ({ place }) => {
    const records = `${JSON.stringify({ host: 'example.com', robots: 'user-agent: *' })}\n`;
    place.write('robots.ndjson', records);
    place.write('others/example.org', 'user-agent: *');
    symlinkSync('robots.ndjson', join(place.path, 'link'));
    const sources = ['compile', '--robots-dir', 'others', '--robots-dir', 'robots.ndjson'];
    for (const output of ['robots.ndjson', 'others/../robots.ndjson', 'link']) {
      const { code, stderr } = await place.run([...sources, '-o', output]);
      expect(code).toBe(2);
      expect(stderr).toContain(`-o ${output} would replace --robots-dir robots.ndjson`);
    }
    const { code, stderr } = await place.run([...sources, '-o', 'others/example.org']);
    expect(code).toBe(2);
    expect(stderr).toContain('-o others/example.org would replace a file in --robots-dir others');
    expect(place.read('robots.ndjson')).toBe(records);
    expect(place.read('others/example.org')).toBe('user-agent: *');
    for (const time of ['first', 'second']) {
      expect((await place.run([...sources, '-o', 'others/table', '-q'])).code, time).toBe(0);
    }
  });

  test('--agent keeps only the groups of its agents; the filter then rejects other agents', async ({
    place,
  }) => {
    expect((await place.run([...COMPILE, '-a', 'Other>CCBot'])).stderr).toContain('5 rules');
    const input = 'https://example.com/cc/\n';
    const kept = await place.run('--table out.table -a ccbot,*', input);
    expect(kept.text).toBe(`deny,allow\t${input}`);
    const { code, text, stderr } = await place.run('--table out.table -a GPTBot', input);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('Compile it again with --agent GPTBot, or without --agent');
  });

  test('a table has its own profile; the filter rejects another profile', async ({ place }) => {
    place.write('robots/typo.example', 'user-agent: *\ndissallow: /a\n');
    await place.run([...COMPILE, '--profile', 'google']);
    const input = 'https://typo.example/a\n';
    expect((await place.run('--table out.table', input)).text).toBe(`deny\t${input}`);
    const same = await place.run('--table out.table --profile google', input);
    expect(same.text).toBe(`deny\t${input}`);
    const { code, stderr } = await place.run(
      ['--table', 'out.table', '--profile', 'rfc9309'],
      input,
    );
    expect(code).toBe(2);
    expect(stderr).toContain(
      'out.table was compiled with --profile google and cannot answer for rfc9309',
    );
  });

  test('--max-robots-bytes raises the parsing limit (RFC 9309 section 2.5)', async ({
    empty: place,
  }) => {
    place.write(
      'robots/long.example',
      `user-agent: *\n${'#'.repeat(99)}\n`.padEnd(14, ' ') +
        `${'#'.repeat(99)}\n`.repeat(5200) +
        'disallow: /late/\n',
    );
    const input = 'https://long.example/late/\n';
    const args = ['--robots-dir', 'robots'];
    expect((await place.run(args, input)).text).toBe(`allow\t${input}`);
    const raised = await place.run([...args, '--max-robots-bytes', '600000'], input);
    expect(raised.text).toBe(`deny\t${input}`);
    expect((await place.run(COMPILE)).stderr).toContain('1 beyond-limit');
  });

  test('--follow-links', async ({ empty: place }) => {
    place.write('elsewhere/robots.txt', 'user-agent: *\ndisallow: /\n');
    mkdirSync(join(place.path, 'robots'));
    symlinkSync('../elsewhere/robots.txt', join(place.path, 'robots/linked.example'));
    const input = 'https://linked.example/\n';
    const args = ['--robots-dir', 'robots'];
    const refused = await place.run([...args, '--allow-empty'], input);
    expect(refused.text).toBe(`unknown\t${input}`);
    expect(refused.stderr).toContain('robots/linked.example: A symbolic link that leads out');
    const followed = await place.run([...args, '--follow-links'], input);
    expect(followed).toMatchObject({ text: `deny\t${input}`, stderr: '' });
  });
});

describe('warnings about caches', () => {
  test('the first ten in full, then a count of each kind', async ({ place }) => {
    for (let index = 0; index < 9; index++) place.write(`robots/no host ${index}`, '');
    for (let index = 0; index < 4; index++) {
      mkdirSync(join(place.path, `robots/empty${index}.example`));
    }
    const url = 'https://example.com/';
    const { code, stderr } = await place.run('--robots-dir robots', url);
    expect(code).toBe(0);
    const warnings = lines(stderr);
    expect(warnings).toHaveLength(11);
    expect(
      warnings.slice(0, 10).every((line) => line.startsWith('robots-filter: warning: robots/')),
    ).toBe(true);
    expect(warnings[10]).toBe(
      'robots-filter: 13 warnings about robots.txt files, the first 10 of them above: 4 no-robots-txt, 9 not-a-host',
    );
    expect((await place.run('--robots-dir robots -q', '')).stderr).toBe('');
  });

  test.each([
    ['a table', ['-o', 'out']],
    ['shards', ['-o', 'out', '--shards', '2']],
  ])('a host with too many authorities is the only one that loses some: %s', async (_, output) => {
    const place = workplace();
    const records = ['{"host":"good.example","robots":"User-agent: *\\nDisallow: /no"}'];
    for (const scheme of ['http', 'https']) {
      for (let port = 1; port <= 32_768; port++) {
        records.push(`{"url":"${scheme}://evil.example:${port}/robots.txt","status":503}`);
      }
    }
    place.write('many.ndjson', records.join('\n'));
    const { code, stderr } = await place.run(['compile', '--robots-dir', 'many.ndjson', ...output]);
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning: evil.example: 65536 authorities, more than the limit of 65535; 1 at the highest ports skipped.',
    );
    const urls = ['https://good.example/no', 'https://good.example/']
      .concat(['http', 'https'].map((scheme) => `${scheme}://evil.example:32768/`))
      .join('\n');
    const { text } = await place.run('--table out', urls);
    expect(lines(text).map((line) => line.split('\t')[0])).toEqual([
      'deny',
      'allow',
      'deny',
      'unknown',
    ]);
  });

  test('a cache without any robots.txt', async ({ empty: place }) => {
    mkdirSync(join(place.path, 'robots'));
    const url = 'http://a.example/\n';
    const refused = await place.run('--robots-dir robots', url);
    expect(refused).toMatchObject({ code: 2, text: '' });
    const { code, text, stderr } = await place.run(
      ['--robots-dir', 'robots', '--allow-empty'],
      url,
    );
    expect({ code, text }).toEqual({ code: 0, text: 'unknown\thttp://a.example/\n' });
    for (const message of [refused.stderr, stderr]) {
      expect(message).toContain('no robots.txt in robots: every host is unknown');
    }
  });

  test('control characters in a name are escaped', async ({ place }) => {
    place.write('robots/\u001b]0;title\u0007', '');
    const { stderr } = await place.run('--robots-dir robots', '');
    expect(stderr).toContain('\\x1b]0;title\\x07');
    expect(stderr).not.toContain('\u001b');
  });
});

describe('caches', () => {
  test('records in NDJSON, plain or gzip', async ({ empty: place }) => {
    const record = { host: 'one.example', robots: 'user-agent: *\ndisallow: /a\n' };
    const others = [
      {
        url: 'https://two.example:8443/robots.txt',
        robots_base64: Buffer.from('user-agent: *\ndisallow: /b\n').toString('base64'),
      },
      { host: 'gone.example', status: 404 },
      { host: 'down.example', status: 503 },
    ];
    place.write('one.ndjson', `${JSON.stringify(record)}\n`);
    place.write(
      'two.ndjson.gz',
      gzipSync(others.map((each) => `${JSON.stringify(each)}\n`).join('')),
    );
    const input = [
      'http://one.example/a',
      'https://two.example:8443/b',
      'https://two.example/b',
      'http://gone.example/',
      'http://down.example/',
      '',
    ].join('\n');
    const { text } = await place.run(
      ['--robots-dir', 'one.ndjson', '--robots-dir', 'two.ndjson.gz', '--explain'],
      input,
    );
    expect(lines(text).map((line) => line.split('\t').filter((_, index) => index !== 1))).toEqual([
      ['deny', 'rule', '2', 'Disallow: /a', '*', 'one.ndjson:1'],
      ['deny', 'rule', '2', 'Disallow: /b', '*', 'two.ndjson.gz:1'],
      ['unknown', 'unknown-host', '', '', '', ''],
      ['allow', 'unavailable', '', '', '', 'two.ndjson.gz:2'],
      ['deny', 'unreachable', '', '', '', 'two.ndjson.gz:3'],
    ]);
  });

  test('the layouts of a directory', async ({ empty: place }) => {
    const body = 'user-agent: *\ndisallow: /a\n';
    const names = [
      'a.example',
      'b.example.txt',
      'c.example-robots.txt',
      'd.example/robots.txt',
      'https/e.example/robots.txt',
      'f.example_8080',
      'g.example:8080',
    ];
    for (const name of names) place.write(`robots/${name}`, body);
    const denied = [
      'http://a.example/a',
      'https://b.example/a',
      'http://c.example/a',
      'https://d.example:443/a',
      'https://e.example/a',
      'http://f.example:8080/a',
      'https://g.example:8080/a',
    ];
    const unknown = ['http://e.example/a', 'http://f.example/a', 'ftp://a.example/a'];
    const input = [...denied, ...unknown].map((url) => `${url}\n`).join('');
    const { text, stderr } = await place.run('--robots-dir robots', input);
    expect(text).toBe(
      [...denied.map((url) => `deny\t${url}\n`), ...unknown.map((url) => `unknown\t${url}\n`)].join(
        '',
      ),
    );
    expect(stderr).toBe('');
  });
});

describe('tables that cannot be opened', () => {
  test.each<[string, (table: Buffer) => Buffer, RegExp]>([
    ['truncated', (table) => table.subarray(0, table.length - 8), /truncated.*copy it again/],
    ['damaged', (table) => flipped(table, 200), /damaged.*checksum/],
    ['foreign', () => Buffer.from('https://example.com/\n'), /not a table of robots-filter/],
    ['newer', (table) => flipped(table, 8), /newer.*upgrade robots-filter|older/],
    ['empty', () => Buffer.alloc(0), /the file is empty/],
  ])('%s', async (_name, change, message) => {
    const place = workplace();
    await place.run([...COMPILE, '-q']);
    const path = join(place.path, 'out.table');
    writeFileSync(path, change(readFileSync(path)));
    const { code, text, stderr } = await place.run('--table out.table', 'http://a.example/\n');
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toMatch(/^robots-filter: out\.table: /);
    expect(stderr).toMatch(message);
  });
});

function flipped(table: Buffer, at: number): Buffer {
  const changed = Buffer.from(table);
  changed[at] = (changed[at] ?? 0) ^ 0x40;
  return changed;
}

test('documents and data files in a directory share one warning', async ({ place }) => {
  for (const name of ['README.md', 'LICENSE', 'list.csv', 'x.arrow', 'y.wat', '.DS_Store']) {
    place.write(`robots/${name}`, 'no robots.txt\n');
  }
  const urls = 'https://readme.md/\nhttps://list.csv/\nhttps://license/\nhttps://example.com/\n';
  const { code, text, stderr } = await place.run('--robots-dir robots', urls);
  expect(code).toBe(0);
  expect(lines(text).map((line) => line.split('\t')[0])).toEqual([
    'unknown',
    'unknown',
    'unknown',
    'allow',
  ]);
  expect(stderr).toBe(
    'robots-filter: warning: 5 files skipped because of their names: robots/LICENSE, robots/README.md, robots/list.csv and 2 more. To use such a file, name it HOST.robots.txt or HOST/robots.txt\n',
  );
});
