import type { Random } from '../test/random/random.js';

interface Entry {
  readonly input: Uint8Array;
  readonly features: readonly number[];
}

/** The inputs that reached something new when they were added. */
export class Pool {
  readonly #entries: Entry[] = [];
  readonly #seen = new Set<number>();

  get size(): number {
    return this.#entries.length;
  }

  /** All features that were reached. */
  get seen(): ReadonlySet<number> {
    return this.#seen;
  }

  /** The new features among these. */
  unseen(features: readonly number[]): number[] {
    return features.filter((feature) => !this.#seen.has(feature));
  }

  /** Keeps an input. */
  add(input: Uint8Array, features: readonly number[]): void {
    this.#entries.push({ input, features });
    this.markSeen(features);
  }

  /** Features for which no input is kept. */
  markSeen(features: readonly number[]): void {
    for (const feature of features) this.#seen.add(feature);
  }

  /** The shorter of two random inputs, most of the time; recent inputs are drawn more often. */
  pick(random: Random): Uint8Array {
    const one = this.#draw(random);
    const other = this.#draw(random);
    return other.length < one.length && random.chance(0.8) ? other : one;
  }

  #draw(random: Random): Uint8Array {
    const count = this.#entries.length;
    if (count === 0) return new Uint8Array(0);
    const first = random.chance(0.5) ? Math.floor(count * 0.75) : 0;
    return (this.#entries[random.between(first, count - 1)] as Entry).input;
  }

  inputs(): Uint8Array[] {
    return this.#entries.map(({ input }) => input);
  }
}

/**
 * A few inputs that together have the coverage of all: the inputs that add most for their length
 * come first, greedily.
 */
export function cover(entries: readonly Entry[]): Uint8Array[] {
  const byLength = [...entries].sort((a, b) => a.input.length - b.input.length);
  const smallest = new Map<number, Entry>();
  for (const entry of byLength) {
    for (const feature of entry.features) {
      if (!smallest.has(feature)) smallest.set(feature, entry);
    }
  }
  // The rarest features first: an input that alone reaches a feature must be kept, and covers much
  // else.
  const counts = new Map<number, number>();
  for (const { features } of entries) {
    for (const feature of new Set(features)) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  }
  const rarest = [...smallest].sort(([a], [b]) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0));
  const covered = new Set<number>();
  const chosen = new Set<Entry>();
  for (const [feature, entry] of rarest) {
    if (covered.has(feature)) continue;
    chosen.add(entry);
    for (const reached of entry.features) covered.add(reached);
  }
  return [...chosen].map(({ input }) => input);
}
