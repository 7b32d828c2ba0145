import { isUtf8 } from 'node:buffer';
import type { Random } from '../../test/random/random.js';

/** The spelling of strings in JSON. */
export const SPELLINGS = ['plain', 'plain', 'plain', 'slashes', 'some', 'all'] as const;
export type Spelling = (typeof SPELLINGS)[number];

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/**
 * The inside of a JSON string that stands for the bytes, one character each. Bytes that are not
 * UTF-8 are unchanged, and then only ASCII is escaped.
 */
export function jsonText(random: Random, bytes: string, spelling: Spelling): string {
  const ascii = isAscii(bytes);
  const escapesAll = spelling === 'some' || spelling === 'all';
  if (ascii || !escapesAll || !isUtf8(Buffer.from(bytes, 'latin1'))) {
    return spelt(random, bytes, spelling);
  }
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return Buffer.from(spelt(random, text, spelling, true), 'utf8').toString('latin1');
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= 0x80) return false;
  return true;
}

/**
 * @param units whether characters are UTF-16 units, all of which may be escaped, instead of bytes
 */
function spelt(random: Random, text: string, spelling: Spelling, units = false): string {
  let result = '';
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const code = text.charCodeAt(at);
    const mayEscape = units || code < 0x80;
    const isChosen = spelling === 'all' || (spelling === 'some' && random.chance(0.2));
    if (mayEscape && isChosen) result += hexadecimal(random, code);
    // A surrogate whose other half is escaped would not be UTF-8.
    else if (code >= 0xd800 && code < 0xe000) result += hexadecimal(random, code);
    else if (code < 0x20 || code === 0x22 || code === 0x5c) {
      result += SHORT_ESCAPES[character] ?? hexadecimal(random, code);
    } else if (code === 0x2f && spelling !== 'plain') result += '\\/';
    else result += character;
  }
  return result;
}

function hexadecimal(random: Random, code: number): string {
  const digits = code.toString(16).padStart(4, '0');
  return `\\u${random.chance(0.5) ? digits.toUpperCase() : digits}`;
}
