/** Reads captures of robots.txt files from the records of a WARC file. */

import { createHash } from 'node:crypto';
import { brotliDecompressSync, inflateRawSync, inflateSync } from 'node:zlib';
import { gunzip } from '../files/gzip.js';
import { errorCode } from '../files/system-error.js';
import {
  type ContentEncoding,
  contentEncodings,
  dechunk,
  decoded,
  isText,
  isZlib,
} from '../http/body.js';
import {
  codingsOf,
  DECIDING_FIELDS,
  firstValue,
  framingOf,
  LONGEST_HEADS,
  partRefusal,
  type ResponseHead,
  ResponseHeads,
} from '../http/response.js';
import { headerText, isRedirect, redirectUrl } from '../http/url.js';
import {
  accessResultOf,
  isReadByProfile,
  isSuccess,
  LEAST_PARSING_LIMIT,
  type Profile,
} from '../protocol/verdict.js';
import {
  type Capture,
  type CaptureOutcome,
  canonicalUrl,
  captureUrl,
  holdsCapture,
  targetDamage,
} from './captures.js';
import type { WarcHeader } from './header.js';
import type { RecordHandler, WarcRecord } from './records.js';

/**
 * Number of bytes of a block that are read for each wanted byte of the body. Codings seldom
 * lengthen a body, but small chunks do.
 */
const ENCODED_PER_WANTED = 2;

/** Maximum length in bytes of a body that is read, whatever the parsing limit. */
const LONGEST_BODY = 64 * 1024 * 1024;

/** Selects the wanted captures. */
export interface CaptureSelection {
  /** Captures after this moment do not count; milliseconds since 1970. */
  readonly asOf: number;
  /** The profile by which statuses are read. */
  readonly profile: Profile;
  /** Number of bytes of a body that count. A longer body has one byte more. */
  readonly maxBodyBytes: number;
  /** URLs that are wanted in addition to robots.txt. URLs of redirects are added while reading. */
  readonly targets: Set<string>;
  /** Whether captures of robots.txt are wanted. */
  readonly robots: boolean;
  /**
   * Called for captures of other URLs that are not among the targets.
   *
   * @param start where the record can be read alone; `undefined` if it cannot
   */
  readonly onLeftOut: (url: string, start: number | undefined) => void;
}

/** What becomes of captures. */
export interface CaptureHandler {
  capture(capture: Capture): void;
  /** Notes damage. `isCapture` tells whether a capture was lost. */
  damage(offset: number, reason: string, isCapture: boolean): void;
  /** Notes a capture whose body cannot be used, so that it counts as unreachable. */
  broken(offset: number, url: string, reason: string): void;
}

/** Finds the wanted captures among the records of an archive. */
export class CaptureReader implements RecordHandler {
  readonly #selection: CaptureSelection;
  readonly #handler: CaptureHandler;
  readonly #limit: number;
  /** The URL of the last record that `wanted` has accepted. */
  #url = '';
  /**
   * Steps that pass on captures, in their order, from the first body on that is yet to be decoded.
   * Of two captures of one moment the later one counts, so they must not overtake each other.
   */
  #waiting: (() => Promise<void> | void)[] = [];

  constructor(selection: CaptureSelection, handler: CaptureHandler) {
    this.#selection = selection;
    this.#handler = handler;
    this.#limit = Math.min(Math.floor(selection.maxBodyBytes), LONGEST_BODY) + 1;
  }

  wanted(header: WarcHeader, offset: number, isAlone: boolean): number {
    const url = header.uri === '' ? undefined : captureUrl(headerText(header.uri));
    const damage = targetDamage(header, url);
    if (damage !== undefined) this.#handler.damage(offset, damage, true);
    if (!holdsCapture(header) || damage !== undefined || url === undefined) return 0;
    const { targets, robots, onLeftOut, asOf } = this.#selection;
    if (Math.floor(header.date) > asOf) return 0;
    if (!(url.isRobots ? robots : targets.has(url.href))) {
      if (!url.isRobots) onLeftOut(url.href, isAlone ? offset : undefined);
      return 0;
    }
    this.#url = url.href;
    return LONGEST_HEADS + ENCODED_PER_WANTED * this.#limit;
  }

  take({ header, offset, block }: WarcRecord): void {
    const url = this.#url;
    if (Number.isNaN(header.date)) {
      this.#handler.damage(offset, 'WARC-Date is missing or invalid', true);
      return;
    }
    if (header.isSegment) {
      this.#handler.damage(offset, 'the record is one segment of several', true);
      return;
    }
    const { date, payloadDigest } = header;
    const base = { url, date, offset, payloadDigest };
    if (header.type === 'resource') {
      const isWhole = header.truncated === '' && block.length === header.length;
      const digest = payloadDigest || (isWhole ? digestOf(block) : '');
      const body = block.subarray(0, this.#limit);
      this.#body({ ...base, payloadDigest: digest }, { body, isWhole });
      return;
    }
    const head = block.length === 0 ? undefined : headOf(block);
    if (head === undefined && !(header.type === 'revisit' && block.length === 0)) {
      this.#handler.damage(offset, 'the block is not an HTTP response', true);
      return;
    }
    const outcome = this.#outcomeOf(header, head, url);
    if (outcome !== undefined) {
      this.#pass({ ...base, outcome });
      return;
    }
    // The body counts only if the response is successful.
    const pass = (bytes: Buffer) => this.#response(base, header, bytes, head as ResponseHead);
    if (this.#waiting.length === 0) {
      const rest = pass(block);
      if (rest !== undefined) this.#waiting.push(rest);
    } else {
      // The next record overwrites the block. It waits encoded: decoded bodies may be much longer.
      const copy = Buffer.from(block);
      this.#waiting.push(() => pass(copy)?.());
    }
  }

  settle(): Promise<void> | undefined {
    return this.#waiting.length === 0 ? undefined : this.#settleWaiting();
  }

  async #settleWaiting(): Promise<void> {
    for (const step of this.#waiting.splice(0)) await step();
  }

  damage(offset: number, reason: string, isCapture: boolean): void {
    this.#handler.damage(offset, reason, isCapture);
  }

  /** The outcome of a capture, unless it is a body. */
  #outcomeOf(
    header: WarcHeader,
    head: ResponseHead | undefined,
    url: string,
  ): CaptureOutcome | undefined {
    const { profile, refersToUri, refersToDate } = header;
    const status = head?.status ?? 200;
    const isRevisit = header.type === 'revisit';
    const isUnmodified = status === 304 || (isRevisit && profile.endsWith('not-modified'));
    const isPart = head !== undefined && partRefusal(head) !== undefined;
    if (isUnmodified || (isRevisit && isSuccess(status) && !isPart)) {
      const refersTo = captureUrl(headerText(refersToUri))?.href ?? '';
      return { kind: 'revisit', refersTo, refersToDate, isUnmodified };
    }
    const location = head && isRedirect(status) ? firstValue(head, 'location') : undefined;
    if (location !== undefined) {
      const target = redirectUrl(location, new URL(url));
      const found = typeof target === 'string' ? undefined : canonicalUrl(target);
      if (found === undefined) return { kind: 'unavailable' };
      if (!found.isRobots) this.#selection.targets.add(found.href);
      return { kind: 'redirect', target: found.href };
    }
    if (isSuccess(status)) return undefined;
    const access = accessResultOf(status, this.#selection.profile);
    if (access === 'successful') return undefined;
    return isReadByProfile(status) ? { kind: access, status } : { kind: access };
  }

  /** Passes on a response; returns the step that does so if the body is decoded piece by piece. */
  #response(
    base: Omit<Capture, 'outcome'>,
    header: WarcHeader,
    block: Buffer,
    head: ResponseHead,
  ): (() => Promise<void>) | undefined {
    const isTruncated = header.truncated !== '' || block.length < header.length;
    const payload = payloadOf(block, head, !isTruncated, this.#limit);
    if ('refusal' in payload) this.#broken(base, payload.refusal);
    else if ('body' in payload) this.#body(base, payload);
    else {
      // The next record overwrites the block.
      const encoded = Buffer.from(payload.encoded);
      return async () => {
        const decoded = await decodePayload({ ...payload, encoded }, this.#limit);
        if ('refusal' in decoded) this.#broken(base, decoded.refusal);
        else this.#body(base, decoded);
      };
    }
    return undefined;
  }

  /**
   * Passes on a body. A truncated body counts if it reaches the least parsing limit of RFC 9309
   * section 2.5, because crawlers truncate there on purpose. Otherwise the response is broken, and
   * the authority is unreachable, as in a fetch. So is one of which the parser would read more than
   * is kept: rules would be missing.
   */
  #body(base: Omit<Capture, 'outcome'>, { body, isWhole }: Payload): void {
    const { maxBodyBytes } = this.#selection;
    if (!isWhole && body.length < LEAST_PARSING_LIMIT) {
      this.#broken(base, 'is truncated');
      return;
    }
    if (body.length > LONGEST_BODY && maxBodyBytes > LONGEST_BODY) {
      this.#broken(base, 'has a body of more than 64 MiB');
      return;
    }
    const kept = body.subarray(0, Math.min(body.length, this.#limit));
    // Beyond the parsing limit, the parser itself drops half a line.
    const isCut = !isWhole && body.length <= maxBodyBytes;
    this.#pass({ ...base, outcome: { kind: 'body', body: kept, isCut } });
  }

  #broken(base: Omit<Capture, 'outcome'>, reason: string): void {
    this.#handler.broken(base.offset, base.url, reason);
    this.#pass({ ...base, payloadDigest: '', outcome: { kind: 'unreachable' } });
  }

  #pass(capture: Capture): void {
    if (this.#waiting.length === 0) {
      this.#handler.capture(capture);
      return;
    }
    const { outcome } = capture;
    const kept =
      outcome.kind === 'body' ? { ...outcome, body: Buffer.from(outcome.body) } : outcome;
    this.#waiting.push(() => this.#handler.capture({ ...capture, outcome: kept }));
  }
}

/** The head of the response in a block; `undefined` if the block is no response. */
function headOf(block: Buffer): ResponseHead | undefined {
  const head = new ResponseHeads(DECIDING_FIELDS).find(block, true);
  return typeof head === 'string' ? undefined : head;
}

/** The SHA-1 digest of a payload, in the spelling of archives (RFC 4648 section 6). */
function digestOf(payload: Buffer): string {
  return `sha1:${base32(createHash('sha1').update(payload).digest())}`;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 of bytes whose number is a multiple of five. */
function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((value >> bits) & 31);
    }
    value &= (1 << bits) - 1;
  }
  return text;
}

/** The body of a response after its transfer and content codings were undone. */
interface Payload {
  readonly body: Buffer;
  /** Whether the body is complete; if not, `body` is the part that exists. */
  readonly isWhole: boolean;
}

/** A body whose content codings must be undone piece by piece, because it is long or broken. */
interface EncodedPayload {
  readonly encoded: Buffer;
  readonly encodings: readonly ContentEncoding[];
  readonly isWhole: boolean;
}

/** A response whose body cannot be used. */
interface Unusable {
  /** The reason, as the predicate of "the response". */
  readonly refusal: string;
}

/** A body in a content coding that is unknown, or differs from the declared one. */
const UNDECODABLE: Unusable = { refusal: 'has a body that its content coding cannot decode' };

/**
 * The body of the response in a block.
 *
 * Crawlers often undo codings and keep the header fields. So a body that does not begin with a
 * chunk has been joined already, and a text that cannot be decoded has been decoded already. A body
 * shorter than its Content-Length is not complete.
 *
 * @param isWhole whether the block is complete
 * @param limit number of bytes of the body that are wanted
 */
function payloadOf(
  block: Buffer,
  head: ResponseHead,
  isWhole: boolean,
  limit: number,
): Payload | EncodedPayload | Unusable {
  const part = partRefusal(head);
  if (part !== undefined) return { refusal: `is incomplete: ${part}` };
  const framing = framingOf(head);
  if (typeof framing === 'object') return { refusal: `is not valid HTTP: ${framing.refusal}` };
  if (framing === 0) return { body: block.subarray(0, 0), isWhole: true };
  let bytes: Buffer = block.subarray(head.end);
  let isComplete = isWhole;
  const chunks = framing === 'chunked' ? dechunk(bytes) : undefined;
  const encodings = contentEncodings(codingsOf(head));
  if (chunks !== undefined) {
    bytes = chunks.body;
    isComplete &&= chunks.isWhole;
  } else if (typeof framing === 'number' && bytes.length < framing) {
    isComplete = false;
  }
  if (bytes.length === 0) return { body: bytes, isWhole: isComplete };
  if (typeof encodings === 'object' && encodings.length === 0) {
    return { body: bytes, isWhole: isComplete };
  }
  // A body that was decoded already is shorter or longer than its Content-Length was.
  const asIs = { body: bytes, isWhole: isWhole && (chunks?.isWhole ?? true) };
  if (typeof encodings !== 'object') return isText(bytes) ? asIs : UNDECODABLE;
  // Zstandard data is decoded piece by piece alone.
  if (encodings.includes('zstd')) {
    return isText(bytes) ? asIs : { encoded: bytes, encodings, isWhole: isComplete };
  }
  let body = bytes;
  try {
    for (const encoding of encodings.toReversed()) body = decode(body, encoding, limit);
    return { body, isWhole: isComplete };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'Z_BUF_ERROR') {
      if (isText(bytes)) return asIs;
      return { encoded: bytes, encodings, isWhole: isComplete };
    }
    return isText(bytes) ? asIs : UNDECODABLE;
  }
}

/** Undoes the content codings of a body, up to its limit or its end. */
async function decodePayload(
  { encoded, encodings, isWhole }: EncodedPayload,
  limit: number,
): Promise<Payload | Unusable> {
  async function* once(): AsyncGenerator<Uint8Array> {
    yield encoded;
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of decoded(once(), encodings)) {
      pieces.push(piece);
      length += piece.length;
      if (length >= limit) break;
    }
  } catch (error) {
    if (errorCode(error) !== 'Z_BUF_ERROR') return UNDECODABLE;
    return { body: Buffer.concat(pieces, Math.min(length, limit)), isWhole: false };
  }
  return { body: Buffer.concat(pieces, Math.min(length, limit)), isWhole };
}

/** @throws Error `ERR_BUFFER_TOO_LARGE` for more than the limit, `Z_…` for broken data */
function decode(bytes: Buffer, encoding: ContentEncoding, limit: number): Buffer {
  const options = { maxOutputLength: limit };
  switch (encoding) {
    case 'gzip':
      return gunzip(bytes, limit);
    case 'br':
      return brotliDecompressSync(bytes, options);
    case 'deflate':
      return isZlib(bytes[0]) ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
    case 'zstd':
      throw new Error('Zstandard data is decoded piece by piece');
  }
}
