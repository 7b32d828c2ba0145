import { escapeOf, isEscape } from './octets.js';
import type { Target } from './url.js';

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const NEVER_RAW = '"<>\\^`{|}';
/** The general delimiters without a role in a query (RFC 3986 section 3.4), escaped. */
const QUERY_DELIMITERS = ['%3A', '%2F', '%3F', '%40', '%5B', '%5D'];

/**
 * One unit of a canonical path or pattern: an octet that stands raw, or `%XX`, which nothing splits
 * (`/%2` does not match `/%2F`, nor does `/*F`). In a pattern `*` and a final `$` are the special
 * characters; as literals both are always escaped.
 */
export type Unit = string;

/** The octets unit by unit, read once from left to right; `*` and `$` are left as they are. */
function unitsOf(octets: string): Unit[] {
  const units: Unit[] = [];
  for (let index = 0; index < octets.length; index++) {
    const octet = octets.charAt(index);
    if (isEscape(octets, index)) {
      const escaped = String.fromCharCode(Number.parseInt(octets.slice(index + 1, index + 3), 16));
      units.push(UNRESERVED.includes(escaped) ? escaped : escapeOf(escaped));
      index += 2;
    } else if (octet <= ' ' || octet >= '\x7f' || NEVER_RAW.includes(octet)) {
      units.push(escapeOf(octet));
    } else {
      units.push(octet);
    }
  }
  return units;
}

/** A literal `*` or `$` is escaped. */
function literal(unit: Unit): Unit {
  return unit === '*' || unit === '$' ? escapeOf(unit) : unit;
}

/** Note A: within a query the general delimiters are the same raw and escaped. */
function inQuery(unit: Unit): Unit {
  return QUERY_DELIMITERS.includes(unit)
    ? String.fromCharCode(Number.parseInt(unit.slice(1), 16))
    : unit;
}

/** The canonical form of what a URL asks for: its path, and its query if it has one. */
export function canonicalTarget(target: Target): Unit[] {
  const path = unitsOf(target.path).map(literal);
  if (target.query === undefined) return path;
  return [...path, '?', ...unitsOf(target.query).map(literal).map(inQuery)];
}

/** A rule's pattern in canonical form. */
export interface CanonicalPattern {
  /** The pattern as written, then the further readings of note A. It matches if one of them does. */
  readonly readings: readonly (readonly Unit[])[];
  /** Octets of the pattern as written (note B); what ranks the rule. */
  readonly length: number;
}

/** The canonical form of a rule's pattern (RFC 9309 sections 2.2.2 and 2.2.3; spec-notes, notes A and B). */
export function canonicalPattern(octets: string): CanonicalPattern {
  const units = unitsOf(octets).map((unit, index, all) =>
    unit === '$' && index < all.length - 1 ? literal(unit) : unit,
  );
  const question = units.includes('?') ? units.indexOf('?') : units.length;
  const asWritten = [...units.slice(0, question), ...units.slice(question).map(inQuery)];
  const readings = [asWritten];
  for (let star = 0; star < question; star++) {
    if (units[star] !== '*') continue;
    if (!units.slice(star, question).some((unit) => QUERY_DELIMITERS.includes(unit))) continue;
    readings.push([...units.slice(0, star), '*', '?', '*', ...units.slice(star + 1).map(inQuery)]);
  }
  return { readings, length: asWritten.join('').length };
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
