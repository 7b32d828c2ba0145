/** Sixteen bytes at a time. */

/**
 * A set of positions among 64 bytes, the first position in the lowest bit, from the masks that
 * `i8x16.bitmask` gives for their four vectors.
 */
export function positions(a: i32, b: i32, c: i32, d: i32): u64 {
  return <u64>(<u32>(a | (b << 16))) | ((<u64>(<u32>(c | (d << 16)))) << 32);
}

/**
 * -1 for each of 16 bytes that is in no class of two tables, 0 for the others. A byte is in a class
 * if the entries of its two halves share the class's bit.
 */
export function isInNoClass(low: v128, high: v128, bytes: v128): v128 {
  const half = i8x16.splat(15);
  return i8x16.eq(
    v128.and(
      i8x16.swizzle(low, v128.and(bytes, half)),
      i8x16.swizzle(high, v128.and(i16x8.shr_u(bytes, 4), half)),
    ),
    i8x16.splat(0),
  );
}

/** Sixteen copies of a byte. */
export function splat(byte: i32): v128 {
  return i8x16.splat(<i8>byte);
}

/** The positions of a byte among 64. */
export function positionsOf(byte: i32, a: v128, b: v128, c: v128, d: v128): u64 {
  const wanted = splat(byte);
  return positions(
    i8x16.bitmask(i8x16.eq(a, wanted)),
    i8x16.bitmask(i8x16.eq(b, wanted)),
    i8x16.bitmask(i8x16.eq(c, wanted)),
    i8x16.bitmask(i8x16.eq(d, wanted)),
  );
}

/**
 * The positions from each opening quote up to its closing quote, exclusive: a prefix XOR, as in
 * simdjson (Langdale and Lemire, 2019).
 */
export function quotedIn(quotes: u64): u64 {
  quotes ^= quotes << 1;
  quotes ^= quotes << 2;
  quotes ^= quotes << 4;
  quotes ^= quotes << 8;
  quotes ^= quotes << 16;
  return quotes ^ (quotes << 32);
}
