import { Buffer } from 'node:buffer';
import { BACKSLASH, DIGIT_0, LOWER_U } from '../../ascii.js';
import { isDigit } from '../../protocol/byte.js';
import {
  SOURCE_FIXED_BYTES,
  SOURCE_TEXT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
} from '../../table/format.js';
import { writeNumber } from '../../table/width.js';

/** Length of the longest escape sequence, `\\u1234`. */
const LONGEST_ESCAPE = 6;
/** Maximum number of digits with which every number fits into 32 bits. */
const MAX_DIGITS = 9;

/**
 * Splits sources into a template and a part that differs between hosts. A source says where a
 * robots.txt came from. Files of a directory differ by their host, which the host's record holds
 * anyway; records of a list differ by their line number. So most sources share a template.
 */
export class SourceTemplates {
  /**
   * The template of the last source, in the table's format; the same object while the template
   * stays the same.
   */
  template = encode(SOURCE_TEXT, '', '');
  /** The number of the last source; 0 if its template needs no number. */
  number = 0;
  #kind = SOURCE_TEXT;
  #before = '';
  #after = '';

  /** Splits the escaped source of an authority of a host. */
  split(source: string, host: string): void {
    const at = source.lastIndexOf(host);
    if (at >= 0 && !isWithinEscape(source, at)) {
      this.#set(SOURCE_WITH_HOST, source.slice(0, at), source.slice(at + host.length), 0);
      return;
    }
    let digits = numberAtEnd(source);
    if (isWithinEscape(source, source.length - digits)) digits = 0;
    const before = source.slice(0, source.length - digits);
    if (digits === 0) this.#set(SOURCE_TEXT, before, '', 0);
    else this.#set(SOURCE_WITH_NUMBER, before, '', Number(source.slice(before.length)));
  }

  #set(kind: number, before: string, after: string, number: number): void {
    this.number = number;
    if (kind === this.#kind && before === this.#before && after === this.#after) return;
    this.#kind = kind;
    this.#before = before;
    this.#after = after;
    this.template = encode(kind, before, after);
  }
}

/** Returns the source that a template and a number make for a host. */
export function sourceOf(template: Uint8Array, number: number, host: Uint8Array): string {
  const [kind = 0, low = 0, high = 0] = template;
  const after = SOURCE_FIXED_BYTES + low + 256 * high;
  let own: Uint8Array = new Uint8Array(0);
  if (kind === SOURCE_WITH_HOST) own = host;
  else if (kind === SOURCE_WITH_NUMBER) own = Buffer.from(String(number));
  const texts = [template.subarray(SOURCE_FIXED_BYTES, after), own, template.subarray(after)];
  return Buffer.concat(texts).toString();
}

/** Length of the decimal number at the end of a text: 32 bits, without leading zeros. */
function numberAtEnd(text: string): number {
  let digits = 0;
  while (digits < text.length && isDigit(text.charCodeAt(text.length - digits - 1))) digits++;
  digits = Math.min(digits, MAX_DIGITS);
  while (digits > 1 && text.charCodeAt(text.length - digits) === DIGIT_0) digits--;
  return digits;
}

/** Whether `at` is inside an escape sequence, which a template must not split. */
function isWithinEscape(source: string, at: number): boolean {
  for (let start = Math.max(at - LONGEST_ESCAPE + 1, 0); start < at; start++) {
    if (source.charCodeAt(start) !== BACKSLASH) continue;
    let first = start;
    while (first > 0 && source.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((start - first) % 2 !== 0) continue;
    const bytes = source.charCodeAt(start + 1) === LOWER_U ? LONGEST_ESCAPE : 2;
    if (start + bytes > at) return true;
  }
  return false;
}

function encode(kind: number, before: string, after: string): Uint8Array {
  const [first, last] = [Buffer.from(before), Buffer.from(after)];
  const template = new Uint8Array(SOURCE_FIXED_BYTES + first.length + last.length);
  template[0] = kind;
  writeNumber(template, 1, first.length, 1);
  writeNumber(template, 3, last.length, 1);
  template.set(first, SOURCE_FIXED_BYTES);
  template.set(last, SOURCE_FIXED_BYTES + first.length);
  return template;
}
