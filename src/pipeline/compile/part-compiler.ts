/** Compiles the parts of a cache on one thread; and the warnings that only compiling finds. */

import { type ErrorCode, RobotsFilterError } from '../../base/errors.js';
import type { CompileOptions } from '../../compile/body-compiler.js';
import type { HashKey } from '../../compile/byte-store.js';
import type { VersionDetails } from '../../compile/compiled-robots.js';
import { type CrowdedHost, MAX_HOST_AUTHORITIES } from '../../compile/host-records.js';
import type { PartMerger } from '../../compile/part-merger.js';
import type { TableContents } from '../../compile/table-contents.js';
import type { TableLayout } from '../../compile/table-layout.js';
import { BodyClaims, PartBuilder, type TablePart } from '../../compile/table-part.js';
import { MESSAGES } from '../../protocol/parse.js';
import { type CachePart, PartReader } from '../../sources/cache.js';
import type { CacheEntry, CacheOptions, CacheWarning, WarningEvent } from '../../sources/entry.js';
import type { Nested } from '../../sources/item.js';
import { CaptureList, type PackedCaptures } from '../../warc/captures.js';
import { noteCapture } from './archive-compilation.js';

/** Options for all threads that compile parts of caches. */
export interface PartCompilerOptions {
  readonly cache: CacheOptions;
  readonly compile: CompileOptions;
  /** The key of the TableContents. */
  readonly key: HashKey;
  /** Memory of the BodyClaims; `undefined` if only one thread compiles. */
  readonly claims: SharedArrayBuffer | undefined;
  /** Whether stale findings of fetches are ignored. */
  readonly leaveOutStale: boolean;
  /**
   * In milliseconds since 1970: entries with a later date do not count, or in a history are warned
   * of, because their date is one to come. `undefined` if dates do not matter.
   */
  readonly until: number | undefined;
}

/**
 * Tells which entries of caches count, and counts the others: findings of fetches that are stale,
 * and entries that are later than `PartCompilerOptions.until`.
 */
export class CountingEntries {
  /** Number of stale findings of fetches, used or not. */
  stale = 0;
  #late = 0;
  #lateSource = '';
  readonly #options: Pick<PartCompilerOptions, 'leaveOutStale' | 'until'>;
  readonly #isHistory: boolean;

  constructor(
    options: Pick<PartCompilerOptions, 'leaveOutStale' | 'until'>,
    { history = false }: Pick<CompileOptions, 'history'>,
  ) {
    this.#options = options;
    this.#isHistory = history;
  }

  /** What a table keeps of an entry beside its body; `undefined` if the entry does not count. */
  detailsOf({ source, status, fetched, date, known }: CacheEntry): VersionDetails | undefined {
    const { leaveOutStale, until } = this.#options;
    if (fetched?.stale === true) {
      this.stale++;
      if (leaveOutStale) return undefined;
    }
    const found = fetched === undefined ? date : fetched.respondedAt;
    if (until !== undefined && (found ?? 0) > until) {
      if (this.#late++ === 0) this.#lateSource = source;
      if (!this.#isHistory) return undefined;
    }
    const { access, respondedAt = date } = fetched ?? {};
    return { source, status, access, date: respondedAt, ...known };
  }

  /** The warning of late entries, which names the first; `undefined` if there are none. */
  get warning(): CacheWarning | undefined {
    if (this.#late === 0) return undefined;
    const others = this.#late > 1 ? `, and ${this.#late - 1} more after it,` : '';
    const message = this.#isHistory
      ? `This robots.txt${others} has a date to come, and counts as the newest. If a clock or a date was wrong, remove it.`
      : `This robots.txt${others} has a later date than --as-of; skipped.`;
    return { code: 'bad-date', path: this.#lateSource, message };
  }
}

/** A compiled part of a cache. */
export interface CompiledPart {
  readonly table: TablePart;
  /** Events other than entries, each with the number of entries before it. */
  readonly events: readonly (readonly [before: number, event: WarningEvent | Nested])[];
  /** Number of stale findings of fetches. */
  readonly stale: number;
  /** Captures of an archive, whose bodies are in `table`. */
  readonly captures: PackedCaptures;
  /** The error that ended the reading of the part, after all of its contents above. */
  readonly failure: { readonly code: ErrorCode; readonly message: string } | undefined;
}

/** Reads and compiles parts of caches, one after another. */
export class PartCompiler {
  readonly #reader: PartReader;
  readonly #builder: PartBuilder;
  readonly #options: PartCompilerOptions;
  readonly #captures = new CaptureList();

  /** @param shared whether the parts are merged on another thread */
  constructor(options: PartCompilerOptions, shared: boolean) {
    const { cache, compile, key, claims } = options;
    this.#options = options;
    this.#reader = new PartReader(cache);
    const bodyClaims = claims && new BodyClaims(claims);
    this.#builder = new PartBuilder(compile, { key, claims: bodyClaims, shared });
  }

  async compile(part: CachePart): Promise<CompiledPart> {
    const builder = this.#builder;
    const events: (readonly [number, WarningEvent | Nested])[] = [];
    const counting = new CountingEntries(this.#options, this.#options.compile);
    let failure: CompiledPart['failure'];
    try {
      await this.#reader.read(part, (event) => {
        if (event.kind === 'capture' || event.kind === 'left-out') {
          noteCapture(this.#captures, event, (body, url) => builder.addBody(body, url));
          return;
        }
        if (event.kind !== 'entry') {
          events.push([builder.count, event]);
          return;
        }
        const { authority, body } = event.entry;
        const details = counting.detailsOf(event.entry);
        if (details !== undefined) builder.add(authority, body, details);
      });
    } catch (error) {
      // An error loses its class between threads.
      if (!(error instanceof RobotsFilterError)) throw error;
      failure = { code: error.code, message: error.message };
    }
    const { stale, warning } = counting;
    if (warning !== undefined) events.push([builder.count, { kind: 'warning', warning }]);
    return { table: builder.take(), events, stale, captures: this.#captures.take(), failure };
  }
}

/** A compiled part, and the merger that has received it. */
export interface MergeablePart {
  readonly compiled: CompiledPart;
  readonly merger: PartMerger;
}

/**
 * Warnings that only compiling finds: of files over their budget, of crowded hosts, of histories
 * that overlap, and of tables that win over files without a scheme.
 */
export function compileWarnings(contents: TableContents, layout: TableLayout): CacheWarning[] {
  const overBudget = contents
    .sourcesOf('over-budget')
    .map((path): CacheWarning => ({ code: 'over-budget', path, message: MESSAGES['over-budget'] }));
  return [
    ...overBudget,
    ...layout.crowdedHosts.map(crowded),
    ...interrupted(layout),
    ...doubtful(layout),
  ];
}

function interrupted({ interrupted: { versions, host } }: TableLayout): CacheWarning[] {
  if (versions === 0) return [];
  const message = `versions of several sources overlap, ${versions} in all. A table and a directory of fetch know when a version was found first and last. If another version lies in between, the first version counts again only from its last time. Compile the sources of the table in place of the table.`;
  return [{ code: 'overlapping-versions', path: host, message }];
}

function doubtful({ doubtful: { entries, host } }: TableLayout): CacheWarning[] {
  if (entries === 0) return [];
  const message = `an entry of a table for http or https alone wins over a file without a scheme; ${entries} such entries in all. Name the scheme in the file (https://${host}), or compile the sources of the table in place of the table.`;
  return [{ code: 'overridden', path: host, message }];
}

function crowded({ host, authorities }: CrowdedHost): CacheWarning {
  const rest = authorities - MAX_HOST_AUTHORITIES;
  return {
    code: 'too-many-authorities',
    path: host,
    message: `${authorities} authorities, more than the limit of ${MAX_HOST_AUTHORITIES}; ${rest} at the highest ports skipped. Leave out ports that you do not need.`,
  };
}
