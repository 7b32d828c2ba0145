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

/**
 * Remembers a value for each of many pairs of whole numbers. Its memory is fixed: a pair takes the
 * place of another one with the same hash.
 *
 * A value is kept when its pair comes for the second time. Most pairs of many tables come once, and
 * values that are kept for a while cost the garbage collector more than those that are not.
 */
export class PairCache<Value> {
  readonly #mask: number;
  readonly #one: Float64Array;
  readonly #other: Float64Array;
  readonly #values: (Value | undefined)[];

  /** @param bits binary logarithm of the number of pairs that are kept, at most 16 */
  constructor(bits: number) {
    const places = 1 << bits;
    this.#mask = places - 1;
    this.#one = new Float64Array(places);
    this.#other = new Float64Array(places);
    this.#values = new Array(places).fill(undefined);
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
    const place = (hash ^ (hash >>> 16)) & this.#mask;
    if (this.#one[place] !== one || this.#other[place] !== other) {
      this.#one[place] = one;
      this.#other[place] = other;
      this.#values[place] = undefined;
      return compute();
    }
    const known = this.#values[place];
    if (known !== undefined) return known;
    const value = compute();
    if (keeps(value)) this.#values[place] = value;
    return value;
  }
}
