import { escapeOf, isEscape } from './octets.js';
import type { Target } from './url.js';

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const NEVER_RAW = '"<>\\^`{|}';
/** The general delimiters without a role in a query (RFC 3986 section 3.4), escaped. */
const QUERY_DELIMITERS = ['%3A', '%2F', '%3F', '%40', '%5B', '%5D'];

/**
 * What stands at one place of a path or pattern: an octet, or `%XX` for one that stays
 * percent-encoded. The canonical form is made place by place, but compared octet by octet.
 */
type Place = string;

/** The octets place by place, read once from left to right; `*` and `$` are left as they are. */
function placesOf(octets: string): Place[] {
  const places: Place[] = [];
  for (let index = 0; index < octets.length; index++) {
    const octet = octets.charAt(index);
    if (isEscape(octets, index)) {
      const escaped = String.fromCharCode(Number.parseInt(octets.slice(index + 1, index + 3), 16));
      places.push(UNRESERVED.includes(escaped) ? escaped : escapeOf(escaped));
      index += 2;
    } else if (octet <= ' ' || octet >= '\x7f' || NEVER_RAW.includes(octet)) {
      places.push(escapeOf(octet));
    } else {
      places.push(octet);
    }
  }
  return places;
}

/** A literal `*` or `$` is escaped. */
function literal(place: Place): Place {
  return place === '*' || place === '$' ? escapeOf(place) : place;
}

/** Note A: within a query the general delimiters are the same raw and escaped. */
function inQuery(place: Place): Place {
  return QUERY_DELIMITERS.includes(place)
    ? String.fromCharCode(Number.parseInt(place.slice(1), 16))
    : place;
}

/** The canonical form of what a URL asks for: its path, and its query if it has one. */
export function canonicalTarget(target: Target): string {
  const path = placesOf(target.path).map(literal).join('');
  if (target.query === undefined) return path;
  return `${path}?${placesOf(target.query).map(literal).map(inQuery).join('')}`;
}

/**
 * A rule's pattern in canonical form; `*` and a final `$` are special, as literals both are
 * escaped.
 */
export interface CanonicalPattern {
  /**
   * The pattern's own canonical form, then the further readings of note A. It matches if one of
   * them does.
   */
  readonly readings: readonly string[];
  /** Octets of its own canonical form (note B); what ranks the rule. */
  readonly length: number;
}

/**
 * The canonical form of a rule's pattern (RFC 9309 sections 2.2.2 and 2.2.3; spec-notes, notes A
 * and B).
 */
export function canonicalPattern(octets: string): CanonicalPattern {
  const places = placesOf(octets).map((place, index, all) =>
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

/** A rule's pattern as google/robotstxt escapes it (spec-notes, section 2, point 7). */
export function googlePattern(octets: string): string {
  let pattern = '';
  for (let index = 0; index < octets.length; index++) {
    const octet = octets.charAt(index);
    if (isEscape(octets, index)) {
      pattern += octets.slice(index, index + 3).toUpperCase();
      index += 2;
    } else {
      pattern += octet >= '\x80' ? escapeOf(octet) : octet;
    }
  }
  return pattern;
}
