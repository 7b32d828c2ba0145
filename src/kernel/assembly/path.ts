/**
 * From the path and query of a URL as they stand to the octets that patterns are compared with: dot
 * segments removed as the WHATWG URL Standard does, the rest in canonical form (spec note C). Most
 * paths are that already and are matched where they lie.
 */

import { COPY_MARGIN } from '../layout';
import { copyShort } from './copy';
import { canonicalise } from './octets';
import { claimScratch } from './scratch';
import { findOctet } from './search';
import { dropWhiteSpace, holdsDropped, isSlash } from './url';

/** Octets that `copyShort` and `canonicalise` may write past what they return. */
const VECTOR_MARGIN: usize = 32;

/** Start and end of the path last prepared; readable up to 64 octets past its end. */
export let pathStart: usize = 0;
export let pathEnd: usize = 0;

/**
 * Prepares the path and query `from`–`end`, of which all before `irregular` is canonical. `scratch`
 * has room for four times their octets and SCRATCH_MARGIN. With `owned` the octets may be
 * overwritten, and so may COPY_MARGIN after them.
 */
export function preparePath(
  from: usize,
  end: usize,
  irregular: usize,
  scratch: usize,
  owned: bool,
): void {
  if (irregular > from && (irregular === end || load<u8>(irregular) === 0x23)) {
    pathStart = from;
    pathEnd = irregular;
    return;
  }
  end = findOctet(0x23, irregular, end);
  if (irregular > from && !mayNeedRewriting(irregular, end)) {
    claimScratch(scratch, 3 * (end - from) + VECTOR_MARGIN);
    const octets = <i32>(irregular - from);
    pathStart = scratch;
    const inQuery = findOctet(0x3f, from, irregular) < irregular;
    pathEnd = canonicalise(irregular, end, copyShort(from, octets, scratch), inQuery);
    return;
  }
  if (holdsDropped(from, end)) {
    if (!owned) claimScratch(scratch, end - from + COPY_MARGIN);
    const copy = owned ? from : scratch;
    end = dropWhiteSpace(from, end, copy);
    if (!owned) scratch = end + COPY_MARGIN;
    from = copy;
    owned = true;
  }
  if (!owned) {
    claimScratch(scratch, end - from + 1);
    end = removeDotSegments(from, end, scratch);
    from = scratch;
    scratch = end;
  } else if (from < end && isSlash(load<u8>(from))) {
    // A path that begins with a slash never grows, so it may shrink where it lies.
    end = removeDotSegments(from, end, from);
  } else {
    // Make room for the slash that the path lacks.
    memory.copy(from + 1, from, end - from);
    end = removeDotSegments(from + 1, end + 1, from);
  }
  claimScratch(scratch, 3 * (end - from) + VECTOR_MARGIN);
  pathStart = scratch;
  pathEnd = canonicalise(from, end, scratch, false);
}

/**
 * Whether a dot segment or a backslash may stand in `at`–`end`, or an octet that the URL Standard
 * drops. Reads 16 octets past `end`, one before `at`.
 */
function mayNeedRewriting(at: usize, end: usize): bool {
  while (at < end) {
    const octets = v128.load(at);
    const dots = v128.or(
      i8x16.eq(octets, i8x16.splat(0x2e)),
      v128.and(i8x16.eq(octets, i8x16.splat(0x25)), i8x16.eq(v128.load(at, 1), i8x16.splat(0x32))),
    );
    const segments = v128.and(dots, i8x16.eq(v128.load(at - 1), i8x16.splat(0x2f)));
    const dropped = v128.or(
      i8x16.eq(octets, i8x16.splat(0x0d)),
      v128.or(i8x16.eq(octets, i8x16.splat(0x09)), i8x16.eq(octets, i8x16.splat(0x0a))),
    );
    const backslashes = i8x16.eq(octets, i8x16.splat(0x5c));
    const found = i8x16.bitmask(v128.or(segments, v128.or(dropped, backslashes)));
    if (found !== 0) return at + <usize>ctz(found) < end;
    at += 16;
  }
  return false;
}

/**
 * Prepares what google/robotstxt matches of a URL taken as it stands (spec notes, section 2, point
 * 8). `scratch` has room for the URL's octets and SCRATCH_MARGIN.
 */
export function prepareGooglePath(url: usize, end: usize, scratch: usize): void {
  const start = end - url >= 2 && load<u16>(url) === 0x2f2f ? url + 2 : url;
  let from = start;
  // The `://` of a scheme, unless a path, parameters or a query begin before it.
  for (let at = start; at < end; at++) {
    const octet: i32 = load<u8>(at);
    if (octet === 0x2f || octet === 0x3f || octet === 0x3b) break;
    if (octet === 0x3a && end - at >= 3 && load<u16>(at, 1) === 0x2f2f) {
      from = at + 3;
      break;
    }
  }
  while (from < end) {
    const octet: i32 = load<u8>(from);
    if (octet === 0x2f || octet === 0x3f || octet === 0x3b) break;
    from++;
  }
  const fragment = findOctet(0x23, start, end);
  if (fragment < from) from = end;
  else end = fragment;
  const cut = findOctet(0, from, end);
  if (from < end && load<u8>(from) === 0x2f) {
    pathStart = from;
    pathEnd = cut;
    return;
  }
  claimScratch(scratch, cut - from + 1);
  store<u8>(scratch, 0x2f);
  memory.copy(scratch + 1, from, cut - from);
  pathStart = scratch;
  pathEnd = scratch + 1 + (cut - from);
}

/** 1 for a segment that is `.`, 2 for `..`, `%2e` counted as a dot; else 0. */
function dotsOf(from: usize, end: usize): i32 {
  let dots = 0;
  while (from < end) {
    if (load<u8>(from) === 0x2e) {
      from++;
    } else if (
      end - from >= 3 &&
      load<u8>(from) === 0x25 &&
      load<u8>(from, 1) === 0x32 &&
      (load<u8>(from, 2) | 0x20) === 0x65
    ) {
      from += 3;
    } else {
      return 0;
    }
    if (++dots > 2) return 0;
  }
  return dots;
}

/**
 * Writes the path and query `from`–`end`, the path without dot segments and with `\` as `/`, to
 * `to`, which is `from` or an octet before it, or lies elsewhere; returns its end. The result
 * begins with a slash, and is longer than what it is made of, by that slash, only where that does
 * not begin with one.
 */
function removeDotSegments(from: usize, end: usize, to: usize): usize {
  const query = findOctet(0x3f, from, end);
  const start = to;
  if (from < query && isSlash(load<u8>(from))) from++;
  while (true) {
    const segment = from;
    while (from < query && !isSlash(load<u8>(from))) from++;
    const last = from >= query;
    const dots = dotsOf(segment, from);
    if (dots === 0) {
      const octets = from - segment;
      store<u8>(to, 0x2f);
      memory.copy(to + 1, segment, octets);
      to += octets + 1;
    } else {
      if (dots === 2 && to > start) {
        to--;
        while (load<u8>(to) !== 0x2f) to--;
      }
      if (last) store<u8>(to++, 0x2f);
    }
    if (last) break;
    from++;
  }
  memory.copy(to, query, end - query);
  return to + (end - query);
}
