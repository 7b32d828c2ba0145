/** A strict order on items that are known by a number. */
export interface Order {
  /** Negative where `a` comes before `b`, positive where it comes after, 0 where they are equal. */
  compare(a: number, b: number): number;
}

/** Runs of this length are sorted by insertion. */
const RUN = 8;

/**
 * Sorts the first `count` items, stably; `spare` must be as long. A merge sort, as each merge
 * compares an item at the cost of the shorter of two keys and then lays it down: over keys of
 * together N octets all comparisons read O(N log count) octets, however much of them is shared, and
 * nothing recurses.
 */
export function sortItems(items: Int32Array, spare: Int32Array, count: number, order: Order): void {
  for (let low = 0; low < count; low += RUN) {
    const high = Math.min(low + RUN, count);
    for (let next = low + 1; next < high; next++) {
      const item = items[next] as number;
      let at = next;
      for (; at > low && order.compare(items[at - 1] as number, item) > 0; at--) {
        items[at] = items[at - 1] as number;
      }
      items[at] = item;
    }
  }
  let from = items;
  let to = spare;
  for (let run = RUN; run < count; run *= 2) {
    for (let low = 0; low < count; low += 2 * run) {
      merge(from, to, low, Math.min(low + run, count), Math.min(low + 2 * run, count), order);
    }
    [from, to] = [to, from];
  }
  if (from !== items) items.set(from.subarray(0, count));
}

/** Merges the sorted runs from `low` to `middle` and on to `high` into the same places of `to`. */
function merge(
  from: Int32Array,
  to: Int32Array,
  low: number,
  middle: number,
  high: number,
  order: Order,
): void {
  let left = low;
  let right = middle;
  if (middle === high || order.compare(from[middle - 1] as number, from[middle] as number) <= 0) {
    to.set(from.subarray(low, high), low);
    return;
  }
  for (let at = low; at < high; at++) {
    const takesLeft =
      right === high ||
      (left < middle && order.compare(from[left] as number, from[right] as number) <= 0);
    to[at] = (takesLeft ? from[left++] : from[right++]) as number;
  }
}
