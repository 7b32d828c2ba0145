import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './scratch.js';

const text = readFileSync(join(ROOT, 'python/SCALING.md'), 'utf8').replaceAll(/\s+/g, ' ');

/** The number that the document says where a pattern has its group. */
function said(pattern: RegExp): string {
  const number = pattern.exec(text)?.[1];
  if (number === undefined) throw new Error(`the document has no ${pattern}`);
  return number.replaceAll(',', '');
}

const input = (pattern: RegExp): number => Number(said(pattern));
const coreHours = (seconds: number): number => seconds / 3600;

/** CPU seconds of a row of the growth on Spark. */
function growth(urls: string, way: 'bare' | 'whole' | 'by shard'): number {
  const columns = { bare: 1, whole: 2, 'by shard': 3 } as const;
  const before = String.raw`[\d.]+ s \| `.repeat(columns[way] - 1);
  return input(new RegExp(String.raw`\| 100,000 \| 11 MB \| ${urls} \| 4 \| ${before}([\d.]+) s`));
}

test('the derived figures of SCALING.md follow from those beside them', () => {
  const urls = 1e9 * input(/some ([\d.]+) billion URLs/);
  const hosts = 1e6 * input(/([\d.]+) million hosts and/);
  const captures = 1e6 * input(/([\d.]+) million captures/);
  const generated = input(/compile ([\d,]+) generated hosts/);
  const real = input(/compile ([\d,]+) real hosts/);
  const given = input(/judge ([\d,]+) URLs, made from real/);
  const sample = input(/with ([\d,]+) captures/);
  const tableMegabytes = 1000 * input(/([\d.]+) GB of tables/);
  const ofCapture = input(/\| ([\d.]+) µs of CPU a capture/);
  const least = input(/(\d+) to \d+ bytes a host/);
  const most = input(/\d+ to (\d+) bytes a host/);
  const compiling = (input(/(\d+) to \d+ µs of CPU a host/) + input(/\d+ to (\d+) µs of CPU/)) / 2;
  const line = input(/and (\d+) µs a capture for reading/);
  const alone = input(/([\d.]+) µs of CPU a URL in shards/);
  const sharding = input(/and ([\d.]+) µs for the shard of each/);
  const task = input(/and ([\d.]+) s for each of [\d,]+ tasks/);
  const tasks = input(/s for each of ([\d,]+) tasks/);
  const hour = input(/assumption: ([\d.]+) dollars/);
  const before = input(/\| ([\d.]+) core-hours \| \| compiling/);
  const compiled = input(/\| ([\d.]+) core-hours \| \| shuffle/);
  const judged = input(/\| ([\d.]+) core-hours \| \| judging on Spark, the table/);
  const byShard = input(/tasks \| ([\d.]+) core-hours/);
  const many = growth('10,000,000', 'by shard');
  const slope = (many - growth('100,000', 'by shard')) / (1e7 - 1e5);
  const figures: readonly (readonly [RegExp, number])[] = [
    [/tables: (\d+) MB a shard/, tableMegabytes / input(/into (\d+) shards/)],
    [/a shard, (\d+) bytes a host/, (1e6 * tableMegabytes) / generated],
    [/MB, (\d+) bytes a host. 16/, (1e6 * input(/one table: ([\d.]+) MB/)) / real],
    [/\d+ to (\d+) bytes a host/, (1e6 * input(/16 shards: ([\d.]+) MB/)) / real],
    [/\| [\d.]+ s: (\d+) µs a capture. /, (1e6 * input(/captures` \| ([\d.]+) s: /)) / sample],
    [/rows of Arrow \| [\d.]+ s: (\d+)/, (1e6 * input(/rows of Arrow \| ([\d.]+) s/)) / sample],
    [/the lines \| [\d.]+ s: (\d+)/, (1e6 * input(/the lines \| ([\d.]+) s/)) / sample],
    [
      /(\d+) to \d+ µs of CPU a host/,
      (1e6 * input(/16 shards: ([\d.]+) s of CPU/)) /
        input(/compile ([\d,]+) generated hosts \(76/),
    ],
    [/\d+ to (\d+) µs of CPU a host/, (1e6 * input(/min \d+ s, (\d+) s of CPU/)) / generated],
    [/([\d.]+) µs of CPU a URL in shards/, (1e6 * input(/and ([\d.]+) s. The outputs/)) / given],
    [/and ([\d.]+) µs for the shard of each/, (1e6 * input(/same URLs \| ([\d.]+) s/)) / given],
    [/a URL costs ([\d.]+) µs with the whole/, growth('10,000,000', 'whole') / 10],
    [/and ([\d.]+) µs of these without/, growth('10,000,000', 'bare') / 10],
    [/a URL costs ([\d.]+) µs when rows move/, many / 10],
    [/grows by ([\d.]+) µs a URL/, 1e6 * slope],
    [/cost (\d+) times the CPU/, growth('10,000,000', 'whole') / growth('100,000', 'whole')],
    [/\| (\d+) to \d+ GB \| \| shards/, (hosts * least) / 1e9],
    [/\| \d+ to (\d+) GB \| \| shards/, (hosts * most) / 1e9],
    [/capture \| ([\d.]+) core-hours/, coreHours((captures * ofCapture) / 1e6)],
    [
      /\| ([\d.]+) core-hours \| \| shuffle/,
      coreHours((hosts * compiling + captures * line) / 1e6),
    ],
    [/\| 2 × (\d+) GB/, (captures * input(/twice ([\d.]+) KB/)) / 1e6],
    [/each \| ([\d.]+) core-hours/, coreHours((urls * (alone + sharding)) / 1e6)],
    [
      /column\) \| ([\d.]+) core-hours/,
      coreHours((urls * input(/worker \| ([\d.]+) µs a URL/)) / 1e6),
    ],
    [
      /tasks \| ([\d.]+) core-hours/,
      coreHours((urls * input(/shard \| ([\d.]+) µs a URL/)) / 1e6 + tasks * task),
    ],
    [
      /s for each of ([\d,]+) tasks/,
      input(/of about 60 MB \| \| (\d+)/) * (input(/asks for (\d+) tasks a shard/) + 1),
    ],
    [/`tasks=(\d+)` asks/, input(/of about 60 MB \| \| (\d+)/) * input(/for (\d+) tasks a shard/)],
    [/bytes a row \| (\d+) GB/, (urls * input(/with (\d+) bytes a row/)) / 1e9],
    [/cost ([\d.]+) dollars of CPU/, hour * (before + compiled + judged)],
    [/\) ([\d.]+) dollars. What/, hour * (before + compiled + byShard)],
    [/it is ([\d,]+) rows/, urls / 100 / 1024],
  ];
  for (const [pattern, expected] of figures) {
    const stated = said(pattern);
    // As many digits as the document has. 31,000 has three zeros that say nothing.
    const unit = stated.endsWith('000') ? 1000 : 10 ** -(stated.split('.')[1]?.length ?? 0);
    expect([pattern, Math.abs(Number(stated) - expected) / unit < 0.51]).toEqual([pattern, true]);
  }
});
