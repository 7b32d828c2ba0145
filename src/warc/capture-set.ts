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
import { type CapturePlace, EarlierCaptures, type Found, FoundCaptures } from './found-captures.js';
import { LeftOutCaptures } from './left-out.js';

const ROBOTS_PATH = '/robots.txt';

/** Revisits of a URL with different payloads that are kept: the latest ones. */
const MAX_REVISITS = 64;

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
 * counts. The memory is some 100 bytes for each URL, 70 for each distinct payload digest, and 70
 * for each further capture of a URL.
 */
export class CaptureSet {
  readonly #urls: ByteStore;
  /** For each URL the latest capture of it that says what it found. */
  readonly #found = new FoundCaptures();
  readonly #earlier: EarlierCaptures;
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
    this.#earlier = new EarlierCaptures(key);
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
      if (!this.#found.has(url) && !this.#revisits.has(url)) {
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
    const isRedirect = kind === KIND_REDIRECT;
    const found = { date, isRedirect, value, bodyBytes, file, offset };
    const other = this.#found.get(url);
    if (other !== undefined && other.date > date) {
      this.#earlier.add(url, found);
      return;
    }
    if (other !== undefined) this.#earlier.add(url, other);
    this.#found.set(url, found);
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

  /**
   * The URLs, other than of robots.txt files, to which redirects from robots.txt files lead, or to
   * which revisits refer.
   */
  targets(): string[] {
    const targets = new Set<number>();
    for (let url = 0; url < this.#urls.count; url++) {
      if (!this.#revisits.has(url) && this.#found.get(url)?.isRedirect !== true) continue;
      if (!isRobotsUrl(this.#href(url))) continue;
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
      const found = this.#found.get(url);
      if (found !== undefined && found.date > revisit.date) continue;
      if (this.#referred(revisit) !== undefined) continue;
      if (!revisit.isUnmodified || this.#latest(url) === undefined) yield revisit;
    }
  }

  #findingOf(url: number, href: string): Finding | undefined {
    const { found, last } = this.#follow(url);
    const target = this.#href(last);
    if (found !== undefined) {
      const { value, bodyBytes, file, offset } = found;
      const date = this.#found.get(last)?.date ?? found.date;
      return { kind: 'body', url: href, body: value, bodyBytes, file, offset, date, target };
    }
    const asked = this.#latest(url);
    // A redirect leads to this robots.txt, but the robots.txt was not captured.
    if (asked === undefined) return undefined;
    const { file, offset, date } = asked;
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
      for (const { refersTo } of this.#unresolved(last)) {
        if (refersTo >= 0) onTarget(refersTo);
      }
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
    const found = this.#found.get(url);
    const from = found?.date ?? Number.NEGATIVE_INFINITY;
    for (const revisit of this.#revisits.get(url)?.toReversed() ?? []) {
      if (revisit.date < from) break;
      const referred = this.#referred(revisit);
      if (referred !== undefined) return referred;
    }
    return found;
  }

  /** The revisits since the latest finding of a URL whose captures are missing so far. */
  #unresolved(url: number): Revisit[] {
    const from = this.#found.get(url)?.date ?? Number.NEGATIVE_INFINITY;
    return (this.#revisits.get(url) ?? []).filter(
      (revisit) => revisit.date >= from && this.#referred(revisit) === undefined,
    );
  }

  /** The finding that a revisit refers to, by the digest of its payload, or by URL and date. */
  #referred(revisit: Revisit): Found | undefined {
    const { digest, refersTo, refersToDate, isUnmodified, file, offset, date } = revisit;
    const payload = digest < 0 ? 0 : this.#payloads.get(2 * digest);
    const bodyBytes = digest < 0 ? 0 : this.#payloads.get(2 * digest + 1);
    // Some writers give a 304 the digest of its own body, which is empty.
    if (payload !== 0 && !(isUnmodified && bodyBytes === 0)) {
      return { date, isRedirect: false, value: payload - 1, bodyBytes, file, offset };
    }
    if (refersTo < 0) return undefined;
    const latest = this.#found.get(refersTo);
    return latest?.date === refersToDate ? latest : this.#earlier.find(refersTo, refersToDate);
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
