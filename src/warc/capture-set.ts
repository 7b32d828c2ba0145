/** Chooses the latest capture of each URL, and follows redirects from capture to capture. */

import { ByteStore, type HashKey, Uint32List } from '../compile/byte-store.js';
import { FOLLOWED_REDIRECTS } from '../http/url.js';
import {
  type CapturePlace,
  EarlierCaptures,
  type Found,
  FoundCaptures,
  LeftOutCaptures,
  type OrderedPlace,
} from './capture-store.js';
import {
  eachCapture,
  KIND_ACCESS,
  KIND_BODY,
  KIND_LEFT_OUT,
  KIND_REDIRECT,
  KIND_UNMODIFIED,
  type PackedCaptures,
  type UnpackedCapture,
} from './captures.js';

const ROBOTS_PATH = '/robots.txt';

/** Revisits of a URL with different payloads that are kept: the latest ones. */
const MAX_REVISITS = 64;

/**
 * Redirects of a URL to different targets at one moment that are kept: the last ones. A hostile
 * archive could have many, and each robots.txt that leads to the URL would follow all of them.
 */
const MAX_REDIRECTS = 16;

/** Redirects that are followed to find one robots.txt. More are like too long a chain. */
const MAX_FOLLOWED = 64;

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

/** The state of a search for a robots.txt. */
interface Search {
  /** The URLs from the robots.txt to the one at hand. */
  readonly chain: number[];
  followed: number;
  /** Receives the URLs that may be wanted. With it, the search goes on after it has found rules. */
  readonly onTarget: ((target: number) => void) | undefined;
}

/** A capture that refers to an earlier one. */
interface Revisit extends OrderedPlace {
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
export interface CaptureFinding extends CapturePlace {
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
 * The latest capture of each URL. Captures of one URL at one moment are in no order: a crawler that
 * gets a cookie by redirects captures `302` and `200` of the same URL within one second. A capture
 * that leads to rules counts before a failure, and a redirect that only leads back counts last; of
 * several such captures the last in the archive counts.
 *
 * The memory is some 100 bytes for each URL, 70 for each distinct payload digest, and 70 for each
 * further capture of a URL.
 */
export class CaptureSet {
  readonly #urls: ByteStore;
  /** For each URL the latest capture that says what it found; of several, the last one. */
  readonly #found = new FoundCaptures();
  /**
   * For some URLs the other captures of the same moment that can decide, in the order of the
   * archive: a body, an access result, and redirects.
   */
  readonly #others = new Map<number, readonly Found[]>();
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
  readonly #orderOf: (file: number) => number;
  /** Number of captures so far. */
  #added = 0;

  /**
   * @param unavailable the number that stands for the access result `unavailable`
   * @param orderOf the place of a file in the archive, for its number; of files at the same place,
   *   the one with the greater number comes later
   */
  constructor(key: HashKey, unavailable: number, orderOf: (file: number) => number) {
    this.#urls = new ByteStore(key);
    this.#earlier = new EarlierCaptures(key);
    this.#digests = new ByteStore(key);
    this.#leftOut = new LeftOutCaptures(key);
    this.#unavailable = unavailable;
    this.#orderOf = orderOf;
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
      const sequence = areFirst ? 0 : ++this.#added;
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
          this.#addFound(url, capture, { file, sequence }, bodyOf(capture.value));
          break;
        case KIND_REDIRECT:
          this.#addFound(url, capture, { file, sequence }, this.#urls.add(capture.target));
          break;
        default:
          this.#addRevisit(url, capture, { file, sequence });
      }
    });
  }

  #addFound(
    url: number,
    capture: UnpackedCapture,
    place: Pick<OrderedPlace, 'file' | 'sequence'>,
    value: number,
  ): void {
    const { date, offset, kind, bodyBytes, payloadDigest } = capture;
    if (kind === KIND_BODY && payloadDigest.length > 0) {
      const digest = this.#digests.add(payloadDigest);
      this.#payloads.set(2 * digest, value + 1);
      this.#payloads.set(2 * digest + 1, bodyBytes);
    }
    const found = { date, kind, value, bodyBytes, offset, ...place };
    const latest = this.#found.get(url);
    if (latest === undefined) this.#found.set(url, found);
    else if (latest.date === date) this.#addToLatest(url, found);
    else if (latest.date > date) this.#addEarlier(url, found);
    else {
      for (const other of this.#foundLatest(url)) this.#addEarlier(url, other);
      this.#others.delete(url);
      this.#found.set(url, found);
    }
  }

  /** Adds a finding of the same moment as the latest one. */
  #addToLatest(url: number, found: Found): void {
    const { kind, value } = found;
    const latest = this.#foundLatest(url);
    const same = latest.findIndex(
      (other) => other.kind === kind && (kind !== KIND_REDIRECT || other.value === value),
    );
    if (same >= 0) {
      if (this.#compare(found, latest[same] as Found) < 0) return;
      latest.splice(same, 1);
    }
    let place = latest.length;
    while (place > 0 && this.#compare(found, latest[place - 1] as Found) < 0) place--;
    latest.splice(place, 0, found);
    const redirects = latest.filter((each) => each.kind === KIND_REDIRECT);
    if (redirects.length > MAX_REDIRECTS) latest.splice(latest.indexOf(redirects[0] as Found), 1);
    this.#found.set(url, latest.pop() as Found);
    if (latest.length > 0) this.#others.set(url, latest);
  }

  /** The latest findings of a URL, in the order of the archive. */
  #foundLatest(url: number): Found[] {
    const last = this.#found.get(url);
    return last === undefined ? [] : [...(this.#others.get(url) ?? []), last];
  }

  #addEarlier(url: number, found: Found): void {
    const other = this.#earlier.find(url, found.date);
    const isBody = found.kind === KIND_BODY;
    // Of the captures of one moment, a revisit refers to the last one with a body.
    const isKept =
      other !== undefined &&
      ((other.kind === KIND_BODY) === isBody ? this.#compare(found, other) < 0 : !isBody);
    if (!isKept) this.#earlier.add(url, found);
  }

  /** Compares the places of two captures in the archive. */
  #compare(a: OrderedPlace, b: OrderedPlace): number {
    return (
      this.#orderOf(a.file) - this.#orderOf(b.file) ||
      a.file - b.file ||
      a.offset - b.offset ||
      a.sequence - b.sequence
    );
  }

  #addRevisit(
    url: number,
    capture: UnpackedCapture,
    place: Pick<OrderedPlace, 'file' | 'sequence'>,
  ): void {
    const { date, offset, kind, value, payloadDigest, target } = capture;
    const revisit = {
      ...place,
      offset,
      date,
      isUnmodified: kind === KIND_UNMODIFIED,
      digest: payloadDigest.length === 0 ? -1 : this.#digests.add(payloadDigest),
      refersTo: target.length === 0 ? -1 : this.#urls.add(target),
      refersToDate: value,
    };
    const revisits = this.#revisits.get(url) ?? [];
    const isBefore = (other: Revisit): boolean =>
      date < other.date || (date === other.date && this.#compare(revisit, other) < 0);
    const same = revisits.findIndex((other) => isSamePayload(other, revisit));
    if (same >= 0) {
      if (isBefore(revisits[same] as Revisit)) return;
      revisits.splice(same, 1);
    }
    let at = revisits.length;
    while (at > 0 && isBefore(revisits[at - 1] as Revisit)) at--;
    revisits.splice(at, 0, revisit);
    if (revisits.length > MAX_REVISITS) revisits.shift();
    this.#revisits.set(url, revisits);
  }

  /** Yields the finding about each robots.txt, in the order of the first captures. */
  *findings(): Generator<CaptureFinding> {
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
      const isPlain = !this.#revisits.has(url) && !this.#others.has(url);
      if (isPlain && this.#found.get(url)?.kind !== KIND_REDIRECT) continue;
      if (!isRobotsUrl(this.#href(url))) continue;
      this.#find(url, (target) => {
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
      if (!revisit.isUnmodified || this.#latest(url).length === 0) yield revisit;
    }
  }

  #findingOf(url: number, href: string): CaptureFinding | undefined {
    const { found, last } = this.#find(url);
    const target = this.#href(last);
    if (found !== undefined) {
      const { value, bodyBytes, file, offset } = found;
      const date = this.#found.get(last)?.date ?? found.date;
      return { kind: 'body', url: href, body: value, bodyBytes, file, offset, date, target };
    }
    const [asked] = this.#latest(url);
    // A redirect leads to this robots.txt, but the robots.txt was not captured.
    if (asked === undefined) return undefined;
    const { file, offset, date } = asked;
    return { kind: 'no-target', url: href, body: 0, bodyBytes: 0, file, offset, date, target };
  }

  /** Finds the robots.txt of a URL, or the URL that was not captured. */
  #find(url: number, onTarget?: (target: number) => void): Reached {
    return this.#reach(url, { chain: [url], followed: 0, onTarget });
  }

  /** Where the captures of a URL lead that have its latest moment. */
  #reach(url: number, search: Search): Reached {
    if (search.onTarget !== undefined) {
      const from = this.#found.get(url)?.date ?? Number.NEGATIVE_INFINITY;
      for (const { date, refersTo } of this.#revisits.get(url) ?? []) {
        if (date >= from && refersTo >= 0) search.onTarget(refersTo);
      }
    }
    let best: Reached | undefined;
    for (const found of this.#latest(url)) {
      const reached = this.#follow(found, url, search);
      if (best === undefined || reached.rank > best.rank) best = reached;
      if (best.rank === RULES && search.onTarget === undefined) break;
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
    search.onTarget?.(target);
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
  #latest(url: number): readonly Found[] {
    const latest = this.#foundLatest(url).reverse();
    const revisits = this.#revisits.get(url);
    if (revisits === undefined) return latest;
    let date = latest[0]?.date ?? Number.NEGATIVE_INFINITY;
    let candidates = latest.map((found) => ({ found, place: found as OrderedPlace }));
    for (const revisit of revisits.toReversed()) {
      if (revisit.date < date) break;
      const found = this.#referred(revisit);
      if (found === undefined) continue;
      if (revisit.date > date) candidates = [];
      date = revisit.date;
      candidates.push({ found, place: revisit });
    }
    candidates.sort((a, b) => this.#compare(b.place, a.place));
    return candidates.map(({ found }) => found);
  }

  /** The finding that a revisit refers to, by the digest of its payload, or by URL and date. */
  #referred(revisit: Revisit): Found | undefined {
    const { digest, refersTo, refersToDate, isUnmodified } = revisit;
    const payload = digest < 0 ? 0 : this.#payloads.get(2 * digest);
    const bodyBytes = digest < 0 ? 0 : this.#payloads.get(2 * digest + 1);
    // Some writers give a 304 the digest of its own body, which is empty.
    if (payload !== 0 && !(isUnmodified && bodyBytes === 0)) {
      const { date, file, offset, sequence } = revisit;
      return { date, kind: KIND_BODY, value: payload - 1, bodyBytes, file, offset, sequence };
    }
    if (refersTo < 0) return undefined;
    const latest = this.#foundLatest(refersTo);
    return Math.floor(latest[0]?.date ?? Number.NaN) === Math.floor(refersToDate)
      ? (latest.findLast((each) => each.kind === KIND_BODY) ?? latest.at(-1))
      : this.#earlier.find(refersTo, refersToDate);
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
