import { BodyClaims } from '../../compile/body-claims.js';
import type { CompileOptions } from '../../compile/body-compiler.js';
import type { HashKey } from '../../compile/octet-store.js';
import { PartBuilder, type TablePart } from '../../compile/table-part.js';
import { type ErrorCode, RobotsFilterError } from '../../errors.js';
import { type CachePart, type Nested, PartReader } from '../cache/cache.js';
import type { CacheOptions, WarningEvent } from '../cache/entry.js';

/** How parts of caches are compiled: the same on all threads. */
export interface PartCompilerOptions {
  readonly cache: CacheOptions;
  readonly compile: CompileOptions;
  /** That of the TableBuilder. */
  readonly key: HashKey;
  /** Memory of the BodyClaims, where several threads compile. */
  readonly claims: SharedArrayBuffer | undefined;
  /** Whether stale findings of fetches are left out. */
  readonly leaveOutStale: boolean;
}

/** What a part of a cache has come to. */
export interface CompiledPart {
  readonly table: TablePart;
  /**
   * What there was besides entries, each with the number of entries of the part that came before
   * it.
   */
  readonly events: readonly (readonly [before: number, event: WarningEvent | Nested])[];
  /** Findings of fetches that are older than they may be. */
  readonly stale: number;
  /** What ended the reading of the part early, after all of the above. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | undefined;
}

/** Reads and compiles parts of caches, one after another. */
export class PartCompiler {
  readonly #reader: PartReader;
  readonly #builder: PartBuilder;
  readonly #leaveOutStale: boolean;

  /** @param shared whether the table is built on another thread */
  constructor(
    { cache, compile, key, claims, leaveOutStale }: PartCompilerOptions,
    shared: boolean,
  ) {
    this.#reader = new PartReader(cache);
    const bodyClaims = claims && new BodyClaims(claims);
    this.#builder = new PartBuilder(compile, key, bodyClaims, shared);
    this.#leaveOutStale = leaveOutStale;
  }

  async compile(part: CachePart): Promise<CompiledPart> {
    const builder = this.#builder;
    const events: (readonly [number, WarningEvent | Nested])[] = [];
    let stale = 0;
    let failure: CompiledPart['failure'];
    try {
      await this.#reader.read(part, (event) => {
        if (event.kind !== 'entry') {
          events.push([builder.count, event]);
          return;
        }
        const { authority, body, source, status, fetched } = event.entry;
        if (fetched?.stale === true) {
          stale++;
          if (this.#leaveOutStale) return;
        }
        builder.add(authority, body, { source, status, access: fetched?.access });
      });
    } catch (error) {
      // Errors lose their class on the way to another thread.
      if (!(error instanceof RobotsFilterError)) throw error;
      failure = { code: error.code, message: error.message };
    }
    return { table: builder.take(), events, stale, failure };
  }
}
