import { ByteStore } from '../compile/intern/byte-store.js';
import type { HashKey } from '../compile/intern/hash-bytes.js';
import { Uint32List } from '../compile/intern/uint32-list.js';
import { FOLLOWED_REDIRECTS } from '../http/redirect.js';
import {
  eachCapture,
  KIND_ACCESS,
  KIND_BODY,
  KIND_LEFT_OUT,
  KIND_REDIRECT,
  KIND_UNMODIFIED,
  type PackedCaptures,
  type UnpackedCapture,
} from './capture-list.js';
import { LeftOutCaptures } from './left-out.js';

/** Words of a URL: the latest capture of it that says what it found. */
const WORDS = 8;
const DATE_HIGH = 0;
const DATE_LOW = 1;
/** The number of the file plus one; 0 if there is no such capture. */
const FILE = 2;
const OFFSET_HIGH = 3;
const OFFSET_LOW = 4;
const KIND = 5;
/** The number of the body, or of the URL that a redirect leads to. */
const VALUE = 6;
const BODY_BYTES = 7;

const WORD = 2 ** 32;

/** Milliseconds that are added to dates, so that dates before 1970 are positive too. */
const EPOCH_SHIFT = 2 ** 52;

const ROBOTS_PATH = '/robots.txt';

/** Revisits of a URL with different payloads that are kept: the latest ones. */
const MAX_REVISITS = 64;

/** Where a capture lies. */
export interface CapturePlace {
  readonly file: number;
  readonly offset: number;
}

/** A capture that refers to an earlier one. */
interface Revisit extends CapturePlace {
  readonly date: number;
  readonly isUnmodified: boolean;
  /** The number of the payload digest; -1 if there is none. */
  readonly digest: number;
  /** The number of the URL that it refers to; -1 if there is none. */
  readonly refersTo: number;
  readonly refersToDate: number;
}

/** A finding, and the capture that has it. */
interface Found extends CapturePlace {
  readonly isRedirect: boolean;
  /** The number of the body, or of the URL that the redirect leads to. */
  readonly value: number;
  readonly bodyBytes: number;
}

/**
 * The finding of the captures about the robots.txt of an authority.
 *
 * - `body`: its body, or an access result.
 * - `no-target`: the URL to which a redirect leads was not captured.
 */
export interface Finding extends CapturePlace {
  readonly kind: 'body' | 'no-target';
  /** The URL of the robots.txt. */
  readonly url: string;
  readonly body: number;
  readonly bodyBytes: number;
  /** The date of the last capture with a payload, in milliseconds since 1970. */
  readonly date: number;
  /** The last URL of the redirects. */
  readonly target: string;
}

/**
 * The latest capture of each URL. If two captures have the same moment, the one that is added later
 * counts. The memory is some 100 bytes for each URL, and 70 for each distinct payload digest.
 */
export class CaptureSet {
  readonly #urls: ByteStore;
  /** The words of all URLs, WORDS for each. */
  readonly #words = new Uint32List();
  /** The URLs that were captured, in the order of their first captures. */
  readonly #captured = new Uint32List();
  readonly #digests: ByteStore;
  /** For each payload digest the number of the body plus one, and the length of the body. */
  readonly #payloads = new Uint32List();
  /** For some URLs the revisits, the latest of each payload; the latest revisit comes last. */
  readonly #revisits = new Map<number, Revisit[]>();
  readonly #leftOut: LeftOutCaptures;
  readonly #unavailable: number;

  /** @param unavailable the number that stands for the access result `unavailable` */
  constructor(key: HashKey, unavailable: number) {
    this.#urls = new ByteStore(key);
    this.#digests = new ByteStore(key);
    this.#leftOut = new LeftOutCaptures(key);
    this.#unavailable = unavailable;
  }

  /**
   * Adds the captures of a file.
   *
   * @param fileOf the number of the file in which a capture lies
   * @param bodyOf the number of a body, for the number that the list has of it
   */
  add(
    captures: PackedCaptures,
    fileOf: (capture: UnpackedCapture) => number,
    bodyOf: (body: number) => number,
  ): void {
    eachCapture(captures, (capture) => {
      const file = fileOf(capture);
      if (capture.kind === KIND_LEFT_OUT) {
        this.#leftOut.add(capture.url, file, capture.offset);
        return;
      }
      const url = this.#urls.add(capture.url);
      if (this.#words.get(WORDS * url + FILE) === 0 && !this.#revisits.has(url)) {
        this.#captured.push(url);
      }
      switch (capture.kind) {
        case KIND_BODY:
        case KIND_ACCESS:
          this.#addFound(url, capture, file, bodyOf(capture.value));
          break;
        case KIND_REDIRECT:
          this.#addFound(url, capture, file, this.#urls.add(capture.target));
          break;
        default:
          this.#addRevisit(url, capture, file);
      }
    });
  }

  #addFound(url: number, capture: UnpackedCapture, file: number, value: number): void {
    const { date, offset, kind, bodyBytes, payloadDigest } = capture;
    if (kind === KIND_BODY && payloadDigest.length > 0) {
      const digest = this.#digests.add(payloadDigest);
      this.#payloads.set(2 * digest, value + 1);
      this.#payloads.set(2 * digest + 1, bodyBytes);
    }
    const words = this.#words;
    const at = WORDS * url;
    if (words.get(at + FILE) !== 0 && this.#dateOf(url) > date) return;
    const shifted = date + EPOCH_SHIFT;
    words.set(at + DATE_HIGH, Math.floor(shifted / WORD));
    words.set(at + DATE_LOW, shifted % WORD);
    words.set(at + FILE, file + 1);
    words.set(at + OFFSET_HIGH, Math.floor(offset / WORD));
    words.set(at + OFFSET_LOW, offset % WORD);
    words.set(at + KIND, kind);
    words.set(at + VALUE, value);
    words.set(at + BODY_BYTES, bodyBytes);
  }

  #addRevisit(url: number, capture: UnpackedCapture, file: number): void {
    const { date, offset, kind, value, payloadDigest, target } = capture;
    const revisit = {
      file,
      offset,
      date,
      isUnmodified: kind === KIND_UNMODIFIED,
      digest: payloadDigest.length === 0 ? -1 : this.#digests.add(payloadDigest),
      refersTo: target.length === 0 ? -1 : this.#urls.add(target),
      refersToDate: value,
    };
    const revisits = this.#revisits.get(url) ?? [];
    const same = revisits.findIndex((other) => isSamePayload(other, revisit));
    if (same >= 0) {
      if ((revisits[same] as Revisit).date > date) return;
      revisits.splice(same, 1);
    }
    let place = revisits.length;
    while (place > 0 && (revisits[place - 1] as Revisit).date > date) place--;
    revisits.splice(place, 0, revisit);
    if (revisits.length > MAX_REVISITS) revisits.shift();
    this.#revisits.set(url, revisits);
  }

  #dateOf(url: number): number {
    const at = WORDS * url;
    const words = this.#words;
    return words.get(at + DATE_HIGH) * WORD + words.get(at + DATE_LOW) - EPOCH_SHIFT;
  }

  /** Yields the finding about each robots.txt, in the order of the first captures. */
  *findings(): Generator<Finding> {
    for (let at = 0; at < this.#captured.length; at++) {
      const url = this.#captured.get(at);
      const href = this.#href(url);
      if (!isRobotsUrl(href)) continue;
      const finding = this.#findingOf(url, href);
      if (finding !== undefined) yield finding;
    }
  }

  /** For each file the offsets at which captures of some URLs were left out. */
  leftOut(urls: readonly string[]): ReadonlyMap<number, readonly number[]> {
    return this.#leftOut.find(urls);
  }

  /** The URLs, other than of robots.txt files, to which redirects from robots.txt files lead. */
  targets(): string[] {
    const targets = new Set<number>();
    for (let url = 0; url < this.#urls.count; url++) {
      if (this.#latest(url)?.isRedirect !== true || !isRobotsUrl(this.#href(url))) continue;
      this.#follow(url, (target) => {
        if (!isRobotsUrl(this.#href(target))) targets.add(target);
      });
    }
    return [...targets].map((target) => this.#href(target));
  }

  /** The latest captures that are revisits of captures that are missing; they do not count. */
  *lostRevisits(): Generator<CapturePlace> {
    for (const [url, revisits] of this.#revisits) {
      const revisit = revisits.at(-1) as Revisit;
      const found = this.#found(url);
      if (found !== undefined && this.#dateOf(url) > revisit.date) continue;
      if (this.#referred(revisit) !== undefined) continue;
      if (!revisit.isUnmodified || this.#latest(url) === undefined) yield revisit;
    }
  }

  #findingOf(url: number, href: string): Finding | undefined {
    const { found, last } = this.#follow(url);
    const target = this.#href(last);
    if (found !== undefined) {
      const { value, bodyBytes, file, offset } = found;
      const date = this.#dateOf(last);
      return { kind: 'body', url: href, body: value, bodyBytes, file, offset, date, target };
    }
    const asked = this.#latest(url);
    // A redirect leads to this robots.txt, but the robots.txt was not captured.
    if (asked === undefined) return undefined;
    const { file, offset } = asked;
    const date = this.#dateOf(url);
    return { kind: 'no-target', url: href, body: 0, bodyBytes: 0, file, offset, date, target };
  }

  /**
   * Follows redirects as a fetch does (RFC 9309 section 2.3.1.2). A loop, and more than five
   * redirects, mean that there is no robots.txt.
   *
   * @returns the finding; without one, `last` is the URL that was not captured
   */
  #follow(
    url: number,
    onTarget: (target: number) => void = () => {},
  ): { readonly found: Found | undefined; readonly last: number } {
    const chain = [url];
    for (let last = url; ; ) {
      const found = this.#latest(last);
      if (found?.isRedirect !== true) return { found, last };
      const target = found.value;
      if (chain.includes(target) || chain.length > FOLLOWED_REDIRECTS) {
        const unavailable = { isRedirect: false, value: this.#unavailable, bodyBytes: 0 };
        return { found: { ...found, ...unavailable }, last };
      }
      onTarget(target);
      chain.push(target);
      last = target;
    }
  }

  /**
   * What the latest capture of a URL found; of a revisit, what it refers to. A revisit without a
   * payload confirms the capture before it if the server said 304, and does not count otherwise. In
   * both cases the capture before it decides.
   */
  #latest(url: number): Found | undefined {
    const found = this.#found(url);
    const from = found === undefined ? Number.NEGATIVE_INFINITY : this.#dateOf(url);
    for (const revisit of this.#revisits.get(url)?.toReversed() ?? []) {
      if (revisit.date < from) break;
      const referred = this.#referred(revisit);
      if (referred !== undefined) return referred;
    }
    return found;
  }

  /** The finding that a revisit refers to, by the digest of its payload, or by URL and date. */
  #referred(revisit: Revisit): Found | undefined {
    const { digest, refersTo, refersToDate, isUnmodified, file, offset } = revisit;
    const payload = digest < 0 ? 0 : this.#payloads.get(2 * digest);
    const bodyBytes = digest < 0 ? 0 : this.#payloads.get(2 * digest + 1);
    // Some writers give a 304 the digest of its own body, which is empty.
    if (payload !== 0 && !(isUnmodified && bodyBytes === 0)) {
      return { isRedirect: false, value: payload - 1, bodyBytes, file, offset };
    }
    const referred = refersTo < 0 ? undefined : this.#found(refersTo);
    if (referred === undefined || this.#dateOf(refersTo) !== refersToDate) return undefined;
    return referred;
  }

  /** The latest capture of a URL that is no revisit. */
  #found(url: number): Found | undefined {
    const words = this.#words;
    const at = WORDS * url;
    const file = words.get(at + FILE) - 1;
    if (file < 0) return undefined;
    return {
      isRedirect: words.get(at + KIND) === KIND_REDIRECT,
      value: words.get(at + VALUE),
      bodyBytes: words.get(at + BODY_BYTES),
      file,
      offset: words.get(at + OFFSET_HIGH) * WORD + words.get(at + OFFSET_LOW),
    };
  }

  #href(url: number): string {
    return Buffer.from(this.#urls.get(url)).toString('latin1');
  }
}

/** Whether two revisits refer to the same payload. Dates may be NaN, which `Object.is` equates. */
function isSamePayload(a: Revisit, b: Revisit): boolean {
  return (
    a.digest === b.digest &&
    a.refersTo === b.refersTo &&
    a.isUnmodified === b.isUnmodified &&
    Object.is(a.refersToDate, b.refersToDate)
  );
}

/** Whether a canonical URL is that of the robots.txt of an authority. */
function isRobotsUrl(href: string): boolean {
  const path = href.indexOf('/', href.indexOf('://') + 3);
  return href.length - path === ROBOTS_PATH.length && href.endsWith(ROBOTS_PATH);
}
