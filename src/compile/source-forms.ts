import { Buffer } from 'node:buffer';
import {
  SOURCE_FIXED_OCTETS,
  SOURCE_TEXT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
} from './format.js';
import { writeNumber } from './width.js';

const BACKSLASH = 0x5c;
/** Octets of an escape sequence, `\\u1234`, at most. */
const LONGEST_ESCAPE = 6;
/** Numbers of so many digits fit into 32 bits. */
const MAX_DIGITS = 9;
const ZERO = 0x30;
const LETTER_U = 0x75;

/**
 * Takes from sources, which say where robots.txt files came from, what their hosts' records say or
 * can say in fewer octets: the files of a directory are named for their hosts, and those of a list
 * have the number of their line.
 */
export class SourceForms {
  /**
   * The form of the source that was taken last, as the format has it: the same object as long as
   * the form is the same.
   */
  form = encode(SOURCE_TEXT, '', '');
  /** The number that it has with it, 0 where it needs none. */
  number = 0;
  #kind = SOURCE_TEXT;
  #before = '';
  #behind = '';

  /** Takes the source of an authority of a host, escaped. */
  take(source: string, host: string): void {
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

  #set(kind: number, before: string, behind: string, number: number): void {
    this.number = number;
    if (kind === this.#kind && before === this.#before && behind === this.#behind) return;
    this.#kind = kind;
    this.#before = before;
    this.#behind = behind;
    this.form = encode(kind, before, behind);
  }
}

/** The source that has the form and the number, for a host. */
export function sourceOf(form: Uint8Array, number: number, host: Uint8Array): string {
  const [kind = 0, low = 0, high = 0] = form;
  const behind = SOURCE_FIXED_OCTETS + low + 256 * high;
  let own: Uint8Array = new Uint8Array(0);
  if (kind === SOURCE_WITH_HOST) own = host;
  else if (kind === SOURCE_WITH_NUMBER) own = Buffer.from(String(number));
  const parts = [form.subarray(SOURCE_FIXED_OCTETS, behind), own, form.subarray(behind)];
  return Buffer.concat(parts).toString();
}

/**
 * How many octets at the end of a text are a decimal number as it is written back: of 32 bits,
 * without leading zeros.
 */
function numberAtEnd(text: string): number {
  let digits = 0;
  while (digits < text.length && isDigit(text.charCodeAt(text.length - digits - 1))) digits++;
  digits = Math.min(digits, MAX_DIGITS);
  while (digits > 1 && text.charCodeAt(text.length - digits) === ZERO) digits--;
  return digits;
}

/**
 * Whether an escape sequence begins before `at` and ends behind it: the texts of a form are whole
 * by themselves.
 */
function isWithinEscape(source: string, at: number): boolean {
  for (let start = Math.max(at - LONGEST_ESCAPE + 1, 0); start < at; start++) {
    if (source.charCodeAt(start) !== BACKSLASH) continue;
    let first = start;
    while (first > 0 && source.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((start - first) % 2 !== 0) continue;
    const octets = source.charCodeAt(start + 1) === LETTER_U ? LONGEST_ESCAPE : 2;
    if (start + octets > at) return true;
  }
  return false;
}

function isDigit(octet: number): boolean {
  return octet >= ZERO && octet < ZERO + 10;
}

function encode(kind: number, before: string, behind: string): Uint8Array {
  const [first, last] = [Buffer.from(before), Buffer.from(behind)];
  const form = new Uint8Array(SOURCE_FIXED_OCTETS + first.length + last.length);
  form[0] = kind;
  writeNumber(form, 1, first.length, 1);
  writeNumber(form, 3, last.length, 1);
  form.set(first, SOURCE_FIXED_OCTETS);
  form.set(last, SOURCE_FIXED_OCTETS + first.length);
  return form;
}
