import { BLOCK_MASK_BYTES, MAX_BLOCK_RULES } from '../../table/format.js';
import { ANY, shareOf } from './window.js';

/** One bucket for each bit of a mask's entry. */
const BUCKETS = 8;

/**
 * For each byte of a window, a set of its low halves and a set of its high halves: bit n is value
 * n.
 */
const WINDOW_BYTES = 3;
const SETS = 2 * WINDOW_BYTES;
const FULL_SET = 0xffff;

/**
 * The share of bytes whose low, or high, half is in a set: the sum of one entry for each byte of
 * the set.
 */
type SetShares = readonly [Float64Array, Float64Array];

/** For the low and the high half of a byte. Made for the first block: most runs compile none. */
let halfShares: readonly [SetShares, SetShares] | undefined;

function sharesOfHalves(): readonly [SetShares, SetShares] {
  if (halfShares !== undefined) return halfShares;
  const low: SetShares = [new Float64Array(256), new Float64Array(256)];
  const high: SetShares = [new Float64Array(256), new Float64Array(256)];
  for (let byte = 0; byte < 256; byte++) {
    addShare(low, byte & 15, shareOf(byte));
    addShare(high, byte >> 4, shareOf(byte));
  }
  halfShares = [low, high];
  return halfShares;
}

function addShare(shares: SetShares, half: number, share: number): void {
  const table = half < 8 ? shares[0] : shares[1];
  for (let set = 0; set < 256; set++) {
    if ((set >> (half & 7)) & 1) table[set] = (table[set] as number) + share;
  }
}

function shareOfSet(shares: SetShares, set: number): number {
  return (shares[0][set & 255] as number) + (shares[1][set >> 8] as number);
}

/**
 * Deals the rules of a block into at most BUCKETS buckets, so that rules with similar windows share
 * one.
 *
 * Starts with one bucket for each rule. While there are too many buckets, joins the two whose union
 * adds least to the cost. The cost is the expected number of rules that are tried in vain: for each
 * bucket, its number of rules times the share of windows that its masks pass. All pairs are
 * weighed, because a block is small.
 */
export class Buckets {
  /** The bucket of each rule. */
  readonly bucketOf = new Uint8Array(MAX_BLOCK_RULES);
  readonly #shares = sharesOfHalves();
  readonly #sets = new Uint16Array(MAX_BLOCK_RULES * SETS);
  readonly #rules = new Uint8Array(MAX_BLOCK_RULES);
  /** Cost of a bucket, and the cost added by joining two buckets, the lower number first. */
  readonly #cost = new Float64Array(MAX_BLOCK_RULES);
  readonly #joined = new Float64Array(MAX_BLOCK_RULES * MAX_BLOCK_RULES);
  #count = 0;
  #buckets = 0;

  clear(): void {
    this.#count = 0;
    this.#sets.fill(0);
  }

  /** Adds the next rule. */
  addRule(): void {
    this.#count++;
  }

  /** Adds a window, whose bytes start at `at`, to the last rule. */
  addWindow(bytes: Uint16Array, at: number): void {
    const base = (this.#count - 1) * SETS;
    for (let place = 0; place < WINDOW_BYTES; place++) {
      const byte = bytes[at + place] as number;
      const low = byte === ANY ? FULL_SET : 1 << (byte & 15);
      const high = byte === ANY ? FULL_SET : 1 << (byte >> 4);
      const set = base + 2 * place;
      this.#sets[set] = (this.#sets[set] as number) | low;
      this.#sets[set + 1] = (this.#sets[set + 1] as number) | high;
    }
  }

  /** Fills `bucketOf`. */
  deal(): void {
    const count = this.#count;
    for (let rule = 0; rule < count; rule++) {
      this.bucketOf[rule] = rule;
      this.#rules[rule] = 1;
      this.#cost[rule] = this.#costOf(rule, rule);
    }
    this.#buckets = count;
    if (count <= BUCKETS) return;
    for (let a = 0; a < count; a++) {
      for (let b = a + 1; b < count; b++) this.#weigh(a, b);
    }
    for (let left = count; left > BUCKETS; left--) this.#joinCheapest();
    this.#renumber();
  }

  /** Writes the masks to `out` at `at`. */
  writeMasks(out: Uint8Array, at: number): void {
    out.fill(0, at, at + BLOCK_MASK_BYTES);
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      for (let set = 0; set < SETS; set++) {
        const values = this.#sets[bucket * SETS + set] as number;
        for (let value = 0; value < 16; value++) {
          const entry = at + set * 16 + value;
          if ((values >> value) & 1) out[entry] = (out[entry] as number) | (1 << bucket);
        }
      }
    }
  }

  #costOf(a: number, b: number): number {
    const [lowShares, highShares] = this.#shares;
    let share = 1;
    for (let place = 0; place < WINDOW_BYTES; place++) {
      const low = a * SETS + 2 * place;
      const other = b * SETS + 2 * place;
      share *= shareOfSet(lowShares, (this.#sets[low] as number) | (this.#sets[other] as number));
      share *= shareOfSet(
        highShares,
        (this.#sets[low + 1] as number) | (this.#sets[other + 1] as number),
      );
    }
    const rules = this.#rules[a] as number;
    return share * (a === b ? rules : rules + (this.#rules[b] as number));
  }

  #weigh(a: number, b: number): void {
    const added = this.#costOf(a, b) - (this.#cost[a] as number) - (this.#cost[b] as number);
    this.#joined[Math.min(a, b) * MAX_BLOCK_RULES + Math.max(a, b)] = added;
  }

  #joinCheapest(): void {
    let least = Number.POSITIVE_INFINITY;
    let into = 0;
    let from = 0;
    for (let a = 0; a < this.#count; a++) {
      if (this.#rules[a] === 0) continue;
      for (let b = a + 1; b < this.#count; b++) {
        const added = this.#joined[a * MAX_BLOCK_RULES + b] as number;
        if (added >= least || this.#rules[b] === 0) continue;
        least = added;
        into = a;
        from = b;
      }
    }
    for (let set = 0; set < SETS; set++) {
      const at = into * SETS + set;
      this.#sets[at] = (this.#sets[at] as number) | (this.#sets[from * SETS + set] as number);
    }
    this.#rules[into] = (this.#rules[into] as number) + (this.#rules[from] as number);
    this.#rules[from] = 0;
    this.#cost[into] = this.#costOf(into, into);
    for (let rule = 0; rule < this.#count; rule++) {
      if (this.bucketOf[rule] === from) this.bucketOf[rule] = into;
      if (rule !== into && this.#rules[rule] !== 0) this.#weigh(into, rule);
    }
  }

  /** Renumbers the remaining buckets from 0. */
  #renumber(): void {
    let next = 0;
    for (let bucket = 0; bucket < this.#count; bucket++) {
      if (this.#rules[bucket] === 0) continue;
      this.#sets.copyWithin(next * SETS, bucket * SETS, (bucket + 1) * SETS);
      for (let rule = 0; rule < this.#count; rule++) {
        if (this.bucketOf[rule] === bucket) this.bucketOf[rule] = next;
      }
      next++;
    }
    this.#buckets = next;
  }
}
