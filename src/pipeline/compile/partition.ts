import type { Archive, CacheContent, CacheEvent, CachePart } from '../../cache/cache.js';
import { nestedParts, PartReader } from '../../cache/cache.js';
import type { WarningEvent } from '../../cache/entry.js';
import { checkAuthority } from '../../compile/intern/authority-set.js';
import { ByteStore } from '../../compile/intern/byte-store.js';
import { digestOf } from '../../compile/intern/digest.js';
import { drawKey } from '../../compile/intern/hash-bytes.js';
import {
  BODY_UNAVAILABLE,
  BODY_UNREACHABLE,
  FIRST_BODY,
} from '../../compile/parallel/table-part.js';
import type { AddedFile } from '../../compile/table-contents.js';
import type { AccessResult } from '../../protocol/access.js';
import { type Authority, parseAuthority } from '../../protocol/authority.js';
import { shardOf } from '../../table/shard-of.js';
import { ArchiveCompilation } from './archive-compilation.js';
import type { CompileCacheOptions } from './compile-cache.js';
import type { PartCompilerOptions } from './part-compiler.js';
import type { SpillFile } from './spill-file.js';
import { encodeEntry } from './spilled-entry.js';

/** The shards into which caches are divided. */
export interface Shards {
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
export class Partition {
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
  async add(
    contents: AsyncIterable<CacheContent | WarningEvent> | Iterable<CacheContent | WarningEvent>,
  ): Promise<void> {
    for await (const content of contents) {
      this.#options.signal?.throwIfAborted();
      if (content.kind === 'warning') this.#options.onWarning(content.warning);
      else if (content.kind === 'archive') await this.#addArchive(content);
      else await this.#addPart(content);
    }
  }

  async #addPart(part: CachePart): Promise<void> {
    // What is nested in a part comes before the rest of the part, and takes time to read.
    const waiting: (() => Promise<void> | void)[] = [];
    const handle = (event: CacheEvent): void => {
      if (event.kind === 'warning') waiting.push(() => this.#options.onWarning(event.warning));
      else if (event.kind === 'entry') this.#takeEntry(event, waiting);
      else if (event.kind === 'records' || event.kind === 'scheme') {
        if (part.kind !== 'names') throw new Error('only names have nested parts');
        waiting.push(() => this.add(nestedParts(event, part, this.#options.columns)));
      } else throw new Error(`a part of ${part.kind} has a ${event.kind}`);
    };
    try {
      await this.#reader.read(part, handle);
    } finally {
      for (const step of waiting) await step();
      await this.#spill.relieve();
    }
  }

  /** Takes an entry, whose body the next one overwrites. */
  #takeEntry(
    { entry }: Extract<CacheEvent, { kind: 'entry' }>,
    waiting: (() => Promise<void> | void)[],
  ): void {
    const { authority, body, source, status, fetched } = entry;
    const shard = this.#shardOf(authority.host);
    if (shard === undefined) return;
    if (fetched?.stale === true) {
      this.stale++;
      if (this.#leaveOutStale) return;
    }
    checkAuthority(authority, source);
    const details = { source, status, access: fetched?.access, date: fetched?.respondedAt };
    const bytes = encodeEntry({ authority, details, body });
    waiting.push(() => this.#spill.add(shard, bytes));
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
    await this.#spill.relieve();
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
