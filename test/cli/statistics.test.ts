import { describe, expect } from 'vitest';
import { describeFilterProgress } from '../../src/cli/report/statistics.js';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatShare,
  formatTimeLeft,
} from '../../src/cli/text.js';
import { lines, MAIN, test, workplace } from './command-line.js';

const INPUT = [
  'https://example.com/',
  'https://example.com/private/',
  'https://www.example.org/',
  'http://other.example/',
  'bad',
  '',
].join('\n');

describe('--stats', () => {
  test('text, on standard error', async () => {
    const { code, text, stderr } = await workplace().runAlone(
      ['--robots-dir', 'robots', '--stats', '-q'],
      INPUT,
    );
    expect(code).toBe(0);
    expect(lines(text)).toHaveLength(5);
    for (const row of [
      /^records +5 read, 5 written$/m,
      /^input +\d+ bytes$/m,
      /^ {2}allow +2 +40\.0 %$/m,
      /^ {2}deny +1 +20\.0 %$/m,
      /^ {2}unknown +1 +20\.0 %$/m,
      /^ {2}invalid +1 +20\.0 %$/m,
      /^ {2}no-rule +2 +40\.0 %$/m,
      /^ {2}unknown-host +1 /m,
      /^hosts seen +2 of 2 in the table$/m,
      /^throughput +[\d,]+ records\/s, [\d.]+ \w+\/s$/m,
      /^time +[\d.]+ s: [\d.]+ s to start, [\d.]+ s to filter$/m,
      /^CPU time +[\d.]+ s user, [\d.]+ s system$/m,
      /^peak memory +[\d.]+ MB$/m,
    ]) {
      expect(stderr).toMatch(row);
    }
  });

  test('of a run that ends early say that at most so many records were written', async () => {
    const { code, text, stderr } = await workplace().run(
      ['--robots-dir', 'robots', '--stats', '--strict', '--threads', '1'],
      INPUT,
    );
    expect(code).toBe(2);
    expect(lines(text)).toHaveLength(4);
    expect(stderr).toMatch(/^records +4 read, at most 4 written$/m);
  });

  test('of a run that ends before its file is whole say that none was written', async ({
    place,
  }) => {
    const args = ['--robots-dir', 'robots', '--stats', '--strict', '--threads', '1', '-o', 'out'];
    const { code, stderr } = await place.run(args, INPUT);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^records +4 read, none written$/m);
    expect(place.names()).not.toContain('out');
  });

  test('does not take the next argument as its value', async ({ place }) => {
    place.write('urls.txt', INPUT);
    const { code, text } = await place.run('--robots-dir robots --stats urls.txt');
    expect(code).toBe(0);
    expect(lines(text)).toHaveLength(5);
  });

  test('counts each of many hosts once', async ({ place }) => {
    const hosts = Array.from({ length: 500 }, (_, index) => `host-${index * index}.example`);
    const robots = hosts.map((host) => JSON.stringify({ host, robots: '' }));
    place.write('robots.ndjson', robots.join('\n'));
    for (const count of [500, 321, 17]) {
      const urls = hosts.slice(-count).map((host) => `https://${host}/\n`);
      place.write('urls.txt', `${urls.join('')}${urls.join('')}https://other.example/\n`);
      const { stderr } = await place.run('--robots-dir robots.ndjson -q --stats=json urls.txt');
      expect(JSON.parse(stderr)).toMatchObject({ hosts: { table: 500, seen: count } });
    }
  });

  test('--stats=json: one object, counts for each agent, all files together', async ({ place }) => {
    place.write('one.txt', INPUT);
    place.write('two.ndjson', '{"url":"https://example.com/cc/"}\n{}\n');
    const { stderr } = await place.run(
      '--robots-dir robots -q --stats=json -a CCBot,* --denied one.txt two.ndjson',
    );
    const { seconds, recordsPerSecond, bytesPerSecond, peakBytes, ...counts } = JSON.parse(stderr);
    expect(counts).toMatchObject({
      complete: true,
      records: 7,
      passed: 2,
      bad: 2,
      bytes: INPUT.length + 37,
      hosts: { table: 2, seen: 2 },
      agents: [
        { agent: 'CCBot', verdicts: { allow: 3, deny: 1, unknown: 1, invalid: 2 } },
        { agent: '*', verdicts: { allow: 3, deny: 1, unknown: 1, invalid: 2 } },
      ],
    });
    for (const { verdicts, reasons } of counts.agents) {
      const sum = (words: Record<string, number>) =>
        Object.values(words).reduce((a, b) => a + b, 0);
      expect([sum(verdicts), sum(reasons)]).toEqual([7, 7]);
    }
    expect(seconds.wall).toBeCloseTo(seconds.setup + seconds.filter, 6);
    for (const figure of [seconds.user, recordsPerSecond, bytesPerSecond, peakBytes]) {
      expect(figure).toBeGreaterThan(0);
    }
  });
});

describe.runIf(process.platform === 'linux')('peak memory', () => {
  test('is that of the program, not of the program that starts it', async ({ place }) => {
    place.write('one.txt', INPUT);
    const held = 300e6;
    place.write(
      'starter.cjs',
      `const held = Buffer.alloc(${held}, 1);
      const { spawnSync } = require('node:child_process');
      spawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' });
      if (held[1] !== 1) throw new Error();`,
    );
    const options = '--robots-dir robots -q --stats=json one.txt';
    const { stderr } = await place.shellAlone(
      `'${process.execPath}' starter.cjs '${MAIN}' ${options}`,
    );
    const { peakBytes } = JSON.parse(stderr);
    expect(peakBytes).toBeGreaterThan(20e6);
    expect(peakBytes).toBeLessThan(held * 0.8);
  });
});

describe('--progress', () => {
  test('without a terminal shows a line only on request', async ({ place }) => {
    expect((await place.run('--robots-dir robots -q', INPUT)).stderr).toBe('');
    const { stderr } = await place.runAlone('--robots-dir robots -q --progress', INPUT);
    expect(stderr).toMatch(/^\d+ bytes, 5 records, [\d,]+\/s, 40\.0 % allowed\n$/);
  });

  test('shows records, rate, input and the allowed share', () => {
    const state = { records: 1_200_000, allowed: 900_000, bytes: 452_000_000 };
    const rates = { records: 6_300_000, bytes: 300_000_000 };
    expect(describeFilterProgress(state, rates, 1_000_000_000)).toBe(
      '45.2 % of 1.00 GB, 2 s left, 1,200,000 records, 6,300,000/s, 75.0 % allowed',
    );
    for (const [total, input] of [
      [undefined, '452 MB'],
      [1_000_000_000, '45.2 % of 1.00 GB'],
      [400_000_000, '100.0 % of 400 MB'],
    ] as const) {
      expect(describeFilterProgress(state, { records: 0, bytes: 0 }, total)).toBe(
        `${input}, 1,200,000 records, 0/s, 75.0 % allowed`,
      );
    }
  });
});

test('numbers in human-readable form', () => {
  expect([0, 999, 1000, 2180064].map(formatNumber)).toEqual(['0', '999', '1,000', '2,180,064']);
  expect([formatCount(1, 'file'), formatCount(2000, 'file')]).toEqual(['1 file', '2,000 files']);
  expect([0, 999, 1000, 45_300_000, 999_600, 3e12].map(formatBytes)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.00 kB',
    '45.3 MB',
    '1.00 MB',
    '3.00 TB',
  ]);
  expect([formatPercent(1, 3), formatPercent(0, 0)]).toEqual(['33.3 %', '0.0 %']);
  expect([0.347, 12.08, 185].map(formatDuration)).toEqual(['0.35 s', '12.1 s', '3 min 05 s']);
  expect([0.1, 59.5, 185, 9_600].map(formatTimeLeft)).toEqual([
    '1 s left',
    '1 min 00 s left',
    '3 min 05 s left',
    '2 h 40 min left',
  ]);
  expect([0, 1, 5_000, 9_999, 10_000].map((part) => formatShare(part, 10_000))).toEqual([
    '0.0 %',
    '<0.1 %',
    '50.0 %',
    '>99.9 %',
    '100.0 %',
  ]);
});

describe('a run with almost only unknown hosts warns, with the likely cause', () => {
  const urls = (count: number, url: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `${url(index)}\n`).join('');
  const warned = async (args: readonly string[], input: string) => {
    const { code, stderr } = await workplace().run(['--robots-dir', 'robots', ...args], input);
    expect(code).toBe(0);
    return lines(stderr).filter((line) => line.includes('got no answer'));
  };
  const elsewhere = (index: number) => `https://${index}.example/`;

  test.each<[string, string[], string, string[]]>([
    [
      'other hosts',
      [],
      urls(1001, elsewhere),
      [
        '100.0 % of 1,001 records',
        '--robots-dir robots has no robots.txt for their hosts',
        '--fetch',
      ],
    ],
    ['no scheme', [], urls(1001, (index) => `${index}.example/`), ["sed 's,^,https://,'"]],
    [
      'tabs',
      ['--input', 'text'],
      urls(1001, (index) => `https://e.com/\t${index}`),
      ['--input tsv'],
    ],
    ['another field', [], urls(1001, (index) => `{"u":${index}}`), ['--url-field NAME']],
    ['no objects', ['--input', 'ndjson'], urls(1001, elsewhere), ['--input text']],
    ['--allowed', ['--allowed'], urls(1001, elsewhere), ['1,001 unknown']],
  ])('%s', async (_, args, input, words) => {
    const [warning = '', ...others] = await warned(args, input);
    expect(others).toEqual([]);
    for (const word of words) expect(warning).toContain(word);
  });

  test('also with few records if none is decided, but not -q or --unknown', async () => {
    const one = 'https://example.com/\n';
    expect(await warned([], urls(999, elsewhere) + one)).toEqual([]);
    for (const count of [1, 2, 1000]) {
      expect(await warned([], urls(count, elsewhere)), `${count}`).toHaveLength(1);
      expect(await warned(['-q'], urls(count, elsewhere))).toEqual([]);
      expect(await warned(['--unknown', 'deny'], urls(count, elsewhere))).toEqual([]);
    }
  });

  test('from 1,001 records on with more than 95 %, but not -q or --unknown', async () => {
    const most = urls(1900, elsewhere) + urls(100, () => 'https://example.com/');
    expect(await warned([], most)).toEqual([]);
    expect(await warned([], `${most}bad\n`)).toHaveLength(1);
    expect(await warned(['-q'], urls(1001, elsewhere))).toEqual([]);
    expect(await warned(['--unknown', 'deny'], urls(1001, elsewhere))).toEqual([]);
  });
});

test('--stats-by: every count is that of the records with --explain', async ({ place }) => {
  place.write('robots/https/example.com_8443/robots.txt', 'User-agent: *\nDisallow: /\n');
  const paths = ['/', '/private/a', '/cc/x', '/a.gif'];
  const hosts = [
    'example.com',
    'www.example.org',
    'unknown.example',
    'example.com:8443',
    'example.com:9',
  ];
  const urls = Array.from(
    { length: 997 },
    (_, n) => `${n % 41 === 0 ? 'no url' : `https://${hosts[(n * n) % 5]}${paths[n % 4]}`}\n`,
  );
  const agents = ['CCBot', 'GPTBot', '*'];
  const source = ['--robots-dir', 'robots', '-a', agents.join(), '-q'];
  const explained = await place.run([...source, '--format', 'ndjson', '--explain'], urls.join(''));
  const records = lines(explained.text).map((line) => JSON.parse(line));
  expect(records.length).toBe(urls.length);

  /** The counts of the records that come out, by a key. */
  const expected = (keyOf: (record: (typeof records)[number], agent: string) => string) => {
    const counts: Record<string, Record<string, number>> = {};
    for (const record of records) {
      for (const agent of agents) {
        const key = `${agent} ${keyOf(record, agent)}`;
        const of = counts[key] ?? { records: 0 };
        const verdict = record.verdicts[agent];
        of.records = (of.records ?? 0) + 1;
        of[verdict] = (of[verdict] ?? 0) + 1;
        counts[key] = of;
      }
    }
    return counts;
  };
  const counted = async (...options: string[]) => {
    const { text, code, stderr } = await place.run([...source, ...options], urls.join(''));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return lines(text).map((line) => JSON.parse(line));
  };
  const isDecided = (record: (typeof records)[number]): boolean =>
    !['unknown', 'invalid'].includes(record.verdicts['*']);

  const byHost = await counted('--stats-by', 'host', '--format', 'ndjson', '--threads', '2');
  const hostCounts = expected((record) =>
    isDecided(record) ? new URL(record.url).hostname : 'null',
  );
  expect(byHost.length).toBe(Object.keys(hostCounts).length);
  for (const { agent, host, ...figures } of byHost) {
    const all = { allow: 0, deny: 0, unknown: 0, invalid: 0, ...hostCounts[`${agent} ${host}`] };
    expect({ agent, host, ...figures }).toEqual({ agent, host, ...all });
  }
  const byAgent = await counted('--stats-by', 'agent', '--format', 'ndjson');
  const agentCounts = expected(() => '');
  expect(byAgent.map(({ agent, ...figures }) => [agent, figures])).toEqual(
    agents.map((agent) => [agent, { allow: 0, deny: 0, ...agentCounts[`${agent} `] }]),
  );
  const byReason = await counted('--stats-by', 'reason', '--format', 'ndjson');
  const reasonCounts = expected((record, agent) => record.reasons[agent]);
  expect(byReason.length).toBe(Object.keys(reasonCounts).length);
  for (const { agent, reason, records: count } of byReason) {
    expect([agent, reason, count]).toEqual([
      agent,
      reason,
      reasonCounts[`${agent} ${reason}`]?.records,
    ]);
  }

  const byRule = await counted('--stats-by', 'rule', '--format', 'ndjson', '--threads', '2');
  const ruleCounts = expected((record, agent) => {
    const rule = record.rules?.[agent];
    if (rule === null || rule === undefined) return 'null';
    return `${new URL(record.url).host} ${rule.line} ${rule.text} ${rule.source}`;
  });
  expect(byRule.length).toBe(Object.keys(ruleCounts).length);
  for (const { agent, host, line, rule, source, records: count } of byRule) {
    const key = host === null ? 'null' : `${host} ${line} ${rule} ${source}`;
    expect([agent, key, count]).toEqual([agent, key, ruleCounts[`${agent} ${key}`]?.records]);
  }

  const top = await counted('--stats-by', 'host', '--top', '1', '--format', 'ndjson');
  expect(top.length).toBe(2 * agents.length);
  for (const agent of agents) {
    const rows = top.filter((row) => row.agent === agent);
    const most = Math.max(
      ...byHost.filter((row) => row.agent === agent && row.host !== null).map((row) => row.records),
    );
    expect(rows[0].records).toBe(most);
    expect(rows[1]).toEqual(byHost.find((row) => row.agent === agent && row.host === null));
  }
  const table = await place.run([...source, '--stats-by', 'agent'], urls.join(''));
  expect(table.text).toMatch(/^agent +records +allow +deny +unknown +invalid\nCCBot +997 /);
  for (const wrong of [
    ['--top', '3'],
    ['--stats-by', 'host', '--format', 'parquet'],
    ['--stats-by', 'host', '--allowed'],
    ['--stats-by', 'rules'],
  ]) {
    expect((await place.run([...source, ...wrong])).code).toBe(2);
  }
});
