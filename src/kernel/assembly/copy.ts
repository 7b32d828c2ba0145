/** Copying octets in vectors. */

/** Copies octets in vectors: up to 127 more are read and written. Returns the end of the copy. */
export function copy(from: usize, octets: i32, to: usize): usize {
  let left = octets;
  let target = to;
  // Few lines differ in how many such blocks they are, so that the end of the loop can be foreseen.
  do {
    v128.store(target, v128.load(from));
    v128.store(target, v128.load(from, 16), 16);
    v128.store(target, v128.load(from, 32), 32);
    v128.store(target, v128.load(from, 48), 48);
    v128.store(target, v128.load(from, 64), 64);
    v128.store(target, v128.load(from, 80), 80);
    v128.store(target, v128.load(from, 96), 96);
    v128.store(target, v128.load(from, 112), 112);
    from += 128;
    target += 128;
    left -= 128;
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
