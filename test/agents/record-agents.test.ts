import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTable } from '../../src/judge/open-table.js';
import type { FilterSettings } from '../../src/pipeline/filter.js';
import { knownAgents } from '../../src/protocol/known-agents.js';
import { Pool } from '../../src/workers/pool.js';
import { Workplace } from '../cli/command-line.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { filterCase } from '../shards/filter-case.js';

/*
 * Records that name their agents: each must get the verdict that it gets in a run which asks for
 * all agents, for the agent that its User-Agent names.
 */

const place = new Workplace(false);

/** The User-Agent of each value, and the agent that --agent asks for in its place. */
const USER_AGENTS: readonly (readonly [string, string])[] = [
  ['Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)', 'GPTBot'],
  ['gptbot', 'GPTBot'],
  ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'CCBot'],
  ['Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)', 'MJ12bot'],
  ['AdsBot-Google (+http://www.google.com/adsbot.html)', 'AdsBot-Google:'],
  ['Tom "the" Bot/1.0 \\ \u00e9\t', 'Tom'],
  ['FooCrawler/3.1', 'FooCrawler'],
  ['Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/115.0', '*'],
  [`${'x '.repeat(600)}GPTBot`, 'x'],
  ['', '*'],
  ['-', '*'],
];
const AGENTS = [...new Set(USER_AGENTS.map(([, agent]) => agent))];
const HOSTS = ['a.example', 'b.example', 'c.example', 'unknown.example'];
const GROUPS: readonly string[] = [
  'User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /b\n\nUser-agent: Tom\nDisallow: /c\n',
  'User-agent: *\nDisallow: /\n\nUser-agent: MJ12bot\nUser-agent: CCBot\nDisallow: /a\n',
  'User-agent: FooCrawler\nDisallow: /\nAllow: /a\n\nUser-agent: GPTBot\nDisallow:\n\nUser-agent: x\nDisallow: /b\n',
];

interface Named {
  readonly judged_as: string | null;
}

interface Explained extends Named {
  readonly verdict: keyof typeof NONE;
  readonly reason: string;
  readonly rule?: { readonly line: number; readonly source: string } | null;
}

const NONE = { allow: 0, deny: 0, unknown: 0, invalid: 0 };

interface Counts {
  readonly urls: typeof NONE;
  readonly hosts: Map<string, Set<string>>;
}

interface Report {
  readonly agents: readonly { readonly urls: typeof NONE }[];
  readonly named: {
    readonly agents: readonly {
      readonly agent: string;
      readonly urls: typeof NONE;
      readonly hosts: object;
    }[];
    readonly others: object | null;
  };
  readonly denying: {
    readonly missed: number;
    readonly rules: readonly {
      readonly host: string;
      readonly line: number;
      readonly source: string;
      readonly deniedToNamed: readonly { readonly agent: string; readonly urls: number }[];
    }[];
  };
}

/** Hosts by what is allowed of their URLs. */
function extents(hosts: ReadonlyMap<string, ReadonlySet<string>>): object {
  const counts = { all: 0, part: 0, none: 0 };
  for (const verdicts of hosts.values()) {
    counts[verdicts.size > 1 ? 'part' : verdicts.has('allow') ? 'all' : 'none']++;
  }
  return counts;
}

interface Row {
  readonly url: string;
  readonly time: string;
  readonly userAgent: string | undefined;
  readonly agent: string;
}

const rows: Row[] = [];

beforeAll(async () => {
  const random = new Random(41);
  for (let index = 0; index < cases(500); index++) {
    const isMissing = random.chance(0.05);
    const [userAgent, agent] = random.pick(USER_AGENTS);
    const path = random.pick(['/a', '/b', '/c', '/robots.txt']);
    const url = random.chance(0.08) ? 'no url' : `https://${random.pick(HOSTS)}${path}`;
    const time = `2025-0${random.between(1, 6)}-10T12:00:00Z`;
    // Sorted lists of URLs have runs of one authority.
    const last = rows.at(-1);
    const isSame = last !== undefined && random.chance(0.3);
    rows.push({
      url: isSame ? last.url : url,
      time,
      userAgent: isMissing ? undefined : userAgent,
      agent: isMissing ? '*' : agent,
    });
  }
  const records = HOSTS.slice(0, 3).flatMap((host, at) => [
    { host, robots: GROUPS[at], fetched: '2025-01-01' },
    { host, robots: GROUPS[(at + 1) % 3], fetched: '2025-04-01' },
  ]);
  place.write('robots.ndjson', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const objects = rows.map(({ url, time, userAgent }) => ({
    http: { ua: 'GPTBot' },
    url,
    request: userAgent === undefined ? { size: 3 } : { 'user-agent': userAgent, size: 3 },
    time,
  }));
  const lines = objects.map((object, at) => {
    const json = JSON.stringify(object);
    return at % 3 === 0 ? json.replaceAll('Bot', '\\u0042ot') : json;
  });
  place.write('f.ndjson', lines.map((line) => `${line}\n`).join(''));
  place.write('f.json', `[${lines.join(',\n')}]`);
  place.write('f.cdxj', lines.map((line) => `k 20250310120000 ${line}\n`).join(''));
  const field = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const cells = rows.map(({ url, time, userAgent = '' }) => [url, userAgent, time]);
  place.write('f.csv', ['url,ua,time', ...cells.map((row) => row.map(field).join())].join('\n'));
  place.write(
    'f.tsv',
    ['url\tua\ttime', ...cells.map((row) => row.map(field).join('\t'))].join('\r\n'),
  );
  for (const words of ['-o t.table', '--shards 3 -o t', '--history -o h.table']) {
    const { code } = await place.run(`compile -q --robots-dir robots.ndjson ${words}`);
    expect(code).toBe(0);
  }
});

afterAll(() => place.remove());

async function run(words: string): Promise<string[]> {
  const { code, text, stderr } = await place.run(`${words} -q`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return text === '' ? [] : text.trimEnd().split('\n');
}

/** The verdict of each record in a run that asks for all agents. */
async function expected(words: string): Promise<string[]> {
  const lines = await run(`${words} -a ${AGENTS.join()} --format verdicts f.ndjson`);
  return lines.map((line, at) => line.split(',')[AGENTS.indexOf(rows[at]?.agent ?? '')] ?? '');
}

const FORMATS: readonly (readonly [file: string, field: string])[] = [
  ['f.ndjson', 'request.user-agent'],
  ['f.json', 'request.user-agent'],
  ['f.cdxj', 'request.user-agent'],
  ['f.csv', 'ua'],
  ['f.tsv', '2'],
];

describe('records that name their agents', () => {
  test('the cases are not vacuous', async () => {
    const verdicts = await expected('--table t.table');
    for (const agent of AGENTS) {
      const own = new Set(verdicts.filter((_, at) => rows[at]?.agent === agent));
      // No group names the one that disregards `*`.
      const denied = agent.endsWith(':') ? [] : ['deny'];
      expect([agent, own]).toEqual([agent, new Set(['allow', ...denied, 'unknown', 'invalid'])]);
    }
  });

  test.each(FORMATS)('are judged for them: %s', async (file, field) => {
    const asked = `--agent-field ${field} --format verdicts ${file}`;
    const verdicts = await expected('--table t.table');
    expect(await run(`--table t.table ${asked}`)).toEqual(verdicts);
    expect(await run(`--table t ${asked}`)).toEqual(verdicts);
    expect(await run(`--table t.table --threads 2 ${asked}`)).toEqual(verdicts);
    expect(await run(`--robots-dir robots.ndjson ${asked}`)).toEqual(verdicts);
    expect(await run(`--table t.table --profile rfc9309 ${asked}`)).toEqual(verdicts);
  });

  test.each(FORMATS)('at their own times: %s', async (file, field) => {
    const time = file === 'f.cdxj' ? 'timestamp' : 'time';
    const asked = `--agent-field ${field} --format verdicts ${file}`;
    const verdicts =
      file === 'f.cdxj'
        ? await expected('--table h.table --as-of 2025-03-10T12:00:00Z')
        : await expected('--table h.table --time-field time');
    expect(await run(`--table h.table --time-field ${time} ${asked}`)).toEqual(verdicts);
    const ever = await expected('--table h.table --in-force ever');
    expect(await run(`--table h.table --in-force ever ${asked}`)).toEqual(ever);
  });

  test('in the google profile', async () => {
    const google = '--robots-dir robots.ndjson --profile google';
    const own = await run(`${google} --agent-field ua --format verdicts f.csv`);
    expect(own).toEqual(await expected(google));
  });

  test('as Parquet, with the agent of each explanation', async () => {
    const rowsOf = async (words: string): Promise<unknown[]> =>
      (await run(words)).map((line) => JSON.parse(line) as unknown);
    await run('--table t.table --agent-field ua --explain --format parquet -o f.parquet f.csv');
    const columns = await rowsOf('--table t.table --verdict-field v f.parquet');
    const members = await rowsOf(
      '--table t.table --agent-field ua --explain --format ndjson f.csv',
    );
    expect(columns.length).toBe(members.length);
    const written = await rowsOf(
      '--table t.table --format ndjson --agent-field judged_as f.parquet',
    );
    expect(written.map((row) => (row as { verdict: string }).verdict)).toEqual(
      await expected('--table t.table'),
    );
    // Parquet in and out: the columns stay.
    await run(
      '--table t.table --agent-field judged_as --verdict-field v --explain -o g.parquet f.parquet',
    );
    const again = await rowsOf(
      '--table t.table --agent-field v_judged_as --format ndjson g.parquet',
    );
    expect(again).toEqual(
      written.map((row) => {
        const { judged_as, ...others } = row as Named;
        return { ...others, v_judged_as: judged_as };
      }),
    );
  });

  test('come out with the agent that was judged', async () => {
    const lines = await run('--table t.table --agent-field request.user-agent --explain f.ndjson');
    const members = lines.map(
      (line) => JSON.parse(line) as { verdict: string; judged_as: unknown },
    );
    expect(members.map(({ judged_as }) => judged_as)).toEqual(
      rows.map(({ url, agent }) => (url === 'no url' ? null : agent)),
    );
    const [header = '', ...csv] = await run('--table t.table --agent-field ua --explain f.csv');
    expect(header.split(',').slice(3)).toEqual(
      ['', '_reason', '_line', '_rule', '_agent', '_source', '_judged_as'].map(
        (end) => `verdict${end}`,
      ),
    );
    expect(csv.map((line) => line.split(',').at(-1))).toEqual(
      rows.map(({ url, agent }) => (url === 'no url' ? '' : agent)),
    );
  });

  test('are counted by agent', async () => {
    const verdicts = await expected('--table t.table');
    const counts = new Map<string, number[]>();
    rows.forEach(({ url, agent }, at) => {
      const key = url === 'no url' ? '' : agent;
      const own = counts.get(key) ?? [0, 0, 0, 0, 0];
      const column = ['allow', 'deny', 'unknown', 'invalid'].indexOf(verdicts[at] ?? '') + 1;
      counts.set(
        key,
        own.map((count, index) => count + (index === 0 || index === column ? 1 : 0)),
      );
    });
    for (const threads of [1, 2]) {
      const words = `--table t.table --agent-field ua --stats-by agent --threads ${threads}`;
      const [header, ...lines] = await run(`${words} --format csv f.csv`);
      expect(header).toBe('agent,records,allow,deny,unknown,invalid');
      expect(
        new Map(lines.map((line) => [line.split(',')[0], line.split(',').slice(1).map(Number)])),
      ).toEqual(counts);
      const sums = lines.slice(0, -1).map((line) => Number(line.split(',')[1]));
      expect(sums).toEqual(sums.toSorted((a, b) => b - a));
    }
    const { stderr } = await place.run('--table t.table --agent-field ua --format verdicts f.csv');
    const unnamed = rows.filter(({ url, agent }) => agent === '*' && url !== 'no url').length;
    expect(stderr).toContain(
      `${unnamed.toLocaleString('en')} of ${rows.length.toLocaleString('en')} records name no crawler in "ua", and were judged for *`,
    );
  });

  test.each([
    ['--table t.table', 'ndjson'],
    ['--table t', 'ndjson'],
    ['--table t.table --threads 2', 'ndjson'],
    ['--table t.table --unknown deny', 'csv'],
    ['--table h.table --in-force ever', 'ndjson'],
    ['--robots-dir robots.ndjson --profile google', 'csv'],
  ])('are reported as their rows have them, and as runs for each: %s', async (words, format) => {
    const asked = `${words} --agent-field ${format === 'csv' ? 'ua' : 'request.user-agent'}`;
    const lines = await run(`${asked} --explain --report r.json --format ndjson f.${format}`);
    const report = JSON.parse(place.read('r.json')) as Report;
    const own = new Map<string, Counts>();
    const rules = new Map<string, Map<string, number>>();
    lines.forEach((line, at) => {
      const { verdict, reason, rule, judged_as: agent } = JSON.parse(line) as Explained;
      if (agent === null) return;
      const counts = own.get(agent) ?? { urls: { ...NONE }, hosts: new Map() };
      own.set(agent, counts);
      counts.urls[verdict]++;
      const { hostname } = new URL(rows[at]?.url ?? '');
      if (reason !== 'unknown-host') {
        counts.hosts.set(hostname, (counts.hosts.get(hostname) ?? new Set()).add(verdict));
      }
      if (verdict !== 'deny' || rule == null) return;
      const key = `${hostname} ${rule.line} ${rule.source}`;
      const ofRule = rules.get(key) ?? new Map<string, number>();
      rules.set(key, ofRule.set(agent, (ofRule.get(agent) ?? 0) + 1));
    });
    const { named, denying, agents } = report;
    expect(named.others).toBeNull();
    expect(new Map(named.agents.map(({ agent, urls, hosts }) => [agent, { urls, hosts }]))).toEqual(
      new Map([...own].map(([agent, { urls, hosts }]) => [agent, { urls, hosts: extents(hosts) }])),
    );
    const denied = named.agents.map(({ urls }) => urls.deny).slice(0, -1);
    expect(denied).toEqual(denied.toSorted((a, b) => b - a));
    expect(named.agents.at(-1)?.agent).toBe('*');
    const all = named.agents.reduce((sum, { urls }) => sum + urls.deny, 0);
    expect(all).toBe(agents[0]?.urls.deny);
    expect(denying.missed).toBe(0);
    const ofRules = new Map<string, Map<string, number>>();
    for (const { host, line, source, deniedToNamed } of denying.rules) {
      // With times, several versions of a robots.txt may have the line.
      const key = `${host} ${line} ${source}`;
      const ofRule = ofRules.get(key) ?? new Map<string, number>();
      for (const { agent, urls } of deniedToNamed) {
        ofRule.set(agent, (ofRule.get(agent) ?? 0) + urls);
      }
      ofRules.set(key, ofRule);
    }
    expect(ofRules.size).toBeGreaterThan(3);
    expect(ofRules).toEqual(rules);
    // And as a run for each agent has them, over its records alone.
    for (const { agent, urls } of named.agents) {
      const records = readFileSync(join(place.path, 'f.ndjson'), 'utf8').split('\n');
      const of = records.filter((_, at) => rows[at]?.agent === agent && rows[at]?.url !== 'no url');
      place.write('own.ndjson', of.map((line) => `${line}\n`).join(''));
      const verdicts = await run(`${words} -a ${agent} --format verdicts own.ndjson`);
      const counted = { ...NONE };
      for (const verdict of verdicts) counted[verdict as keyof typeof NONE]++;
      expect([agent, counted]).toEqual([agent, urls]);
    }
  });

  test('beyond those that a report shows are gathered, and counted once at each host', async () => {
    const name = (at: number): string =>
      `bot${'abcdefghij'[at % 10]}${'klmnopqrst'[Math.floor(at / 10)]}`;
    // Each is denied /a once more than the next, and the last four are denied nothing.
    const lines = Array.from({ length: 100 }, (_, at) =>
      Array.from({ length: 100 - at }, () => ['https://a.example/a', name(at)]),
    ).flat();
    for (const bot of ['w', 'x', 'y', 'z']) {
      lines.push(['https://b.example/y', bot], ['https://c.example/x', bot]);
    }
    place.write('more.csv', ['url,ua', ...lines.map((line) => line.join())].join('\n'));
    for (const threads of [1, 2]) {
      await run(
        `--table t.table --agent-field ua --threads ${threads} --report r.json -o more.out more.csv`,
      );
      const { named } = JSON.parse(place.read('r.json')) as Report;
      expect(named.agents.map(({ agent, urls }) => [agent, urls.deny])).toEqual(
        Array.from({ length: 100 }, (_, at) => [name(at), 100 - at]),
      );
      expect(named.others).toEqual({
        agents: 4,
        urls: { ...NONE, allow: 8 },
        hosts: { all: 2, part: 0, none: 0 },
      });
    }
    await run('--table t.table --agent-field ua --report r.html -o more.out more.csv');
    expect(place.read('r.html')).toContain(
      'The 100 crawlers with most denied URLs have figures of their own; the 4 others are counted together.',
    );
  });

  test('whose values are more than the register holds', async () => {
    const count = 20_000;
    const lines = Array.from({ length: count }, (_, at) => {
      const name = [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
      const [userAgent = ''] = USER_AGENTS[at % 4] ?? [];
      return {
        url: 'https://a.example/b',
        agent: at % 2 === 0 ? `${name}/1.0` : `${userAgent} ${name}/1`,
      };
    });
    place.write('many.ndjson', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const words = '--table t.table --agent-field agent';
    const verdicts = await run(`${words} --format verdicts many.ndjson`);
    expect(verdicts).toEqual(lines.map((_, at) => (at % 4 === 3 ? 'allow' : 'deny')));
    const { text, stderr } = await place.run(`${words} --stats-by agent --format csv many.ndjson`);
    expect(text.split('\n')).toHaveLength(8190 + 1 + 1 + 1 + 1);
    expect(stderr).toContain('names more agents, or longer names, than are counted apart');
    const sum = text
      .trim()
      .split('\n')
      .slice(1)
      .reduce((total, line) => total + Number(line.split(',')[1]), 0);
    expect(sum).toBe(count);
  });

  test('whose names are as long as is counted apart, and a byte longer', async () => {
    const names = ['a', 'b'].flatMap((end) => [92, 93].map((bytes) => end.padStart(bytes, 'x')));
    const line = (agent: string): string => JSON.stringify({ url: 'https://a.example/b', agent });
    place.write('long.ndjson', names.map(line).join('\n'));
    const words = '--table t.table --agent-field agent --stats-by agent --format csv long.ndjson';
    const { text, stderr } = await place.run(words);
    const counts = text.split('\n').map((row) => row.split(',').slice(0, 2).join());
    expect(counts).toContain(`${names[0]},1`);
    expect(counts).toContain(`${names[2]},1`);
    expect(counts).toContain(',2');
    expect(stderr).toContain('the row without an agent has 2 records of such agents');
  });
});

test('in a table that lies in several memories', async () => {
  const table = await readTable(join(place.path, 't'), { bankBytes: 1 });
  expect(table.banks.length).toBeGreaterThan(1);
  const settings: FilterSettings = {
    agents: [{ name: 'all', chain: ['*'] }],
    agentField: ['request', 'user-agent'],
    knownAgents: knownAgents(),
    output: 'annotate',
    unknown: 'unknown',
    explain: true,
    strict: false,
    urlField: ['url'],
    verdictField: undefined,
    maxLineBytes: 1 << 20,
    countHosts: false,
    countByHost: true,
    countByRule: true,
  };
  const input = readFileSync(join(place.path, 'f.ndjson'));
  const expected = await run('--table t.table --agent-field request.user-agent --explain f.ndjson');
  const pool = new Pool({ threads: 2 });
  const whole = await readTable(join(place.path, 't'));
  const drawn = { format: 'ndjson', input, settings, pool, batchBytes: 1 << 16 } as const;
  const { counts: ofWhole } = await filterCase(whole, place.path, { ...drawn, toFile: true });
  expect(ofWhole).toMatchObject({ named: expect.any(Array), rules: { missed: 0 } });
  for (const [toFile, batchBytes] of [
    [true, 4096],
    [false, 1 << 16],
  ] as const) {
    const sized = { ...drawn, toFile, batchBytes };
    const { output, error, counts } = await filterCase(table, place.path, sized);
    expect(error).toBeUndefined();
    expect(Buffer.from(output, 'latin1').toString().trimEnd().split('\n')).toEqual(expected);
    expect(counts).toEqual(ofWhole);
  }
  // With few counters some are dropped: hosts are then not counted, and the records are.
  const few = { ...drawn, settings: { ...settings, ruleEntries: 4 }, toFile: true };
  const { counts: dropped, error } = await filterCase(whole, place.path, few);
  expect(error).toBeUndefined();
  expect(dropped).toMatchObject({
    named: undefined,
    tally: (ofWhole as { tally: object }).tally,
  });
  await pool.close();
});

test('known agents come from --agents-file', async () => {
  place.write(
    'mine.json',
    JSON.stringify([{ token: 'Tom', purpose: 'mine', published: 'Uncle Tom' }]),
  );
  place.write(
    'one.ndjson',
    '{"url":"https://c.example/c","a":"Mozilla/5.0 (Uncle Tom; GPTBot/1)"}\n',
  );
  const words = '--table t.table --agent-field a --explain one.ndjson';
  expect(JSON.parse((await run(words))[0] ?? '')).toMatchObject({
    verdict: 'allow',
    judged_as: 'GPTBot',
  });
  const mine = await run(`${words} --agents-file mine.json`);
  expect(JSON.parse(mine[0] ?? '')).toMatchObject({ verdict: 'deny', judged_as: 'Tom' });
  expect(knownAgents().some(({ token }) => token === 'Tom')).toBe(false);
});

test.each([
  ['--agent-field a -a GPTBot f.ndjson', '--agent-field and --agent both say'],
  ['--agent-field a --use train f.ndjson', '--agent-field and --use'],
  ['--agent-field a --preferences f.ndjson', '--agent-field and --preferences'],
  ['--agent-field url f.ndjson', 'both name url'],
  ['--agent-field a --input text f.ndjson', '--agent-field has no effect on text'],
  ['--agent-field a urls.txt', '--agent-field has no effect on it'],
  ['--agent-field nope f.csv', 'there is no column called nope'],
])('%s is refused', async (words, message) => {
  place.write('urls.txt', 'https://a.example/\n');
  const { code, stderr } = await place.run(`--table t.table ${words}`);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});

test('a table of some agents alone is refused', async () => {
  await run('compile --robots-dir robots.ndjson -a GPTBot -o g.table');
  const { code, stderr } = await place.run('--table g.table --agent-field a f.ndjson');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining(
      'was compiled for some agents only, and --agent-field asks for any',
    ),
  });
});
