import {
  type CacheContent,
  type CacheEntry,
  type CacheEvent,
  type CacheOptions,
  type CacheWarning,
  cacheParts,
  nestedParts,
  PartReader,
} from '../../src/sources/cache.js';
import type { WarningEvent } from '../../src/sources/entry.js';

/** The contents of a cache, in order, read part by part as a compiler reads them. */
export interface Reading {
  readonly entries: readonly CacheEntry[];
  readonly warnings: readonly CacheWarning[];
}

export function readCache(path: string, options: CacheOptions): Promise<Reading> {
  return readParts(cacheParts(path, options.followLinks ?? false), options);
}

export async function readParts(
  parts: AsyncIterable<CacheContent | WarningEvent> | Iterable<CacheContent | WarningEvent>,
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
    if (part.kind === 'archive') throw new Error('the captures of archives are read elsewhere');
    const events: CacheEvent[] = [];
    await reader.read(part, (event) => events.push(lasting(event)));
    for (const event of events) {
      if (event.kind === 'entry') entries.push(event.entry);
      else if (event.kind === 'warning') warnings.push(event.warning);
      else if (part.kind !== 'names' || event.kind === 'capture' || event.kind === 'left-out')
        throw new Error('lines have nothing nested');
      else {
        const below = await readParts(nestedParts(event, part), options);
        entries.push(...below.entries);
        warnings.push(...below.warnings);
      }
    }
  }
  return { entries, warnings };
}

/** An event with a body that no other event overwrites. */
function lasting(event: CacheEvent): CacheEvent {
  if (event.kind !== 'entry') return event;
  return { ...event, entry: { ...event.entry, body: Buffer.from(event.entry.body) } };
}
