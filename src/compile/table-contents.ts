/** What a table is to hold, gathered from the parts of all threads, before it is laid out. */

import { RobotsFilterError } from '../base/errors.js';
import type { Authority } from '../protocol/authority.js';
import type { WarningCode } from '../protocol/robots-file.js';
import type { Profile } from '../protocol/verdict.js';
import { displaySource } from '../table/display-text.js';
import { ACCESS_UNAVAILABLE, ACCESS_UNKNOWN, ACCESS_UNREACHABLE } from '../table/format.js';
import { AuthoritySet, authorityKey, checkAuthority } from './authority-set.js';
import { type CompileOptions, keptTokens } from './body-compiler.js';
import { ByteStore, drawKey, Uint32List } from './byte-store.js';
import { CompiledRobots, secondsOf } from './compiled-robots.js';
import { TableLayout } from './table-layout.js';
import {
  BODY_UNAVAILABLE,
  BODY_UNKNOWN,
  BODY_UNREACHABLE,
  FIRST_BODY,
  SourceTemplates,
  sourceOf,
} from './table-part.js';

/** Counts of a table's input. */
export interface TableBuilderStats {
  /** Calls of `add`. */
  readonly files: number;
  /** Bytes of their bodies. */
  readonly bytes: number;
  /** Distinct bodies that were parsed: those of successful fetches. */
  readonly bodies: number;
  /**
   * Calls of `add` that override an earlier one, for at least one scheme and port, because the last
   * one wins.
   */
  readonly replaced: number;
  /** Warnings about all distinct bodies. */
  readonly warnings: number;
}

/** A file whose body has been merged already. */
export interface AddedFile {
  /** The number of the body in TableContents, BODY_… or FIRST_BODY and more, and its length. */
  readonly body: number;
  readonly bodyBytes: number;
  readonly source: string;
  /** When it was fetched, in milliseconds since 1970. */
  readonly date?: number | undefined;
}

/** The contents of a table: PartMergers fill it, a TableLayout writes it. */
export class TableContents {
  readonly profile: Profile;
  /** The product tokens that are kept besides `*`; `undefined` for all. */
  readonly kept: ReadonlySet<string> | undefined;
  /** The key of the table's hashes, for its PartBuilders. */
  readonly key = drawKey();
  readonly compiled = new CompiledRobots(this.key);
  /** Digests of the successful bodies, in the order in which they were first added. */
  readonly digests = new ByteStore(this.key);
  /** The robots record of each body, by the body's number here; a hole until it arrives. */
  readonly robotsRecords: number[] = [];
  /** The list of each body's other records, plus one, or 0; a hole until the list arrives. */
  readonly recordLists: number[] = [0, 0, 0];
  readonly authorities: AuthoritySet;
  /** Templates of the sources: see SourceTemplates. */
  readonly sources = new ByteStore(this.key);
  /** The warning codes of each body that has any. */
  readonly warnings = new Map<number, readonly WarningCode[]>();
  readonly firstSources = new FirstSources();
  readonly #templates = new SourceTemplates();
  /** Whether the table keeps other records and dates. */
  readonly keepsRecords: boolean;
  /** Whether the table keeps what robots.txt files say about uses. */
  readonly keepsSignals: boolean;
  /** Whether the table keeps all files of each authority. */
  readonly keepsHistories: boolean;
  /** Files that were left out, because a table with histories needs their dates. */
  undated = 0;
  files = 0;
  bytes = 0;
  replaced = 0;

  constructor(options: CompileOptions) {
    this.profile = options.profile ?? 'rfc9309';
    this.kept = keptTokens(options);
    this.keepsRecords = options.records ?? false;
    this.keepsSignals = options.signals ?? false;
    this.keepsHistories = options.history ?? false;
    const { robotsRecords, recordLists, key, keepsHistories } = this;
    this.authorities = new AuthoritySet(robotsRecords, recordLists, key, keepsHistories);
    this.robotsRecords[BODY_UNAVAILABLE] = this.compiled.addAccessResult(ACCESS_UNAVAILABLE);
    this.robotsRecords[BODY_UNREACHABLE] = this.compiled.addAccessResult(ACCESS_UNREACHABLE);
    this.robotsRecords[BODY_UNKNOWN] = this.compiled.addAccessResult(ACCESS_UNKNOWN);
  }

  /**
   * Adds an authority whose body has been merged already.
   *
   * @throws RobotsFilterError `usage` for a host or port that no table can have
   */
  addEntry(authority: Authority, { body, bodyBytes, source, date }: AddedFile): void {
    checkAuthority(authority, source);
    const { authorities, sources } = this;
    const seconds = this.keepsRecords || this.keepsHistories ? secondsOf(date) : 0;
    this.files++;
    this.bytes += bodyBytes;
    if (this.keepsHistories && seconds === 0) {
      this.undated++;
      return;
    }
    this.#templates.split(displaySource(source), authority.host);
    const template = sources.add(this.#templates.template);
    const entry = authorities.keys.add(authorityKey(authority));
    const { number } = this.#templates;
    if (body >= FIRST_BODY) {
      this.firstSources.note(body, { template, number, authority: entry });
    }
    const overrides = authorities.set(entry, {
      body,
      source: template,
      sourceNumber: number,
      bodyBytes,
      date: seconds,
    });
    if (overrides) this.replaced++;
  }

  /**
   * Lays out the table. The layout must be written once, before anything more is added.
   *
   * @throws RobotsFilterError `limit` if the table would be longer than 4 GiB; `worker` if a thread
   *   has not compiled a body that it claimed
   */
  layOut(): TableLayout {
    const { robotsRecords, digests } = this;
    for (let body = FIRST_BODY; body < FIRST_BODY + digests.count; body++) {
      if (robotsRecords[body] !== undefined) continue;
      throw new RobotsFilterError(
        'worker',
        'a thread has claimed a robots.txt and not compiled it. This is an error in robots-filter: please report it with the robots.txt files at hand',
      );
    }
    return new TableLayout(this);
  }

  get stats(): TableBuilderStats {
    const { files, bytes, replaced, digests } = this;
    let warnings = 0;
    for (const count of this.contentWarnings.values()) warnings += count;
    return { files, bytes, bodies: digests.count, replaced, warnings };
  }

  /** Number of warnings about all distinct bodies by code, in the order of first occurrence. */
  get contentWarnings(): ReadonlyMap<WarningCode, number> {
    const counts = new Map<WarningCode, number>();
    for (const [, codes] of this.#warningsByBody()) {
      for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * The first source of each distinct body that has this warning, in the order of first occurrence.
   * A long source is truncated at its beginning, as in a table.
   */
  sourcesOf(code: WarningCode): string[] {
    const { authorities, sources, firstSources } = this;
    const bodies = this.#warningsByBody().filter(([, codes]) => codes.includes(code));
    return bodies.flatMap(([body]) => {
      const { template, number, authority } = firstSources.of(body);
      // A body that belongs only to a capture that does not count has no source.
      if (template < 0) return [];
      const escaped = sourceOf(sources.get(template), number, authorities.host(authority));
      return JSON.parse(`"${escaped}"`) as string;
    });
  }

  #warningsByBody(): (readonly [body: number, codes: readonly WarningCode[]])[] {
    return [...this.warnings].sort(([a], [b]) => a - b);
  }
}

/** A source: its template and number, as in SourceTemplates, and an authority with its host. */
export interface FirstSource {
  readonly template: number;
  readonly number: number;
  readonly authority: number;
}

const WORDS = 3;

/** The first source of each fetched body. */
class FirstSources {
  /** The words of each body, WORDS for each: template plus one, number, authority. */
  readonly #words = new Uint32List();

  /** Notes the source of a body, unless the body has one. */
  note(body: number, { template, number, authority }: FirstSource): void {
    const at = WORDS * body;
    if (this.#words.get(at) !== 0) return;
    this.#words.set(at, template + 1);
    this.#words.set(at + 1, number);
    this.#words.set(at + 2, authority);
  }

  of(body: number): FirstSource {
    const words = this.#words;
    const at = WORDS * body;
    return {
      template: words.get(at) - 1,
      number: words.get(at + 1),
      authority: words.get(at + 2),
    };
  }
}
