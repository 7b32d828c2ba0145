import { Uint32List } from '../intern/uint32-list.js';

/** A source: its template and number, as in SourceTemplates, and an authority with its host. */
export interface FirstSource {
  readonly template: number;
  readonly number: number;
  readonly authority: number;
}

const WORDS = 3;

/** The first source of each fetched body. */
export class FirstSources {
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
