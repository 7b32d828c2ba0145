import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { HistoryAudit, UrlHistory } from '../../src/cli/report/history-figures.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { labelledHosts } from '../../src/inspect/host-report.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { lines, test, workplace } from '../cli/command-line.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const RECORDS = [
  { host: 'a.example', robots: 'User-agent: *\nDisallow:\n', fetched: '2024-01-15' },
  { host: 'a.example', robots: 'User-agent: GPTBot\nDisallow: /\n', fetched: '2024-03-01' },
  { host: 'b.example', robots: 'User-agent: *\nDisallow: /x\n', fetched: '2024-02-29' },
  { host: 'b.example', status: 503, fetched: '2024-04-02T00:00:01Z' },
];

describe('audit --history', () => {
  const place = async () => {
    const it = workplace();
    it.write('robots.ndjson', RECORDS.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const { code, stderr } = await it.run(
      'compile -q --history --robots-dir robots.ndjson -o h.table',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return it;
  };
  const CSV = [
    'time,agent,all,part,none,unknown',
    '2024-02-01T00:00:00Z,GPTBot,1,0,0,1',
    '2024-02-01T00:00:00Z,CCBot,1,0,0,1',
    '2024-03-01T00:00:00Z,GPTBot,0,1,1,0',
    '2024-03-01T00:00:00Z,CCBot,1,1,0,0',
    '2024-04-01T00:00:00Z,GPTBot,0,1,1,0',
    '2024-04-01T00:00:00Z,CCBot,1,1,0,0',
    '2024-05-01T00:00:00Z,GPTBot,0,0,2,0',
    '2024-05-01T00:00:00Z,CCBot,1,0,1,0',
  ];

  test.each(['--table h.table', '--robots-dir robots.ndjson'])(
    'counts hosts at the beginning of each month (%s)',
    async (source) => {
      const it = await place();
      const words = `audit -q ${source} -a GPTBot,CCBot --history --format`;
      const csv = await it.run(`${words} csv`);
      expect(csv.code, csv.stderr).toBe(0);
      expect(lines(csv.text)).toEqual(CSV);
      const [first = ''] = lines((await it.run(`${words} ndjson`)).text);
      expect(JSON.parse(first)).toEqual({
        ...{ time: '2024-02-01T00:00:00Z', agent: 'GPTBot' },
        ...{ all: 1, part: 0, none: 0, unknown: 1 },
      });
      const parquet = await it.run(`${words} parquet`);
      expect(parquet.stdout.subarray(0, 4).toString()).toBe('PAR1');
      expect(lines((await it.run(`${words} table`)).text)).toHaveLength(CSV.length);
    },
  );

  test('counts after so many days, and only some hosts', async () => {
    const it = await place();
    const words = 'audit -q --table h.table -a GPTBot --history --format csv';
    const { text } = await it.run(`${words} --every 46d`);
    expect(lines(text).slice(1)).toEqual([
      '2024-03-01T00:00:00Z,GPTBot,0,1,1,0',
      '2024-04-16T00:00:00Z,GPTBot,0,0,2,0',
    ]);
    it.write('hosts.txt', 'a.example\nnone.example\n');
    const some = await it.run(`${words.replace('-q ', '')} --hosts hosts.txt`);
    expect(lines(some.text).slice(1)).toEqual([
      '2024-02-01T00:00:00Z,GPTBot,1,0,0,0',
      '2024-03-01T00:00:00Z,GPTBot,0,0,1,0',
    ]);
    expect(some.stderr).toContain('1 host of --hosts without a robots.txt');
  });

  test.each([
    ['', '--table h.table'],
    ['--shards 2 ', '--table h.table'],
    ['', '--robots-dir robots.ndjson'],
  ])('counts URLs in every format (%s%s)', async (shards, source) => {
    const it = await place();
    await it.run('compile -q --history --robots-dir robots.ndjson -o h.table');
    if (shards !== '')
      await it.run(`compile -q --history --robots-dir robots.ndjson ${shards}-o sharded`);
    const table = shards === '' ? source : '--table sharded';
    const urls = [
      'https://a.example/x',
      'http://b.example/x',
      'https://b.example/y',
      'https://c.example/',
      'no URL',
    ];
    it.write('urls.txt', `${urls.join('\n')}\n\n`);
    const words = `audit -q ${table} -a GPTBot,CCBot --history --urls`;
    const csv = await it.run(`${words} urls.txt --format csv`);
    expect(csv.code, csv.stderr).toBe(0);
    const expected = [
      ['2024-02-01T00:00:00Z', 'GPTBot', 1, 0, 3, 1],
      ['2024-02-01T00:00:00Z', 'CCBot', 1, 0, 3, 1],
      ['2024-03-01T00:00:00Z', 'GPTBot', 1, 2, 1, 1],
      ['2024-03-01T00:00:00Z', 'CCBot', 2, 1, 1, 1],
      ['2024-04-01T00:00:00Z', 'GPTBot', 1, 2, 1, 1],
      ['2024-04-01T00:00:00Z', 'CCBot', 2, 1, 1, 1],
      ['2024-05-01T00:00:00Z', 'GPTBot', 0, 3, 1, 1],
      ['2024-05-01T00:00:00Z', 'CCBot', 1, 2, 1, 1],
    ];
    const header = ['time', 'agent', 'allow', 'deny', 'unknown', 'invalid'];
    expect(lines(csv.text)).toEqual([header, ...expected].map((row) => row.join()));
    const objects = expected.map((row) =>
      Object.fromEntries(header.map((name, index) => [name, row[index]])),
    );
    const json = await it.run(`${words} - --format ndjson`, it.read('urls.txt'));
    expect(lines(json.text).map((line) => JSON.parse(line))).toEqual(objects);
    const { stdout } = await it.run(`${words} urls.txt --format parquet`);
    const file = new Uint8Array(stdout).buffer;
    const rows = await parquetReadObjects({ file });
    expect(rows.map((row) => ({ ...row }))).toEqual(objects);
    const shown = lines((await it.run(`${words} urls.txt`)).text);
    expect(shown.map((line) => line.trim().split(/ +/))).toEqual(
      [header, ...expected].map((row) => row.map(String)),
    );
    const days = lines((await it.run(`${words} urls.txt --format csv --every 46d`)).text);
    expect(days[1]).toBe('2024-03-01T00:00:00Z,GPTBot,1,2,1,1');
  });

  test('says why it has no row of URLs', async () => {
    const it = await place();
    const words = 'audit --table h.table --history --format csv --urls -';
    const unknown = await it.run(words, 'https://c.example/\n');
    expect(unknown.code).toBe(0);
    expect(lines(unknown.text)).toEqual(['time,agent,allow,deny,unknown,invalid']);
    expect(unknown.stderr).toContain('standard input has no URL of a host with a robots.txt');
    expect((await it.run(words, '\n')).stderr).toContain('standard input names no URL');
  });

  test.each([
    ['--every 30d', 'no effect without --history'],
    ['--urls u.txt', '--table FILE --stats-by agent u.txt'],
    ['--history --urls u.txt', 'u.txt'],
    ['--history --urls u.txt --hosts h.txt', '--hosts counts hosts, and --urls counts URLs'],
    ['--history --only none', '--only shows hosts'],
    ['--history --every 0d', 'from 1 to 36,500'],
    ['--history --every week', 'Give month, or a number of days'],
  ])('refuses %s', async (options, message) => {
    const it = await place();
    const { code, stderr } = await it.run(`audit --table h.table -a GPTBot ${options}`);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    await it.run('compile -q --robots-dir robots.ndjson -o plain.table');
    const plain = await it.run('audit --table plain.table -a GPTBot --history');
    expect(plain.stderr).toContain('plain.table has no histories');
  });
});

describe('the figures of a history', () => {
  it('are those of the table at each time', () => {
    const random = new Random(4705);
    const bodies = ['Disallow: /', 'Disallow: /x', 'Disallow:', 'Allow: /\nDisallow: /'];
    let figures = 0;
    let deniedUrls = 0;
    for (let run = cases(5); run > 0; run--) {
      const builder = new TableBuilder({ history: true });
      const hosts = random.between(1, 12);
      for (let host = 0; host < hosts; host++) {
        for (let version = random.between(1, 6); version > 0; version--) {
          const day = random.between(19_000, 19_200) + random.pick([0, 0.5, 1e-5]);
          builder.add(
            `${random.chance(0.2) ? 'http://' : ''}h${host}.example`,
            `User-agent: ${random.pick(['*', 'bot'])}\n${random.pick(bodies)}\n`,
            { date: Math.round(86_400_000 * day), status: random.pick([200, 200, 404, 503]) },
          );
        }
      }
      const table = Table.from(builder.build());
      const { view } = tableMemory(table);
      const agents = ['bot', 'other'].map((name) => parseAgent(name, 'rfc9309'));
      const audit = new HistoryAudit(view.withUnknown(), agents, false);
      const labels = [...labelledHosts(view.withUnknown(), undefined)];
      for (const [, parts] of labels) {
        audit.add(parts.flatMap(([, authority]) => authority ?? []));
      }
      const period = random.pick(['month', 1, 7, 30] as const);
      for (const { time, agent, counts } of audit.counts.figures(period)) {
        const then = table.at(new Date(time));
        // Without a rule in the middle of a path, two URLs tell the extents apart.
        const seen = { all: 0, part: 0, none: 0, unknown: 0 };
        for (const [, parts] of labels) {
          const extents = new Set<keyof typeof seen>();
          for (const [label] of parts) {
            const root = label.includes('://') ? label : `https://${label}`;
            const [some, other] = ['/x', '/y'].map(
              (path) => then.verdict(root + path, agent).verdict,
            );
            if (some === 'unknown') continue;
            extents.add(some !== other ? 'part' : some === 'allow' ? 'all' : 'none');
          }
          const [one = 'unknown'] = extents;
          seen[extents.size > 1 ? 'part' : one]++;
        }
        expect(counts, `${time} ${agent}`).toEqual(seen);
        figures++;
      }
      // URLs as people write them: the kernel and the count must mean the same host.
      const urls = Array.from({ length: 60 }, () => {
        const host = `h${random.between(0, hosts)}.example`;
        const start = random.pick(['https://', 'http://', 'HTTPS:\\\\', ' http:/', 'ftp://', '']);
        const port = random.pick(['', '', ':443', ':80', ':8080']);
        const name = random.pick([host, host.toUpperCase(), `${host}.`, `me@${host}`]);
        return `${start}${name}${port}${random.pick(['', '/', '/x', '/x?y', '/robots.txt'])}`;
      });
      const history = new UrlHistory(table, agents);
      for (const url of urls) {
        history.add(url);
        if (random.chance(0.1)) history.count();
      }
      history.count();
      let rows = 0;
      for (const { time, agent, counts } of history.counts.figures(period)) {
        const verdicts = table.at(new Date(time)).verdicts(urls, agent);
        const seen = { allow: 0, deny: 0, unknown: 0, invalid: 0 };
        for (const verdict of verdicts) seen[verdict]++;
        expect(counts, `${time} ${agent}`).toEqual(seen);
        deniedUrls += counts.deny;
        rows++;
      }
      expect(rows).toBeGreaterThan(0);
    }
    expect(figures).toBeGreaterThan(100);
    expect(deniedUrls).toBeGreaterThan(500);
  });
});
