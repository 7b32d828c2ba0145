import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect } from 'vitest';
import { HostDiff } from '../../src/cli/commands/diff.js';
import { sortedPlaces } from '../../src/inspect/host-order.js';
import { TableAudit } from '../../src/inspect/table-audit.js';
import { readTable } from '../../src/judge/open-table.js';
import { Table, tableIn, tableMemory } from '../../src/judge/table.js';
import { filterStream } from '../../src/library/filter-stream.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { shardOf } from '../../src/table/places.js';
import { lines, test, Workplace, workplace } from '../cli/command-line.js';
import { hostileFile } from '../hostile/file.js';
import { Random } from '../random/random.js';
import { captureOf, membersOf, responseOf, robotsOf } from '../warc/warc-bytes.js';

const SHARDS = 7;
const HOSTS = 120;
const AGENTS = ['a-bot', 'b_bot>K', '*'];

/** Robots.txt files of many hosts in all kinds of sources, and URLs of these hosts and others. */
function prepare(place: Workplace, seed: number): void {
  const random = new Random(seed);
  const records: string[] = [];
  const captures: Buffer[] = [];
  const urls: string[] = [];
  for (let number = 0; number < HOSTS; number++) {
    const host = random.pick([`h${number}.example`, `www.h${number}.example`, `10.0.0.${number}`]);
    const { robots, urls: drawn } = hostileFile(random, 'rfc9309', { urls: 4, chains: 1 });
    const text = Buffer.from(robots, 'latin1').toString('base64');
    for (const name of [
      `${host}:443`,
      host,
      `${host}:80`,
      `${host}:8080`,
      `https://${host}/robots.txt`,
    ]) {
      if (random.chance(0.4)) continue;
      const kind = random.number();
      const key = name.includes('/') ? { url: name } : { host: name };
      if (kind < 0.2) records.push(JSON.stringify({ ...key, status: random.pick([404, 503]) }));
      else if (kind < 0.3)
        place.write(`robots/${host}`, `${robots}\nsitemap: https://x.example/${number}\n`);
      else records.push(JSON.stringify({ ...key, robots_base64: text }));
    }
    const capture = `https://c${number}.example/robots.txt`;
    const location = `https://c${random.between(0, HOSTS - 1)}.example/robots.txt`;
    captures.push(
      captureOf(
        capture,
        random.chance(0.3)
          ? responseOf(301, '', { Location: location })
          : responseOf(200, random.chance(0.2) ? robotsOf('/same') : robots, {
              'Content-Type': 'text/plain',
            }),
      ),
    );
    for (const url of drawn) {
      // The hostile URL as it is, and its path at the hosts that are known.
      const path = url.slice(Math.max(0, url.indexOf('/', url.indexOf('//') + 2)));
      urls.push(url, `https://${host.toUpperCase()}${path}`, `http://${host}:8080${path}`);
      urls.push(`https://c${number}.example${path}`, `http://c${number}.example${path}`);
    }
  }
  urls.push('https://c0.example/same', 'not a URL', 'https://unknown.example/');
  place.write('more.ndjson', `${records.join('\n')}\n`);
  place.write('captures.warc.gz', membersOf(captures));
  place.write('urls.txt', Buffer.from(`${urls.join('\n')}\n`, 'latin1'));
}

const SOURCES = ['captures.warc.gz', 'robots', 'more.ndjson'].flatMap((path) => [
  '--robots-dir',
  path,
]);

describe('a table in shards', () => {
  let place: Workplace;
  beforeAll(async () => {
    place = new Workplace(false);
    prepare(place, 29);
    const common = ['compile', '-q', '--records', ...SOURCES];
    await place.run([...common, '-o', 'one.table']);
    const { code, stderr } = await place.run([
      ...common,
      '--shards',
      String(SHARDS),
      '-o',
      'parts',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    return () => place.remove();
  });

  test('gives every record the verdict, the rule and the source of one table', async () => {
    const outputs = new Set<string>();
    for (const table of ['one.table', 'parts', 'parts/manifest.json']) {
      const words = ['--table', table, '-q', '--explain', '-a', AGENTS.join()];
      outputs.add((await place.run([...words, 'urls.txt'])).stdout.toString('latin1'));
      // Threads share the memory of the shards.
      outputs.add(
        (await place.run([...words, '--threads', '2', 'urls.txt'])).stdout.toString('latin1'),
      );
    }
    expect(outputs.size).toBe(1);
    const [output = ''] = outputs;
    for (const reason of ['rule', 'no-rule', 'no-group', 'unavailable', 'unreachable']) {
      expect(output).toContain(`\t${reason}\t`);
    }
    expect(output).toContain('\tunknown-host\t');
    expect(output).toContain('captures.warc.gz:');
  });

  test('has the same hosts, records and counts as one table, in every command', async () => {
    for (const words of [
      ['--table', '@', '-q', '-a', 'a-bot', '--stats-by', 'host', 'urls.txt'],
      ['--table', '@', '-q', '-a', 'a-bot,K', '--stats-by', 'host', '--format', 'csv', 'urls.txt'],
      ['audit', '--table', '@', '-q', '-a', AGENTS.join(), '--format', 'csv'],
      ['records', '@', '-q'],
      ['inspect', '@', 'c1.example', '--json'],
    ]) {
      const of = async (table: string): Promise<string> =>
        (await place.run(words.map((word) => (word === '@' ? table : word)))).text;
      const one = await of('one.table');
      expect(lines(one).length).toBeGreaterThan(0);
      expect(await of('parts')).toBe(one);
    }
    const seen = async (table: string): Promise<unknown> => {
      const { stderr } = await place.run(['--table', table, '--stats=json', '-q', 'urls.txt']);
      return (JSON.parse(stderr) as { hosts: unknown }).hosts;
    };
    expect(await seen('parts')).toEqual(await seen('one.table'));
    const { code, text } = await place.run('diff one.table parts -q --exit-code');
    expect([code, text]).toEqual([0, '']);
  });

  test('counts by rule as one table, also the first of many rules with the same count', async () => {
    for (const top of ['1000000', '7']) {
      const of = async (table: string): Promise<string> => {
        const words = ['--table', table, '-q', '-a', AGENTS.join(), '--stats-by', 'rule'];
        return (await place.run([...words, '--top', top, '--format', 'csv', 'urls.txt'])).text;
      };
      const one = await of('one.table');
      expect(lines(one).length).toBeGreaterThan(top === '7' ? 20 : 100);
      expect(await of('parts')).toBe(one);
    }
    // The report names the first of them, too.
    const report = async (table: string): Promise<unknown> => {
      const words = ['--table', table, '-q', '-a', AGENTS.join(), '--report', 'report.json'];
      await place.run([...words, '--format', 'verdicts', 'urls.txt']);
      return (JSON.parse(place.read('report.json')) as { denying: unknown }).denying;
    };
    expect(await report('parts')).toEqual(await report('one.table'));
  });

  test('keeps the groups of some agents, and refuses others, as one table', async () => {
    const common = ['compile', '-q', '--robots-dir', 'more.ndjson', '-a', 'a-bot,NobodyBot'];
    await place.run([...common, '-o', 'few.table']);
    await place.run([...common, '--shards', '3', '-o', 'few']);
    for (const agent of ['a-bot', 'NobodyBot', 'OtherBot']) {
      const [one, few] = await Promise.all(
        ['few.table', 'few'].map((table) =>
          place.run(['--table', table, '-q', '-a', agent, 'urls.txt']),
        ),
      );
      expect([few?.code, few?.text]).toEqual([agent === 'OtherBot' ? 2 : 0, one?.text]);
      expect(few?.stderr).toBe(one?.stderr.replaceAll('few.table', 'few'));
    }
  });

  test('is opened by the library, which proves where each host is, in one memory or more', async () => {
    const path = join(place.path, 'parts');
    const one = await Table.open(join(place.path, 'one.table'));
    const whole = await Table.open(path, { verify: true });
    const { length } = tableMemory(whole).header;
    const tables = [whole];
    for (const bankBytes of [1, length / 2]) {
      tables.push(tableIn(await readTable(path, { bankBytes }), path));
    }
    const memories = tables.map((table) => tableMemory(table).banks.length);
    expect(memories).toEqual([1, SHARDS, 3]);
    const urls = lines(place.read('urls.txt')).slice(0, 900);
    let ruled = 0;
    for (const parts of tables) {
      expect([parts.hosts, parts.profile]).toEqual([one.hosts, 'rfc9309']);
      expect(await parts.verify()).toEqual(await whole.verify());
      for (const agent of AGENTS) {
        expect(parts.verdicts(urls, agent)).toEqual(one.verdicts(urls, agent));
        for (const url of urls.slice(0, 100)) {
          expect(parts.verdict(url, agent)).toEqual(one.verdict(url, agent));
          expect(parts.isAllowed(url, agent)).toBe(one.isAllowed(url, agent));
          expect(parts.rulesFor(url, agent)).toEqual(one.rulesFor(url, agent));
          expect(parts.crawlDelay(url, agent)).toEqual(one.crawlDelay(url, agent));
          expect(parts.sitemaps(url)).toEqual(one.sitemaps(url));
          ruled += Math.sign(parts.rulesFor(url, agent).length);
        }
      }
      expect(() => parts.verdicts([], 'no agent')).toThrow('is not a product token');
      expect(() => parts.bytes).toThrow('is a table in shards. Copy its directory');
      await expect(parts.save(join(place.path, 'x'))).rejects.toThrow('is a table in shards');
      // What audit, records and diff print.
      const content = contentOf(parts);
      expect(content.length).toBe(parts.hosts);
      expect(content).toEqual(contentOf(one));
      expect(differences(one, parts)).toEqual([]);
    }
    expect(ruled).toBeGreaterThan(20);
    const [, divided = whole] = tables;
    expect(await streamed(divided, urls)).toBe(await streamed(one, urls));
  });

  test('of one shard has its bytes', async () => {
    const words = ['compile', '-q', '--robots-dir', 'more.ndjson', '--shards', '1', '-o', 'single'];
    expect((await place.run(words)).code).toBe(0);
    const table = await Table.open(join(place.path, 'single'), { verify: true });
    const part = readFileSync(join(place.path, 'single', 'part-00000.table'));
    expect(Buffer.compare(table.bytes, part)).toBe(0);
  });

  test('of which only the parts of a host are read, if the question is about it', async ({
    place: other,
  }) => {
    const kept = ['c1.example', 'www.c1.example'].map((host) => shardOf(host, SHARDS));
    const names = place
      .names('parts')
      .filter((_, index) => index === 0 || kept.includes(index - 1));
    expect(names.length).toBeLessThan(4);
    mkdirSync(join(other.path, 'parts'));
    for (const name of names) {
      copyFileSync(join(place.path, 'parts', name), join(other.path, 'parts', name));
    }
    for (const at of [place, other]) at.write('hosts.txt', 'https://c1.example\n\n');
    for (const words of [
      ['inspect', 'parts', 'c1.example', '--json', '--agent', 'a-bot'],
      ['inspect', 'parts/manifest.json', 'http://www.c1.example/'],
      ['audit', '--table', 'parts', '-a', 'a-bot', '--hosts', 'hosts.txt', '--format', 'csv'],
    ]) {
      const [whole, part] = [await place.run(words), await other.run(words)];
      expect([part.code, part.text, part.stderr]).toEqual([whole.code, whole.text, whole.stderr]);
      expect(whole.text + whole.stderr).toContain('c1.example');
    }
    const { stderr } = await other.run('inspect parts');
    expect(stderr).toContain('missing, and manifest.json names it');
  });

  test('has a manifest that says what is in the parts', () => {
    const manifest = JSON.parse(place.read('parts/manifest.json'));
    expect(manifest).toMatchObject({ shards: SHARDS, hash: 'crc32', profile: 'rfc9309' });
    expect(manifest.sources).toEqual(['captures.warc.gz', 'robots', 'more.ndjson']);
    const expected = ['manifest.json', ...manifest.parts.map(({ file }: { file: string }) => file)];
    expect(place.names('parts')).toEqual(expected.sort());
  });

  test.each([
    ['one line', (manifest: object) => JSON.stringify(manifest)],
    ['wide', (manifest: object) => JSON.stringify(manifest, null, '\t\r\n  ')],
    [
      'sorted',
      (manifest: object) => JSON.stringify(Object.fromEntries(Object.entries(manifest).sort())),
    ],
  ])('is a table in every command, however its manifest is laid out: %s', async (_, layOut) => {
    const other = workplace();
    for (const name of place.names('parts')) {
      other.write(`parts/${name}`, readFileSync(join(place.path, 'parts', name)));
    }
    const expected = await other.run('records parts');
    expect(lines(expected.text).length).toBeGreaterThan(0);
    const manifest = JSON.parse(other.read('parts/manifest.json'));
    other.write('parts/manifest.json', layOut(manifest));
    expect(await other.run('records parts')).toEqual(expected);
  });

  describe('is refused', () => {
    const cases: readonly (readonly [string, (directory: string) => void, string])[] = [
      [
        'with a missing part',
        (directory) => rmSync(join(directory, 'part-00003.table')),
        'part-00003.table: missing, and manifest.json names it: copy the whole directory again',
      ],
      [
        'with a truncated part',
        (directory) => cut(join(directory, 'part-00002.table')),
        'part-00002.table: ',
      ],
      [
        'with a damaged part',
        (directory) => change(join(directory, 'part-00001.table')),
        'part-00001.table: damaged: its checksum is',
      ],
      [
        'with the part of another table',
        (directory) => {
          const part = join(directory, 'part-00000.table');
          const other = join(directory, 'part-00001.table');
          copyFileSync(other, part);
          editManifest(directory, (text) => {
            const manifest = JSON.parse(text);
            manifest.bytes += manifest.parts[1].bytes - manifest.parts[0].bytes;
            manifest.parts[0].bytes = manifest.parts[1].bytes;
            return `${JSON.stringify(manifest, null, 1)}\n`;
          });
        },
        'part-00000.table: of another table or time: its checksum is',
      ],
      [
        'without a manifest',
        (directory) => rmSync(join(directory, 'manifest.json')),
        'is a directory, not a table',
      ],
      [
        'with a newer manifest',
        (directory) =>
          editManifest(directory, (text) => text.replace('"version": 1', '"version": 2')),
        'written by a newer version (manifest 2, tables 9, hash "crc32"): upgrade robots-filter',
      ],
      [
        'with a damaged manifest',
        (directory) => editManifest(directory, (text) => text.slice(0, -9)),
        'manifest.json: damaged: not JSON: copy it again',
      ],
      [
        'with a manifest that names a file elsewhere',
        (directory) =>
          editManifest(directory, (text) => text.replace('part-00004', '../part-00004')),
        'manifest.json: damaged: its part 4 is not part-00004.table',
      ],
    ];
    test.each(cases)('%s', async (_, damage, message) => {
      const other = workplace();
      mkdirSync(join(other.path, 'parts'));
      for (const name of place.names('parts')) {
        copyFileSync(join(place.path, 'parts', name), join(other.path, 'parts', name));
      }
      damage(join(other.path, 'parts'));
      // Hosts of all parts: no other would be read.
      const { code, text, stderr } = await other.run(
        ['--table', 'parts', '-'],
        Array.from({ length: HOSTS }, (_, number) => `https://h${number}.example/\n`).join(''),
      );
      expect([code, text]).toEqual([2, '']);
      expect(stderr).toContain(message);
    });
  });

  test('of more than 4 GiB is not served in one process, which says what to do', async ({
    place: other,
  }) => {
    mkdirSync(join(other.path, 'parts'));
    copyFileSync(join(place.path, 'parts/manifest.json'), join(other.path, 'parts/manifest.json'));
    editManifest(join(other.path, 'parts'), (text) => {
      const manifest = JSON.parse(text);
      for (const part of manifest.parts) part.bytes = 10 ** 9;
      return JSON.stringify({ ...manifest, bytes: SHARDS * 10 ** 9 }, null, 1);
    });
    const serve = async (...words: string[]): Promise<string> =>
      (await other.run(['serve', '--table', 'parts', ...words])).stderr;
    expect(await serve()).toContain(
      '7 of its parts have 7000000000 bytes, and must lie in one memory of 4 GiB. Name fewer: serve --parts 0-15',
    );
    expect(await serve('--parts', '0-4')).toContain('5 of its parts have 5000000000 bytes');
    // The other commands open several memories, and miss the files.
    for (const words of [
      ['records', 'parts'],
      ['serve', '--table', 'parts', '--parts', '0-3'],
    ]) {
      const { code, stderr } = await other.run(words);
      expect([code, stderr]).toEqual([2, expect.stringContaining('part-00000.table: missing')]);
    }
  });

  test('keeps the old directory, or has no manifest, if compiling fails', async () => {
    const before = place.read('parts/manifest.json');
    const compile = ['compile', '-q', '--shards', '3'];
    const failed = await place.run([...compile, '--robots-dir', 'none', '-o', 'parts']);
    expect([failed.code, place.read('parts/manifest.json')]).toEqual([2, before]);
    expect((await place.run([...compile, '--robots-dir', 'none', '-o', 'new'])).code).toBe(2);
    // Nothing unfinished stays, and no directory with other files is replaced.
    expect(place.names().filter((name) => name.startsWith('.') || name === 'new')).toEqual([]);
    const refused = await place.run([...compile, '--robots-dir', 'robots', '-o', 'robots']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('which would be lost. Name a new directory');
    // An older table is replaced whole.
    const again = place.names('parts').length;
    expect(again).toBe(SHARDS + 1);
    expect((await place.run([...compile, '--robots-dir', 'robots', '-o', 'parts'])).code).toBe(0);
    expect(place.names('parts')).toHaveLength(3 + 1);
    for (const host of place.names('robots')) {
      const { code } = await place.run([
        'inspect',
        `parts/part-0000${shardOf(host, 3)}.table`,
        host,
      ]);
      expect(code).toBe(0);
    }
  });
});

/** The hosts of a table, sorted, with their records and what they allow. */
function contentOf(table: Table): unknown[] {
  const { view } = tableMemory(table);
  const agents = AGENTS.map((agent) => parseAgent(agent, 'rfc9309'));
  const audit = new TableAudit(view, agents, false);
  return Array.from(sortedPlaces(view), (at) => {
    const { host, authorities } = view.hostAt(at);
    return [
      host,
      authorities.map((authority) => {
        const { schemes, port, accessResult, source, robots } = authority;
        const { records, date } = view.recordsOf(authority);
        return [
          schemes,
          port,
          accessResult,
          source,
          records,
          date,
          audit.summaries(robots, accessResult),
        ];
      }),
    ];
  });
}

/** What a stream over a table makes of lines. */
async function streamed(table: Table, urls: readonly string[]): Promise<string> {
  const stream = filterStream(table, { agents: AGENTS, explain: true, threads: 1 });
  stream.end(`${urls.join('\n')}\n`);
  return text(stream);
}

/** The rows of a diff of two tables. */
function differences(old: Table, next: Table): unknown[] {
  const rows: unknown[] = [];
  const agents = AGENTS.map((agent) => parseAgent(agent, 'rfc9309'));
  const sink = { isClosed: false, add: (row: unknown) => void rows.push(row) };
  new HostDiff({ old, new: next, agents, uses: [] }, sink).write();
  return rows;
}

function editManifest(directory: string, edit: (text: string) => string): void {
  const path = join(directory, 'manifest.json');
  writeFileSync(path, edit(readFileSync(path, 'utf8')));
}

function cut(path: string): void {
  writeFileSync(path, readFileSync(path).subarray(0, -64));
}

function change(path: string): void {
  const bytes = readFileSync(path);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
