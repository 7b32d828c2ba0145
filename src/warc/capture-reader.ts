import { createHash } from 'node:crypto';
import { headerText, isRedirect, redirectUrl } from '../http/redirect.js';
import {
  DECIDING_FIELDS,
  firstValue,
  LONGEST_HEADS,
  partRefusal,
  type ResponseHead,
  ResponseHeads,
} from '../http/response.js';
import { accessResultOf, isSuccess } from '../protocol/access.js';
import { MIN_BYTES } from '../protocol/parsing-limits.js';
import { type Capture, type CaptureOutcome, canonicalUrl, captureUrl } from './capture.js';
import { decodePayload, type Payload, payloadOf } from './payload.js';
import { holdsCapture, targetDamage } from './target-uri.js';
import type { WarcHeader } from './warc-header.js';
import type { RecordHandler, WarcRecord } from './warc-record.js';

/**
 * Number of bytes of a block that are read for each wanted byte of the body. Codings seldom
 * lengthen a body, but small chunks do.
 */
const ENCODED_PER_WANTED = 2;

/** Selects the wanted captures. */
export interface CaptureSelection {
  /** Captures after this moment do not count; milliseconds since 1970. */
  readonly asOf: number;
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
    this.#limit = Math.floor(selection.maxBodyBytes) + 1;
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
    const access = accessResultOf(status);
    return access === 'successful' ? undefined : { kind: access };
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
   * the authority is unreachable, as in a fetch.
   */
  #body(base: Omit<Capture, 'outcome'>, { body, isWhole }: Payload): void {
    const { maxBodyBytes } = this.#selection;
    if (!isWhole && body.length < MIN_BYTES) {
      this.#broken(base, 'is truncated');
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
