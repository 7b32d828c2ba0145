/**
 * Compiles robots.txt files into a table of shards: first divided by host on disk, then shard by
 * shard.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { TableBuilderStats } from '../../compile/table-contents.js';
import { begun, finished, ReplacementDirectory } from '../../files/replacement.js';
import { hasWorkingDirectory, unwritable } from '../../files/system-error.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import { MANIFEST_NAME, partName } from '../../table/manifest.js';
import type { CompileCacheOptions } from './compile-cache.js';
import { partOf, writeManifest } from './join-shards.js';
import { divide } from './partition.js';
import { type CompiledShard, compileShard, type ShardTask } from './shard-compiler.js';

/** The name of the spill file in the unfinished directory. */
const SPILL_NAME = 'spill.tmp';

/** Number of entries below which threads take longer to start than they save. */
const FEW_ENTRIES = 4096;

/** What was compiled into shards: sums over all shards. */
interface CompiledShards {
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

/** Passes the warnings of shards on. */
function warnOfShards(compiled: readonly CompiledShard[], options: CompileCacheOptions): void {
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
    const { compileOnThreads } = await import('./threads.js');
    return compileOnThreads(tasks, used, signal);
  }
  const compiled: CompiledShard[] = [];
  for (const task of tasks) compiled.push(await compileShard(task, signal));
  return compiled;
}

/** What shards hold together. */
function sumOf(compiled: readonly CompiledShard[]): Omit<CompiledShards, 'stale'> {
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

/**
 * Compiles one shard of caches into its table in a directory, which may be there already.
 *
 * @throws RobotsFilterError as `compileShards`
 */
export async function compileOneShard(
  paths: readonly string[],
  shards: { readonly count: number; readonly only: number },
  output: string,
  options: CompileCacheOptions,
): Promise<CompiledShards> {
  const name = partName(shards.only);
  const spillPath = join(output, `.${name}.${randomBytes(6).toString('hex')}.tmp`);
  await makeDirectory(output);
  begun(spillPath);
  try {
    const { tasks, partition } = await divide(paths, shards, spillPath, options);
    const task = {
      ...(tasks[shards.only] as Omit<ShardTask, 'output'>),
      output: join(output, name),
    };
    options.onRead?.(partition);
    const compiled = [await compileShard(task, options.signal ?? new AbortController().signal)];
    warnOfShards(compiled, options);
    return { ...sumOf(compiled), stale: partition.stale };
  } finally {
    await rm(spillPath, { force: true });
    finished(spillPath);
  }
}

/** @throws RobotsFilterError `output` */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw unwritable(path, cause);
  }
}
