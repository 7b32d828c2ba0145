import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CRAWLER } from '../inputs/agents.js';
import { canCompress, provideCompressed } from '../inputs/compressed.js';
import { extractRobots, findRealData, readLists } from '../inputs/real-data.js';
import { quoted, runShell } from '../measure/process.js';
import type { Case } from '../measure/runs.js';
import type { Filter } from '../program/filter.js';
import { assertEqual } from '../verify/assert-equal.js';

/**
 * HPLT's job over real robots.txt files: metadata that is compressed with zstd, with the URL in
 * `u`, becomes a mask with a small record on each line. None without the zstd program.
 *
 * @param directory as `findRealData` takes it
 */
export async function hpltCases(
  filter: Filter,
  directory: string,
  scratch: string,
  report: (sentence: string) => void,
): Promise<Case[]> {
  if (!canCompress('zst')) return [];
  const data = findRealData(directory);
  const robots = join(scratch, 'hplt.ndjson');
  const hosts = await extractRobots(data.robots, robots);
  const urls = readLists(data.lists);
  const plain = join(scratch, 'metadata');
  writeFileSync(plain, urls.map((url, id) => `${JSON.stringify({ f: id, u: url })}\n`).join(''));
  const metadata = provideCompressed(plain, 'zst');
  const table = join(scratch, 'hplt.table');
  await filter.compile(robots, table);
  const common = ['--table', table, '--agent', CRAWLER];
  const args = [...common, '--url-field', 'u'];
  const { statistics } = await filter.runCounted(args, { paths: [metadata] });
  const verdicts = statistics.agents[0]?.verdicts;
  assertEqual('records of metadata', statistics.records, urls.length);
  report(`HPLT: ${hosts} hosts, ${urls.length} records: ${JSON.stringify(verdicts)}`);
  const words = [filter.program, ...args, '--format', 'mask-ndjson', '--quiet', metadata];
  const mask = join(scratch, 'allowed.zst');
  const bytes = statSync(metadata).size;
  return [
    {
      id: 'hplt-compile',
      name: 'robots-filter compile --robots-dir robots.ndjson -o t',
      kind: 'ours',
      records: hosts,
      bytes: statSync(robots).size,
      reads: [robots],
      run: () => filter.compile(robots, table),
    },
    {
      id: 'hplt-mask',
      name: 'robots-filter --format mask-ndjson metadata.zst | zstd > allowed.zst',
      kind: 'ours',
      records: urls.length,
      bytes,
      reads: [metadata, table],
      async run() {
        const line = `${words.map(quoted).join(' ')} | zstd -q > ${quoted(mask)}`;
        const run = await runShell(line);
        const allowed = execFileSync('/bin/sh', [
          '-c',
          `zstd -dcq ${quoted(mask)} | grep -c '"allowed":true'`,
        ]);
        assertEqual('allowed records of the mask', Number(allowed), verdicts?.allow ?? -1);
        return { seconds: run.seconds, peakBytes: run.peakBytes };
      },
    },
  ];
}
