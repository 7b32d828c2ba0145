import { DELETE, SPACE } from '../ascii.js';
import { isDigit, isLetter } from '../protocol/byte.js';

/** Some servers refuse headers of 4 KiB, with a status that allows everything. */
const MOST_CHARACTERS = 1024;

const EXAMPLE = 'such as MyBot/1.0 (+https://example.com/bot)';

/** What a token may hold besides letters and digits (RFC 9110 section 5.6.2). */
const TOKEN_MARKS = "!#$%&'*+-.^_`|~";

/**
 * Says why a text cannot be sent as a User-Agent header, and what to do; `undefined` if it can. The
 * header begins with the name of a product (RFC 9110 section 10.1.5), and the product tokens of
 * robots.txt have letters (RFC 9309 section 2.2.1). Only printable ASCII is sent: servers read
 * other bytes in different ways.
 */
export function userAgentFault(text: string): string | undefined {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const [first] = codes;
  if (first === undefined) return `It is empty. Begin with your product token, ${EXAMPLE}.`;
  const at = codes.findIndex((code) => code < SPACE || code >= DELETE);
  if (at >= 0) {
    return (
      `Character ${at + 1} is ${nameOf(codes[at] ?? 0)}; headers have printable ASCII characters ` +
      `only, ${EXAMPLE}.`
    );
  }
  if (!isLetter(first) && !isDigit(first) && !TOKEN_MARKS.includes(String.fromCharCode(first))) {
    return `Character 1 is "${String.fromCharCode(first)}". Begin with your product token, ${EXAMPLE}.`;
  }
  if (!codes.some(isLetter)) {
    return `It has no letter, so no product token. Begin with your product token, ${EXAMPLE}.`;
  }
  if (codes.length > MOST_CHARACTERS) {
    return `It has ${codes.length} characters, and servers refuse long headers. Give at most ${MOST_CHARACTERS}.`;
  }
  return undefined;
}

/** A code point as Unicode writes it: `U+000A`. */
function nameOf(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
