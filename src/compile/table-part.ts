import type { Authority } from '../protocol/authority.js';
import type { WarningCode } from '../protocol/robots-file.js';
import { authorityKey, checkAuthority } from './authority-set.js';
import type { BodyClaims } from './body-claims.js';
import { BodyCompiler, type CompileOptions, digestOf } from './body-compiler.js';
import type { CompiledGrowth } from './compiled-robots.js';
import { displaySource } from './display-text.js';
import { OctetChunks } from './octet-chunks.js';
import { type HashKey, hashOctets, type StoreGrowth } from './octet-store.js';
import { accessOf, type RobotsDetails } from './robots-details.js';
import { SourceForms } from './source-forms.js';

/**
 * In an entry of a part: where the authority's key and the form of its source lie, each with its
 * octets and its hash; the number of the source; the number of the body, as PartBuilder numbers
 * them; and the octets of the body as they came.
 */
export const ENTRY_WORDS = 11;
export const ENTRY_KEY = 0;
export const ENTRY_SOURCE = 4;
export const ENTRY_SOURCE_NUMBER = 8;
export const ENTRY_BODY = 9;
export const ENTRY_BODY_OCTETS = 10;

/** What says where a string lies. */
const KEPT_WORDS = 4;

/** Numbers of bodies that were not successful; the others follow. */
export const BODY_UNAVAILABLE = 0;
export const BODY_UNREACHABLE = 1;
export const FIRST_BODY = 2;

/** In place of the number of a record: the body is claimed, and so compiled, by another builder. */
export const LEFT_TO_OTHERS = 0xffff_ffff;

/**
 * A part of a table's content, compiled by a PartBuilder, maybe on another thread. Growths tell
 * what the builder's stores gained; what they do not tell was in a part before. All octets are
 * where the builder has put them.
 */
export interface TablePart {
  readonly compiled: CompiledGrowth;
  readonly digests: StoreGrowth;
  /** For each new body the number of its record, or LEFT_TO_OTHERS. */
  readonly records: Uint32Array;
  /**
   * Warnings on new bodies, for each that has any: its number from FIRST_BODY on, and the kinds in
   * the order of lines.
   */
  readonly warnings: readonly (readonly [body: number, codes: readonly WarningCode[]])[];
  /** New chunks of memory for keys and sources. */
  readonly strings: readonly Uint8Array[];
  /** ENTRY_WORDS for each authority, in order. */
  readonly entries: Uint32Array;
  /** Calls of `add`, and octets of their bodies. */
  readonly files: number;
  readonly octets: number;
}

/** Compiles robots.txt files for a TableBuilder that is elsewhere, part by part. */
export class PartBuilder {
  readonly #bodies: BodyCompiler;
  readonly #key: HashKey;
  readonly #claims: BodyClaims | undefined;
  readonly #strings: OctetChunks;
  readonly #sources = new SourceForms();
  /** The form of a source that was kept last, and the words that say where. */
  #form: Uint8Array | undefined;
  #formWords: readonly number[] = [];
  #toldStrings = 0;
  #entries: number[] = [];
  #records: number[] = [];
  #warnings: (readonly [number, readonly WarningCode[]])[] = [];
  #files = 0;
  #octets = 0;

  /**
   * @param key that of the TableBuilder
   * @param claims where there are other builders for the same table
   * @param shared whether the TableBuilder is on another thread
   * @throws RobotsFilterError `usage` as TableBuilder does
   */
  constructor(
    options: CompileOptions,
    key: HashKey,
    claims: BodyClaims | undefined,
    shared: boolean,
  ) {
    this.#bodies = new BodyCompiler(options, key, shared);
    this.#strings = new OctetChunks(shared);
    this.#key = key;
    this.#claims = claims;
  }

  /** Entries of the part so far. */
  get count(): number {
    return this.#entries.length / ENTRY_WORDS;
  }

  /** As TableBuilder's `add`. */
  add(authority: Authority, body: Uint8Array, details: RobotsDetails): void {
    checkAuthority(authority, details.source);
    this.#files++;
    this.#octets += body.length;
    this.#keep(authorityKey(authority));
    const sources = this.#sources;
    sources.take(displaySource(details.source), authority.host);
    if (sources.form === this.#form) {
      for (const word of this.#formWords) this.#entries.push(word);
    } else {
      this.#keep(sources.form);
      this.#form = sources.form;
      this.#formWords = this.#entries.slice(-KEPT_WORDS);
    }
    this.#entries.push(sources.number, this.#numberOf(body, details), body.length);
  }

  /** What was added since the last call. */
  take(): TablePart {
    const part = {
      compiled: this.#bodies.compiled.growth(),
      digests: this.#bodies.digests.growth(),
      records: Uint32Array.from(this.#records),
      warnings: this.#warnings,
      strings: this.#strings.list.slice(this.#toldStrings),
      entries: Uint32Array.from(this.#entries),
      files: this.#files,
      octets: this.#octets,
    };
    this.#toldStrings = this.#strings.list.length;
    this.#entries = [];
    this.#records = [];
    this.#warnings = [];
    this.#files = 0;
    this.#octets = 0;
    return part;
  }

  #keep(octets: Uint8Array): void {
    const strings = this.#strings;
    strings.keep(octets);
    const hash = hashOctets(octets, this.#key) >>> 0;
    this.#entries.push(strings.chunk, strings.start, octets.length, hash);
  }

  #numberOf(body: Uint8Array, details: RobotsDetails): number {
    const access = accessOf(details);
    if (access === 'unavailable') return BODY_UNAVAILABLE;
    if (access === 'unreachable') return BODY_UNREACHABLE;
    const known = this.#bodies.digests.count;
    const digest = digestOf(body);
    const number = this.#bodies.digests.add(digest);
    if (number < known) return FIRST_BODY + number;
    if (this.#claims?.claim(digest) === false) {
      this.#records.push(LEFT_TO_OTHERS);
      return FIRST_BODY + number;
    }
    const { record, warnings } = this.#bodies.compile(body);
    this.#records.push(record);
    if (warnings.length > 0) {
      this.#warnings.push([FIRST_BODY + number, warnings.map(({ code }) => code)]);
    }
    return FIRST_BODY + number;
  }
}
