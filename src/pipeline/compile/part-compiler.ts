/** Compiles the parts of a cache on one thread; and the warnings that only compiling finds. */

import { type ErrorCode, RobotsFilterError } from '../../base/errors.js';
import type { CompileOptions } from '../../compile/body-compiler.js';
import type { HashKey } from '../../compile/byte-store.js';
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

/** When an entry was found, in milliseconds since 1970; `undefined` if that is not known. */
export function dateOf({ fetched, date }: CacheEntry): number | undefined {
  return fetched === undefined ? date : fetched.respondedAt;
}

/** Whether an entry is later than `PartCompilerOptions.until`. */
export function isLate(entry: CacheEntry, until: number | undefined): boolean {
  return until !== undefined && (dateOf(entry) ?? 0) > until;
}

/**
 * The warning of entries that are later than `until`.
 *
 * @param path the first of them
 */
export function tooLate(path: string, count: number, isHistory: boolean): CacheWarning {
  const others = count > 1 ? `, and ${count - 1} more after it,` : '';
  const message = isHistory
    ? `This robots.txt${others} has a date to come, and counts as the newest. If a clock or a date was wrong, remove it.`
    : `This robots.txt${others} has a later date than --as-of; skipped.`;
  return { code: 'bad-date', path, message };
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
  readonly #leaveOutStale: boolean;
  readonly #until: number | undefined;
  readonly #isHistory: boolean;
  readonly #captures = new CaptureList();

  /** @param shared whether the parts are merged on another thread */
  constructor(
    { cache, compile, key, claims, leaveOutStale, until }: PartCompilerOptions,
    shared: boolean,
  ) {
    this.#reader = new PartReader(cache);
    const bodyClaims = claims && new BodyClaims(claims);
    this.#builder = new PartBuilder(compile, { key, claims: bodyClaims, shared });
    this.#leaveOutStale = leaveOutStale;
    this.#until = until;
    this.#isHistory = compile.history ?? false;
  }

  async compile(part: CachePart): Promise<CompiledPart> {
    const builder = this.#builder;
    const events: (readonly [number, WarningEvent | Nested])[] = [];
    let stale = 0;
    let late = 0;
    let lateSource = '';
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
        const { authority, body, source, status, fetched, date, known } = event.entry;
        if (fetched?.stale === true) {
          stale++;
          if (this.#leaveOutStale) return;
        }
        if (isLate(event.entry, this.#until)) {
          if (late++ === 0) lateSource = source;
          if (!this.#isHistory) return;
        }
        const { access, respondedAt = date } = fetched ?? {};
        builder.add(authority, body, { source, status, access, date: respondedAt, ...known });
      });
    } catch (error) {
      // An error loses its class between threads.
      if (!(error instanceof RobotsFilterError)) throw error;
      failure = { code: error.code, message: error.message };
    }
    if (late > 0) {
      const warning = tooLate(lateSource, late, this.#isHistory);
      events.push([builder.count, { kind: 'warning', warning }]);
    }
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
