import type { Capture } from './capture.js';

/** The kinds of packed captures. */
export const KIND_BODY = 0;
export const KIND_REDIRECT = 1;
export const KIND_REVISIT = 2;
export const KIND_UNMODIFIED = 3;
export const KIND_ACCESS = 4;
/** A capture that was left out; only its URL and its offset are known. */
export const KIND_LEFT_OUT = 5;

/**
 * Fields of a packed capture: date, offset and kind; two more by kind (the number of the body and
 * its length in bytes; or the date of the capture that a revisit refers to); the lengths of its
 * strings, which are the URL, the payload digest, the target of a redirect or the URL that a
 * revisit refers to, and the source.
 */
const FIELDS = 9;

const INITIAL_BYTES = 4096;

/** Captures as plain data, which threads can exchange without an object for each capture. */
export interface PackedCaptures {
  /** The fields of all captures, FIELDS for each. */
  readonly fields: Float64Array<ArrayBuffer>;
  /** The strings of all captures, one after another. */
  readonly strings: Uint8Array<ArrayBuffer>;
}

/** An unpacked capture. The next one overwrites it. */
export interface UnpackedCapture {
  date: number;
  offset: number;
  kind: number;
  /**
   * By kind: the number of the body, or the date to which a revisit refers; NaN if there is none.
   */
  value: number;
  bodyBytes: number;
  url: Uint8Array;
  payloadDigest: Uint8Array;
  target: Uint8Array;
  /** The file in which the capture lies; empty for the file that was read. */
  source: Uint8Array;
}

/** Packs captures. */
export class CaptureList {
  #fields: number[] = [];
  #strings = Buffer.alloc(INITIAL_BYTES);
  #length = 0;

  /** @param body the number of the body, or of the access result */
  push(capture: Capture, body: number): void {
    const { date, offset, outcome, url, payloadDigest, source = '' } = capture;
    let kind = KIND_ACCESS;
    let value = body;
    let bodyBytes = 0;
    let target = '';
    if (outcome.kind === 'body') {
      kind = KIND_BODY;
      bodyBytes = outcome.body.length;
    } else if (outcome.kind === 'redirect') {
      kind = KIND_REDIRECT;
      target = outcome.target;
    } else if (outcome.kind === 'revisit') {
      kind = outcome.isUnmodified ? KIND_UNMODIFIED : KIND_REVISIT;
      value = outcome.refersToDate;
      target = outcome.refersTo;
    }
    this.#fields.push(date, offset, kind, value, bodyBytes);
    for (const text of [url, payloadDigest, target, source]) this.#fields.push(this.#add(text));
  }

  /** Notes a capture that is left out. */
  pushLeftOut(url: string, offset: number): void {
    this.#fields.push(Number.NaN, offset, KIND_LEFT_OUT, Number.NaN, 0, this.#add(url), 0, 0, 0);
  }

  /** Takes what was pushed since the last call. */
  take(): PackedCaptures {
    const fields = Float64Array.from(this.#fields);
    const strings = Uint8Array.from(this.#strings.subarray(0, this.#length));
    this.#fields = [];
    this.#length = 0;
    return { fields, strings };
  }

  /** Appends a string; returns its length in bytes. */
  #add(text: string): number {
    if (text === '') return 0;
    const most = 3 * text.length;
    if (this.#length + most > this.#strings.length) {
      const grown = Buffer.alloc(Math.max(2 * this.#strings.length, this.#length + most));
      this.#strings.copy(grown, 0, 0, this.#length);
      this.#strings = grown;
    }
    const bytes = this.#strings.write(text, this.#length);
    this.#length += bytes;
    return bytes;
  }
}

/** Calls `visit` for each packed capture, in order. */
export function eachCapture(
  { fields, strings }: PackedCaptures,
  visit: (capture: UnpackedCapture) => void,
): void {
  const empty: Uint8Array = new Uint8Array(0);
  const capture: UnpackedCapture = {
    date: 0,
    offset: 0,
    kind: 0,
    value: 0,
    bodyBytes: 0,
    url: empty,
    payloadDigest: empty,
    target: empty,
    source: empty,
  };
  let start = 0;
  const next = (length: number): Uint8Array => {
    start += length;
    return strings.subarray(start - length, start);
  };
  for (let at = 0; at < fields.length; at += FIELDS) {
    const field = (index: number): number => fields[at + index] as number;
    capture.date = field(0);
    capture.offset = field(1);
    capture.kind = field(2);
    capture.value = field(3);
    capture.bodyBytes = field(4);
    capture.url = next(field(5));
    capture.payloadDigest = next(field(6));
    capture.target = next(field(7));
    capture.source = next(field(8));
    visit(capture);
  }
}
