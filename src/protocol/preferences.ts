import type { KeptRecord } from './other-record-kinds.js';
import { parseContentSignal, parseContentUsage } from './record-values.js';
import { recipients } from './records-for.js';

/**
 * What a robots.txt says about the use of content: see docs/agents.md. A preference that is
 * missing is unknown.
 */
export interface Preferences {
  /** Of the `Content-Usage` records: for each category, whether its use is wished. */
  readonly contentUsage: Readonly<Record<string, 'y' | 'n'>>;
  /** Of the `Content-Signal` records: keys and values in lower case. */
  readonly contentSignal: Readonly<Record<string, string>>;
  /** The values of the `License` records, as written. */
  readonly license: readonly string[];
}

/** Finds which of some path patterns is most specific for a URL; returns its index. */
export type PathMatcher = (url: string | Uint8Array) => number | undefined;

type Usage = Preferences['contentUsage'];

/**
 * The preferences for an agent whose groups are those of some product tokens. Of the
 * `Content-Usage` records those with the longest path that matches count, as for rules
 * (draft-ietf-aipref-attach). If several have this path, `n` wins.
 */
export class AgentPreferences {
  readonly #common: Omit<Preferences, 'contentUsage'>;
  /** The distinct paths of the `Content-Usage` records, and what they say. */
  readonly #usages = new Map<string, Record<string, 'y' | 'n'>>();
  readonly #ofPath: readonly Usage[];
  readonly #matcherOf: (paths: readonly string[]) => PathMatcher;
  #mostSpecific: PathMatcher | undefined;
  /** Characters of all values that belong to them. */
  readonly characters: number;

  constructor(
    records: readonly KeptRecord[],
    tokens: readonly string[],
    matcherOf: (paths: readonly string[]) => PathMatcher,
  ) {
    // What is missing of a value could change its meaning.
    const whole = records.filter(({ isTruncated }) => isTruncated !== true);
    const own = whole.filter(recipients(tokens));
    for (const { kind, value } of own) {
      if (kind === 'content-usage') this.#addUsages(value);
    }
    this.#ofPath = [...this.#usages.values()];
    this.#matcherOf = matcherOf;
    const signals = own
      .filter(({ kind }) => kind === 'content-signal')
      .map(({ value }) => parseContentSignal(value));
    this.#common = {
      contentSignal: Object.assign(Object.create(null), ...signals),
      license: whole.filter(({ kind }) => kind === 'license').map(({ value }) => value),
    };
    this.characters = [...own, ...this.#common.license].reduce(
      (sum, each) => sum + (typeof each === 'string' ? each : each.value).length,
      0,
    );
  }

  #addUsages(value: string): void {
    const parsed = parseContentUsage(value);
    if (parsed === undefined) return;
    const { path = '/', preferences } = parsed;
    const usage = this.#usages.get(path) ?? Object.create(null);
    this.#usages.set(path, usage);
    for (const [key, wish] of Object.entries(preferences)) {
      if (usage[key] !== 'n') usage[key] = wish;
    }
  }

  /** The part of them that counts for a URL: equal numbers stand for equal preferences. */
  partFor(url: string | Uint8Array): number | undefined {
    if (this.#usages.size === 0) return undefined;
    this.#mostSpecific ??= this.#matcherOf([...this.#usages.keys()]);
    return this.#mostSpecific(url);
  }

  /** The preferences of a part. */
  ofPart(part: number | undefined): Preferences {
    const contentUsage = part === undefined ? undefined : this.#ofPath[part];
    return { contentUsage: contentUsage ?? Object.create(null), ...this.#common };
  }

  for(url: string | Uint8Array): Preferences {
    return this.ofPart(this.partFor(url));
  }
}
