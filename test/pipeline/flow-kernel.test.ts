import { afterAll, describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { TABLE_ADDRESS } from '../../src/judge/table-memory.js';
import { kernelModule } from '../../src/kernel/kernel.js';
import { encodeQuery, queryBytes } from '../../src/kernel/query.js';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import { Run } from '../../src/pipeline/run.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { MainThread } from '../../src/workers/main-thread.js';
import type { Executor } from '../../src/workers/messages.js';
import { Pool } from '../../src/workers/pool.js';
import { every } from '../random/cases.js';
import { TemporaryFiles, throughFiles, throughPipe, throughStreams } from './flow-harness.js';

const files = new TemporaryFiles();
const pools: readonly Executor[] = [
  new MainThread(),
  ...[1, 2, 3, 4].map((threads) => new Pool({ threads, reader: true })),
];

afterAll(async () => {
  for (const pool of pools) await pool.close();
  files.remove();
});

const ROBOTS = {
  'example.com': 'User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\nAllow: /private/open',
  'other.example': 'User-agent: ExampleBot\nDisallow: /\n\nUser-agent: *\nAllow: /',
};

const RECORDS = [
  '{"url":"https://example.com/private/a","id":1}',
  '{"id":2,"nested":{"url":"x"},"url":"https://example.com/a.pdf"}',
  '',
  'no object',
  '{"url":"https:\\/\\/example.com\\/private\\/open"}\r',
  '{"id":3}',
  `{"url":"https://other.example/${'p'.repeat(60)}"}`,
  '{"url":"https://unknown.example/"}',
  `{"url":"https://example.com/${'long'.repeat(35)}"}`,
  '{"url":"gopher://example.com/"}',
  '{"url":"https://other.example/last"}',
].join('\n');
const URLS = [
  'https://example.com/private/a',
  '',
  'https://example.com/a.pdf\r',
  'no URL',
  `https://other.example/${'p'.repeat(60)}`,
  'https://unknown.example/',
  `https://example.com/${'long'.repeat(35)}`,
  'https://other.example/last',
].join('\n');

function tableOf(files: Record<string, string>): Table {
  const builder = new TableBuilder({ profile: 'rfc9309' });
  for (const [name, body] of Object.entries(files)) {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(`${name} is not an authority`);
    builder.add(authority, new TextEncoder().encode(body), { source: name, status: undefined });
  }
  return Table.from(builder.build());
}

const table = tableOf(ROBOTS);

/** A flow of the real kernel over the robots.txt files above. */
function flowOver(pool: Executor, batchBytes: number, settings: Partial<QuerySettings>): Run {
  const { arena, view } = tableMemory(table);
  const whole: QuerySettings = {
    google: false,
    agents: [{ name: 'ExampleBot', chain: ['ExampleBot'] }],
    format: 'ndjson',
    output: 'annotate',
    unknown: 'unknown',
    explain: false,
    strict: false,
    maxLineBytes: 130,
    urlField: ['url'],
    verdictField: undefined,
    anyHost: 0,
    seenSlots: 0,
    ...settings,
  };
  const { address } = arena.take(queryBytes(whole));
  const { query, bytes } = encodeQuery(
    whole,
    address,
    TABLE_ADDRESS,
    (token) => view.shards[0]?.tokenNumber(token) ?? -1,
  );
  new Uint8Array(arena.memory.buffer).set(bytes, address);
  return new Run({ pool, arena, module: kernelModule(), query, batchBytes, slots: 3 });
}

/** The options of a run, and the interval of the places at which its input is split. */
const ASKED: readonly [string, string, Partial<QuerySettings>, number][] = [
  ['NDJSON', RECORDS, {}, every(5)],
  ['NDJSON with explanations', RECORDS, { explain: true }, every(10)],
  ['NDJSON that is denied', RECORDS, { output: 'denied' }, every(10)],
  ['text', URLS, { format: 'text' }, every(5)],
  ['text with explanations', URLS, { format: 'text', explain: true }, every(10)],
];

describe('the kernel in a flow', () => {
  for (const [name, input, settings, step] of ASKED) {
    it(`gives the same output for ${name}, split at many bytes, on the main thread and on 1 to 4 others`, async () => {
      const [single = pools[0]] = pools;
      if (single === undefined) throw new Error('no pool');
      const expected = await throughFiles(flowOver(single, 1 << 16, settings), files, input);
      expect(expected.split('\n').length).toBeGreaterThan(4);
      if (settings.output === undefined) {
        expect(expected).toMatch(/invalid/);
        expect(expected).toMatch(/deny/);
        expect(expected).toMatch(/unknown/);
      }
      for (const [index, pool] of pools.entries()) {
        const flow = flowOver(pool, 100, settings);
        for (let cut = 1 + step * index; cut <= input.length; cut += step * pools.length) {
          const parts = [input.slice(0, cut), input.slice(cut)].filter((part) => part !== '');
          const streams = await throughStreams(flow, parts);
          expect(streams, `a stream cut at ${cut}`).toBe(expected);
          const sized = flowOver(pool, cut, settings);
          const batches = await throughFiles(sized, files, input);
          expect(batches, `a file in batches of ${cut}`).toBe(expected);
          await sized.close();
        }
        if (pool.mayBlock) {
          const cut = 50 * pool.threads;
          const parts = [input.slice(0, cut), input.slice(cut)];
          const pipe = await throughPipe(flow, files, parts);
          expect(pipe, `a pipe cut at ${cut}`).toBe(expected);
        }
        await flow.close();
      }
    });
  }
});

describe('records as large as a batch or the line limit, or a byte larger', () => {
  const BATCH = 1024;
  const LIMIT = 3000;
  const SIZES = [BATCH, 2 * BATCH, LIMIT].flatMap((size) =>
    [-2, -1, 0, 1, 2].map((by) => size + by),
  );
  /** The bytes before and after the repeated bytes of a record. */
  const SHAPES: readonly (readonly [string, string])[] = [
    ['{"url":"HTTP:\\/\\/example.com?', '"}'],
    ['{"url":"http:\\/\\/u@EXAMPLE.com\\\\private\\\\..\\\\', '.pdf"}'],
    ['{"url":"https://example.com/private/\\u0009', '"}'],
    ['{"url":"https://example.com/a?', '#.pdf"}'],
    ['{"\\u0075rl":"https://%65xample.com/./', '.pdf"}'],
  ];
  const records = SIZES.flatMap((size) =>
    SHAPES.flatMap(([before, after], index) => [
      `{"url":"https://example.com/private/${size}/${index}"}`,
      before + '<'.repeat(size - before.length - after.length) + after,
      `{"url":"https://example.com/${size}/${index}"}`,
    ]),
  );
  const expected = records.map((record) => {
    if (record.length > LIMIT) return undefined;
    const { url } = JSON.parse(record) as { url: string };
    return `${record.slice(0, -1)},"verdict":"${table.verdict(url, 'ExampleBot').verdict}"}`;
  });

  it('are all judged in order, and change no other record', async () => {
    expect(expected.filter((output) => output?.includes('"deny"')).length).toBeGreaterThan(80);
    expect(expected.filter((output) => output === undefined)).toHaveLength(2 * SHAPES.length);
    for (const pool of pools) {
      const flow = flowOver(pool, BATCH, { maxLineBytes: LIMIT });
      const input = records.join('\n');
      const outputs = [
        await throughFiles(flow, files, input),
        await throughStreams(flow, [input.slice(0, 5000), input.slice(5000)]),
        ...(pool.mayBlock
          ? [await throughPipe(flow, files, [input.slice(0, 7), input.slice(7)])]
          : []),
      ];
      for (const output of outputs) {
        const lines = output.split('\n');
        expect(lines.pop()).toBe('');
        expect(lines).toHaveLength(records.length);
        lines.forEach((line, index) => {
          if (expected[index] === undefined) expect(line).toMatch(/^\{"verdict":"invalid","line":/);
          else if (line !== expected[index]) expect(line).toBe(expected[index]);
        });
      }
      await flow.close();
    }
  });
});
