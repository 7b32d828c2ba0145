/**
 * Compiles robots.txt files into a table of shards: first divided by host on disk, then shard by
 * shard.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkAuthority } from '../../compile/authority-set.js';
import { ByteStore, digestOf, drawKey } from '../../compile/byte-store.js';
import { secondsOf, type VersionDetails } from '../../compile/compiled-robots.js';
import type { AddedFile, TableBuilderStats } from '../../compile/table-contents.js';
import {
  BODY_UNAVAILABLE,
  BODY_UNKNOWN,
  BODY_UNREACHABLE,
  FIRST_BODY,
} from '../../compile/table-part.js';
import { begun, finished, ReplacementDirectory } from '../../files/replacement.js';
import { hasWorkingDirectory, unwritable } from '../../files/system-error.js';
import { type Authority, parseAuthority } from '../../protocol/authority.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import { type Archive, PartReader, walk } from '../../sources/cache.js';
import type { CacheEntry } from '../../sources/entry.js';
import { MANIFEST_NAME, partName } from '../../table/manifest.js';
import { shardOf } from '../../table/places.js';
import { ArchiveCompilation } from './archive-compilation.js';
import { type CompileCacheOptions, columnsOf, contentsOf, partSettings } from './compile-cache.js';
import { partOf, writeManifest } from './join-shards.js';
import { CountingEntries, type PartCompilerOptions } from './part-compiler.js';
import {
  type CompiledShard,
  compileShard,
  encodeEntry,
  type ShardTask,
  SpillFile,
} from './shard-compiler.js';

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

// ---- Divides robots.txt files among shards, by host, in a file on disk. So the memory of a
// compilation is that of a shard, however many hosts the caches have.

/** The access results of bodies that were not fetched. */
const ACCESS_OF_BODY: Readonly<Record<number, VersionDetails['access']>> = {
  [BODY_UNAVAILABLE]: 'unavailable',
  [BODY_UNREACHABLE]: 'unreachable',
  [BODY_UNKNOWN]: 'unknown',
};

/** The shards into which caches are divided. */
interface Shards {
  readonly count: number;
  /** The shard that is wanted. Default: all are. */
  readonly only?: number | undefined;
}

/** Divides the robots.txt files among the shards, in the spill file. */
async function divide(
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
    await partition.add(paths);
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

/**
 * The first pass over caches: adds each robots.txt to the spill file, in the shard of its host. The
 * order of the robots.txt files of a shard is that of the caches.
 *
 * The memory does not grow with directories and files of records. For archives it grows by the
 * index of their captures (warc/capture-set.ts), and by some 60 bytes for each distinct body.
 */
class Partition {
  files = 0;
  undated = 0;
  readonly #spill: SpillFile;
  readonly #shards: Shards;
  readonly #options: CompileCacheOptions;
  readonly #counting: CountingEntries;
  readonly #reader: PartReader;
  readonly #bodies: CaptureBodies;
  /** The key of the hashes of archives. */
  readonly key = drawKey();

  /** @param spill has one shard more: that of the bodies of captures */
  constructor(
    spill: SpillFile,
    shards: Shards,
    options: CompileCacheOptions,
    settings: Pick<PartCompilerOptions, 'cache' | 'leaveOutStale' | 'until'>,
  ) {
    this.#spill = spill;
    this.#shards = shards;
    this.#options = options;
    this.#counting = new CountingEntries(settings, options);
    this.#reader = new PartReader(settings.cache);
    this.#bodies = new CaptureBodies(spill, shards.count);
  }

  /** Number of stale findings of fetches, used or not. */
  get stale(): number {
    return this.#counting.stale;
  }

  /** Adds the robots.txt files of caches, in order. */
  async add(paths: readonly string[]): Promise<void> {
    const { onWarning, signal } = this.#options;
    const columns = columnsOf(this.#options);
    const contents = contentsOf(paths, this.#options);
    for await (const found of walk(contents, this.#reader, 'in-place', columns)) {
      signal?.throwIfAborted();
      if (found.kind === 'warning') onWarning(found.warning);
      else if (found.kind === 'archive') await this.#addArchive(found);
      else this.#addEntry(found.entry);
      await this.#spill.relieve();
    }
    const { warning } = this.#counting;
    if (warning !== undefined) onWarning(warning);
  }

  #addEntry(entry: CacheEntry): void {
    const { authority, body, source } = entry;
    const shard = this.#shardOf(authority.host);
    if (shard === undefined) return;
    const details = this.#counting.detailsOf(entry);
    if (details === undefined) return;
    checkAuthority(authority, source);
    if (this.#lacksDate(details.date)) return;
    this.#spill.add(shard, encodeEntry({ authority, details, body }));
    if (details.isAgain !== true) this.files++;
  }

  async #addArchive(archive: Archive): Promise<void> {
    const { onWarning, signal, history = false } = this.#options;
    const addEntry = (authority: Authority, file: AddedFile): void =>
      this.#addFound(authority, file);
    const takes = (url: string): boolean => {
      const authority = parseAuthority(url);
      return authority !== undefined && this.#shardOf(authority.host) !== undefined;
    };
    const target = { key: this.key, addEntry, takes };
    const compilation = new ArchiveCompilation(archive, target, onWarning, { history });
    const addBody = (body: Uint8Array): number => FIRST_BODY + this.#bodies.add(body);
    try {
      await compilation.compile(this.#reader, addBody, () => this.#spill.relieve(), signal);
    } finally {
      archive.release();
    }
  }

  #addFound(authority: Authority, { body, source, date }: AddedFile): void {
    const shard = this.#shardOf(authority.host);
    if (shard === undefined) return;
    checkAuthority(authority, source);
    if (this.#lacksDate(date)) return;
    const access = ACCESS_OF_BODY[body];
    const place =
      access === undefined ? this.#bodies.placeOf(body - FIRST_BODY) : new Uint8Array(0);
    const entry = { authority, details: { source, access, date }, body: place };
    this.#spill.add(shard, encodeEntry(entry));
    this.files++;
  }

  /** Counts a file that is left out, because a table with histories needs its date. */
  #lacksDate(date: number | undefined): boolean {
    if (this.#options.history !== true || secondsOf(date) !== 0) return false;
    this.files++;
    this.undated++;
    return true;
  }

  /** The shard of a host, if it is wanted. */
  #shardOf(host: string): number | undefined {
    const { count, only } = this.#shards;
    const shard = shardOf(host, count);
    return only === undefined || only === shard ? shard : undefined;
  }
}

/** The distinct bodies of captures, in a shard of their own. */
class CaptureBodies {
  readonly #spill: SpillFile;
  readonly #shard: number;
  readonly #digests = new ByteStore();
  /** For each body its start among the bodies, and its length. */
  readonly #places: { readonly start: number; readonly bytes: number }[] = [];
  #end = 0;

  constructor(spill: SpillFile, shard: number) {
    this.#spill = spill;
    this.#shard = shard;
  }

  /** Adds a body; returns its number among the distinct bodies. */
  add(body: Uint8Array): number {
    const known = this.#digests.count;
    const number = this.#digests.add(digestOf(body));
    if (number < known) return number;
    this.#places.push({ start: this.#end, bytes: body.length });
    this.#end += body.length;
    this.#spill.add(this.#shard, Uint8Array.from(body));
    return number;
  }

  placeOf(number: number): { readonly start: number; readonly bytes: number } {
    const place = this.#places[number];
    if (place === undefined) throw new Error(`no body ${number}`);
    return place;
  }
}
