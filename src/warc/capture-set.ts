/**
 * Finds which captures answer for each robots.txt, the latest ones or those of each time, and
 * follows redirects from capture to capture.
 */

import { ByteStore, type HashKey, Uint32List } from '../compile/byte-store.js';
import { FOLLOWED_REDIRECTS } from '../http/url.js';
import { ROBOTS_PATH } from '../protocol/authority.js';
import {
  type CapturePlace,
  Captures,
  type Found,
  LeftOutCaptures,
  MAX_REVISITS,
  Payloads,
  type Reference,
  References,
} from './capture-store.js';
import {
  eachCapture,
  KIND_ACCESS,
  KIND_BODY,
  KIND_LEFT_OUT,
  KIND_REDIRECT,
  KIND_REVISIT,
  KIND_UNMODIFIED,
  type PackedCaptures,
  type UnpackedCapture,
} from './captures.js';

/** Redirects that are followed to find one robots.txt. More are like too long a chain. */
const MAX_FOLLOWED = 64;

/** Captures of one URL that are looked at until one of them tells what was found. */
const MAX_LOOKED_AT = 4096;

/** Times at which the robots.txt of one URL is looked for in a history: the latest ones. */
const MAX_TIMES = 10_000;

/**
 * Captures that may be looked at for each one that there is, to find all histories. Otherwise many
 * robots.txt files that redirect to one URL with many captures would take hours.
 */
const LOOKED_AT_PER_CAPTURE = 64;

/** Times of each URL, beside those of its own captures, once so many have been looked at. */
const FEW_TIMES = 64;

/** What a capture leads to, in ascending preference among the captures of one moment. */
const LOOP = 0;
const NOT_CAPTURED = 1;
const FAILURE = 2;
const RULES = 3;

/** Where a capture leads. */
interface Reached {
  readonly rank: number;
  /** The finding; `undefined` for NOT_CAPTURED. */
  readonly found: Found | undefined;
  /** The last URL of the redirects. */
  readonly last: number;
}

/** A search for a robots.txt among the captures that are older than a time. */
interface Search {
  readonly before: number;
  /**
   * The date of the last capture that it has made use of. At every time from this date until
   * `before`, the search ends the same way.
   */
  since: number;
  /** The URLs from the robots.txt to the one at hand. */
  readonly chain: number[];
  followed: number;
}

/** A capture that found the same once more. */
interface FoundAgain extends CapturePlace {
  /** Milliseconds since 1970, with a fraction. */
  readonly date: number;
}

/**
 * The finding of the captures about the robots.txt of an authority.
 *
 * - `body`: its body, or an access result.
 * - `no-target`: the URL to which a redirect leads was not captured.
 */
export interface CaptureFinding extends CapturePlace {
  readonly kind: 'body' | 'no-target';
  /** The URL of the robots.txt. */
  readonly url: string;
  readonly body: number;
  readonly bodyBytes: number;
  /**
   * Milliseconds since 1970, with a fraction. In a history, when the finding came into force.
   * Otherwise the date of the last capture with a payload, or of the redirect.
   */
  readonly since: number;
  /**
   * In a history, the later captures of the robots.txt while the finding was in force, ascending:
   * another source may tell that something else was in force between two of them.
   */
  readonly again: readonly FoundAgain[];
  /** The last URL of the redirects. */
  readonly target: string;
}

/**
 * The captures of each URL, of which the latest one counts, or in a history at each time the latest
 * one until then. Captures of one URL at one moment are in no order: a crawler that gets a cookie
 * by redirects captures `302` and `200` of the same URL within one second. A capture that leads to
 * rules counts before a failure, and a redirect that only leads back counts last; of several such
 * captures the last in the archive counts.
 *
 * The memory is some 100 bytes for each URL, 70 for each distinct payload digest, and 40 for each
 * further capture of a URL.
 */
export class CaptureSet {
  /** URLs whose history has lost its oldest times, because it has too many. */
  shortened = 0;
  readonly #hasHistory: boolean;
  readonly #urls: ByteStore;
  readonly #captures: Captures;
  /** The URLs that were captured, in the order of their first captures; and a bit for each. */
  readonly #captured = new Uint32List();
  readonly #isCaptured = new Uint32List();
  /** The URLs that have revisits, in the order of the first ones. */
  readonly #revisited = new Set<number>();
  readonly #references: References;
  readonly #digests: ByteStore;
  readonly #payloads: Payloads;
  readonly #leftOut: LeftOutCaptures;
  readonly #unavailable: number;
  /** Number of captures that searches have looked at. */
  #lookedAt = 0;

  /**
   * @param unavailable the number that stands for the access result `unavailable`
   * @param orderOf the place of a file in the archive, for its number; of files at the same place,
   *   the one with the greater number comes later
   * @param options `history`: whether to find what was in force at each time. Default: only what is
   *   in force at the end
   */
  constructor(
    key: HashKey,
    unavailable: number,
    orderOf: (file: number) => number,
    { history = false }: { readonly history?: boolean } = {},
  ) {
    this.#hasHistory = history;
    this.#urls = new ByteStore(key);
    this.#captures = new Captures(history, orderOf);
    this.#references = new References(key);
    this.#digests = new ByteStore(key);
    this.#payloads = new Payloads(history);
    this.#leftOut = new LeftOutCaptures(key);
    this.#unavailable = unavailable;
  }

  /**
   * Adds the captures of a file. Captures with one offset lie in one gzip member or zstd frame.
   *
   * @param fileOf the number of the file in which a capture lies
   * @param bodyOf the number of a body, for the number that the list has of it
   * @param areFirst whether each capture begins its member: it was read at its offset, on its own.
   *   Otherwise captures with one offset come in their order
   */
  add(
    captures: PackedCaptures,
    fileOf: (capture: UnpackedCapture) => number,
    bodyOf: (body: number) => number,
    areFirst = false,
  ): void {
    eachCapture(captures, (capture) => {
      const file = fileOf(capture);
      const { date, offset, kind, bodyBytes } = capture;
      if (kind === KIND_LEFT_OUT) {
        this.#leftOut.add(capture.url, file, offset);
        return;
      }
      const url = this.#urls.add(capture.url);
      this.#noteCaptured(url);
      const isFound = kind === KIND_BODY || kind === KIND_ACCESS || kind === KIND_REDIRECT;
      const value = isFound
        ? this.#valueOf(capture, bodyOf)
        : this.#references.add(this.#referenceOf(capture));
      if (!isFound) this.#revisited.add(url);
      const stored = isFound ? kind : KIND_REVISIT;
      this.#captures.add(url, { date, kind: stored, value, bodyBytes, file, offset }, areFirst);
    });
  }

  #noteCaptured(url: number): void {
    const bits = this.#isCaptured.get(url >>> 5);
    const bit = 1 << (url & 31);
    if ((bits & bit) !== 0) return;
    this.#isCaptured.set(url >>> 5, bits | bit);
    this.#captured.push(url);
  }

  #valueOf(
    { date, kind, value, bodyBytes, payloadDigest, target }: UnpackedCapture,
    bodyOf: (body: number) => number,
  ): number {
    if (kind === KIND_REDIRECT) return this.#urls.add(target);
    const body = bodyOf(value);
    if (kind === KIND_BODY && payloadDigest.length > 0) {
      this.#payloads.add(this.#digests.add(payloadDigest), { body, bodyBytes, date });
    }
    return body;
  }

  #referenceOf({ kind, value, payloadDigest, target }: UnpackedCapture): Reference {
    return {
      digest: payloadDigest.length === 0 ? -1 : this.#digests.add(payloadDigest),
      url: target.length === 0 ? -1 : this.#urls.add(target),
      date: value,
      isUnmodified: kind === KIND_UNMODIFIED,
    };
  }

  /**
   * Yields the finding about each robots.txt, in the order of the first captures. In a history that
   * is one finding for each time at which another body came into force, or none any more; they
   * ascend.
   */
  *findings(): Generator<CaptureFinding> {
    for (let at = 0; at < this.#captured.length; at++) {
      const url = this.#captured.get(at);
      const href = this.#href(url);
      if (isRobotsUrl(href)) yield* this.#findingsOf(url, href);
    }
  }

  /** Finds what is in force at the end; in a history, then what was in force before that. */
  #findingsOf(url: number, href: string): CaptureFinding[] {
    const findings: (CaptureFinding & { readonly again: FoundAgain[] })[] = [];
    let before = Number.POSITIVE_INFINITY;
    const first = this.#captures.first(url);
    const few = FEW_TIMES + this.#captures.end(url, before) - first;
    for (let times = 0; this.#captures.end(url, before) > first; times++) {
      if (times > 0 && !this.#hasHistory) break;
      if (times === MAX_TIMES || (times >= few && this.#isExhausted())) {
        this.shortened++;
        break;
      }
      const search = searchFrom(url, before);
      const finding = this.#findingOf(url, href, search);
      const confirms = (capture: Found): boolean => this.#confirms(capture, search.before);
      const range = { since: search.since, before };
      before = search.since;
      if (finding === undefined) continue;
      const next = findings.at(-1);
      const isSame = next?.kind === finding.kind && next.body === finding.body;
      // Latest first: 10,000 earlier captures are added without a copy of the later ones.
      const again = isSame ? next.again : [];
      if (isSame) {
        findings.pop();
        again.push({ file: next.file, offset: next.offset, date: next.since });
      }
      const own = this.#hasHistory ? this.#captures.between(url, range, confirms) : [];
      for (const capture of own) {
        // A redirect lies elsewhere than the robots.txt that it leads to.
        const { file, offset } = capture.kind === KIND_REDIRECT ? finding : capture;
        again.push({ file, offset, date: capture.date });
      }
      findings.push({ ...finding, again });
    }
    for (const { again } of findings) again.reverse();
    return findings.reverse();
  }

  /**
   * Whether a capture tells that a finding is still in force. A revisit of a payload that is
   * missing does not: the payload may have been another one.
   */
  #confirms(capture: Found, before: number): boolean {
    if (capture.kind !== KIND_REVISIT) return true;
    if (this.#references.get(capture.value).isUnmodified) return true;
    return this.#referred(capture, searchFrom(-1, before)) !== undefined;
  }

  /** Whether searches have looked at as many captures as they may, all together. */
  #isExhausted(): boolean {
    return this.#lookedAt > LOOKED_AT_PER_CAPTURE * this.#captures.count;
  }

  /** For each file the offsets at which captures of some URLs were left out. */
  leftOut(urls: readonly string[]): ReadonlyMap<number, readonly number[]> {
    return this.#leftOut.find(urls);
  }

  /**
   * The URLs, other than of robots.txt files, to which redirects from robots.txt files lead, or to
   * which revisits refer; in a history, at any time.
   */
  targets(): string[] {
    const targets = new Set<number>();
    let urls: number[] = [];
    for (let at = 0; at < this.#captured.length; at++) {
      const url = this.#captured.get(at);
      const isPlain = !this.#hasHistory && this.#captures.isPlain(url);
      if (!isPlain && isRobotsUrl(this.#href(url))) urls.push(url);
    }
    const listed = new Set<number>();
    for (let followed = 0; urls.length > 0; followed++) {
      const next: number[] = [];
      const add = (target: number, list: number[] | undefined): void => {
        if (listed.has(target) || isRobotsUrl(this.#href(target))) return;
        targets.add(target);
        if (list === undefined) return;
        listed.add(target);
        list.push(target);
      };
      // In a history, a revisit of a redirect may decide: `urls` grows by what revisits refer to.
      const also = this.#hasHistory ? urls : undefined;
      for (const url of urls) {
        const redirects = followed < FOLLOWED_REDIRECTS ? this.#redirectsOf(url) : [];
        for (const target of redirects) add(target, next);
        for (const target of this.#referredBy(url)) add(target, also);
      }
      urls = next;
    }
    return [...targets].map((target) => this.#href(target));
  }

  /** The URLs to which the latest captures of a URL redirect; in a history, all captures. */
  #redirectsOf(url: number): number[] {
    const found = this.#hasHistory
      ? this.#capturesOf(url)
      : this.#latest(url, searchFrom(url, Number.POSITIVE_INFINITY));
    return found.filter(({ kind }) => kind === KIND_REDIRECT).map(({ value }) => value);
  }

  /** The URLs to which the revisits of a URL refer. */
  #referredBy(url: number): number[] {
    if (!this.#revisited.has(url)) return [];
    return this.#capturesOf(url)
      .filter(({ kind }) => kind === KIND_REVISIT)
      .map(({ value }) => this.#references.get(value).url)
      .filter((target) => target >= 0);
  }

  /** The captures of a URL that can count at some time, ascending. */
  #capturesOf(url: number): Found[] {
    const first = this.#captures.first(url);
    const length = this.#captures.end(url, Number.POSITIVE_INFINITY) - first;
    return Array.from({ length }, (_, at) =>
      this.#captures.get(this.#captures.numberAt(first + at)),
    );
  }

  /**
   * The revisits of captures that are missing; they do not count. Without a history, only those
   * that are the latest captures of their URLs.
   */
  *lostRevisits(): Generator<CapturePlace> {
    for (const url of this.#revisited) {
      const captures = this.#capturesOf(url);
      const latest = captures.findLast(({ kind }) => kind === KIND_REVISIT);
      /** The date of the first capture that tells what was found. */
      let known = Number.POSITIVE_INFINITY;
      const lost: Found[] = [];
      for (const capture of captures) {
        // In a history, what was captured later tells nothing of the time of the revisit.
        const before = this.#hasHistory ? capture.date + 1 : Number.POSITIVE_INFINITY;
        const isLost =
          capture.kind === KIND_REVISIT &&
          this.#referred(capture, searchFrom(url, before)) === undefined;
        if (!isLost) known = Math.min(known, capture.date);
        else if (this.#hasHistory || capture === latest) lost.push(capture);
      }
      for (const capture of lost) {
        const { isUnmodified } = this.#references.get(capture.value);
        if (!isUnmodified || capture.date < known) yield capture;
      }
    }
  }

  #findingOf(url: number, href: string, search: Search): Omit<CaptureFinding, 'again'> | undefined {
    const { found, last } = this.#reach(url, search);
    const target = last === url ? href : this.#href(last);
    if (found !== undefined) {
      const { value, bodyBytes, file, offset } = found;
      const since = this.#hasHistory
        ? search.since
        : (this.#captures.lastFoundDate(last) ?? found.date);
      return { kind: 'body', url: href, body: value, bodyBytes, file, offset, since, target };
    }
    const [asked] = this.#latest(url, search);
    // A redirect leads to this robots.txt, but the robots.txt was not captured.
    if (asked === undefined) return undefined;
    const { file, offset, date } = asked;
    const since = this.#hasHistory ? search.since : date;
    return { kind: 'no-target', url: href, body: 0, bodyBytes: 0, file, offset, since, target };
  }

  /** Where the captures of a URL lead that have its latest moment. */
  #reach(url: number, search: Search): Reached {
    let best: Reached | undefined;
    for (const found of this.#latest(url, search)) {
      const reached = this.#follow(found, url, search);
      if (best === undefined || reached.rank > best.rank) best = reached;
      if (best.rank === RULES) break;
    }
    return best ?? { rank: NOT_CAPTURED, found: undefined, last: url };
  }

  /**
   * Follows redirects as a fetch does (RFC 9309 section 2.3.1.2). A loop, and more than five
   * redirects, mean that there is no robots.txt.
   */
  #follow(found: Found, url: number, search: Search): Reached {
    const { kind, value: target } = found;
    if (kind !== KIND_REDIRECT)
      return { rank: kind === KIND_BODY ? RULES : FAILURE, found, last: url };
    const { chain } = search;
    const isLoop = chain.includes(target);
    if (isLoop || chain.length > FOLLOWED_REDIRECTS || search.followed === MAX_FOLLOWED) {
      const none = { ...found, kind: KIND_ACCESS, value: this.#unavailable, bodyBytes: 0 };
      return { rank: isLoop ? LOOP : FAILURE, found: none, last: url };
    }
    search.followed++;
    chain.push(target);
    const reached = this.#reach(target, search);
    chain.pop();
    return reached;
  }

  /**
   * What the captures of a URL found that have its latest moment, the last one first; of a revisit,
   * what it refers to. A revisit without a payload confirms the capture before it if the server
   * said 304, and does not count otherwise. In both cases the capture before it decides.
   */
  #latest(url: number, search: Search): readonly Found[] {
    const captures = this.#captures;
    const end = captures.end(url, search.before);
    const start = Math.max(captures.first(url), end - MAX_LOOKED_AT);
    const latest: Found[] = [];
    let date = Number.NaN;
    let revisits = 0;
    let place = end - 1;
    for (; place >= start; place--) {
      const number = captures.numberAt(place);
      if (captures.date(number) !== date) {
        if (latest.length > 0) break;
        date = captures.date(number);
      }
      const isRevisit = captures.kind(number) === KIND_REVISIT;
      if (isRevisit && revisits++ >= MAX_REVISITS) continue;
      const capture = captures.get(number);
      const found = isRevisit ? this.#referred(capture, search) : capture;
      if (found !== undefined) latest.push(found);
    }
    this.#lookedAt += end - place;
    if (latest.length > 0) search.since = Math.max(search.since, date);
    return latest;
  }

  /** The finding that a revisit refers to, by the digest of its payload, or by URL and date. */
  #referred(revisit: Found, search: Search): Found | undefined {
    const { digest, url, date, isUnmodified } = this.#references.get(revisit.value);
    const payload = digest < 0 ? undefined : this.#payloads.get(digest, search.before);
    if (payload !== undefined) {
      const { body: value, bodyBytes } = payload;
      search.since = Math.max(search.since, payload.date);
      // Some writers give a 304 the digest of its own body, which is empty.
      if (!isUnmodified || bodyBytes > 0) return { ...revisit, kind: KIND_BODY, value, bodyBytes };
    }
    const referred = url < 0 ? undefined : this.#captures.referred(url, date, search.before);
    if (referred !== undefined) search.since = Math.max(search.since, referred.since);
    return referred?.found;
  }

  #href(url: number): string {
    return Buffer.from(this.#urls.get(url)).toString('latin1');
  }
}

/** A search that begins at a robots.txt. */
function searchFrom(url: number, before: number): Search {
  return { before, since: Number.NEGATIVE_INFINITY, chain: [url], followed: 0 };
}

/** Whether a canonical URL is that of the robots.txt of an authority. */
function isRobotsUrl(href: string): boolean {
  const path = href.indexOf('/', href.indexOf('://') + 3);
  return href.length - path === ROBOTS_PATH.length && href.endsWith(ROBOTS_PATH);
}
