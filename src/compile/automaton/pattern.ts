import { ASTERISK, DOLLAR, PERCENT, QUESTION_MARK, SLASH } from '../../ascii.js';
import { canonicalise } from '../../kernel/canonical.js';
import type { Profile } from '../../protocol/profile.js';
import type { Rule } from '../../protocol/robots-file.js';
import { UNESCAPED } from '../../table/display-text.js';

/** A literal between two `*`, or after the last: at least one canonical byte. */
export interface Segment {
  /** The canonical form in the pattern. */
  readonly first: Uint8Array;
  /**
   * The canonical form if an earlier `*` matched the text's `?`; `undefined` if the form is the
   * same.
   */
  readonly second: Uint8Array | undefined;
}

/** A path pattern (RFC 9309 sections 2.2.2 and 2.2.3) in canonical form. */
export interface Pattern {
  /**
   * Specificity: length in canonical form, including each `*` and a final `$` (spec notes, note B).
   */
  readonly bytes: number;
  /** The literal before the first `*`, with which a text must begin. */
  readonly prefix: Uint8Array;
  /** The literals that must follow in this order; none if nothing follows the first `*`. */
  readonly segments: readonly Segment[];
  /** Whether the last literal must end the text; never if the pattern ends in `*$`. */
  readonly anchored: boolean;
  /** Whether some segment has a second form (spec notes, note A). */
  readonly twoForms: boolean;
  /** Whether the pattern surely equals the rule as written, and needs no escape. */
  readonly plain: boolean;
}

const NO_SEGMENTS: readonly Segment[] = [];

/** Classes of a byte in a pattern, as bits. */
const PLAIN = 0;
const ALTERED = 1;
const WILDCARD = 2;
const QUERY = 4;
/** Needs an escape for display. */
const ESCAPED = 8;

type ByteClasses = Uint8Array;

let rfcClasses: ByteClasses | undefined;
let googleClasses: ByteClasses | undefined;

/** The class of each byte, found by canonicalising each byte once. */
function byteClasses(google: boolean): ByteClasses {
  const known = google ? googleClasses : rfcClasses;
  if (known !== undefined) return known;
  const classes = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) {
    const form = canonicalise(Uint8Array.of(byte), { google, inQuery: false });
    classes[byte] = form.length === 1 && form[0] === byte ? PLAIN : ALTERED;
    if (UNESCAPED[byte] === 0) classes[byte] = (classes[byte] as number) | ESCAPED;
  }
  classes[PERCENT] = ALTERED;
  classes[ASTERISK] = WILDCARD;
  classes[QUESTION_MARK] = (classes[QUESTION_MARK] as number) | QUERY;
  if (google) googleClasses = classes;
  else rfcClasses = classes;
  return classes;
}

/**
 * Parses the pattern of a rule as written; `undefined` if it can match no text, because it is empty
 * or starts with neither `/` nor `*`. The readings of note A are kept as forms of the segments.
 */
export function parsePattern(bytes: Uint8Array, profile: Profile): Pattern | undefined {
  const length = bytes.length;
  if (length === 0 || (bytes[0] !== SLASH && bytes[0] !== ASTERISK)) return undefined;
  const google = profile === 'google';
  const classes = byteClasses(google);
  const anchored = bytes[length - 1] === DOLLAR;
  const end = anchored ? length - 1 : length;
  let seen = 0;
  for (let at = 0; at < end; at++) seen |= classes[bytes[at] as number] as number;
  if ((seen & (ALTERED | WILDCARD)) === 0) {
    const prefix = anchored ? view(bytes, 0, end) : bytes;
    const plain = (seen & ESCAPED) === 0;
    return { bytes: length, prefix, segments: NO_SEGMENTS, anchored, twoForms: false, plain };
  }
  return splitPattern(bytes, end, anchored, google, classes);
}

/** Parses the pattern in `bytes` up to `end`: splits it at `*` and canonicalises each literal. */
function splitPattern(
  bytes: Uint8Array,
  end: number,
  anchored: boolean,
  google: boolean,
  classes: ByteClasses,
): Pattern {
  let canonicalBytes = anchored ? 1 : 0;
  let prefix: Uint8Array | undefined;
  const segments: Segment[] = [];
  let twoForms = false;
  let inQuery = false;
  let endsInLiteral = false;
  for (let start = 0; start <= end; ) {
    let seen = 0;
    let at = start;
    for (; at < end; at++) {
      const kind = classes[bytes[at] as number] as number;
      if (kind === WILDCARD) break;
      seen |= kind;
    }
    const literal = view(bytes, start, at);
    const isAltered = (seen & ALTERED) !== 0;
    const first = isAltered ? canonicalise(literal, { google, inQuery }) : literal;
    canonicalBytes += first.length;
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
    if (at < end) canonicalBytes++; // for the `*` that ended the literal
    start = at + 1;
  }
  return {
    bytes: canonicalBytes,
    prefix: prefix ?? view(bytes, 0, 0),
    segments,
    anchored: anchored && endsInLiteral,
    twoForms,
    plain: false,
  };
}

/** A faster `subarray`. */
function view({ buffer, byteOffset }: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + start, end - start);
}

function otherForm(first: Uint8Array, second: Uint8Array): Uint8Array | undefined {
  if (first.length !== second.length) return second;
  return first.every((byte, index) => byte === second[index]) ? undefined : second;
}

/** The beginning of a last path segment that also stands for its directory. */
const INDEX = Uint8Array.from('/index.htm', (character) => character.charCodeAt(0));

/**
 * The second pattern of an allow rule in the google profile whose last path segment starts with
 * `/index.htm`. This pattern matches the directory: `/a/$` for `/a/index.html` (spec notes, section
 * 2, point 10). It has its own specificity, so it ranks as a separate rule. If both match, the
 * longer one decides.
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
  // The rule is displayed as written, so its text is kept.
  return parsed === undefined ? undefined : { ...parsed, plain: false };
}
