import { randomBytes } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RobotsFilterError } from '../../errors.js';
import { errorText } from '../../files/system-error.js';
import { begun, finished } from '../../files/unfinished-files.js';
import { unwritable } from '../../files/unwritable-file.js';
import { HEADER_BYTES, HEADER_CHECKSUM } from '../../table/format.js';
import { MANIFEST_NAME, type ManifestPart, partName } from '../../table/manifest.js';
import { checkBeginning, checkHeader, type TableHeader } from '../../table/table-check.js';
import type { CompileCacheOptions } from './compile-cache.js';
import { type CompiledShards, divide, sumOf, warnOfShards } from './compile-shards.js';
import { compileShard, type ShardTask } from './shard-compiler.js';
import { partOf, writeManifest } from './shard-manifest.js';

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
 * @throws RobotsFilterError `table` if a part is missing, damaged, or of another profile; `output`
 */
export async function joinShards(
  paths: readonly string[],
  shards: number,
  output: string,
  options: CompileCacheOptions,
): Promise<ManifestPart[]> {
  const parts: ManifestPart[] = [];
  for (let shard = 0; shard < shards; shard++) {
    const path = join(output, partName(shard));
    const header = await readHeader(path);
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
 * Reads the header of a part. The rest is checked when the part is opened.
 *
 * @throws RobotsFilterError `table`
 */
async function readHeader(path: string): Promise<TableHeader> {
  const file = await open(path).catch((cause: unknown) => {
    const message = `${path}: cannot be read (${errorText(cause)}): compile this shard first`;
    throw new RobotsFilterError('table', message, { cause });
  });
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    checkBeginning(head, size, path);
    return checkHeader(head, size, path, () => head.readUInt32LE(HEADER_CHECKSUM));
  } finally {
    await file.close();
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
