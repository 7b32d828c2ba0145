import type { WarningCode } from '../protocol/robots-file.js';
import type { AuthoritySet } from './authority-set.js';
import { CompiledMerger, type CompiledRobots } from './compiled-robots.js';
import type { FirstSources } from './first-sources.js';
import { Numbers } from './numbers.js';
import { GROWTH_WORDS, type OctetStore } from './octet-store.js';
import {
  ENTRY_BODY,
  ENTRY_BODY_OCTETS,
  ENTRY_KEY,
  ENTRY_SOURCE,
  ENTRY_SOURCE_NUMBER,
  ENTRY_WORDS,
  FIRST_BODY,
  LEFT_TO_OTHERS,
  type TablePart,
} from './table-part.js';

/** What a TableBuilder was given so far. */
export interface TableContents {
  readonly compiled: CompiledRobots;
  /** Digests of the successful bodies, in the order in which they were first given. */
  readonly digests: OctetStore;
  readonly authorities: AuthoritySet;
  /** Forms of the sources: SourceForms. */
  readonly sources: OctetStore;
  /**
   * For each body, numbered as in a part, the number of its record; nothing where it is yet to
   * come.
   */
  readonly records: number[];
  /** For each body that has any, the kinds of its warnings. */
  readonly warnings: Map<number, readonly WarningCode[]>;
  readonly firstSources: FirstSources;
  files: number;
  octets: number;
  replaced: number;
}

/**
 * Puts the parts of one PartBuilder into a table's contents, as if their files had been added
 * there.
 */
export class PartMerger {
  readonly #contents: TableContents;
  readonly #compiled: CompiledMerger;
  /** GROWTH_WORDS for each body of the parts, by number: where its digest lies. */
  readonly #digests = new Numbers();
  readonly #digestChunks: number[] = [];
  /** For each body of the parts the number of its record here, or LEFT_TO_OTHERS. */
  readonly #records = new Numbers();
  readonly #warnings = new Map<number, readonly WarningCode[]>();
  /** For each body of the parts its number here, once an entry has needed it; else 0. */
  readonly #bodies = new Numbers();
  readonly #keyChunks: number[] = [];
  readonly #sourceChunks: number[] = [];

  constructor(contents: TableContents) {
    this.#contents = contents;
    this.#compiled = new CompiledMerger(contents.compiled);
  }

  /**
   * Takes a part's content in. Parts have to come in the order in which they were taken; their
   * entries may wait.
   */
  receive(part: TablePart): void {
    const { digests, authorities, sources } = this.#contents;
    this.#compiled.merge(part.compiled);
    for (const chunk of part.digests.chunks) this.#digestChunks.push(digests.adopt(chunk));
    for (const word of part.digests.items) this.#digests.push(word);
    for (const record of part.records) {
      this.#records.push(
        record === LEFT_TO_OTHERS ? LEFT_TO_OTHERS : this.#compiled.records.get(record),
      );
    }
    for (const [body, codes] of part.warnings) this.#warnings.set(body, codes);
    for (const chunk of part.strings) {
      this.#keyChunks.push(authorities.keys.adopt(chunk));
      this.#sourceChunks.push(sources.adopt(chunk));
    }
    this.#contents.files += part.files;
    this.#contents.octets += part.octets;
  }

  /**
   * Adds the entries of a part from one to another, in the order in which a table would be given
   * them.
   */
  add({ entries }: TablePart, from: number, to: number): void {
    const { authorities, sources } = this.#contents;
    for (let at = from * ENTRY_WORDS; at < to * ENTRY_WORDS; at += ENTRY_WORDS) {
      const word = (index: number): number => entries[at + index] as number;
      const source = sources.addAt(
        this.#sourceChunks[word(ENTRY_SOURCE)] as number,
        word(ENTRY_SOURCE + 1),
        word(ENTRY_SOURCE + 2),
        word(ENTRY_SOURCE + 3) | 0,
      );
      const before = authorities.count;
      const authority = authorities.keys.addAt(
        this.#keyChunks[word(ENTRY_KEY)] as number,
        word(ENTRY_KEY + 1),
        word(ENTRY_KEY + 2),
        word(ENTRY_KEY + 3) | 0,
      );
      const number = word(ENTRY_SOURCE_NUMBER);
      const body = this.#body(word(ENTRY_BODY), source, number, authority);
      authorities.set(authority, body, source, number, word(ENTRY_BODY_OCTETS));
      if (authorities.count === before) this.#contents.replaced++;
    }
  }

  /**
   * The number that a body of the parts, which came from a source of an authority, has among the
   * contents.
   */
  #body(body: number, source: number, sourceNumber: number, authority: number): number {
    if (body < FIRST_BODY) return body;
    const known = this.#bodies.get(body);
    if (known !== 0) return known;
    const { digests, records, warnings, firstSources } = this.#contents;
    const at = (body - FIRST_BODY) * GROWTH_WORDS;
    const number =
      FIRST_BODY +
      digests.addAt(
        this.#digestChunks[this.#digests.get(at)] as number,
        this.#digests.get(at + 1),
        this.#digests.get(at + 2),
        this.#digests.get(at + 3) | 0,
      );
    this.#bodies.set(body, number);
    firstSources.note(number, source, sourceNumber, authority);
    const record = this.#records.get(body - FIRST_BODY);
    if (records[number] === undefined && record !== LEFT_TO_OTHERS) {
      records[number] = record;
      const codes = this.#warnings.get(body);
      if (codes !== undefined) warnings.set(number, codes);
    }
    return number;
  }
}
