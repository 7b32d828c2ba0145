import { canonicalise } from '../kernel/canonical.js';
import type { Profile } from '../protocol/profile.js';
import type { Rule } from '../protocol/robots-file.js';
import { UNESCAPED } from './display-text.js';

const ASTERISK = 0x2a;
const DOLLAR = 0x24;
const PERCENT = 0x25;
const QUESTION_MARK = 0x3f;
const SLASH = 0x2f;

/** What stands between two `*`, or behind the last: canonical octets, at least one. */
export interface Segment {
  /** As it reads in the pattern's own canonical form. */
  readonly first: Uint8Array;
  /**
   * As it reads where a `*` before it has swallowed the text's `?`; `undefined` where that is the
   * same.
   */
  readonly second: Uint8Array | undefined;
}

/**
 * A path pattern (RFC 9309 sections 2.2.2 and 2.2.3) in canonical form, ready to be compared with
 * canonical texts.
 */
export interface Pattern {
  /**
   * Length of its canonical form, each `*` and a final `$` included: its specificity (spec-notes,
   * note B).
   */
  readonly octets: number;
  /** What the text must begin with: the literal before the first `*`. */
  readonly prefix: Uint8Array;
  /**
   * What must follow, each anywhere behind the one before. None for a pattern without `*`, or with
   * nothing behind it.
   */
  readonly segments: readonly Segment[];
  /** Whether the last literal must end the text. Never of a pattern that ends in `*$`. */
  readonly anchored: boolean;
  /** Whether some segment has a second form (spec-notes, note A). */
  readonly twoForms: boolean;
  /**
   * Whether it is known to read as its rule is written, and to be fit to be shown so; where that is
   * not known, it may still.
   */
  readonly plain: boolean;
}

const NO_SEGMENTS: readonly Segment[] = [];

/** What an octet means to a pattern; the bits of all its octets are joined. */
const PLAIN = 0;
const ALTERED = 1;
const WILDCARD = 2;
const QUERY = 4;
/** Is escaped where a pattern is shown. */
const ESCAPED = 8;

type OctetClasses = Uint8Array;

let rfcClasses: OctetClasses | undefined;
let googleClasses: OctetClasses | undefined;

/** The octets that the canonical form may alter are found by asking for the form of each, once. */
function octetClasses(google: boolean): OctetClasses {
  const known = google ? googleClasses : rfcClasses;
  if (known !== undefined) return known;
  const classes = new Uint8Array(256);
  for (let octet = 0; octet < 256; octet++) {
    const form = canonicalise(Uint8Array.of(octet), { google, inQuery: false });
    classes[octet] = form.length === 1 && form[0] === octet ? PLAIN : ALTERED;
    if (UNESCAPED[octet] === 0) classes[octet] = (classes[octet] as number) | ESCAPED;
  }
  classes[PERCENT] = ALTERED;
  classes[ASTERISK] = WILDCARD;
  classes[QUESTION_MARK] = (classes[QUESTION_MARK] as number) | QUERY;
  if (google) googleClasses = classes;
  else rfcClasses = classes;
  return classes;
}

/**
 * The pattern of a rule, from its octets as written; `undefined` for one that can match no text, as
 * it is empty or starts with neither `/` nor `*`.
 *
 * Of note A's readings none is spelt out: a segment keeps the forms in which they need it.
 */
export function parsePattern(octets: Uint8Array, profile: Profile): Pattern | undefined {
  const length = octets.length;
  if (length === 0 || (octets[0] !== SLASH && octets[0] !== ASTERISK)) return undefined;
  const google = profile === 'google';
  const classes = octetClasses(google);
  const anchored = octets[length - 1] === DOLLAR;
  const end = anchored ? length - 1 : length;
  let seen = 0;
  for (let at = 0; at < end; at++) seen |= classes[octets[at] as number] as number;
  if ((seen & (ALTERED | WILDCARD)) === 0) {
    const prefix = anchored ? view(octets, 0, end) : octets;
    const plain = (seen & ESCAPED) === 0;
    return { octets: length, prefix, segments: NO_SEGMENTS, anchored, twoForms: false, plain };
  }
  return splitPattern(octets, end, anchored, google, classes);
}

/**
 * The pattern in `octets` up to `end`, where `*` parts literals of which some may need another
 * form.
 */
function splitPattern(
  octets: Uint8Array,
  end: number,
  anchored: boolean,
  google: boolean,
  classes: OctetClasses,
): Pattern {
  let canonicalOctets = anchored ? 1 : 0;
  let prefix: Uint8Array | undefined;
  const segments: Segment[] = [];
  let twoForms = false;
  let inQuery = false;
  let endsInLiteral = false;
  for (let start = 0; start <= end; ) {
    let seen = 0;
    let at = start;
    for (; at < end; at++) {
      const kind = classes[octets[at] as number] as number;
      if (kind === WILDCARD) break;
      seen |= kind;
    }
    const literal = view(octets, start, at);
    const isAltered = (seen & ALTERED) !== 0;
    const first = isAltered ? canonicalise(literal, { google, inQuery }) : literal;
    canonicalOctets += first.length;
    endsInLiteral = first.length > 0;
    if (prefix === undefined) {
      prefix = first;
    } else if (endsInLiteral) {
      const second =
        isAltered && !inQuery && !google
          ? otherForm(first, canonicalise(literal, { google, inQuery: true }))
          : undefined;
      if (second !== undefined) twoForms = true;
      segments.push({ first, second });
    }
    inQuery ||= (seen & QUERY) !== 0;
    if (at < end) canonicalOctets++; // the `*` that ended the literal
    start = at + 1;
  }
  return {
    octets: canonicalOctets,
    prefix: prefix ?? view(octets, 0, 0),
    segments,
    anchored: anchored && endsInLiteral,
    twoForms,
    plain: false,
  };
}

/** As `subarray`, which takes twice as long. */
function view({ buffer, byteOffset }: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + start, end - start);
}

function otherForm(first: Uint8Array, second: Uint8Array): Uint8Array | undefined {
  if (first.length !== second.length) return second;
  return first.every((octet, index) => octet === second[index]) ? undefined : second;
}

/**
 * `/index.htm`, with which the last part of a pattern must start to stand for its directory too.
 */
const INDEX = Uint8Array.from('/index.htm', (character) => character.charCodeAt(0));

/**
 * The second pattern that an allow rule has in the google profile when its last part starts with
 * `/index.htm`: the directory alone, `/a/$` for `/a/index.html` (spec-notes, section 2, point 10).
 * It has a specificity of its own, so it is ranked as a rule by itself; where both match, the
 * longer one decides, as it does there.
 */
export function directoryPattern(rule: Rule, profile: Profile): Pattern | undefined {
  if (profile !== 'google' || !rule.allow) return undefined;
  const { pattern } = rule;
  const slash = pattern.lastIndexOf(SLASH);
  if (slash < 0 || pattern.length - slash < INDEX.length) return undefined;
  for (let at = 0; at < INDEX.length; at++) {
    if (pattern[slash + at] !== INDEX[at]) return undefined;
  }
  const directory = new Uint8Array(slash + 2);
  directory.set(pattern.subarray(0, slash + 1));
  directory[slash + 1] = DOLLAR;
  const parsed = parsePattern(directory, profile);
  // The rule is shown as it was written.
  return parsed === undefined ? undefined : { ...parsed, plain: false };
}
