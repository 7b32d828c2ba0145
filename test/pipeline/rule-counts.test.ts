import { Readable, Writable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { DecidedRules } from '../../src/inspect/host-order.js';
import { ruleText } from '../../src/inspect/host-report.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import type { RuleCounts, WantedRules } from '../../src/pipeline/counts.js';
import { Filter } from '../../src/pipeline/filter.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { MainThread } from '../../src/workers/main-thread.js';
import type { Executor } from '../../src/workers/messages.js';
import { Pool } from '../../src/workers/pool.js';
import { Random } from '../random/random.js';

const AGENTS = ['GPTBot', 'CCBot'];
const HOSTS = 60;

const random = new Random(28);
const table = tableOf();
const urls = Array.from({ length: 6_000 }, () => {
  const host = random.chance(0.4) ? 0 : random.between(0, HOSTS - 1);
  return `https://h${host}.example/${random.pick(['a', 'b', 'c', 'ab', 'q', ''])}`;
});
const pool = new Pool({ threads: 2 });
afterAll(() => pool.close());

function tableOf(): Table {
  const builder = new TableBuilder();
  for (let host = 0; host < HOSTS; host++) {
    const group = host % 3 === 0 ? 'User-agent: CCBot\nDisallow: /b\nAllow: /a\n\n' : '';
    const body = `${group}User-agent: *\nDisallow: /a\nAllow: /ab\nDisallow: /c\n`;
    const authority = parseAuthority(host === 5 ? 'https://h5.example' : `h${host}.example`);
    if (authority === undefined) throw new Error('no authority');
    builder.add(authority, Buffer.from(body), { source: `h${host}` });
  }
  return Table.from(builder.build());
}

/** The URLs that each rule decided, asked one by one. */
function expected(from = table, asked = urls): Map<string, number> {
  const counts = new Map<string, number>();
  for (const url of asked) {
    for (const agent of AGENTS) {
      const { rule, verdict } = from.verdict(url, agent);
      if (rule === undefined) continue;
      const key = `${agent} ${new URL(url).hostname} ${rule.line} ${verdict} ${rule.text}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

interface Counting {
  readonly ruleEntries?: number;
  readonly wanted?: WantedRules;
  readonly asked?: readonly string[];
  readonly from?: Table;
}

async function counted(
  executor: Executor,
  { ruleEntries, wanted, asked = urls, from = table }: Counting = {},
): Promise<RuleCounts> {
  const filter = new Filter({
    table: tableMemory(from),
    pool: executor,
    settings: {
      agents: AGENTS.map((agent) => parseAgent(agent, 'rfc9309')),
      output: 'verdicts',
      unknown: 'unknown',
      explain: false,
      strict: false,
      urlField: ['url'],
      verdictField: undefined,
      maxLineBytes: 1000,
      countHosts: false,
      countByRule: true,
      ...(ruleEntries === undefined ? {} : { ruleEntries }),
    },
  });
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const stream = Readable.from([Buffer.from(asked.join('\n'))]);
  await filter.run({ kind: 'stream', name: 'urls', stream, format: 'text' }, nowhere);
  const counts = filter.ruleCounts(wanted);
  await filter.close();
  return counts;
}

function named({ rules }: RuleCounts, from = table): Map<string, number> {
  const decided = new DecidedRules(tableMemory(from).view);
  return new Map(
    rules.map(({ version, line, agent, allow, count }) => {
      const { host, rule } = decided.find({ version, line });
      const verdict = allow ? 'allow' : 'deny';
      expect(rule.allow).toBe(allow);
      return [`${AGENTS[agent]} ${host.host} ${line} ${verdict} ${ruleText(rule)}`, count];
    }),
  );
}

const sorted = (counts: ReadonlyMap<string, number>) => [...counts].sort();

test('the counts of rules are those of single verdicts, on one thread and on two', async () => {
  const all = expected();
  expect(all.size).toBeGreaterThan(HOSTS * 4);
  for (const executor of [new MainThread(), pool]) {
    const counts = await counted(executor);
    expect(counts.missed).toBe(0);
    expect(sorted(named(counts))).toEqual(sorted(all));
  }
});

test('the rules with the greatest counts are among those that are wanted, with their whole counts', async () => {
  const all = await counted(pool);
  const greatest = (rules: readonly number[], top: number): number[] =>
    [...rules].sort((a, b) => b - a).slice(0, top);
  for (const executor of [new MainThread(), pool]) {
    for (const top of [1, 3, 20, 1000]) {
      const ofEach = await counted(executor, { wanted: { top, by: 'agent', denying: false } });
      for (const agent of AGENTS.keys()) {
        const [found, expected] = [ofEach, all].map(({ rules }) =>
          greatest(
            rules.flatMap((each) => (each.agent === agent ? each.count : [])),
            top,
          ),
        );
        expect(found).toEqual(expected);
      }
      const denying = await counted(executor, { wanted: { top, by: 'sum', denying: true } });
      const [found, expected] = [denying, all].map(({ rules }) => {
        const sums = new Map<string, number>();
        for (const { allow, version, line, count } of rules) {
          const key = `${version} ${line}`;
          if (!allow) sums.set(key, (sums.get(key) ?? 0) + count);
        }
        return greatest([...sums.values()], top);
      });
      expect(found).toEqual(expected);
      if (top === 1) expect(denying.rules.length).toBeLessThan(all.rules.length / 4);
    }
  }
});

test('the counters grow with the rules, and find each rule again', async () => {
  const rules = 2_900;
  const many = new Random(31);
  const builder = new TableBuilder();
  for (const host of ['one', 'two']) {
    const lines = Array.from({ length: rules }, (_, rule) => {
      return `${many.chance(0.5) ? 'Disallow' : 'Allow'}: /${rule}/`;
    });
    const authority = parseAuthority(`${host}.example`);
    if (authority === undefined) throw new Error('no authority');
    builder.add(authority, Buffer.from(`User-agent: *\n${lines.join('\n')}\n`));
  }
  const large = Table.from(builder.build());
  const urlOf = (rule: number): string =>
    `https://${rule < rules ? 'one' : 'two'}.example/${rule % rules}/`;
  const first = Array.from({ length: 2 * rules }, (_, rule) => urlOf(rule));
  const drawn = Array.from({ length: 8_000 }, () => urlOf(many.between(0, 2 * rules - 1)));
  const asked = [...first, ...drawn];
  const all = expected(large, asked);
  expect(all.size).toBe(AGENTS.length * 2 * rules);
  for (const executor of [new MainThread(), pool]) {
    // A counter that is not found again would be counted as another rule: then there is no room.
    const counts = await counted(executor, { asked, from: large });
    expect(counts.missed).toBe(0);
    expect(sorted(named(counts, large))).toEqual(sorted(all));
  }
  const fewer = await counted(new MainThread(), { ruleEntries: 2 ** 13, asked, from: large });
  expect(fewer.missed).toBeGreaterThan(0);
});

test('with little room, no count is too high, or lacks more than is said', async () => {
  const all = expected();
  for (const entries of [8, 64, 256]) {
    const counts = await counted(new MainThread(), { ruleEntries: entries });
    const found = named(counts);
    expect(counts.missed).toBeGreaterThan(0);
    expect(found.size).toBeLessThanOrEqual(entries);
    let isLower = false;
    for (const [rule, count] of all) {
      const there = found.get(rule) ?? 0;
      expect(there).toBeLessThanOrEqual(count);
      expect(there + counts.missed).toBeGreaterThanOrEqual(count);
      isLower ||= there < count;
    }
    expect(isLower).toBe(true);
    for (const rule of found.keys()) expect(all.has(rule)).toBe(true);
  }
  const few = await counted(new MainThread(), { ruleEntries: 64 });
  expect(few.missed).toBeLessThan(urls.length);
});
