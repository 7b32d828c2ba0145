import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { TableBuilderStats } from '../../compile/table-contents.js';
import { ReplacementDirectory } from '../../files/replacement-directory.js';
import { hasWorkingDirectory } from '../../files/working-directory.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import { MANIFEST_NAME, partName } from '../../table/manifest.js';
import { type CompileCacheOptions, cacheContents, partSettings } from './compile-cache.js';
import { Partition, type Shards } from './partition.js';
import { type CompiledShard, compileShard, type ShardTask } from './shard-compiler.js';
import { partOf, writeManifest } from './shard-manifest.js';
import { SpillFile } from './spill-file.js';

/** The name of the spill file in the unfinished directory. */
const SPILL_NAME = 'spill.tmp';

/** Number of entries below which threads take longer to start than they save. */
const FEW_ENTRIES = 4096;

/** What was compiled into shards: sums over all shards. */
export interface CompiledShards {
  readonly hosts: number;
  readonly rules: number;
  readonly bytes: number;
  readonly stats: TableBuilderStats;
  /**
   * Number of warnings about the content of files, by code. A body in several shards counts in
   * each.
   */
  readonly contentWarnings: ReadonlyMap<WarningCode, number>;
  /** Number of stale findings of fetches, used or not. */
  readonly stale: number;
  /** The product tokens that the shards are reduced to and that no file names, in lower case. */
  readonly unnamed: readonly string[];
}

/**
 * Compiles caches of robots.txt files into a directory of shards and a manifest. Later caches
 * override earlier ones. The caches are read once, into a temporary file in the directory that is
 * as long as their robots.txt files; from it each shard is compiled for itself. The memory is that
 * of one shard for each thread.
 *
 * The manifest is written last, and the directory replaces an older one whole.
 *
 * @param output the directory
 * @throws RobotsFilterError as `compileCache`; `output` if the directory cannot be written
 */
export async function compileShards(
  paths: readonly string[],
  shards: number,
  output: string,
  options: CompileCacheOptions,
): Promise<CompiledShards> {
  const names = new Set([MANIFEST_NAME]);
  const isOwn = (name: string): boolean =>
    names.has(name) || (name.startsWith('part-') && name.endsWith('.table'));
  const directory = await ReplacementDirectory.create(output, isOwn);
  try {
    const spillPath = join(directory.temporary, SPILL_NAME);
    const { tasks, partition } = await divide(paths, { count: shards }, spillPath, options);
    options.onRead?.(partition);
    const compiled = await compileAll(
      tasks.map((task, shard) => ({ ...task, output: join(directory.temporary, partName(shard)) })),
      partition.files,
      options,
    );
    warnOfShards(compiled, options);
    options.signal?.throwIfAborted();
    await rm(spillPath);
    const parts = compiled.map(partOf);
    await writeManifest(join(directory.temporary, MANIFEST_NAME), paths, parts, options);
    await directory.commit();
    return { ...sumOf(compiled), stale: partition.stale };
  } finally {
    await directory.discard();
  }
}

/** The first pass: divides the robots.txt files among the shards, in the spill file. */
export async function divide(
  paths: readonly string[],
  shards: Shards,
  spillPath: string,
  options: CompileCacheOptions,
): Promise<{ tasks: Omit<ShardTask, 'output'>[]; partition: Partition }> {
  const { count } = shards;
  const spill = await SpillFile.create(spillPath, count + 1);
  const settings = partSettings(options);
  const partition = new Partition(spill, shards, options, settings);
  try {
    for await (const contents of cacheContents(paths, options)) await partition.add(contents);
    await spill.flush();
  } finally {
    await spill.close();
  }
  const tasks = Array.from(
    { length: count },
    (_, shard): Omit<ShardTask, 'output'> => ({
      kind: 'shard',
      spill: spillPath,
      stretches: spill.stretchesOf(shard),
      bodies: spill.stretchesOf(count),
      compile: settings.compile,
    }),
  );
  return { tasks, partition };
}

/** Passes the warnings of shards on. */
export function warnOfShards(
  compiled: readonly CompiledShard[],
  options: CompileCacheOptions,
): void {
  for (const { warnings } of compiled) {
    for (const warning of warnings) options.onWarning(warning);
  }
}

/** Compiles the shards, on threads if that saves time. */
async function compileAll(
  tasks: readonly ShardTask[],
  entries: number,
  options: CompileCacheOptions,
): Promise<CompiledShard[]> {
  const { threads = availableParallelism(), signal = new AbortController().signal } = options;
  const used = Math.min(threads, tasks.length);
  if (used > 1 && entries > FEW_ENTRIES && hasWorkingDirectory()) {
    const { compileOnThreads } = await import('./shard-threads.js');
    return compileOnThreads(tasks, used, signal);
  }
  const compiled: CompiledShard[] = [];
  for (const task of tasks) compiled.push(await compileShard(task, signal));
  return compiled;
}

/** What shards hold together. */
export function sumOf(compiled: readonly CompiledShard[]): Omit<CompiledShards, 'stale'> {
  const contentWarnings = new Map<WarningCode, number>();
  const sums = { hosts: 0, rules: 0, bytes: 0 };
  const stats = { files: 0, bytes: 0, bodies: 0, replaced: 0, warnings: 0 };
  for (const shard of compiled) {
    sums.hosts += shard.hosts;
    sums.rules += shard.rules;
    sums.bytes += shard.bytes;
    stats.files += shard.stats.files;
    stats.bytes += shard.stats.bytes;
    stats.bodies += shard.stats.bodies;
    stats.replaced += shard.stats.replaced;
    stats.warnings += shard.stats.warnings;
    for (const [code, count] of shard.contentWarnings) {
      contentWarnings.set(code, (contentWarnings.get(code) ?? 0) + count);
    }
  }
  const [first, ...others] = compiled.map(({ unnamed }) => unnamed);
  const unnamed = (first ?? []).filter((token) => others.every((each) => each.includes(token)));
  return { ...sums, stats, contentWarnings, unnamed };
}
