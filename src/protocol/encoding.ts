import type { Grammar } from './grammar.js';
import { isLineEnd } from './octet.js';

/** The part of a body that is parsed. */
export interface Text {
  /** The body itself, or what it decodes to. */
  readonly octets: Uint8Array;
  /** Offset of the first octet after the byte order mark. */
  readonly start: number;
  /**
   * Offset after the last octet within the limit; with a body beyond the limit, after the last
   * whole line.
   */
  readonly end: number;
  /** Octets of the body, as received, beyond the limit. */
  readonly ignoredOctets: number;
  /** Whether `octets` was decoded from UTF-16. */
  readonly utf16: boolean;
}

/** The octets of EF BB BF that a body starts with. */
function byteOrderMarkOctets(body: Uint8Array): number {
  if (body[0] !== 0xef) return 0;
  if (body[1] !== 0xbb) return 1;
  return body[2] === 0xbf ? 3 : 2;
}

/**
 * The order of the octets in UTF-16, as a body's byte order mark tells it; `undefined` where there
 * is no such mark.
 */
export function utf16Order(body: Uint8Array): 'little' | 'big' | undefined {
  if (body[0] === 0xff && body[1] === 0xfe) return 'little';
  return body[0] === 0xfe && body[1] === 0xff ? 'big' : undefined;
}

/** Offset after the last line end between `start` and `end`, or `start`. */
export function endOfLastLine(octets: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && !isLineEnd(octets[at - 1])) at--;
  return at;
}

/**
 * Decodes UTF-16 from offset `start` to `end`. As in the Encoding Standard, what is no code point
 * becomes U+FFFD.
 */
function decodeUtf16(
  body: Uint8Array,
  start: number,
  end: number,
  littleEndian: boolean,
): Uint8Array {
  const view = new DataView(body.buffer, body.byteOffset + start, end - start);
  const lastUnit = view.byteLength - 2;
  // A code unit makes at most three octets, two of them that are a pair make four.
  const octets = new Uint8Array(Math.ceil(view.byteLength / 2) * 3);
  let length = 0;
  for (let at = 0; at < view.byteLength; at += 2) {
    let point = at <= lastUnit ? view.getUint16(at, littleEndian) : 0xfffd;
    if (point >= 0xd800 && point <= 0xdfff) {
      const low = point < 0xdc00 && at + 2 <= lastUnit ? view.getUint16(at + 2, littleEndian) : 0;
      if (low >= 0xdc00 && low <= 0xdfff) {
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        at += 2;
      } else {
        // A lone first half swallows an odd octet behind it: one error, as in the standard's
        // decoder.
        if (point < 0xdc00 && at + 2 > lastUnit) at += 2;
        point = 0xfffd;
      }
    }
    if (point < 0x80) {
      octets[length++] = point;
    } else if (point < 0x800) {
      octets[length++] = 0xc0 | (point >> 6);
      octets[length++] = 0x80 | (point & 0x3f);
    } else if (point < 0x10000) {
      octets[length++] = 0xe0 | (point >> 12);
      octets[length++] = 0x80 | ((point >> 6) & 0x3f);
      octets[length++] = 0x80 | (point & 0x3f);
    } else {
      octets[length++] = 0xf0 | (point >> 18);
      octets[length++] = 0x80 | ((point >> 12) & 0x3f);
      octets[length++] = 0x80 | ((point >> 6) & 0x3f);
      octets[length++] = 0x80 | (point & 0x3f);
    }
  }
  return octets.subarray(0, length);
}

/**
 * What of a body a profile parses: without the byte order mark, decoded from UTF-16 (RFC 9309
 * section 2.2.2 allows to bridge encodings), and within `maxBytes` octets as received (section
 * 2.5). A line that the limit cuts is left out; one whose line end is the first octet beyond the
 * limit is whole. So a caller who stops reading a body early needs to keep one octet more than the
 * limit, two of UTF-16, and nothing is lost.
 */
export function textOf(body: Uint8Array, grammar: Grammar, maxBytes: number): Text {
  const limited = grammar.limited && body.length > maxBytes;
  const limit = limited ? maxBytes : body.length;
  const ignoredOctets = body.length - limit;

  const order = grammar.utf16 ? utf16Order(body) : undefined;
  if (order !== undefined) {
    const littleEndian = order === 'little';
    const cut = limited ? limit - (limit % 2) : limit;
    const octets = decodeUtf16(body, 2, cut, littleEndian);
    const [high, low] = littleEndian ? [body[cut + 1], body[cut]] : [body[cut], body[cut + 1]];
    const whole = !limited || (high === 0 && isLineEnd(low));
    const end = whole ? octets.length : endOfLastLine(octets, 0, octets.length);
    return { octets, start: 0, end, ignoredOctets, utf16: true };
  }

  const mark = byteOrderMarkOctets(body);
  const start = mark === 3 || grammar.partialByteOrderMark ? mark : 0;
  const whole = !limited || isLineEnd(body[limit]);
  const end = whole ? limit : endOfLastLine(body, start, limit);
  return { octets: body, start, end, ignoredOctets, utf16: false };
}
