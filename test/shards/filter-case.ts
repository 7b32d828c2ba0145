import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TableMemory } from '../../src/judge/table-memory.js';
import type { RecordFormat } from '../../src/kernel/query-settings.js';
import { Filter, type FilterSettings } from '../../src/pipeline/filter.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { ParquetOutput } from '../../src/pipeline/output/parquet-output.js';
import type { Executor } from '../../src/workers/messages.js';

/** An input, and the way in which it is filtered. */
export interface FilterCase {
  readonly format: RecordFormat;
  readonly input: Uint8Array;
  readonly settings: FilterSettings;
  readonly pool: Executor;
  /** Whether the output is a file: then the workers write, if they read. */
  readonly toFile: boolean;
  readonly batchBytes: number | undefined;
}

/** Everything that a run says. */
export interface FilterResult {
  /** As Latin-1. */
  readonly output: string;
  readonly error: string | undefined;
  /** The named bad records. */
  readonly bad: readonly string[];
  /** Tally, hosts and rules; nothing if the run has failed. */
  readonly counts: unknown;
}

/** Filters the input of a case by a table. */
export async function filterCase(
  table: TableMemory,
  directory: string,
  { format, input, settings, pool, toFile, batchBytes }: FilterCase,
): Promise<FilterResult> {
  const from = join(directory, 'case-input');
  const to = join(directory, 'case-output');
  writeFileSync(from, input);
  const bad: string[] = [];
  const filter = new Filter({
    table,
    pool,
    settings,
    batchBytes,
    onBadRecord: ({ line, reason }, unit) => bad.push(`${unit} ${line}: ${reason}`),
  });
  const { maxLineBytes: maxRecordBytes, urlField } = settings;
  const open = await openInput(from, { format, maxRecordBytes, urlField });
  const chunks: Buffer[] = [];
  const keep = async (bytes: Uint8Array): Promise<void> => {
    chunks.push(Buffer.from(bytes));
  };
  const sink = new Writable({
    write: (chunk, _encoding, done) => void keep(chunk).then(() => done()),
  });
  const parquet =
    settings.outputFormat === 'parquet' ? new ParquetOutput({ write: keep }, settings) : undefined;
  const file = open.kind === 'stream' ? open.parquet : undefined;
  const descriptor = toFile && parquet === undefined ? openSync(to, 'w') : undefined;
  let error: string | undefined;
  try {
    await filter.run(open, (await parquet?.streamFor('input', file)) ?? descriptor ?? sink);
    await parquet?.finish();
  } catch (cause) {
    error = String(cause);
  }
  await open.close();
  if (descriptor !== undefined) closeSync(descriptor);
  const output = descriptor === undefined ? Buffer.concat(chunks) : readFileSync(to);
  const counts = error === undefined ? countsOf(filter, settings) : undefined;
  await filter.close();
  return { output: output.toString('latin1'), error, bad, counts };
}

function countsOf(filter: Filter, settings: FilterSettings): unknown {
  const { agents, agentField, countByHost, countByRule } = settings;
  const names = new Map(filter.namedAgents().agents.map(({ name }, index) => [name, index]));
  const byHost = countByHost === true ? filter.hostCounts() : undefined;
  return {
    tally: filter.tally(),
    seen: filter.hostsSeen(),
    rules: countByRule === true ? filter.ruleCounts(undefined, names) : undefined,
    named: agentField && filter.namedHosts(names),
    hosts: Array.from(byHost?.slots ?? [], (slot) => [
      slot,
      ...agents.map((_, agent) => [
        byHost?.allowed(slot, agent),
        byHost?.denied(slot, agent),
        byHost?.outcomes(slot, agent),
      ]),
    ]),
  };
}
