import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { encodeCompiledBody } from '../../src/compile/compiled-body.js';
import { checksum } from '../../src/kernel/hashes.js';
import { HEADER_CHECKSUM, HEADER_COMPILED_BYTES } from '../../src/table/format.js';
import { lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

/** A record of robots.txt files, and when it was fetched. */
interface Line {
  readonly host?: string;
  readonly url?: string;
  readonly robots?: string;
  readonly status?: number;
  readonly fetched: number;
}

const BODIES = [
  'User-agent: *\nDisallow: /a\n',
  'User-agent: *\nDisallow: /a\n\nSitemap: https://x.example/s.xml\n',
  'User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /*.pdf$\nAllow: /a*b?c\nCrawl-delay: 3\n',
  'User-agent: *\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\nContent-Usage: train-ai=n\n',
  `User-agent: *\n${Array.from({ length: 40 }, (_, at) => `Disallow: /p${at}*x${at}\n`).join('')}`,
  '',
];

/** The names under which a host has robots.txt files. Each set leaves no doubt of what is named. */
const NAMES: readonly (readonly (keyof Line | 'port' | 'port80' | 'other' | 'ftp')[])[] = [
  ['host'],
  ['host', 'port'],
  ['host', 'port80'],
  ['port'],
  ['url'],
  ['host', 'other'],
  ['url', 'ftp', 'other'],
];

function draw(random: Random, hosts: number, from = 0): Line[] {
  const drawn: Line[] = [];
  for (let at = 0; at < hosts; at++) {
    const host = `h${at}.example`;
    const names = random.pick(NAMES);
    const until = random.between(0, 8);
    for (let each = 0; each <= until; each++) {
      const kind = random.pick(names);
      // No two in one second: of those, the sources tell which is the later.
      const fetched = 1_700_000_000 + 2 * ((7 * each + at) % 19) + from;
      const content = random.chance(0.2)
        ? { status: random.pick([404, 503]) }
        : { robots: random.pick(BODIES) };
      const name = {
        host: { host },
        port: { host: `${host}:443` },
        port80: { host: `${host}:80` },
        other: { host: `${host}:8443` },
        url: { url: `${random.pick(['http', 'https'])}://${host}/robots.txt` },
        ftp: { url: `ftp://${host}/robots.txt` },
      }[kind as 'host'];
      drawn.push({ ...name, ...content, fetched });
    }
  }
  return drawn;
}

function write(it: Workplace, name: string, drawn: readonly Line[]): void {
  it.write(name, drawn.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

function bytesOf(it: Workplace, name: string): Buffer {
  return readFileSync(join(it.path, name));
}

/** Runs a command whose words may leave a gap, and expects no message. */
async function succeed(it: Workplace, words: string): Promise<void> {
  const { code, stderr } = await it.run(words.split(' ').filter((word) => word !== ''));
  expect({ code, stderr }, words).toEqual({ code: 0, stderr: '' });
}

/** The bytes of a table without the length of the files that it was made of, which is shared. */
function table(it: Workplace, name: string): Buffer {
  const bytes = bytesOf(it, name);
  bytes.fill(0, HEADER_CHECKSUM, HEADER_CHECKSUM + 4);
  return bytes.fill(0, HEADER_COMPILED_BYTES, HEADER_COMPILED_BYTES + 4);
}

describe('a table as a source of a table', () => {
  const options = ['', '--history', '--records', '--history --records', '--records -a CCBot'];

  test.each(options)('gives the table that its sources give (%s)', async (words) => {
    let differing = 0;
    for (let seed = 1; seed <= cases(3); seed++) {
      const it = workplace();
      const random = new Random(seed);
      const [old, next] = [draw(random, 60), draw(random, 60, 100)];
      write(it, 'old.ndjson', old);
      write(it, 'next.ndjson', next);
      const compile = async (to: string, ...from: string[]) => {
        const sources = from.map((name) => `--robots-dir ${name}`).join(' ');
        await succeed(it, `compile -q ${words} ${sources} -o ${to}`);
      };
      await compile('old.table', 'old.ndjson');
      await compile('next.table', 'next.ndjson');
      await compile('both.table', 'old.ndjson', 'next.ndjson');
      await compile('same.table', 'old.table');
      expect(bytesOf(it, 'same.table').equals(bytesOf(it, 'old.table')), `${seed}`).toBe(true);
      for (const sources of [
        ['old.table', 'next.table'],
        ['old.table', 'next.ndjson'],
        ['old.ndjson', 'next.table'],
      ]) {
        await compile('t.table', ...sources);
        expect(table(it, 't.table').equals(table(it, 'both.table')), `${seed}: ${sources}`).toBe(
          true,
        );
      }
      if (!table(it, 'old.table').equals(table(it, 'both.table'))) differing++;
    }
    expect(differing).toBeGreaterThan(0);
  });

  test('also in shards, compressed, and with several agents left', async () => {
    const it = workplace();
    write(it, 'old.ndjson', draw(new Random(7), 80));
    const run = (words: string) => succeed(it, `compile -q ${words}`);
    await run('--history --robots-dir old.ndjson -o old.table');
    await run('--history --robots-dir old.ndjson --shards 3 -o sharded');
    await run('--history --robots-dir old.table --shards 3 -o again');
    for (let part = 0; part < 3; part++) {
      const name = `part-0000${part}.table`;
      expect(table(it, `again/${name}`).equals(table(it, `sharded/${name}`)), name).toBe(true);
    }
    await run('--history --robots-dir sharded -o joined.table');
    expect(table(it, 'joined.table').equals(table(it, 'old.table'))).toBe(true);
    await run('--history --robots-dir old.table -o old.table.gz');
    await run('--history --robots-dir old.table.gz -o unzipped.table');
    expect(table(it, 'unzipped.table').equals(table(it, 'old.table'))).toBe(true);
    await run('--history --robots-dir old.ndjson -a GPTBot,CCBot -o reduced.table');
    await run('--history --robots-dir old.table -a gptbot,ccbot -o of-whole.table');
    expect(table(it, 'of-whole.table').equals(table(it, 'reduced.table'))).toBe(true);
    await run('--history --robots-dir reduced.table -a CCBot -o fewer.table');
    await run('--history --robots-dir old.ndjson -a CCBot -o few.table');
    expect(table(it, 'fewer.table').equals(table(it, 'few.table'))).toBe(true);
  });

  test('as it was at a time', async () => {
    const it = workplace();
    const drawn = draw(new Random(8), 60);
    write(it, 'all.ndjson', drawn);
    expect((await it.run('compile -q --history --robots-dir all.ndjson -o h.table')).code).toBe(0);
    const urls = drawn.map((_, at) => `https://h${at % 60}.example/a1b?c.pdf\n`).join('');
    const seen = new Set<string>();
    for (const seconds of [0, 13, 39]) {
      const asOf = `--as-of ${new Date(1000 * (1_700_000_000 + seconds)).toISOString()}`;
      const compile = `compile -q --robots-dir h.table ${asOf} --allow-empty -o then.table`;
      expect((await it.run(compile)).code).toBe(0);
      const then = await it.run('-q --table then.table -a GPTBot --explain --allow-empty', urls);
      const asked = await it.run(`-q --table h.table ${asOf} -a GPTBot --explain`, urls);
      // Only a table with histories tells from when on a robots.txt was in force, and before.
      const verdicts = (text: string) => lines(text).map((line) => line.split('\t').slice(0, 2));
      expect(verdicts(then.text), asOf).toEqual(verdicts(asked.text));
      seen.add(then.text);
    }
    expect(seen.size).toBe(3);
  });

  test('the newest version counts without --history', async () => {
    const it = workplace();
    it.write(
      'r.ndjson',
      `{"host":"a.example","robots":"User-agent: *\\nDisallow: /x","fetched":"2024-01-01"}
{"host":"a.example","robots":"User-agent: *\\nDisallow: /y","fetched":"2024-02-01"}\n`,
    );
    await it.run('compile -q --history --robots-dir r.ndjson -o h.table');
    expect((await it.run('compile -q --robots-dir h.table -o new.table')).code).toBe(0);
    const { text } = await it.run('-q --table new.table --explain', 'https://a.example/y\n');
    expect(text).toContain('deny\thttps://a.example/y\trule\t2\tDisallow: /y\t*\tr.ndjson:2');
  });
});

describe('a table that cannot be a source', () => {
  const place = async (): Promise<Workplace> => {
    const it = workplace();
    it.write('r.ndjson', '{"host":"a.example","robots":"User-agent: GPTBot\\nDisallow: /x"}\n');
    for (const [words, name] of [
      ['', 'plain.table'],
      ['-a GPTBot', 'reduced.table'],
      ['--profile google', 'google.table'],
    ]) {
      await succeed(it, `compile -q ${words} --robots-dir r.ndjson -o ${name}`);
    }
    return it;
  };

  test.each([
    ['--robots-dir google.table', 2, 'was compiled with --profile google'],
    ['--robots-dir reduced.table', 2, 'for some agents only. Name agents that it has: -a gptbot'],
    ['--robots-dir reduced.table -a CCBot', 2, 'without "CCBot"'],
    ['--robots-dir plain.table --as-of 2024-01-01', 2, 'plain.table has no histories'],
    ['--robots-dir plain.table --history', 2, 'no robots.txt has a date'],
    ['--robots-dir cut.table', 2, 'cut.table'],
    ['--robots-dir forged.table', 2, 'forged.table'],
  ])('compile %s', async (words, status, message) => {
    const it = await place();
    const whole = bytesOf(it, 'plain.table');
    it.write('cut.table', whole.subarray(0, whole.length - 64));
    // The last rule is longer than its automaton: a fault that no checksum shows.
    const forged = Buffer.from(whole);
    const rule = forged.lastIndexOf('/x');
    forged[rule - 1] = 200;
    forged.writeUInt32LE(checksum(forged), HEADER_CHECKSUM);
    it.write('forged.table', forged);
    const { code, stderr } = await it.run(`compile ${words} -o t.table`);
    expect(code, stderr).toBe(status);
    expect(stderr).toContain(message);
  });

  test('a table without records is named where they are wanted', async () => {
    const it = await place();
    const { code, stderr } = await it.run('compile --records --robots-dir plain.table -o t.table');
    expect(code).toBe(0);
    expect(stderr).toContain('plain.table: keeps no sitemaps, crawl-delays and preferences');
  });

  test('a table on a pipe, and one without hosts', async () => {
    const it = await place();
    const piped = await it.shell(
      'cat plain.table | $rf compile --robots-dir /dev/stdin -o t.table',
    );
    expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining('not from a pipe')]);
    it.write('none.ndjson', '');
    await it.run('compile -q --allow-empty --robots-dir none.ndjson -o none.table');
    const none = await it.run('compile --robots-dir none.table -o t.table');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Name another table')]);
  });

  test('the filter reads a table as a table', async () => {
    const it = await place();
    const { code, stderr } = await it.run('--robots-dir plain.table', 'https://a.example/\n');
    expect(code).toBe(2);
    expect(stderr).toContain('plain.table is a table. Use --table plain.table');
  });

  test('of two files of one second, the one that counted does', async () => {
    const it = workplace();
    const line = (host: string, path: string, fetched: string) =>
      `${JSON.stringify({ host, robots: `User-agent: *\nDisallow: ${path}\n`, fetched })}\n`;
    for (const order of [0, 1]) {
      const two = [
        line('a.example', '/a', '2024-01-02'),
        line('a.example:443', '/b', '2024-01-02'),
      ];
      const all = [line('a.example', '/a', '2024-01-01'), ...(order === 0 ? two : two.reverse())];
      it.write('r.ndjson', all.join(''));
      await succeed(it, 'compile -q --history --robots-dir r.ndjson -o r.table');
      await succeed(it, 'compile -q --history --robots-dir r.table -o same.table');
      expect(bytesOf(it, 'same.table').equals(bytesOf(it, 'r.table')), `${order}`).toBe(true);
    }
  });

  const line = (host: string, path: string, fetched: string) =>
    `${JSON.stringify({ host, robots: `User-agent: *\nDisallow: /${path}\n`, fetched })}\n`;

  test.each(['', '--shards 2 '])('%soverlapping versions are warned of', async (shards) => {
    const it = workplace();
    const dates = ['2024-01-01', '2024-03-01', '2024-05-01'];
    it.write('a.ndjson', dates.map((date) => line('k.example', 'a', date)).join(''));
    it.write('b.ndjson', line('k.example', 'b', '2024-02-01'));
    it.write('c.ndjson', line('k.example', 'b', '2024-06-01'));
    await succeed(it, 'compile -q --history --robots-dir a.ndjson -o a.table');
    const compile = (...from: string[]) =>
      it.run(
        `compile --history ${from.map((name) => `--robots-dir ${name} `).join('')}${shards}-o t-${from.length}${from.join('')}`,
      );
    const overlap = await compile('a.table', 'b.ndjson');
    expect(overlap.code).toBe(0);
    expect(overlap.stderr).toContain('warning: k.example: versions of several sources overlap, 1');
    for (const each of [
      await compile('a.ndjson', 'b.ndjson'),
      await compile('a.table', 'c.ndjson'),
    ]) {
      expect([each.code, each.stderr]).toEqual([0, expect.not.stringContaining('overlap')]);
    }
  });

  test.each(['', '--history ', '--shards 2 '])(
    '%sa table that wins over a later file without a scheme is warned of',
    async (words) => {
      const it = workplace();
      it.write(
        'old.ndjson',
        line('t.example', 'old', '2024-01-01') + line('https://t.example', 'tls', '2024-01-01'),
      );
      it.write('new.ndjson', line('t.example', 'new', '2024-05-01'));
      it.write('named.ndjson', line('http://t.example', 'new', '2024-05-01'));
      await succeed(it, `compile -q --history --robots-dir old.ndjson -o old.table`);
      const beside = (name: string) =>
        it.run(`compile ${words}--robots-dir old.table --robots-dir ${name} -o t-${name}`);
      const doubtful = await beside('new.ndjson');
      expect(doubtful.stderr).toContain(
        't.example: an entry of a table for http or https alone wins',
      );
      expect(doubtful.stderr).toContain('2 such entries in all');
      expect((await beside('named.ndjson')).stderr).not.toContain('http or https alone');
    },
  );

  test.each([
    ['--robots-dir sd/part-00000.table --shards 3 -o sd', '-o sd would replace'],
    ['--robots-dir sd/part-00000.table -o sd/part-00001.table', 'is a part of the table in shards'],
    ['--robots-dir r.ndjson -o sd/manifest.json', 'is a part of the table in shards'],
    ['--robots-dir sd -o sd/part-00001.table', 'would replace a file in --robots-dir sd'],
    ['--robots-dir sd --shards 2 --only 0 -o sd', '-o sd would replace'],
  ])('compile %s is refused', async (words, message) => {
    const it = await place();
    await succeed(it, 'compile -q --robots-dir r.ndjson --shards 3 -o sd');
    const { code, stderr } = await it.run(`compile ${words}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    await succeed(it, 'compile -q --robots-dir sd -o whole.table');
  });

  test('a robots.txt with the bytes of a compiled body is another body', async () => {
    const it = workplace();
    const empty = new Uint8Array(0);
    const body = encodeCompiledBody({
      tokens: [['*', 0]],
      lists: [[[0, 0]]],
      automata: [],
      recordList: empty,
    });
    it.write('robots/b.example', body);
    it.write('open.ndjson', '{"host":"a.example","robots":"User-agent: *\\nDisallow:"}\n');
    await it.run('compile -q --robots-dir open.ndjson -o open.table');
    await it.run('compile -q --robots-dir robots --robots-dir open.table -o both.table');
    const { text } = await it.run('inspect both.table a.example');
    expect(text).toContain('User-agent: *');
    expect((await it.run('inspect both.table b.example')).text).not.toContain('User-agent: *');
  });
});
