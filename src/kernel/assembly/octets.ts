/**
 * The canonical form of octets (RFC 9309 section 2.2.2, spec notes A and B): one function for path
 * patterns and for the paths of URLs. Patterns reach it through `canonical.ts`, literal by literal.
 *
 * Canonical forms are ASCII and are compared octet by octet, also within a `%XX` that stays: `/%2`
 * matches `/%2F`, and so does `/*F`. A path without percent-encoding is its own canonical form.
 */

import { isInNoClass, positions } from './vectors';

/** `A–Z a–z 0–9 - . _ ~`: RFC 3986 section 2.3. */
function isUnreserved(octet: i32): bool {
  if (<u32>((octet | 0x20) - 0x61) < 26) return true;
  if (<u32>(octet - 0x30) < 10) return true;
  return octet === 0x2d || octet === 0x2e || octet === 0x5f || octet === 0x7e;
}

/**
 * The gen-delims that have no role of their own in a query (RFC 3986 section 3.4): `/ : ? @ [ ]`.
 */
function isFreeInQuery(octet: i32): bool {
  return (
    octet === 0x2f ||
    octet === 0x3a ||
    octet === 0x3f ||
    octet === 0x40 ||
    octet === 0x5b ||
    octet === 0x5d
  );
}

/** Octets that may not stand raw in a URI, and the two that are special in a pattern. */
function mustEncode(octet: i32): bool {
  if (octet <= 0x20 || octet >= 0x7f) return true;
  if (octet < 0x3c) return octet === 0x22 || octet === 0x24 || octet === 0x2a;
  if (octet < 0x60) return octet === 0x3c || octet === 0x3e || octet === 0x5c || octet === 0x5e;
  return octet === 0x60 || (octet >= 0x7b && octet <= 0x7d);
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(octet: i32): i32 {
  if (<u32>(octet - 0x30) < 10) return octet - 0x30;
  const letter = (octet | 0x20) - 0x61;
  return <u32>letter < 6 ? letter + 10 : -1;
}

/**
 * Classes (vectors.ts) of the octets that may differ from their canonical form, or with which a
 * fragment begins.
 */
const IRREGULAR_LOW: v128 = i8x16(19, 1, 3, 3, 3, 3, 1, 1, 1, 1, 3, 33, 37, 33, 5, 33);
const IRREGULAR_HIGH: v128 = i8x16(1, 1, 2, 4, 0, 4, 16, 32, 1, 1, 1, 1, 1, 1, 1, 1);

/**
 * Writes the canonical form of `from`–`end` to `to`, at most three octets for each; returns its
 * end. The first raw `?` leads from the path into the query, where note A's octets are decoded.
 * Reads 15 octets past `end` and writes 15 past what it returns.
 */
export function canonicalise(from: usize, end: usize, to: usize, inQuery: bool): usize {
  while (from < end) {
    const octets = v128.load(from);
    const regular = i8x16.bitmask(isInNoClass(IRREGULAR_LOW, IRREGULAR_HIGH, octets));
    const run = min(<usize>ctz(~regular), end - from);
    v128.store(to, octets);
    const questions = i8x16.bitmask(i8x16.eq(octets, i8x16.splat(0x3f)));
    if ((questions & ((1 << (<i32>run)) - 1)) !== 0) inQuery = true;
    from += run;
    to += run;
    if (run === 16 || from === end) continue;
    do {
      const octet: i32 = load<u8>(from);
      if (isEscape(from, end)) {
        const value = (hexDigit(load<u8>(from, 1)) << 4) | hexDigit(load<u8>(from, 2));
        if (isUnreserved(value) || (inQuery && isFreeInQuery(value))) store<u8>(to++, value);
        else to = writeEscape(value, to);
        from += 2;
      } else if (mustEncode(octet)) {
        to = writeEscape(octet, to);
      } else {
        store<u8>(to++, octet);
      }
      from++;
      // Most escapes stand next to others.
    } while (from < end && load<u8>(from) === 0x25);
  }
  return to;
}

function upperHex(half: i32): i32 {
  return half + (half < 10 ? 0x30 : 0x37);
}

/** Writes `%XX`; returns the address behind it. */
function writeEscape(octet: i32, to: usize): usize {
  store<u8>(to, 0x25);
  store<u8>(to, upperHex(octet >> 4), 1);
  store<u8>(to, upperHex(octet & 15), 2);
  return to + 3;
}

/** Whether `%XX` stands here. */
function isEscape(at: usize, end: usize): bool {
  return (
    load<u8>(at) === 0x25 &&
    at + 2 < end &&
    (hexDigit(load<u8>(at, 1)) | hexDigit(load<u8>(at, 2))) >= 0
  );
}

/**
 * The form that google/robotstxt gives a pattern (and never a URL): hex upper-cased, octets from
 * 0x80 encoded.
 */
export function escapePattern(from: usize, end: usize, to: usize): usize {
  while (from < end) {
    const octet: i32 = load<u8>(from);
    if (octet >= 0x80) {
      to = writeEscape(octet, to);
    } else if (isEscape(from, end)) {
      to = writeEscape((hexDigit(load<u8>(from, 1)) << 4) | hexDigit(load<u8>(from, 2)), to);
      from += 2;
    } else {
      store<u8>(to++, octet);
    }
    from++;
  }
  return to;
}

/**
 * The first address in `from`–`end` at which the octets may differ from their canonical form, or
 * where a fragment or a dot segment may begin; `end` if there is none. Reads 64 octets past `end`,
 * one before `from`.
 */
export function firstIrregular(from: usize, end: usize): usize {
  const low = IRREGULAR_LOW;
  const high = IRREGULAR_HIGH;
  while (from < end) {
    const regular = positions(
      i8x16.bitmask(v128.andnot(isInNoClass(low, high, v128.load(from)), beginsDotSegment(from))),
      i8x16.bitmask(
        v128.andnot(isInNoClass(low, high, v128.load(from, 16)), beginsDotSegment(from + 16)),
      ),
      i8x16.bitmask(
        v128.andnot(isInNoClass(low, high, v128.load(from, 32)), beginsDotSegment(from + 32)),
      ),
      i8x16.bitmask(
        v128.andnot(isInNoClass(low, high, v128.load(from, 48)), beginsDotSegment(from + 48)),
      ),
    );
    if (regular !== -1) {
      from += <usize>ctz(~regular);
      return from < end ? from : end;
    }
    from += 64;
  }
  return end;
}

/** Which of 16 octets are a dot behind a slash, as -1. */
function beginsDotSegment(at: usize): v128 {
  return v128.and(
    i8x16.eq(v128.load(at), i8x16.splat(0x2e)),
    i8x16.eq(v128.load(at - 1), i8x16.splat(0x2f)),
  );
}
