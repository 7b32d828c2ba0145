/** Whether a value of parsed JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Adds an item to the list of a key. */
export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Binary logarithm of the number of places that a cache has at first, and by which it grows. */
const FIRST_BITS = 8;

/**
 * Remembers a value for each of many pairs of whole numbers. Its memory is bounded: a pair takes
 * the place of another one with the same hash. It grows with what it is asked, because to make
 * 65,536 places takes longer than to compare two small tables.
 *
 * A value is kept when its pair comes for the second time. Most pairs of many tables come once, and
 * values that are kept for a while cost the garbage collector more than those that are not.
 */
export class PairCache<Value> {
  readonly #most: number;
  #places = 0;
  #one = new Float64Array();
  #other = new Float64Array();
  #values: (Value | undefined)[] = [];
  /** How many pairs have taken a place since the cache has grown. */
  #taken = 0;

  /** @param bits binary logarithm of the number of pairs that are kept, at most 16 */
  constructor(bits: number) {
    this.#most = 1 << bits;
    this.#grow();
  }

  /**
   * The value of a pair; computes it if it is not known.
   *
   * @param keeps whether a value that was computed may be kept
   */
  of(
    one: number,
    other: number,
    compute: () => Value,
    keeps: (value: Value) => boolean = () => true,
  ): Value {
    const hash = Math.imul(one, 0x9e3779b1) ^ Math.imul(other, 0x85ebca6b);
    const place = (hash ^ (hash >>> 16)) & (this.#places - 1);
    if (this.#one[place] !== one || this.#other[place] !== other) {
      this.#one[place] = one;
      this.#other[place] = other;
      this.#values[place] = undefined;
      if (++this.#taken > this.#places && this.#places < this.#most) this.#grow();
      return compute();
    }
    const values = this.#values;
    const known = values[place];
    if (known !== undefined) return known;
    const value = compute();
    // If the cache grows meanwhile, the place is another pair's.
    if (keeps(value)) values[place] = value;
    return value;
  }

  /** Forgets all pairs: values that still count are computed once more. */
  #grow(): void {
    this.#places = Math.min(this.#most, Math.max(1, this.#places) << FIRST_BITS);
    this.#taken = 0;
    this.#one = new Float64Array(this.#places);
    this.#other = new Float64Array(this.#places);
    this.#values = new Array(this.#places).fill(undefined);
  }
}
