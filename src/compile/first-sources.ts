/** A source in its parts: its form and its number, as in SourceForms, and an authority that has its host. */
export interface SourceParts {
  readonly form: number;
  readonly number: number;
  readonly authority: number;
}

const WORDS = 3;

/** The source that had a body first, for each body that was successful. */
export class FirstSources {
  readonly #words: number[] = [];

  /** Says that a source has a body. */
  note(body: number, form: number, number: number, authority: number): void {
    const at = WORDS * body;
    if (this.#words[at] !== undefined) return;
    this.#words[at] = form;
    this.#words[at + 1] = number;
    this.#words[at + 2] = authority;
  }

  of(body: number): SourceParts {
    const [form, number, authority] = this.#words.slice(WORDS * body, WORDS * body + WORDS);
    return { form: form as number, number: number as number, authority: authority as number };
  }
}
