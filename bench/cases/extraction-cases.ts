import { spawnSync } from 'node:child_process';
import { devNull } from 'node:os';
import type { FormatTools } from '../competitors/formats/tools.js';
import type { UrlInput } from '../inputs/url-input.js';
import { quoted, runShell } from '../measure/process.js';
import type { Case } from '../measure/runs.js';
import { assertEqual } from '../verify/assert-equal.js';

/** Rows that jq reads: about a second of work. */
const JQ_ROWS = 200_000;

/** DuckDB writes only the URL of each row, and decides nothing. Its start is not counted. */
export function duckdbCase(tools: FormatTools, input: UrlInput): Case {
  const { path, records, bytes } = input;
  return {
    id: 'duckdb-extract',
    name: `DuckDB ${tools.version('@duckdb/node-api')} writes only the URL as CSV, 2 threads`,
    kind: 'competitor',
    records,
    bytes,
    reads: [path],
    async run() {
      // DuckDB replaces a regular file, but writes into a device.
      const run = await tools.run('duckdb-extract', path, devNull);
      const { rows, seconds } = JSON.parse(run.output) as { rows: number; seconds: number };
      assertEqual('DuckDB: rows', rows, records);
      return { seconds, peakBytes: run.peakBytes };
    },
  };
}

/** jq writes only the URL of the first rows, and decides nothing; none without jq. */
export function jqCases({ path, records, bytes }: UrlInput): Case[] {
  const version = spawnSync('jq', ['--version'], { encoding: 'utf8' });
  if (version.status !== 0) return [];
  const rows = Math.min(records, JQ_ROWS);
  const head = `head -n ${rows} ${quoted(path)}`;
  return [
    {
      id: 'jq-extract',
      name: `${version.stdout.trim()} -r .url`,
      kind: 'competitor',
      records: rows,
      bytes: (bytes / records) * rows,
      reads: [path],
      run: () => runShell(`${head} | jq -r .url > /dev/null`, { watched: false }),
    },
  ];
}
