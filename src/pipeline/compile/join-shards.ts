/**
 * Makes one table of parts: the manifest, which names the shards with their lengths and checksums.
 * Shards that were compiled apart, perhaps on several machines, are first compared with the
 * options: shards of different options would answer differently, and no later check finds that.
 */

import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { ReplacementFile } from '../../files/replacement.js';
import { errorText } from '../../files/system-error.js';
import { checkBeginning, checkHeader, damagedTable, type TableHeader } from '../../table/check.js';
import {
  HEADER_BYTES,
  HEADER_CHECKSUM,
  HOST_NUMBERED_NAME,
  MAX_HOST_BYTES,
  VERSION,
  VERSION_WITHOUT_HISTORIES,
} from '../../table/format.js';
import {
  checksumText,
  MANIFEST_NAME,
  type ManifestPart,
  manifestText,
  partName,
} from '../../table/manifest.js';
import { NAME_STARTS, shardOf } from '../../table/places.js';
import type { CompileCacheOptions } from './compile-cache.js';
import type { CompiledShard } from './shard-compiler.js';

/** No host record has its name further from its start. */
const LONGEST_HOST_RECORD = HOST_NUMBERED_NAME + MAX_HOST_BYTES;

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
  let hasHistories: boolean | undefined;
  let first: TableHeader | undefined;
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
    const isDated = header.version > VERSION_WITHOUT_HISTORIES;
    hasHistories ??= isDated;
    if (isDated !== hasHistories) {
      throw foreign(path, `${isDated ? 'with' : 'without'} histories, unlike ${partName(0)}`);
    }
    first ??= header;
    for (const kept of ['signals', 'records'] as const) {
      if (header[kept] === first[kept]) continue;
      throw foreign(path, `${header[kept] ? 'with' : 'without'} --${kept}, unlike ${partName(0)}`);
    }
    const { hosts, length: bytes, checksum } = header;
    parts.push(partOf({ hosts, bytes, checksum }, shard));
  }
  const history = hasHistories ?? false;
  await writeManifest(join(output, MANIFEST_NAME), paths, parts, { ...options, history });
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

/** A shard as the manifest names it. */
export function partOf(
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
export async function writeManifest(
  path: string,
  sources: readonly string[],
  parts: readonly ManifestPart[],
  { profile, productTokens, history = false }: CompileCacheOptions,
): Promise<void> {
  const text = manifestText({
    profile,
    tableVersion: history ? VERSION : VERSION_WITHOUT_HISTORIES,
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
