import { escapeOf, isEscape } from './bytes.js';
import type { Target } from './url.js';

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const NEVER_RAW = '"<>\\^`{|}';
/** The general delimiters without a role in a query (RFC 3986 section 3.4), escaped. */
const QUERY_DELIMITERS = ['%3A', '%2F', '%3F', '%40', '%5B', '%5D'];

/**
 * The element at one place of a path or pattern: a byte, or `%XX` for a byte that stays
 * percent-encoded. The canonical form is made place by place, but compared byte by byte.
 */
type Place = string;

/** The bytes place by place, read once from left to right; `*` and `$` are unchanged. */
function placesOf(bytes: string): Place[] {
  const places: Place[] = [];
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes.charAt(index);
    if (isEscape(bytes, index)) {
      const escaped = String.fromCharCode(Number.parseInt(bytes.slice(index + 1, index + 3), 16));
      places.push(UNRESERVED.includes(escaped) ? escaped : escapeOf(escaped));
      index += 2;
    } else if (byte <= ' ' || byte >= '\x7f' || NEVER_RAW.includes(byte)) {
      places.push(escapeOf(byte));
    } else {
      places.push(byte);
    }
  }
  return places;
}

/** A literal `*` or `$` is escaped. */
function literal(place: Place): Place {
  return place === '*' || place === '$' ? escapeOf(place) : place;
}

/** Note A: within a query the general delimiters are equal raw and escaped. */
function inQuery(place: Place): Place {
  return QUERY_DELIMITERS.includes(place)
    ? String.fromCharCode(Number.parseInt(place.slice(1), 16))
    : place;
}

/** The canonical form of a URL's path, and of its query if there is one. */
export function canonicalTarget(target: Target): string {
  const path = placesOf(target.path).map(literal).join('');
  if (target.query === undefined) return path;
  return `${path}?${placesOf(target.query).map(literal).map(inQuery).join('')}`;
}

/**
 * A rule's pattern in canonical form; `*` and a final `$` are special, and both are escaped as
 * literals.
 */
export interface CanonicalPattern {
  /**
   * The pattern's own canonical form, then the further readings of note A. The pattern matches if
   * one of them matches.
   */
  readonly readings: readonly string[];
  /** Bytes of its own canonical form (note B): the rank of the rule. */
  readonly length: number;
}

/**
 * The canonical form of a rule's pattern (RFC 9309 sections 2.2.2 and 2.2.3; docs/verdicts.md,
 * notes A and B).
 */
export function canonicalPattern(bytes: string): CanonicalPattern {
  const places = placesOf(bytes).map((place, index, all) =>
    place === '$' && index < all.length - 1 ? literal(place) : place,
  );
  const question = places.includes('?') ? places.indexOf('?') : places.length;
  const own = [...places.slice(0, question), ...places.slice(question).map(inQuery)].join('');
  const readings = [own];
  for (let star = 0; star < question; star++) {
    if (places[star] !== '*') continue;
    if (!places.slice(star, question).some((place) => QUERY_DELIMITERS.includes(place))) continue;
    const rest = places.slice(star + 1).map(inQuery);
    readings.push([...places.slice(0, star), '*?*', ...rest].join(''));
  }
  return { readings, length: own.length };
}

/** A rule's pattern as google/robotstxt escapes it (docs/verdicts.md, google profile, point 7). */
export function googlePattern(bytes: string): string {
  let pattern = '';
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes.charAt(index);
    if (isEscape(bytes, index)) {
      pattern += bytes.slice(index, index + 3).toUpperCase();
      index += 2;
    } else {
      pattern += byte >= '\x80' ? escapeOf(byte) : byte;
    }
  }
  return pattern;
}
