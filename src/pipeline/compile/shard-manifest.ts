import { ReplacementFile } from '../../files/replacement-file.js';
import { checksumText, type ManifestPart, manifestText, partName } from '../../table/manifest.js';
import type { CompileCacheOptions } from './compile-cache.js';
import type { CompiledShard } from './shard-compiler.js';

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
