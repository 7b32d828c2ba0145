import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '../../control-characters.js';
import { RobotsFilterError } from '../../errors.js';
import { errorText } from '../../files/system-error.js';
import { begun, finished } from '../../files/unfinished-files.js';
import { unwritable } from '../../files/unwritable-file.js';
import {
  HEADER_BYTES,
  HEADER_CHECKSUM,
  HOST_NUMBERED_NAME,
  MAX_HOST_BYTES,
} from '../../table/format.js';
import { MANIFEST_NAME, type ManifestPart, partName } from '../../table/manifest.js';
import { NAME_STARTS } from '../../table/name-starts.js';
import { shardOf } from '../../table/shard-of.js';
import {
  checkBeginning,
  checkHeader,
  damagedTable,
  type TableHeader,
} from '../../table/table-check.js';
import type { CompileCacheOptions } from './compile-cache.js';
import { type CompiledShards, divide, sumOf, warnOfShards } from './compile-shards.js';
import { compileShard, type ShardTask } from './shard-compiler.js';
import { partOf, writeManifest } from './shard-manifest.js';

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
