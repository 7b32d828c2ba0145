/** Sixteen octets at a time. */

/**
 * The set of positions among 64 octets, the first the lowest bit, from the bits of their four
 * vectors as `i8x16.bitmask` gives them.
 */
export function positions(a: i32, b: i32, c: i32, d: i32): u64 {
  return <u64>(<u32>(a | (b << 16))) | ((<u64>(<u32>(c | (d << 16)))) << 32);
}

/**
 * Which of 16 octets are in none of the classes of two tables, as -1, and as 0 the others: an octet
 * is in a class if the entries of its two halves share the class's bit.
 */
export function isInNoClass(low: v128, high: v128, octets: v128): v128 {
  const half = i8x16.splat(15);
  return i8x16.eq(
    v128.and(
      i8x16.swizzle(low, v128.and(octets, half)),
      i8x16.swizzle(high, v128.and(i16x8.shr_u(octets, 4), half)),
    ),
    i8x16.splat(0),
  );
}
