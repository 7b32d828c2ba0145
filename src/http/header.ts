import { COLON, CR, LF, LOWER_CASE_BIT, SPACE, TAB } from '../ascii.js';

/** A field of a header. */
export interface Field {
  /** Name in lower case. */
  readonly name: string;
  /** Value without white space at its ends; one character per byte. */
  readonly value: string;
}

/**
 * The offset after the blank line that ends a header, or -1. Lines may end in CRLF or in a bare LF.
 */
export function endOfHeader(bytes: Buffer, start: number, end: number): number {
  // Two searches of the runtime take less time than a loop over the bytes.
  const header = bytes.subarray(start, Math.min(end, start + FIRST_SEARCH));
  const found = blankLine(header);
  if (found >= 0) return start + found;
  const whole = header.length === end - start ? -1 : blankLine(bytes.subarray(start, end));
  return whole < 0 ? -1 : start + whole;
}

const LF_LF = Buffer.from([LF, LF]);
const LF_CR_LF = Buffer.from([LF, CR, LF]);

/** Bytes in which the blank line is searched first: nearly all headers are shorter. */
const FIRST_SEARCH = 4096;

/** The offset after the first blank line, or -1. */
function blankLine(header: Buffer): number {
  const crlf = header.indexOf(LF_CR_LF);
  const lf = (crlf < 0 ? header : header.subarray(0, crlf + 1)).indexOf(LF_LF);
  if (lf >= 0) return lf + LF_LF.length;
  return crlf < 0 ? -1 : crlf + LF_CR_LF.length;
}

/**
 * The fields of a header that have one of some names, in lower case. The first line is left out. A
 * line that begins with white space continues the field before it (RFC 9112 section 5.2). Lines
 * without a colon are left out. CR and NUL within a value count as spaces (RFC 9110 section 5.5).
 */
export function fieldsOf(header: Buffer, names: readonly string[]): Field[] {
  const fields: Field[] = [];
  // Joined at the end: a header may fold one value into a hundred thousand lines.
  let lines: string[] = [];
  let name = '';
  const close = () => {
    if (name !== '') fields.push({ name, value: plain(lines.join(' ')) });
  };
  let hasField = false;
  let next = endOfLine(header, 0);
  for (let start = next; start < header.length; start = next) {
    next = endOfLine(header, start);
    if (hasField && (header[start] === SPACE || header[start] === TAB)) {
      if (name !== '') lines.push(textOf(header, start, next));
      continue;
    }
    let colon = start;
    while (colon < next && header[colon] !== COLON) colon++;
    if (colon === next) continue;
    close();
    hasField = true;
    // Few lines begin like a name, so few are turned into strings.
    name = names.find((each) => mayBe(header, start, each))
      ? textOf(header, start, colon).toLowerCase()
      : '';
    if (!names.includes(name)) name = '';
    lines = name === '' ? [] : [textOf(header, colon + 1, next)];
  }
  close();
  return fields;
}

/** Whether a line may begin with a name: with its first letter, or with white space. */
function mayBe(header: Buffer, start: number, name: string): boolean {
  const first = header[start] as number;
  return isSpace(first) || (first | LOWER_CASE_BIT) === name.charCodeAt(0);
}

function plain(value: string): string {
  if (!value.includes('\r') && !value.includes('\0')) return value.trim();
  return value.replaceAll('\r', ' ').replaceAll('\0', ' ').trim();
}

/** The offset after the line feed that ends a line, or that of the end. */
export function endOfLine(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== LF) at++;
  return Math.min(at + 1, bytes.length);
}

/** The whole number in decimal digits; `undefined` if the text is anything else. */
export function lengthOf(text: string): number | undefined {
  if (text === '' || text.length > 15) return undefined;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x30 || unit > 0x39) return undefined;
  }
  return Number(text);
}

/** The text between two offsets without white space at its ends. */
export function textOf(bytes: Buffer, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && isSpace(bytes[first])) first++;
  while (last > first && isSpace(bytes[last - 1])) last--;
  return bytes.toString('latin1', first, last);
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF;
}
