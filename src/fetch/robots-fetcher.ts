/**
 * Fetches one robots.txt: connection, redirects, caching, and the access result (section 2.3.1).
 */

import { validateHeaderValue } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { addressKey } from '../base/addresses.js';
import { isDigits } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { isRedirect, redirectUrl } from '../http/url.js';
import { formatAuthority, withoutFinalDot } from '../protocol/authority.js';
import {
  type AccessResult,
  accessResultOf,
  isReadByProfile,
  isSuccess,
  type Profile,
} from '../protocol/verdict.js';
import { ACCEPT_ENCODING, type Answer, FetchFailure, requestFailure } from './answer.js';
import { type EndTurn, openConnection, type TakeAddress, Turns } from './connection.js';
import { cachePolicy, isConfirmedBy, policyUrl, revalidatedHeaders } from './freshness.js';
import { transfer } from './ftp.js';
import { exchange } from './http-exchange.js';
import { maxBytesRange, RANGES, type Range, userAgentFault } from './limits.js';
import { type HttpProxy, type ProxySettings, proxyFor } from './proxy.js';
import { type Resolve, systemResolver } from './resolver.js';
import type {
  FetchAuthority,
  FetchErrorCode,
  Fetcher,
  FetchResult,
  Permit,
  StoredCopy,
} from './result.js';

/** Milliseconds that a fetch gets to end by itself after an abort. */
const ABORT_GRACE = 20;

/** Longest `Retry-After` that is believed, in milliseconds. */
const MAX_RETRY_AFTER = 600_000;

/** Longest queue for a host: the sum of its pauses in milliseconds, and its length. */
const LONGEST_QUEUE = 600_000;
const MOST_WAITING = 4096;

/** The permit of a fetch if the number of fetches is not limited. */
const UNLIMITED: Permit = {
  release: () => undefined,
  reacquire: async () => undefined,
  signal: new AbortController().signal,
};

/** Waits for a turn. In the meantime the deadline stands still, and the permit is released. */
type WaitForTurn = (wait: (signal: AbortSignal) => Promise<EndTurn>) => Promise<EndTurn>;

/** The facts about a fetch that has not ended. */
interface Progress {
  readonly authority: FetchAuthority;
  readonly requestedAt: number;
  readonly chain: string[];
}

/** Fetches robots.txt files over http, https and ftp, as RFC 9309 sections 2.3 to 2.5 say. */
export class RobotsFetcher implements Fetcher {
  readonly #options: ResolvedFetchOptions;
  /** Turns at hosts, by name: one request at a time, then a pause. */
  readonly #hosts: Turns;
  /** Turns at IP addresses: a few connections at a time. */
  readonly #addresses: Turns;
  readonly #relay = new AbortRelay();
  readonly #closing = new AbortController();

  /** @throws RobotsFilterError `usage` for an option out of range. */
  constructor(options: FetchOptions) {
    this.#options = resolveFetchOptions(options);
    const { pause, perAddress } = this.#options;
    const mostQueued = pause === 0 ? MOST_WAITING : Math.ceil(LONGEST_QUEUE / pause);
    const mostWaiting = Math.min(mostQueued, MOST_WAITING);
    this.#hosts = new Turns({ atOnce: 1, pause, mostWaiting });
    this.#addresses = new Turns({ atOnce: perAddress, pause: 0, mostWaiting: Infinity });
  }

  /**
   * Fetches the robots.txt of an authority once, without retries. Never rejects: a failure of a
   * server or network becomes a result. An abort of `signal` gives the result `aborted` at once.
   *
   * @param stored makes the request conditional, except under the profile `google`
   */
  async fetch(
    authority: FetchAuthority,
    stored: StoredCopy | undefined,
    signal: AbortSignal,
    permit: Permit = UNLIMITED,
  ): Promise<FetchResult> {
    const { deadline: limit, now } = this.#options;
    const progress: Progress = { authority, requestedAt: now(), chain: [] };
    // AbortSignal.any would keep memory for each fetch as long as the caller's signal lives.
    const controller = new AbortController();
    const aborted = () => new FetchFailure('aborted', 'the fetch was aborted');
    const deadline = new Deadline(limit, () => {
      const message = `the fetch took longer than ${limit} ms`;
      controller.abort(new FetchFailure('header-timeout', message));
    });
    const unfollow = [signal, this.#closing.signal].map((ending) =>
      this.#relay.follow(ending, controller, aborted),
    );
    const waitForTurn: WaitForTurn = async (wait) => {
      const waiting = new AbortController();
      const unfollowWait = this.#relay.follow(permit.signal, waiting, aborted);
      const abort = () => waiting.abort(controller.signal.reason);
      controller.signal.addEventListener('abort', abort);
      deadline.stop();
      permit.release();
      try {
        const end = await wait(waiting.signal);
        await permit.reacquire().catch((error: unknown) => {
          end();
          throw error;
        });
        deadline.start();
        return end;
      } catch (error) {
        throw waiting.signal.aborted ? waiting.signal.reason : error;
      } finally {
        controller.signal.removeEventListener('abort', abort);
        unfollowWait();
      }
    };
    deadline.start();
    try {
      return await Promise.race([
        this.#follow(progress, stored, waitForTurn, controller.signal),
        rejectedAfter(controller.signal),
      ]);
    } catch (error) {
      return this.#failed(progress, requestFailure(error));
    } finally {
      deadline.stop();
      for (const end of unfollow) end();
    }
  }

  /** Ends all connections. Fetches under way end as aborted. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#hosts.close();
    this.#addresses.close();
  }

  /** Requests the robots.txt, and follows redirects. */
  async #follow(
    progress: Progress,
    stored: StoredCopy | undefined,
    waitForTurn: WaitForTurn,
    signal: AbortSignal,
  ): Promise<FetchResult> {
    const { chain, authority } = progress;
    const { maxRedirects, profile } = this.#options;
    const robotsUrl = `${formatAuthority(authority)}/robots.txt`;
    if (!URL.canParse(robotsUrl)) throw new FetchFailure('dns-failed', `${robotsUrl} is not a URL`);
    const validated = policyUrl(stored?.policy) ?? new URL(robotsUrl).href;
    for (let url = new URL(robotsUrl); ; ) {
      chain.push(url.href);
      // A validator belongs to the response of one URL, and means nothing for another.
      const known = profile !== 'google' && url.href === validated ? stored : undefined;
      let answer = await this.#request(url, known, waitForTurn, signal);
      if (answer.status === 304 && known !== undefined && isConditional(known)) {
        if (isConfirmedBy(known, answer.headers)) {
          return this.#notModified(progress, known, answer);
        }
        answer = await this.#request(url, undefined, waitForTurn, signal);
      }
      const { location } = answer.headers;
      if (!isRedirect(answer.status) || location === undefined) {
        return this.#final(progress, answer);
      }
      const target = locate(location, url);
      if (target instanceof FetchFailure) return this.#final(progress, answer, target);
      // A URL that was asked before is asked again: the server may answer the second time, and an
      // end at the first repetition would allow what its rules deny.
      if (chain.length > maxRedirects) {
        const failure = chain.includes(target.href)
          ? new FetchFailure('redirect-loop', `redirected to ${target.href} again`)
          : new FetchFailure('too-many-redirects', `more than ${maxRedirects} redirects`);
        return this.#final(progress, answer, failure);
      }
      url = target;
    }
  }

  /** Makes one request, when its turn at the host comes. */
  async #request(
    url: URL,
    stored: StoredCopy | undefined,
    waitForTurn: WaitForTurn,
    signal: AbortSignal,
  ): Promise<Answer> {
    signal.throwIfAborted();
    const { headerTimeout } = this.#options;
    const end = await this.#turn(this.#hosts, hostKey(url), waitForTurn);
    const takeAddress = (address: string) =>
      this.#turn(this.#addresses, addressKey(address), waitForTurn);
    try {
      const proxy = proxyFor(url, this.#options.proxies);
      if (url.protocol !== 'ftp:') return await this.#get(url, stored, proxy, takeAddress, signal);
      const options = { ...this.#options, replyTimeout: headerTimeout };
      return await transfer(url, options, takeAddress, signal);
    } finally {
      end();
    }
  }

  async #get(
    url: URL,
    stored: StoredCopy | undefined,
    proxy: HttpProxy | undefined,
    takeAddress: TakeAddress,
    signal: AbortSignal,
  ): Promise<Answer> {
    const headers: Record<string, string> = {
      'user-agent': this.#options.userAgent,
      accept: 'text/plain, */*;q=0.5',
      'accept-encoding': ACCEPT_ENCODING,
    };
    if (isValidator(stored?.etag)) headers['if-none-match'] = stored.etag;
    if (isValidator(stored?.lastModified)) headers['if-modified-since'] = stored.lastModified;
    const options = { ...this.#options, headers };
    if (proxy !== undefined) {
      const socket = await proxy.open(url, options, signal);
      return proxy.exchange(socket, url, options, signal);
    }
    const socket = await openConnection(url, options, takeAddress, signal);
    return exchange(socket, url, options, signal);
  }

  /** Takes a turn: at once if one is free, otherwise after a wait. */
  async #turn(turns: Turns, key: string, waitForTurn: WaitForTurn): Promise<EndTurn> {
    const free = turns.tryTake(key);
    if (free !== undefined) return free;
    if (turns.isCrowded(key)) {
      const text = `too many requests wait for ${key}; run the same command again later`;
      throw new FetchFailure('host-crowded', text);
    }
    return await waitForTurn((signal) => turns.take(key, signal));
  }

  #final(progress: Progress, answer: Answer, failure?: FetchFailure): FetchResult {
    const { status, headers, body, respondedAt } = answer;
    const { chain } = progress;
    const last = chain.at(-1) ?? '';
    const isFtp = last.startsWith('ftp:');
    return {
      ...progress,
      ...accessOfResponse(status, this.#options),
      status: isFtp ? undefined : status,
      error: failure && { code: failure.code, message: failure.message },
      body: body?.bytes,
      notModified: false,
      cut: body?.cut ?? false,
      headers,
      policy: isFtp || body === undefined ? undefined : cachePolicy(last, headers, respondedAt),
      retryAfter: this.#retryAfter(headers, respondedAt),
      respondedAt,
    };
  }

  #notModified(progress: Progress, stored: StoredCopy, answer: Answer): FetchResult {
    const { status, respondedAt } = answer;
    const headers = revalidatedHeaders(stored.headers, answer.headers);
    return {
      ...progress,
      accessResult: 'successful',
      status,
      error: undefined,
      body: undefined,
      notModified: true,
      cut: false,
      headers,
      policy: cachePolicy(progress.chain.at(-1) ?? '', headers, respondedAt),
      retryAfter: undefined,
      respondedAt,
    };
  }

  #failed(progress: Progress, failure: FetchFailure): FetchResult {
    const respondedAt = this.#options.now();
    const headers = failure.response?.headers ?? {};
    return {
      ...progress,
      // A copy, because the fetch that was given up may still add to it.
      chain: [...progress.chain],
      accessResult: 'unreachable',
      status: failure.response?.status,
      error: {
        code: failureCode(failure),
        message: failure.message,
        systemCode: failure.systemCode,
      },
      body: undefined,
      notModified: false,
      cut: false,
      headers,
      policy: undefined,
      retryAfter: this.#retryAfter(headers, respondedAt),
      respondedAt,
    };
  }

  #retryAfter(headers: Readonly<Record<string, string>>, respondedAt: number): number | undefined {
    return parseRetryAfter(headers['retry-after'], respondedAt, MAX_RETRY_AFTER);
  }
}

/**
 * Rejects shortly after an abort. Connections notice the abort at once, and reject with a better
 * message. A question to a name server cannot be aborted.
 */
function rejectedAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => setTimeout(() => reject(signal.reason), ABORT_GRACE);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

/** The key of a host: the same with and without a final dot. */
function hostKey({ hostname }: URL): string {
  return withoutFinalDot(hostname);
}

function isConditional({ etag, lastModified }: StoredCopy): boolean {
  return isValidator(etag) || isValidator(lastModified);
}

/** Whether a stored text can be sent as a header. A store may have been edited. */
function isValidator(value: string | undefined): value is string {
  return value !== undefined && value !== '' && isHeaderValue(value);
}

/**
 * The code of a failure. If the deadline passes while the body arrives, it is a timeout of the
 * body.
 */
function failureCode({ code, response }: FetchFailure): FetchErrorCode {
  return code === 'header-timeout' && response !== undefined ? 'body-timeout' : code;
}

function locate(location: string, from: URL): URL | FetchFailure {
  const target = redirectUrl(location, from);
  return typeof target === 'string' ? new FetchFailure('redirect-refused', target) : target;
}

/**
 * Passes the abort of one signal on to many controllers, with one listener. Node warns of a leak if
 * a signal has more than ten listeners.
 */
class AbortRelay {
  readonly #waiting = new Map<AbortSignal, Waiting>();

  /**
   * Aborts the controller when the signal is aborted, or at once if it already is.
   *
   * @returns a function that ends the connection between the two
   */
  follow(signal: AbortSignal, controller: AbortController, reason: () => unknown): () => void {
    if (signal.aborted) {
      controller.abort(reason());
      return () => undefined;
    }
    const waiting = this.#waiting.get(signal) ?? this.#listen(signal);
    waiting.controllers.set(controller, reason);
    return () => {
      waiting.controllers.delete(controller);
      if (waiting.controllers.size > 0) return;
      signal.removeEventListener('abort', waiting.listener);
      if (this.#waiting.get(signal) === waiting) this.#waiting.delete(signal);
    };
  }

  #listen(signal: AbortSignal): Waiting {
    const controllers = new Map<AbortController, () => unknown>();
    const listener = () => {
      for (const [controller, reason] of controllers) controller.abort(reason());
    };
    const waiting = { controllers, listener };
    signal.addEventListener('abort', listener);
    this.#waiting.set(signal, waiting);
    return waiting;
  }
}

interface Waiting {
  readonly controllers: Map<AbortController, () => unknown>;
  readonly listener: () => void;
}

/** A timer that can be stopped and started again. */
class Deadline {
  readonly #onExpired: () => void;
  #left: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param milliseconds running time after which `onExpired` is called */
  constructor(milliseconds: number, onExpired: () => void) {
    this.#left = milliseconds;
    this.#onExpired = onExpired;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onExpired, Math.max(this.#left, 0));
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#startedAt;
  }
}

/** Whether a text can be sent as the value of a header: Latin-1 without control characters. */
function isHeaderValue(text: string): boolean {
  try {
    validateHeaderValue('x', text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads a `Retry-After` header, which holds seconds or a date (RFC 9110 section 10.2.3).
 *
 * @param now milliseconds since 1970
 * @returns milliseconds from `now`, from 0 to `cap`; `undefined` if there is no valid header
 */
export function parseRetryAfter(
  value: string | undefined,
  now: number,
  cap: number,
): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (text.length === 0) return undefined;
  const wait = isDigits(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), cap);
}

// ---- The options of a fetch, with their defaults, and what the status of a response means

/** Options for fetching robots.txt files. Times are in milliseconds; `RANGES` has the defaults. */
export interface FetchOptions {
  /**
   * The `User-Agent` header. It should contain the product token, so that site owners recognise it.
   */
  readonly userAgent: string;
  /** Default `rfc9309`. With `google`, a stored copy is fetched again and not revalidated. */
  readonly profile?: Profile | undefined;
  /** Bytes kept of a decoded body, at least 512,000 (RFC 9309 section 2.5): see `maxBytesRange`. */
  readonly maxBytes?: number | undefined;
  /** Maximum number of redirects in a row (RFC 9309 section 2.3.1.2). */
  readonly maxRedirects?: number | undefined;
  /** The meaning of status 429, in every profile. Default: what the profile makes of it. */
  readonly on429?: On429 | undefined;
  /** Whether to connect to addresses outside the public internet. Default false. */
  readonly allowPrivate?: boolean | undefined;
  /** Time for a connection, name servers and TLS included. */
  readonly connectTimeout?: number | undefined;
  /** Time until the headers of the response. */
  readonly headerTimeout?: number | undefined;
  /** Time between two pieces of a body. */
  readonly bodyTimeout?: number | undefined;
  /** Time for a whole fetch: redirects and body included, waiting for turns excluded. */
  readonly deadline?: number | undefined;
  /** Maximum number of connections to one IP address at a time. */
  readonly perAddress?: number | undefined;
  /** Time from the end of a request to the next one to the same host. Redirects are requests. */
  readonly pause?: number | undefined;
  /** Certificates to trust instead of Node's own, in PEM. */
  readonly ca?: SecureContextOptions['ca'] | undefined;
  /** The proxies of the run. Default: none. */
  readonly proxies?: ProxySettings | undefined;
  /** Finds the addresses of hosts. Default `systemResolver`. */
  readonly resolve?: Resolve | undefined;
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

type Complete<Options> = { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> };

/** The options without a default. */
type Bare = 'ca' | 'on429' | 'proxies';

/** Options with all defaults filled in, where there are some. */
type ResolvedFetchOptions = Complete<Omit<FetchOptions, Bare>> & Pick<FetchOptions, Bare>;

/**
 * Fills in the defaults of missing options.
 *
 * @throws RobotsFilterError `usage` for a value out of range
 */
function resolveFetchOptions(options: FetchOptions): ResolvedFetchOptions {
  const number = (name: keyof typeof RANGES & keyof FetchOptions): number =>
    inRange(name, options[name], RANGES[name]);
  const { profile = 'rfc9309', allowPrivate = false } = options;
  return {
    userAgent: checkedUserAgent(options.userAgent),
    profile,
    maxBytes: inRange('maxBytes', options.maxBytes, maxBytesRange(profile)),
    maxRedirects: number('maxRedirects'),
    on429: options.on429,
    allowPrivate,
    connectTimeout: number('connectTimeout'),
    headerTimeout: number('headerTimeout'),
    bodyTimeout: number('bodyTimeout'),
    deadline: number('deadline'),
    perAddress: number('perAddress'),
    pause: number('pause'),
    ca: options.ca,
    proxies: options.proxies,
    resolve: options.resolve ?? systemResolver(allowPrivate),
    now: options.now ?? Date.now,
  };
}

function inRange(name: string, value: number | undefined, range: Range): number {
  const { least, most, standard } = range;
  if (value === undefined) return standard;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RobotsFilterError(
    'usage',
    `${name} is ${value}; use a whole number from ${least} to ${most}`,
  );
}

function checkedUserAgent(userAgent: string): string {
  const fault = userAgentFault(userAgent);
  if (fault === undefined) return userAgent;
  throw new RobotsFilterError(
    'usage',
    `the user agent ${JSON.stringify(userAgent)} cannot be sent. ${fault}`,
  );
}

/** The meaning of status 429, Too Many Requests, if it is chosen. */
type On429 = 'allow' | 'deny';

/**
 * The access result of a response that was not followed (RFC 9309 section 2.3.1), and whether
 * another profile may read the status differently. An explicit choice for 429 holds in every
 * profile.
 *
 * A status of 300 to 399 that cannot be followed is unavailable: 300, 304 without a condition, or a
 * redirect without a usable `Location`. The server has answered, but without a robots.txt. More
 * redirects than are followed end in the same way (section 2.3.1.2).
 */
function accessOfResponse(
  status: number,
  { on429, profile }: Pick<ResolvedFetchOptions, 'on429' | 'profile'>,
): { readonly accessResult: AccessResult; readonly isByProfile: boolean } {
  // `exchange` has refused the parts among these.
  if (isSuccess(status)) return { accessResult: 'successful', isByProfile: false };
  if (on429 === undefined || !isReadByProfile(status)) {
    return { accessResult: accessResultOf(status, profile), isByProfile: isReadByProfile(status) };
  }
  return { accessResult: on429 === 'deny' ? 'unreachable' : 'unavailable', isByProfile: false };
}
