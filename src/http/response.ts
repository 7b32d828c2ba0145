/** Heads of HTTP responses: status, fields, and which of them frame the body. */

import { COLON, CR, LF, LOWER_CASE_BIT, SPACE, TAB } from '../base/ascii.js';
import { isDigits, isWhiteSpace } from '../base/characters.js';
import { PARTIAL_CONTENT } from '../protocol/verdict.js';
import { contentEncodings } from './body.js';

/**
 * Maximum length of all heads of an answer together, in bytes: status lines, headers, and interim
 * responses. curl has the same bound.
 */
export const LONGEST_HEADS = 300 * 1024;

/** Maximum number of interim responses, such as 100 and 103, before the final one. */
const MOST_INTERIM = 100;

/** The status of a response that switches to another protocol (RFC 9110 section 15.2.2). */
const SWITCHING_PROTOCOLS = 101;
/** The successful status without a body (RFC 9110 section 15.3.5). */
const NO_CONTENT = 204;

/** The fields that decide what a response means. */
export const DECIDING_FIELDS: readonly string[] = [
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'location',
  'transfer-encoding',
];

/** The status line and the header of a response (RFC 9112 section 4). */
export interface ResponseHead {
  readonly status: number;
  /** The fields that were asked for, in their order. */
  readonly fields: readonly Field[];
  /** Offset after the head. */
  readonly end: number;
}

/**
 * Finds the head of the final response in the bytes of an answer, after interim ones (RFC 9110
 * section 15.2).
 *
 * Reads what is merely untidy: lines that end in a bare LF, folded lines, lines without a colon,
 * blank lines before a status line, a version other than 1.1.
 */
export class ResponseHeads {
  readonly #names: readonly string[];
  /** Start of the current head. */
  #start = 0;
  /** Offset up to which the current head holds no blank line. */
  #searched = 0;
  #status = 0;
  #interim = 0;

  /** @param names names of the wanted fields, in lower case */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /**
   * The head; `undefined` if more bytes are needed; a string if there is none, with the reason. May
   * be called again with the same bytes and more after them.
   *
   * @param isEnd whether no more bytes come; a head then needs no blank line
   */
  find(bytes: Buffer, isEnd: boolean): ResponseHead | string | undefined {
    const limit = Math.min(bytes.length, LONGEST_HEADS);
    for (;;) {
      if (this.#status === 0) {
        while (bytes[this.#start] === CR || bytes[this.#start] === LF) this.#start++;
        this.#searched = Math.max(this.#searched, this.#start);
        if (!mayBeStatusLine(bytes, this.#start)) return 'the answer is not HTTP';
        const lf = bytes.subarray(0, limit).indexOf(LF, this.#searched);
        if (lf >= 0 || isEnd) {
          this.#status = statusOf(bytes.subarray(this.#start, lf < 0 ? limit : lf)) ?? -1;
          if (this.#status < 0) return 'the status line is not HTTP';
          this.#searched = this.#start;
        }
      }
      const blank = endOfHeader(bytes, this.#searched, limit);
      if (blank < 0) {
        if (bytes.length > LONGEST_HEADS) return `a header of more than ${LONGEST_HEADS} bytes`;
        // A blank line may lie across the end of these bytes.
        this.#searched = Math.max(this.#start, limit - 2);
        if (!isEnd || this.#status === 0) return isEnd ? 'the answer is not HTTP' : undefined;
      }
      const end = blank < 0 ? bytes.length : blank;
      const status = this.#status;
      if (status >= 200 || status === SWITCHING_PROTOCOLS) {
        return { status, fields: fieldsOf(bytes.subarray(this.#start, end), this.#names), end };
      }
      if (++this.#interim > MOST_INTERIM) return `more than ${MOST_INTERIM} interim responses`;
      if (blank < 0) return 'there is no final response';
      this.#start = end;
      this.#searched = end;
      this.#status = 0;
    }
  }
}

const PROTOCOL = 'HTTP/';

/** Whether bytes are a status line as far as they go. */
function mayBeStatusLine(bytes: Buffer, start: number): boolean {
  const begin = bytes.toString('latin1', start, start + PROTOCOL.length).toUpperCase();
  return PROTOCOL.startsWith(begin);
}

/** The status code of `HTTP/1.1 200 OK`. */
function statusOf(head: Buffer): number | undefined {
  const line = head.toString('latin1');
  if (line.slice(0, PROTOCOL.length).toUpperCase() !== PROTOCOL) return undefined;
  // A CR within the line is a line end to some readers (RFC 9112 section 2.2).
  if (line.trimEnd().includes('\r')) return undefined;
  const space = head.indexOf(SPACE);
  if (space < 0 || space > 16) return undefined;
  let at = space;
  while (line[at] === ' ') at++;
  const digits = line.slice(at, at + 3);
  // `HTTP/1.1 200OK` has one reading, a fourth digit has two.
  if (isDigits(line[at + 3] ?? '')) return undefined;
  return digits.length === 3 && isDigits(digits) && digits >= '100' ? Number(digits) : undefined;
}

/** The values of all fields with a name, joined by commas (RFC 9110 section 5.3). */
function fieldValue(head: ResponseHead, name: string): string | undefined {
  const values = head.fields.filter((field) => field.name === name).map(({ value }) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The first value of a field. */
export function firstValue({ fields }: ResponseHead, name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value;
}

/**
 * How the body of a successful response is delimited (RFC 9112 section 6.3): by its length in
 * bytes, by its chunks, or by the end of the connection.
 */
export type Framing = number | 'chunked' | 'end';

/**
 * The framing of a successful response; a string in `refusal` if it is unknown, or if two readers
 * could see different bodies. `Transfer-Encoding` overrides `Content-Length`, as the RFC says.
 */
export function framingOf(head: ResponseHead): Framing | { readonly refusal: string } {
  if (head.status === NO_CONTENT) return 0;
  const transfer = transferCodings(head);
  const unknown = contentEncodings(transfer.filter((coding) => coding !== 'chunked').join(','));
  if (typeof unknown === 'string') {
    return { refusal: `the transfer coding ${JSON.stringify(unknown)} is unknown` };
  }
  const chunked = transfer.indexOf('chunked');
  if (chunked >= 0) {
    if (chunked === transfer.length - 1) return 'chunked';
    return { refusal: `"chunked" is not the last transfer coding (${transfer.join(', ')})` };
  }
  // RFC 9112 section 6.3 reads a coding without chunks to the end of the connection.
  if (transfer.length > 0) return 'end';
  const lengths = listOf(fieldValue(head, 'content-length'));
  const [first] = lengths;
  if (first === undefined) return 'end';
  const length = lengthOf(first);
  if (length === undefined) return { refusal: `Content-Length is ${JSON.stringify(first)}` };
  const other = lengths.find((text) => lengthOf(text) !== length);
  return other === undefined ? length : { refusal: `Content-Length is both ${first} and ${other}` };
}

/** The transfer codings of a response, in lower case, without `identity`. */
function transferCodings(head: ResponseHead): string[] {
  return listOf(fieldValue(head, 'transfer-encoding'))
    .map((coding) => coding.toLowerCase())
    .filter((coding) => coding !== 'identity');
}

/**
 * The codings of a body in the order in which they were applied, as of `Content-Encoding`. A server
 * applies transfer codings (RFC 9112 section 7) after content codings.
 */
export function codingsOf(head: ResponseHead): string {
  const transfer = transferCodings(head).filter((coding) => coding !== 'chunked');
  return [fieldValue(head, 'content-encoding') ?? '', ...transfer].join(',');
}

/**
 * Why the body of a response with status 206 counts as only a part of a robots.txt. `undefined` for
 * other statuses, and if the response says that the part is the whole.
 */
export function partRefusal(head: ResponseHead): string | undefined {
  if (head.status !== PARTIAL_CONTENT) return undefined;
  const range = fieldValue(head, 'content-range')?.toLowerCase();
  if (range === undefined) {
    // Without Content-Range, several parts come in one body (RFC 9110 section 14.6).
    const type = firstValue(head, 'content-type')?.toLowerCase();
    return type?.startsWith('multipart/byteranges')
      ? 'the body is in parts (multipart/byteranges), and none was asked for'
      : undefined;
  }
  const length = Number(range.slice(range.lastIndexOf('/') + 1));
  if (range === `bytes 0-${length - 1}/${length}`) return undefined;
  return `only a part of the body came (Content-Range: ${JSON.stringify(range.slice(0, 80))}), and none was asked for`;
}

/** The elements of a list, without empty ones (RFC 9110 section 5.6.1). */
function listOf(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '');
}

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
function fieldsOf(header: Buffer, names: readonly string[]): Field[] {
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
      if (name !== '') lines.push(trimmedText(header, start, next));
      continue;
    }
    let colon = start;
    while (colon < next && header[colon] !== COLON) colon++;
    if (colon === next) continue;
    close();
    hasField = true;
    // Few lines begin like a name, so few are turned into strings.
    name = names.find((each) => mayBe(header, start, each))
      ? trimmedText(header, start, colon).toLowerCase()
      : '';
    if (!names.includes(name)) name = '';
    lines = name === '' ? [] : [trimmedText(header, colon + 1, next)];
  }
  close();
  return fields;
}

/** Whether a line may begin with a name: with its first letter, or with white space. */
function mayBe(header: Buffer, start: number, name: string): boolean {
  const first = header[start] as number;
  return isWhiteSpace(first) || (first | LOWER_CASE_BIT) === name.charCodeAt(0);
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
export function trimmedText(bytes: Buffer, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && isWhiteSpace(bytes[first])) first++;
  while (last > first && isWhiteSpace(bytes[last - 1])) last--;
  return bytes.toString('latin1', first, last);
}
