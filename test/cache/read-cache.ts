import { type CacheContent, cacheContents, PartReader, walk } from '../../src/sources/cache.js';
import type {
  CacheEntry,
  CacheOptions,
  CacheWarning,
  WarningEvent,
} from '../../src/sources/entry.js';

/** The contents of a cache, in order. */
export interface Reading {
  readonly entries: readonly CacheEntry[];
  readonly warnings: readonly CacheWarning[];
}

export function readCache(
  path: string,
  { followLinks = false, ...options }: CacheOptions & { readonly followLinks?: boolean },
): Promise<Reading> {
  return readParts(cacheContents([path], followLinks), options);
}

export async function readParts(
  parts: AsyncIterable<CacheContent | WarningEvent> | Iterable<CacheContent>,
  options: CacheOptions,
): Promise<Reading> {
  const entries: CacheEntry[] = [];
  const warnings: CacheWarning[] = [];
  for await (const found of walk(inOrder(parts), new PartReader(options), 'in-place')) {
    if (found.kind === 'warning') warnings.push(found.warning);
    else if (found.kind === 'archive') {
      throw new Error('the captures of archives are read elsewhere');
    } else entries.push({ ...found.entry, body: Buffer.from(found.entry.body) });
  }
  return { entries, warnings };
}

async function* inOrder<Item>(items: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
