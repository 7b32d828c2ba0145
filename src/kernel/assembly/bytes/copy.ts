/** Copying bytes in vectors. */

/**
 * Copies bytes in vectors, at least `usual` of them: a fixed trip count for common lengths keeps
 * the loop's exit predictable. Reads and writes up to the next multiple of 64. Returns the end of
 * the copy.
 */
export function copy(from: usize, bytes: i32, to: usize, usual: i32): usize {
  let left = max(bytes, usual);
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
  return to + bytes;
}

/** Copies a few bytes; reads and writes up to 31 more. Returns the end of the copy. */
export function copyShort(from: usize, bytes: i32, to: usize): usize {
  for (let i = 0; i < bytes; i += 32) {
    v128.store(to + i, v128.load(from + i));
    v128.store(to + i, v128.load(from + i, 16), 16);
  }
  return to + bytes;
}
