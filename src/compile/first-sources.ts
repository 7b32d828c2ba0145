import { Numbers } from './numbers.js';

/**
 * A source in its parts: its form and its number, as in SourceForms, and an authority that has its
 * host.
 */
export interface SourceParts {
  readonly form: number;
  readonly number: number;
  readonly authority: number;
}

const WORDS = 3;

/** The source that had a body first, for each body that was successful. */
export class FirstSources {
  /** WORDS for each body: the form plus one, the number, the authority. */
  readonly #words = new Numbers();

  /** Says that a source has a body. */
  note(body: number, form: number, number: number, authority: number): void {
    const at = WORDS * body;
    if (this.#words.get(at) !== 0) return;
    this.#words.set(at, form + 1);
    this.#words.set(at + 1, number);
    this.#words.set(at + 2, authority);
  }

  of(body: number): SourceParts {
    const words = this.#words;
    const at = WORDS * body;
    return { form: words.get(at) - 1, number: words.get(at + 1), authority: words.get(at + 2) };
  }
}
