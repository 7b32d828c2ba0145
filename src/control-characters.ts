import { isUtf8 } from 'node:buffer';

const LINE_END = 0x0a;

/**
 * Whether a UTF-16 code unit is a character that would act on a terminal, or on the reader, instead
 * of being shown: C0 and C1 controls and DEL (escape sequences begin with one), the controls of the
 * bidirectional algorithm (Unicode Standard Annex #9 section 2), which reorder what stands around
 * them, and the separators of lines and paragraphs.
 */
export function isControl(unit: number): boolean {
  return (
    unit < 0x20 ||
    (unit >= 0x7f && unit <= 0x9f) ||
    unit === 0x061c ||
    unit === 0x200e ||
    unit === 0x200f ||
    (unit >= 0x2028 && unit <= 0x202e) ||
    (unit >= 0x2066 && unit <= 0x2069)
  );
}

/**
 * The text with its control characters as `\xNN` or `\u{NNNN}`, for what comes from outside (names,
 * records, messages of the system) and goes to a terminal. Nothing else changes, backslashes
 * neither: the result is to be read, not to be decoded, and escaping it again does no harm.
 */
export function printable(text: string): string {
  return replaceControls(text, (unit) => {
    const digits = unit.toString(16).padStart(2, '0');
    return unit < 0x100 ? `\\x${digits}` : `\\u{${digits}}`;
  });
}

/**
 * A value as JSON that is fit for a terminal, too: `JSON.stringify` leaves DEL, C1 and the
 * bidirectional controls as they are. What it means does not change, for outside of strings the
 * only control characters are the line ends of `indent`.
 */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return replaceControls(json, (unit) =>
    unit === LINE_END ? '\n' : `\\u${unit.toString(16).padStart(4, '0')}`,
  );
}

function replaceControls(text: string, replacement: (unit: number) => string): string {
  let replaced = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (!isControl(unit)) continue;
    replaced += text.slice(from, at) + replacement(unit);
    from = at + 1;
  }
  return replaced + text.slice(from);
}

/** What `decodeOctets` made of octets. */
export interface DecodedOctets {
  readonly text: string;
  /**
   * Octets at the end, at most three, that are the beginning of a character and were not decoded.
   */
  readonly left: number;
}

/** UTF-8 to text; each octet that belongs to no well-formed character becomes `\xNN`. Linear. */
export function decodeOctets(octets: Buffer): DecodedOctets {
  let text = '';
  let from = 0;
  let at = 0;
  while (at < octets.length) {
    const length = characterOctets(octets[at] as number);
    if (at + length > octets.length) break;
    if (length === 1 || (length > 1 && isUtf8(octets.subarray(at, at + length)))) {
      at += length;
      continue;
    }
    text += `${octets.toString('utf8', from, at)}${escapeOctet(octets[at] as number)}`;
    at++;
    from = at;
  }
  return { text: text + octets.toString('utf8', from, at), left: octets.length - at };
}

/** An octet that is no character of UTF-8, as `\xNN`. */
export function escapeOctet(octet: number): string {
  return `\\x${octet.toString(16).padStart(2, '0')}`;
}

/** Octets of the UTF-8 character that begins with `octet`; 0 if none does (RFC 3629 section 4). */
function characterOctets(octet: number): number {
  if (octet < 0x80) return 1;
  if (octet < 0xc2 || octet > 0xf4) return 0;
  return octet < 0xe0 ? 2 : octet < 0xf0 ? 3 : 4;
}
