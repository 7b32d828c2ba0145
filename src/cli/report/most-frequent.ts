const INDEX_DIGITS = 10;

/** What is counted: its name, and its index. */
export interface Frequent {
  readonly index: number;
  readonly name: string;
}

/** Things that are counted by their indices. */
export interface Counted {
  readonly length: number;
  countOf(index: number): number;
  /** A name without control characters and spaces. */
  nameOf(index: number): string;
}

/**
 * The things with the greatest counts, greatest first. Equal counts are sorted by name, then by
 * index.
 *
 * @param top number of them; all if undefined
 */
export function mostFrequent({ length, countOf, nameOf }: Counted, top = length): Frequent[] {
  // There are far fewer counts than things, so only the counts are sorted.
  const byCount = new Map<number, number[]>();
  for (let index = 0; index < length; index++) {
    const count = countOf(index);
    const alike = byCount.get(count);
    if (alike === undefined) byCount.set(count, [index]);
    else alike.push(index);
  }
  const found: Frequent[] = [];
  for (const [, alike] of [...byCount].sort(([a], [b]) => b - a)) {
    if (found.length >= top) break;
    // A space is before any character of a name, so the index after it does not change the order.
    const names = alike.map(
      (index) => `${nameOf(index)} ${String(index).padStart(INDEX_DIGITS, '0')}`,
    );
    for (const text of names.sort()) {
      const space = text.length - INDEX_DIGITS - 1;
      found.push({ name: text.slice(0, space), index: Number(text.slice(space + 1)) });
    }
  }
  return found.slice(0, top);
}
