/** Copying octets in vectors. */

/**
 * Copies octets in vectors, and what lies behind them up to the first `usual` octets: few are to be
 * more than that, so that the end of the loop can be foreseen. Both are read and written up to the
 * next multiple of 64. Returns the end of the copy.
 */
export function copy(from: usize, octets: i32, to: usize, usual: i32): usize {
  let left = max(octets, usual);
  let target = to;
  do {
    v128.store(target, v128.load(from));
    v128.store(target, v128.load(from, 16), 16);
    v128.store(target, v128.load(from, 32), 32);
    v128.store(target, v128.load(from, 48), 48);
    from += 64;
    target += 64;
    left -= 64;
  } while (left > 0);
  return to + octets;
}

/** Copies octets of which there are few; up to 31 more are read and written. */
export function copyShort(from: usize, octets: i32, to: usize): usize {
  for (let i = 0; i < octets; i += 32) {
    v128.store(to + i, v128.load(from + i));
    v128.store(to + i, v128.load(from + i, 16), 16);
  }
  return to + octets;
}
