/** An order of numbered items. */
export interface Order {
  /** Negative if `a` comes before `b`, positive if after, 0 if they are equal. */
  compare(a: number, b: number): number;
}

/** Runs of this length are sorted by insertion. */
const RUN = 8;

/**
 * Sorts the first `count` items, stably; `spare` has the same length. A merge sort without
 * recursion: each comparison costs the shorter of two keys and places an item. Keys of N bytes in
 * total therefore take O(N log count), however much they share.
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

/**
 * Merges the runs from `low` to `middle` and from `middle` to `high`, into the same range of `to`.
 */
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
