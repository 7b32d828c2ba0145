/**
 * Compiles robots.txt files into a table of shards: first divided by host on disk, then shard by
 * shard.
 */

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { printable } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { checkAuthority } from '../../compile/authority-set.js';
import { ByteStore, digestOf, drawKey } from '../../compile/byte-store.js';
import type { AddedFile, TableBuilderStats } from '../../compile/table-contents.js';
import { BODY_UNAVAILABLE, BODY_UNREACHABLE, FIRST_BODY } from '../../compile/table-part.js';
import { begun, finished, ReplacementDirectory, ReplacementFile } from '../../files/replacement.js';
import { errorText, hasWorkingDirectory, unwritable } from '../../files/system-error.js';
import { type Authority, parseAuthority } from '../../protocol/authority.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import type { AccessResult } from '../../protocol/verdict.js';
import {
  type Archive,
  type CacheEntry,
  cacheContents,
  PartReader,
  walk,
} from '../../sources/cache.js';
import { checkBeginning, checkHeader, damagedTable, type TableHeader } from '../../table/check.js';
import {
  HEADER_BYTES,
  HEADER_CHECKSUM,
  HOST_NUMBERED_NAME,
  MAX_HOST_BYTES,
} from '../../table/format.js';
import {
  checksumText,
  MANIFEST_NAME,
  type ManifestPart,
  manifestText,
  partName,
} from '../../table/manifest.js';
import { NAME_STARTS, shardOf } from '../../table/places.js';
import { ArchiveCompilation } from './archive-compilation.js';
import { type CompileCacheOptions, partSettings } from './compile-cache.js';
import type { PartCompilerOptions } from './part-compiler.js';
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

/** The first pass: divides the robots.txt files among the shards, in the spill file. */
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

/** No host record has its name further from its start. */
const LONGEST_HOST_RECORD = HOST_NUMBERED_NAME + MAX_HOST_BYTES;

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
    const compiled = [await compileShard(task, options.signal ?? new AbortController().signal)];
    warnOfShards(compiled, options);
    return { ...sumOf(compiled), stale: partition.stale };
  } finally {
    await rm(spillPath, { force: true });
    finished(spillPath);
  }
}

/**
 * Writes the manifest of a directory into which `compileOneShard` has compiled each shard.
 *
 * @param paths the caches that were compiled
 * @returns the parts
 * @throws RobotsFilterError `table` if a part is missing, damaged, of another profile or of another
 *   shard, or if there are more parts; `output`
 */
export async function joinShards(
  paths: readonly string[],
  shards: number,
  output: string,
  options: CompileCacheOptions,
): Promise<ManifestPart[]> {
  const parts: ManifestPart[] = [];
  const further = join(output, partName(shards));
  if (existsSync(further)) {
    const message = `${further}: there are more parts than --shards ${shards} names: name all, or remove what is no part`;
    throw new RobotsFilterError('table', message);
  }
  for (let shard = 0; shard < shards; shard++) {
    const path = join(output, partName(shard));
    const { header, host } = await readBeginning(path);
    const found = host === undefined ? shard : shardOf(host, shards);
    if (found !== shard) {
      const name = printable(Buffer.from(host ?? []).toString('latin1'));
      throw foreign(path, `its host ${name} belongs into ${partName(found)}`);
    }
    if (header.profile !== options.profile) {
      throw foreign(path, `for profile ${header.profile}, not ${options.profile}`);
    }
    if (header.reduced !== (options.productTokens !== undefined)) {
      throw foreign(path, header.reduced ? 'for some agents only' : 'for all agents');
    }
    const { hosts, length: bytes, checksum } = header;
    parts.push(partOf({ hosts, bytes, checksum }, shard));
  }
  await writeManifest(join(output, MANIFEST_NAME), paths, parts, options);
  return parts;
}

function foreign(path: string, what: string): RobotsFilterError {
  const remedy = 'compile this shard again, or give the options that it was compiled with';
  return new RobotsFilterError('table', `${path}: ${what}: ${remedy}`);
}

/**
 * Reads the header of a part, and its first host, if there is one. The rest is checked when the
 * part is opened.
 *
 * @throws RobotsFilterError `table`
 */
async function readBeginning(
  path: string,
): Promise<{ header: TableHeader; host: Uint8Array | undefined }> {
  const file = await open(path).catch((cause: unknown) => {
    const message = `${path}: cannot be read (${errorText(cause)}): compile this shard first`;
    throw new RobotsFilterError('table', message, { cause });
  });
  try {
    const { size } = await file.stat();
    const head = await readAt(file, 0, HEADER_BYTES);
    checkBeginning(head, size, path);
    const header = checkHeader(head, size, path, () => head.readUInt32LE(HEADER_CHECKSUM));
    if (header.hosts === 0) return { header, host: undefined };
    // Nothing precedes the first cluster, and a cluster begins with a host.
    const record = await readAt(file, header.sections.hosts.start, LONGEST_HOST_RECORD);
    const [bytes = 0, form = 0] = record;
    const start = NAME_STARTS[form];
    if (start === undefined) throw damagedTable(path, 'its first host has an unknown form');
    return { header, host: record.subarray(start, start + bytes) };
  } finally {
    await file.close();
  }
}

/** Reads up to this many bytes from a position in a file. */
async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}

/** @throws RobotsFilterError `output` */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** The shards into which caches are divided. */
interface Shards {
  readonly count: number;
  /** The shard that is wanted. Default: all are. */
  readonly only?: number | undefined;
}

/**
 * The first pass over caches: adds each robots.txt to the spill file, in the shard of its host. The
 * order of the robots.txt files of a shard is that of the caches.
 *
 * The memory does not grow with directories and files of records. For archives it grows by the
 * index of their captures (warc/capture-set.ts), and by some 60 bytes for each distinct body.
 */
class Partition {
  stale = 0;
  files = 0;
  readonly #spill: SpillFile;
  readonly #shards: Shards;
  readonly #options: CompileCacheOptions;
  readonly #leaveOutStale: boolean;
  readonly #reader: PartReader;
  readonly #bodies: CaptureBodies;
  /** The key of the hashes of archives. */
  readonly key = drawKey();

  /** @param spill has one shard more: that of the bodies of captures */
  constructor(
    spill: SpillFile,
    shards: Shards,
    options: CompileCacheOptions,
    { cache, leaveOutStale }: Pick<PartCompilerOptions, 'cache' | 'leaveOutStale'>,
  ) {
    this.#spill = spill;
    this.#shards = shards;
    this.#options = options;
    this.#leaveOutStale = leaveOutStale;
    this.#reader = new PartReader(cache);
    this.#bodies = new CaptureBodies(spill, shards.count);
  }

  /** Adds the robots.txt files of caches, in order. */
  async add(paths: readonly string[]): Promise<void> {
    const { followLinks = false, columns, onWarning, signal } = this.#options;
    const contents = cacheContents(paths, followLinks, columns);
    for await (const found of walk(contents, this.#reader, 'in-place', columns)) {
      signal?.throwIfAborted();
      if (found.kind === 'warning') onWarning(found.warning);
      else if (found.kind === 'archive') await this.#addArchive(found);
      else this.#addEntry(found.entry);
      await this.#spill.relieve();
    }
  }

  #addEntry({ authority, body, source, status, fetched }: CacheEntry): void {
    const shard = this.#shardOf(authority.host);
    if (shard === undefined) return;
    if (fetched?.stale === true) {
      this.stale++;
      if (this.#leaveOutStale) return;
    }
    checkAuthority(authority, source);
    const details = { source, status, access: fetched?.access, date: fetched?.respondedAt };
    this.#spill.add(shard, encodeEntry({ authority, details, body }));
    this.files++;
  }

  async #addArchive(archive: Archive): Promise<void> {
    const { onWarning, signal } = this.#options;
    const addEntry = (authority: Authority, file: AddedFile): void =>
      this.#addFound(authority, file);
    const takes = (url: string): boolean => {
      const authority = parseAuthority(url);
      return authority !== undefined && this.#shardOf(authority.host) !== undefined;
    };
    const target = { key: this.key, addEntry, takes };
    const compilation = new ArchiveCompilation(archive, target, onWarning);
    const addBody = (body: Uint8Array): number => FIRST_BODY + this.#bodies.add(body);
    await compilation.compile(this.#reader, addBody, () => this.#spill.relieve(), signal);
  }

  #addFound(authority: Authority, { body, source, date }: AddedFile): void {
    const shard = this.#shardOf(authority.host);
    if (shard === undefined) return;
    checkAuthority(authority, source);
    const access: AccessResult | undefined =
      body === BODY_UNAVAILABLE
        ? 'unavailable'
        : body === BODY_UNREACHABLE
          ? 'unreachable'
          : undefined;
    const place =
      access === undefined ? this.#bodies.placeOf(body - FIRST_BODY) : new Uint8Array(0);
    const entry = { authority, details: { source, access, date }, body: place };
    this.#spill.add(shard, encodeEntry(entry));
    this.files++;
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

/** A shard as the manifest names it. */
function partOf(
  { hosts, bytes, checksum }: Pick<CompiledShard, 'hosts' | 'bytes' | 'checksum'>,
  shard: number,
): ManifestPart {
  return { file: partName(shard), hosts, bytes, checksum: checksumText(checksum) };
}

/**
 * Writes the manifest of a table in shards.
 *
 * @param sources the caches that were compiled
 * @throws RobotsFilterError `output`
 */
async function writeManifest(
  path: string,
  sources: readonly string[],
  parts: readonly ManifestPart[],
  { profile, productTokens }: CompileCacheOptions,
): Promise<void> {
  const text = manifestText({
    profile,
    agents: productTokens ?? null,
    sources,
    created: new Date().toISOString(),
    parts,
  });
  const file = await ReplacementFile.create(path);
  try {
    await file.write(Buffer.from(text));
    await file.commit(true);
  } finally {
    await file.discard();
  }
}
