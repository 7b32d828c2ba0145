import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTable } from '../../src/judge/open-table.js';
import type { TableMemory } from '../../src/judge/table-memory.js';
import type { FilterSettings } from '../../src/pipeline/filter.js';
import { RecordSayings } from '../../src/pipeline/output/record-sayings.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { MainThread } from '../../src/workers/main-thread.js';
import { Pool } from '../../src/workers/pool.js';
import { Workplace } from '../cli/command-line.js';
import { hostileFile } from '../hostile/file.js';
import { FIXTURES, fixturePath } from '../parquet/parquet-fixtures.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { drawnInput, SPECIAL, type Special } from './drawn-input.js';
import { type FilterCase, filterCase } from './filter-case.js';

const SHARDS = 7;
const HOSTS = 60;
const FORMATS = ['text', 'ndjson', 'json', 'csv', 'tsv'] as const;

const pool = new Pool({ threads: 2 });
const place = new Workplace(false);
const urls: string[] = [];
/** The table in one memory, and in 2, 3 and 7. */
let whole: TableMemory;
const divided: TableMemory[] = [];

beforeAll(async () => {
  const random = new Random(71);
  const records: string[] = [];
  for (let number = 0; number < HOSTS; number++) {
    const host = `h${number}.example`;
    const { robots, urls: drawn } = hostileFile(random, 'rfc9309', { urls: 6, chains: 1 });
    const more = `\nContent-Usage: train-ai=${random.pick(['y', 'n'])}\nsitemap: https://x.example/\n`;
    const text = Buffer.from(robots + more, 'latin1').toString('base64');
    records.push(JSON.stringify({ host, robots_base64: text }));
    for (const url of drawn) {
      const path = url.slice(Math.max(0, url.indexOf('/', url.indexOf('//') + 2)));
      urls.push(`https://${host}${path}`, `http://${host}${path}`);
      if (random.chance(0.2)) urls.push(url.replaceAll(/[\r\n]/g, ''), `https://no.example${path}`);
    }
  }
  for (const host of ['shop.example', 'blog.example']) {
    const text = Buffer.from('User-agent: *\nDisallow: /cart/\n').toString('base64');
    records.push(JSON.stringify({ host, robots_base64: text }));
  }
  place.write('robots.ndjson', `${records.join('\n')}\n`);
  const words = ['compile', '-q', '--records', '--robots-dir', 'robots.ndjson'];
  const { stderr } = await place.run([...words, '--shards', String(SHARDS), '-o', 'parts']);
  expect(stderr).toBe('');
  const path = join(place.path, 'parts');
  whole = await readTable(path);
  for (const banks of [2, 3, SHARDS]) {
    const bytes = banks === SHARDS ? 1 : Math.ceil((whole.header.length * 1.5) / banks);
    divided.push(await readTable(path, { bankBytes: bytes }));
  }
});

afterAll(async () => {
  await pool.close();
  place.remove();
});

/** Filters a case by the table in one memory and in several, and compares everything. */
async function compare(drawn: FilterCase): Promise<string> {
  // Nothing depends on where batches end.
  const expected = await filterCase(whole, place.path, { ...drawn, batchBytes: 1 << 16 });
  for (const table of divided) {
    const found = await filterCase(table, place.path, drawn);
    const { format, settings, batchBytes } = drawn;
    const about = [table.banks.length, format, batchBytes, JSON.stringify(settings)];
    expect([...about, found]).toEqual([...about, expected]);
  }
  return expected.output;
}

function settingsOf(random: Random, maxLineBytes: number): FilterSettings {
  const agents = random.pick([['a-bot'], ['a-bot', 'b_bot>K'], ['*', 'a-bot', 'zzz']]);
  const output = random.pick(['annotate', 'annotate', 'allowed', 'denied', 'verdicts'] as const);
  const parsed = agents.map((agent) => parseAgent(agent, 'rfc9309'));
  const outputFormat = random.pick([undefined, undefined, 'text', 'ndjson', 'csv'] as const);
  const hasPreferences = output === 'annotate' && random.chance(0.2);
  return {
    agents: parsed,
    output: random.chance(0.1) ? 'mask-ndjson' : output,
    outputFormat: output === 'verdicts' ? undefined : outputFormat,
    unknown: random.pick(['allow', 'deny', 'unknown']),
    explain: output === 'annotate' && random.chance(0.5),
    strict: random.chance(0.15),
    urlField: ['url'],
    verdictField: undefined,
    maxLineBytes,
    countHosts: random.chance(0.5),
    countByHost: random.chance(0.5),
    countByRule: random.chance(0.5),
    sayings: hasPreferences
      ? new RecordSayings(whole, parsed, ['preferences'], 'parts')
      : undefined,
  };
}

describe('a table in several memories', () => {
  test('has as many memories as its parts need', async () => {
    expect(whole.banks).toHaveLength(1);
    expect(divided.map(({ banks }) => banks.length)).toEqual([2, 3, SHARDS]);
    for (const { banks, header, slots } of divided) {
      expect(banks.flatMap(({ shards }) => shards.map(({ view }) => view.shard))).toEqual(
        Array.from({ length: SHARDS }, (_, shard) => shard),
      );
      expect([header, slots]).toEqual([whole.header, whole.slots]);
    }
  });

  test('filters any input as in one memory', async () => {
    const random = new Random(4096);
    const seen = new Map<Special, number>();
    const outputs = new Set<string>();
    const count = (special: Special): void => void seen.set(special, (seen.get(special) ?? 0) + 1);
    for (let number = 0; number < cases(18); number++) {
      const format = FORMATS[number % FORMATS.length] ?? 'text';
      const batchBytes = random.pick([200, 500, 3000]);
      const maxLineBytes = random.pick([100, batchBytes - 1, batchBytes, 900, 8000]);
      const settings = settingsOf(random, maxLineBytes);
      const input = drawnInput(random, format, urls, { batchBytes, maxLineBytes }, count);
      const toFile = random.chance(0.5);
      const executor = random.chance(0.3) ? pool : new MainThread();
      const drawn = { format, settings, input, toFile, batchBytes, pool: executor };
      outputs.add(await compare(drawn));
    }
    expect(outputs.size).toBeGreaterThan(cases(18) * 0.7);
    for (const special of SPECIAL)
      expect([special, seen.get(special) ?? 0]).not.toEqual([special, 0]);
  });

  test('reads Parquet, and writes it', async () => {
    const random = new Random(16);
    for (const fixture of FIXTURES.slice(0, 2)) {
      const input = readFileSync(fixturePath(`${fixture}.parquet`));
      for (const outputFormat of [undefined, 'parquet'] as const) {
        const settings = {
          ...settingsOf(random, 10_000),
          strict: false,
          output: 'annotate' as const,
        };
        const drawn = {
          format: 'parquet',
          input,
          settings: { ...settings, outputFormat },
        } as const;
        const ways = { toFile: false, batchBytes: 200, pool: new MainThread() };
        const output = await compare({ ...drawn, ...ways });
        expect(output.length).toBeGreaterThan(500);
      }
    }
    const text = Buffer.from(urls.slice(0, 200).join('\n'));
    const settings = { ...settingsOf(random, 1000), output: 'annotate', strict: false } as const;
    const drawn = {
      format: 'text',
      input: text,
      settings: { ...settings, outputFormat: 'parquet' },
    } as const;
    await compare({ ...drawn, toFile: false, batchBytes: 500, pool });
  });

  test('writes out a batch in pieces if its output is long', async () => {
    const plain = {
      ...settingsOf(new Random(1), 1000),
      strict: false,
      output: 'annotate' as const,
    };
    const settings = { ...plain, outputFormat: undefined, verdictField: 'v'.repeat(900) };
    const lines = Array.from({ length: 150 }, (_, at) =>
      at % 50 === 49 ? '[' : `{"url":"http://h${at % HOSTS}.example/"}`,
    );
    const input = Buffer.from(lines.join('\n'));
    for (const toFile of [false, true]) {
      const drawn = {
        format: 'ndjson',
        input,
        settings,
        toFile,
        batchBytes: 1 << 13,
        pool,
      } as const;
      const output = await compare(drawn);
      // One batch, whose output has room for a few times as much.
      expect(input.length).toBeLessThan(1 << 13);
      expect(output.length).toBeGreaterThan(100_000);
    }
  });

  test('ends with the lines if a thread fails over a batch, and loses none silently', async () => {
    const kernel = new URL('./failing-kernel.mjs', import.meta.url).href;
    const settings = {
      ...settingsOf(new Random(2), 1000),
      strict: false,
      output: 'annotate' as const,
    };
    const table = divided[2] as TableMemory;
    const input = Buffer.from(
      urls
        .slice(0, 200)
        .map((url) => `${url}\n`)
        .join(''),
      'latin1',
    );
    const common = { format: 'text', input, settings, toFile: true, batchBytes: 500 } as const;
    const expected = await filterCase(whole, place.path, { ...common, pool });
    const failures = [
      [
        1,
        /a thread died on lines \d+ to \d+ .*: thrown on purpose\. The records before these lines/,
      ],
      [2, /a thread died on lines \d+ to \d+ /],
      [3, /a thread died on lines .*of the \d+ lines of a batch have got their output/],
    ] as const;
    for (const [plan, message] of failures) {
      const failing = new Pool({ threads: 2, kernel });
      new Int32Array(table.arena.memory.buffer, 0, 1)[0] = plan;
      const { output, error } = await filterCase(table, place.path, { ...common, pool: failing });
      await failing.close();
      expect(error).toMatch(message);
      const [, first = ''] = /on lines (\d+) to/.exec(error ?? '') ?? [];
      const written = output.split('\n').length - 1;
      expect([expected.output.startsWith(output), written]).toEqual([true, Number(first) - 1]);
    }
    new Int32Array(table.arena.memory.buffer, 0, 1)[0] = 0;
  });
});
