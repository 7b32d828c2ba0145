import {
  type CacheEntry,
  type CacheEvent,
  type CacheOptions,
  type CachePart,
  type CacheWarning,
  cacheParts,
  nestedParts,
  PartReader,
} from '../../src/pipeline/cache/cache.js';
import type { WarningEvent } from '../../src/pipeline/cache/entry.js';

/** What a cache holds, in order, read part by part as whoever compiles it does. */
export interface Reading {
  readonly entries: readonly CacheEntry[];
  readonly warnings: readonly CacheWarning[];
}

export function readCache(path: string, options: CacheOptions): Promise<Reading> {
  return readParts(cacheParts(path, options.followLinks ?? false), options);
}

export async function readParts(
  parts: AsyncIterable<CachePart | WarningEvent> | Iterable<CachePart | WarningEvent>,
  options: CacheOptions,
): Promise<Reading> {
  const entries: CacheEntry[] = [];
  const warnings: CacheWarning[] = [];
  const reader = new PartReader(options);
  for await (const part of parts) {
    if (part.kind === 'warning') {
      warnings.push(part.warning);
      continue;
    }
    const events: CacheEvent[] = [];
    await reader.read(part, (event) => events.push(lasting(event)));
    for (const event of events) {
      if (event.kind === 'entry') entries.push(event.entry);
      else if (event.kind === 'warning') warnings.push(event.warning);
      else if (part.kind !== 'names') throw new Error('lines have nothing nested');
      else {
        const below = await readParts(nestedParts(event, part), options);
        entries.push(...below.entries);
        warnings.push(...below.warnings);
      }
    }
  }
  return { entries, warnings };
}

/** An event whose body no other overwrites. */
function lasting(event: CacheEvent): CacheEvent {
  if (event.kind !== 'entry') return event;
  return { ...event, entry: { ...event.entry, body: Buffer.from(event.entry.body) } };
}
