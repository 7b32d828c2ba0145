import type { Authority } from '../../protocol/authority.js';
import type { Warning, WarningCode } from '../../protocol/robots-file.js';
import { displaySource } from '../../table/display-text.js';
import { BodyCompiler, type CompileOptions } from '../body-compiler.js';
import type { CompiledGrowth } from '../compiled-robots.js';
import { authorityKey, checkAuthority } from '../intern/authority-set.js';
import { ByteChunks } from '../intern/byte-chunks.js';
import type { StoreGrowth } from '../intern/byte-store.js';
import { digestOf } from '../intern/digest.js';
import { type HashKey, hashBytes } from '../intern/hash-bytes.js';
import { SourceTemplates } from '../layout/source-templates.js';
import { accessOf, type RobotsDetails, secondsOf } from '../robots-details.js';
import type { BodyClaims } from './body-claims.js';

/**
 * Words of an entry. They are the place of the authority's key (four words: chunk, offset, length,
 * hash), the place of its source's template (the same four words), the number of the source, the
 * body, the length of the body as received, and the date of its fetch in seconds since 1970, 0 if
 * unknown.
 */
export const ENTRY_WORDS = 12;
export const ENTRY_KEY = 0;
export const ENTRY_SOURCE = 4;
export const ENTRY_SOURCE_NUMBER = 8;
export const ENTRY_BODY = 9;
export const ENTRY_BODY_BYTES = 10;
export const ENTRY_DATE = 11;

/** Numbers of bodies that were not fetched; the distinct fetched bodies follow. */
export const BODY_UNAVAILABLE = 0;
export const BODY_UNREACHABLE = 1;
export const FIRST_BODY = 2;

/** Stands for the number of a record: another builder has claimed the body, and compiles it. */
export const LEFT_TO_OTHERS = 0xffff_ffff;

/**
 * Some robots.txt files of a table, compiled by a PartBuilder, perhaps on another thread. A part
 * refers to earlier parts of the same builder. Its bytes stay where the builder has put them.
 */
export interface TablePart {
  readonly compiled: CompiledGrowth;
  readonly digests: StoreGrowth;
  /** For each new body, the number of its record or LEFT_TO_OTHERS. */
  readonly records: Uint32Array;
  /** For each new body, the number of its record list plus one; 0 if it has none. */
  readonly recordLists: Uint32Array;
  /** The warning codes of each new body that has any, in the order of lines. */
  readonly warnings: readonly (readonly [body: number, codes: readonly WarningCode[]])[];
  /** New chunks of memory for keys and sources. */
  readonly strings: readonly Uint8Array[];
  /** ENTRY_WORDS for each authority, in order. */
  readonly entries: Uint32Array;
  /** Calls of `add`, and bytes of their bodies. */
  readonly files: number;
  readonly bytes: number;
}

/** The place of a string among the strings of a part: chunk, offset, length, hash. */
type Place = readonly [number, number, number, number];

export function countEntries({ entries }: TablePart): number {
  return entries.length / ENTRY_WORDS;
}

/** Settings that the PartBuilders of a table share. */
export interface PartSettings {
  /** The key of the TableContents. */
  readonly key: HashKey;
  /** Claims on bodies; needed if other builders compile the same table. */
  readonly claims?: BodyClaims | undefined;
  /** Whether the parts are merged on another thread; default false. */
  readonly shared?: boolean | undefined;
  /** Called for each warning about a body that this builder compiles. */
  readonly onWarning?: ((source: string, warning: Warning) => void) | undefined;
}

/** Compiles robots.txt files for a table, part by part. */
export class PartBuilder {
  readonly #bodies: BodyCompiler;
  readonly #key: HashKey;
  readonly #claims: BodyClaims | undefined;
  readonly #keepsDates: boolean;
  readonly #onWarning: PartSettings['onWarning'];
  readonly #strings: ByteChunks;
  readonly #sources = new SourceTemplates();
  /** The last template that was kept, and the four words of its place. */
  #template: Uint8Array | undefined;
  #templateWords: Place = [0, 0, 0, 0];
  /** Chunks of `#strings` that `take` has returned. */
  #takenStrings = 0;
  #entries: number[] = [];
  #records: number[] = [];
  #recordLists: number[] = [];
  #warnings: (readonly [number, readonly WarningCode[]])[] = [];
  #files = 0;
  #bytes = 0;

  /**
   * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
   */
  constructor(options: CompileOptions, settings: PartSettings) {
    const { key, claims, shared = false, onWarning } = settings;
    const warnings = onWarning === undefined ? 'codes' : 'messages';
    this.#bodies = new BodyCompiler(options, key, shared, warnings);
    this.#strings = new ByteChunks(shared);
    this.#key = key;
    this.#claims = claims;
    this.#keepsDates = options.records ?? false;
    this.#onWarning = onWarning;
  }

  /** Number of entries since the last part was taken. */
  get count(): number {
    return this.#entries.length / ENTRY_WORDS;
  }

  /** Adds a file: see `TableBuilder.add`. */
  add(authority: Authority, body: Uint8Array, details: RobotsDetails): void {
    checkAuthority(authority, details.source);
    // Steps that can throw come first: an entry is added whole or not at all.
    const number = this.#numberOf(body, details);
    const sources = this.#sources;
    sources.split(displaySource(details.source), authority.host);
    this.#files++;
    this.#bytes += body.length;
    const key = this.#keep(authorityKey(authority));
    if (sources.template !== this.#template) {
      this.#templateWords = this.#keep(sources.template);
      this.#template = sources.template;
    }
    const date = this.#keepsDates ? secondsOf(details.date) : 0;
    this.#pushPlace(key);
    this.#pushPlace(this.#templateWords);
    this.#entries.push(sources.number, number, body.length, date);
  }

  /**
   * Adds the body of a successful fetch that no authority has yet. `TableContents.addEntry` binds
   * it later.
   *
   * @param source shown in warnings about the body
   * @returns the body's number among the bodies of this builder
   */
  addBody(body: Uint8Array, source: string): number {
    return this.#numberOf(body, { source });
  }

  /** Takes everything that was added since the last call. */
  take(): TablePart {
    const part = {
      compiled: this.#bodies.compiled.growth(),
      digests: this.#bodies.digests.growth(),
      records: Uint32Array.from(this.#records),
      recordLists: Uint32Array.from(this.#recordLists),
      warnings: this.#warnings,
      strings: this.#strings.list.slice(this.#takenStrings),
      entries: Uint32Array.from(this.#entries),
      files: this.#files,
      bytes: this.#bytes,
    };
    this.#takenStrings = this.#strings.list.length;
    this.#entries = [];
    this.#records = [];
    this.#recordLists = [];
    this.#warnings = [];
    this.#files = 0;
    this.#bytes = 0;
    return part;
  }

  /** Copies a string; returns the four words of its place. */
  #keep(bytes: Uint8Array): Place {
    const strings = this.#strings;
    strings.keep(bytes);
    return [strings.chunk, strings.start, bytes.length, hashBytes(bytes, this.#key) >>> 0];
  }

  /** Appends a place to the entries; calls with a spread argument would be slower. */
  #pushPlace([chunk, start, length, hash]: Place): void {
    this.#entries.push(chunk, start, length, hash);
  }

  /** The number of a file's body, which is compiled if it is new. */
  #numberOf(body: Uint8Array, details: RobotsDetails): number {
    const access = accessOf(details);
    if (access === 'unavailable') return BODY_UNAVAILABLE;
    if (access === 'unreachable') return BODY_UNREACHABLE;
    const known = this.#bodies.digests.count;
    const digest = digestOf(body);
    const index = this.#bodies.digests.add(digest);
    const number = FIRST_BODY + index;
    if (index < known) return number;
    // Each new digest gets a record, even if compiling the body throws.
    const place = this.#records.push(LEFT_TO_OTHERS) - 1;
    this.#recordLists.push(0);
    if (this.#claims?.claim(digest) === false) return number;
    const { record, recordList, warnings } = this.#bodies.compile(body);
    this.#records[place] = record;
    this.#recordLists[place] = recordList;
    if (warnings.length > 0) this.#warnings.push([number, warnings.map(({ code }) => code)]);
    for (const warning of warnings) this.#onWarning?.(details.source, warning);
    return number;
  }
}
