import { RobotsFilterError } from '../errors.js';
import type { Authority } from '../protocol/authority.js';
import type { Profile } from '../protocol/profile.js';
import type { Warning, WarningCode } from '../protocol/robots-file.js';
import { AuthoritySet, authorityKey, checkAuthority } from './authority-set.js';
import { BodyCompiler, type CompileOptions, digestOf } from './body-compiler.js';
import { displaySource } from './display-text.js';
import { FirstSources } from './first-sources.js';
import { ACCESS_UNAVAILABLE, ACCESS_UNREACHABLE } from './format.js';
import { drawKey, OctetStore } from './octet-store.js';
import { PartMerger, type TableContents } from './part-merger.js';
import { accessOf, type RobotsDetails } from './robots-details.js';
import { SourceForms, sourceOf } from './source-forms.js';
import { type Allocate, TableLayout } from './table-layout.js';
import { BODY_UNAVAILABLE, BODY_UNREACHABLE, FIRST_BODY } from './table-part.js';

export type { RobotsDetails } from './robots-details.js';

export interface TableBuilderOptions extends CompileOptions {
  /**
   * Is told of what is wrong with a file by `add`, once for each distinct content, under the source
   * that had it first.
   */
  readonly onWarning?: ((source: string, warning: Warning) => void) | undefined;
}

/** What a builder was given so far. */
export interface TableBuilderStats {
  /** Calls of `add`. */
  readonly files: number;
  /** Octets of their bodies. */
  readonly octets: number;
  /** Distinct bodies among the successful ones: those that were parsed. */
  readonly bodies: number;
  /** Authorities that were given something else, or the same once more; the later counts. */
  readonly replaced: number;
  /** Warnings on all distinct bodies. */
  readonly warnings: number;
}

/**
 * Compiles robots.txt files into one table. Its memory grows with their distinct content and, by
 * some tens of octets, with each authority. What was built does not depend on the order of `add`,
 * unless an authority is given twice.
 */
export class TableBuilder {
  /** What the hashes of the PartBuilders of this table have to depend on. */
  readonly key = drawKey();
  readonly #onWarning: ((source: string, warning: Warning) => void) | undefined;
  readonly #bodies: BodyCompiler;
  readonly #sources = new SourceForms();
  readonly #contents: TableContents;

  /**
   * @throws RobotsFilterError `usage` for a profile that does not exist or a `maxBytes` out of
   * range.
   */
  constructor(options: TableBuilderOptions = {}) {
    this.#onWarning = options.onWarning;
    this.#bodies = new BodyCompiler(options, this.key);
    const { compiled, digests } = this.#bodies;
    const records: number[] = [];
    records[BODY_UNAVAILABLE] = compiled.addAccessResult(ACCESS_UNAVAILABLE);
    records[BODY_UNREACHABLE] = compiled.addAccessResult(ACCESS_UNREACHABLE);
    this.#contents = {
      compiled,
      digests,
      authorities: new AuthoritySet(records, this.key),
      sources: new OctetStore(this.key),
      records,
      warnings: new Map(),
      firstSources: new FirstSources(),
      files: 0,
      octets: 0,
      replaced: 0,
    };
  }

  get profile(): Profile {
    return this.#bodies.profile;
  }

  /**
   * Says what an authority's robots.txt holds, or how fetching it ended. Without a scheme it counts
   * for http and https: on their default ports, or on the port given. An authority that names its
   * scheme counts before one that does not, whichever was added first; the same authority once more
   * replaces what it had. `body` is read at once and not kept.
   *
   * @throws RobotsFilterError `usage` for a host that is not as `canonicalHost` returns it: empty,
   *   or longer than 255 octets; and for port 0, from which nothing can be fetched.
   */
  add(authority: Authority, body: Uint8Array, details: RobotsDetails): void {
    checkAuthority(authority, details.source);
    const contents = this.#contents;
    contents.files++;
    contents.octets += body.length;
    const { authorities, firstSources } = contents;
    const number = this.#numberOf(body, details);
    const forms = this.#sources;
    forms.take(displaySource(details.source), authority.host);
    const source = contents.sources.add(forms.form);
    const before = authorities.count;
    const key = authorities.keys.add(authorityKey(authority));
    if (number >= FIRST_BODY) firstSources.note(number, source, forms.number, key);
    authorities.set(key, number, source, forms.number, body.length);
    if (authorities.count === before) contents.replaced++;
  }

  /**
   * Takes the parts of a PartBuilder in, for which this table's `key` is needed. Of each builder
   * its own.
   */
  merger(): PartMerger {
    return new PartMerger(this.#contents);
  }

  /**
   * The table: immutable, and nothing of the builder's. `allocate` may provide its memory, such as
   * a part of a SharedArrayBuffer: so many octets, all zero.
   *
   * @throws RobotsFilterError as `layOut` does
   */
  build(allocate?: Allocate): Uint8Array {
    return this.layOut().table(allocate);
  }

  /**
   * What the table will be, to be written once, and before anything more is added.
   *
   * @throws RobotsFilterError `limit` if it were longer than 4 GiB, or a host had more than 65,535
   *   authorities; `worker` if parts were merged of which one relied on another that was not.
   */
  layOut(): TableLayout {
    const { compiled, authorities, sources, digests, records } = this.#contents;
    for (let body = FIRST_BODY; body < FIRST_BODY + digests.count; body++) {
      if (records[body] !== undefined) continue;
      throw new RobotsFilterError(
        'worker',
        'a robots.txt was left to a thread that has not compiled it. This is an error in robots-filter: please report it with the robots.txt files at hand',
      );
    }
    const { profile, kept } = this.#bodies;
    return new TableLayout({ profile, compiled, authorities, sources, kept });
  }

  get stats(): TableBuilderStats {
    const { files, octets, replaced, digests } = this.#contents;
    let warnings = 0;
    for (const count of this.contentWarnings.values()) warnings += count;
    return { files, octets, bodies: digests.count, replaced, warnings };
  }

  /** Warnings on all distinct bodies, by kind, in the order in which they were first met. */
  get contentWarnings(): ReadonlyMap<WarningCode, number> {
    const counts = new Map<WarningCode, number>();
    for (const [, codes] of this.#warnings()) {
      for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Of each distinct body that has a warning of this kind the source that had it first, in the
   * order in which these were first met. Of a long source the end, as in a table.
   */
  sourcesOf(code: WarningCode): string[] {
    const { authorities, sources, firstSources } = this.#contents;
    const bodies = this.#warnings().filter(([, codes]) => codes.includes(code));
    return bodies.map(([body]) => {
      const { form, number, authority } = firstSources.of(body);
      const escaped = sourceOf(sources.get(form), number, authorities.host(authority));
      return JSON.parse(`"${escaped}"`) as string;
    });
  }

  /**
   * The kinds of the warnings on each body that has any, in the order in which these were first
   * met.
   */
  #warnings(): (readonly [body: number, codes: readonly WarningCode[]])[] {
    return [...this.#contents.warnings].sort(([a], [b]) => a - b);
  }

  /** The number of a file's body. */
  #numberOf(body: Uint8Array, details: RobotsDetails): number {
    const access = accessOf(details);
    if (access === 'unavailable') return BODY_UNAVAILABLE;
    if (access === 'unreachable') return BODY_UNREACHABLE;
    const number = FIRST_BODY + this.#bodies.digests.add(digestOf(body));
    const { records } = this.#contents;
    if (records[number] === undefined) {
      const { record, warnings } = this.#bodies.compile(body);
      records[number] = record;
      if (warnings.length > 0) {
        const codes = warnings.map(({ code }) => code);
        this.#contents.warnings.set(number, codes);
        for (const warning of warnings) this.#onWarning?.(details.source, warning);
      }
    }
    return number;
  }
}
