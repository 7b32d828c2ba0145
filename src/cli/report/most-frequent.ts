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
  const order = Uint32Array.from({ length }, (_, index) => index);
  order.sort((a, b) => countOf(b) - countOf(a));
  const found: Frequent[] = [];
  for (let at = 0; at < length && found.length < top; ) {
    const count = countOf(order[at] as number);
    // A space is before any character of a name, so the index after it does not change the order.
    const alike: string[] = [];
    for (; at < length && countOf(order[at] as number) === count; at++) {
      const index = order[at] as number;
      alike.push(`${nameOf(index)} ${String(index).padStart(INDEX_DIGITS, '0')}`);
    }
    for (const text of alike.sort()) {
      const space = text.length - INDEX_DIGITS - 1;
      found.push({ name: text.slice(0, space), index: Number(text.slice(space + 1)) });
    }
  }
  return found.slice(0, top);
}
