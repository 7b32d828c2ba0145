import { Buffer } from 'node:buffer';
import {
  SOURCE_FIXED_OCTETS,
  SOURCE_TEXT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
} from './format.js';
import { OctetStore } from './octet-store.js';
import { writeNumber } from './width.js';

/** Numbers of so many digits fit into 32 bits. */
const MAX_DIGITS = 9;
const ZERO = 0x30;

/**
 * Where robots.txt files came from, without what their hosts' records say or can say in fewer octets: the files of a directory
 * are named for their hosts, and those of a list have the number of their line.
 */
export class SourceForms {
  /** Sources as the format has them. */
  readonly forms = new OctetStore();
  readonly #numbers: Uint32Array;
  readonly #forms: Uint32Array;

  /** `count` authorities are numbered from 0. */
  constructor(count: number) {
    this.#numbers = new Uint32Array(count);
    this.#forms = new Uint32Array(count);
  }

  /** Takes the source of an authority, escaped. */
  add(authority: number, source: Uint8Array, host: Uint8Array): void {
    const text = Buffer.from(source.buffer, source.byteOffset, source.length);
    const at = text.lastIndexOf(host);
    if (at >= 0) {
      const form = encode(SOURCE_WITH_HOST, text.subarray(0, at), text.subarray(at + host.length));
      this.#forms[authority] = this.forms.add(form);
      return;
    }
    const digits = numberAtEnd(text);
    const before = text.subarray(0, text.length - digits);
    const kind = digits === 0 ? SOURCE_TEXT : SOURCE_WITH_NUMBER;
    this.#forms[authority] = this.forms.add(encode(kind, before, text.subarray(text.length)));
    this.#numbers[authority] = digits === 0 ? 0 : Number(text.subarray(before.length).toString());
  }

  /** Number of an authority's source among `forms`. */
  form(authority: number): number {
    return this.#forms[authority] as number;
  }

  /** Whether a source needs a number. */
  isNumbered(authority: number): boolean {
    return this.forms.get(this.form(authority))[0] === SOURCE_WITH_NUMBER;
  }

  /** The number for an authority's source, 0 where it needs none. */
  number(authority: number): number {
    return this.#numbers[authority] as number;
  }
}

/** How many octets at the end of a text are a decimal number as it is written back: of 32 bits, without leading zeros. */
function numberAtEnd(text: Uint8Array): number {
  let digits = 0;
  while (digits < text.length && isDigit(text[text.length - digits - 1] as number)) digits++;
  digits = Math.min(digits, MAX_DIGITS);
  while (digits > 1 && text[text.length - digits] === ZERO) digits--;
  return digits;
}

function isDigit(octet: number): boolean {
  return octet >= ZERO && octet < ZERO + 10;
}

function encode(kind: number, before: Uint8Array, behind: Uint8Array): Uint8Array {
  const form = new Uint8Array(SOURCE_FIXED_OCTETS + before.length + behind.length);
  form[0] = kind;
  writeNumber(form, 1, before.length, 1);
  writeNumber(form, 3, behind.length, 1);
  form.set(before, SOURCE_FIXED_OCTETS);
  form.set(behind, SOURCE_FIXED_OCTETS + before.length);
  return form;
}
