/** ASCII octets that the grammar of robots.txt gives a role (RFC 9309 section 2.2). */
export const NUL = 0x00;
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const HASH = 0x23;
export const ASTERISK = 0x2a;
export const HYPHEN = 0x2d;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const UNDERSCORE = 0x5f;

/** What an upper-case ASCII letter lacks of its lower-case one. */
export const LOWER_CASE_BIT = 0x20;

/** Whether an octet is an ASCII letter. */
export function isLetter(octet: number): boolean {
  const lower = octet | LOWER_CASE_BIT;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Whether an octet is an ASCII digit. */
export function isDigit(octet: number): boolean {
  return octet >= 0x30 && octet <= 0x39;
}

/** Whether an octet ends a line (RFC 9309 section 2.2, EOL). */
export function isLineEnd(octet: number | undefined): boolean {
  return octet === LF || octet === CR;
}
