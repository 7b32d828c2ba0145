import { formatAuthority } from '../protocol/authority.js';
import { AbortRelay } from './abort-relay.js';
import { accessResultOfResponse } from './access.js';
import { addressKey } from './addresses.js';
import type { Answer } from './answer.js';
import { openConnection, type TakeAddress } from './connection.js';
import { ACCEPT_ENCODING } from './content-encoding.js';
import { Deadline } from './deadline.js';
import { FetchFailure, requestFailure } from './failure.js';
import type { Fetcher, Place } from './fetcher.js';
import { cachePolicy, policyUrl, revalidatedHeaders } from './freshness.js';
import { transfer } from './ftp-transfer.js';
import { isHeaderValue } from './header-value.js';
import { exchange } from './http-exchange.js';
import { type FetchOptions, type ResolvedFetchOptions, resolveFetchOptions } from './options.js';
import { isRedirect, redirectTarget } from './redirect.js';
import type { FetchAuthority, FetchErrorCode, FetchResult } from './result.js';
import { parseRetryAfter } from './retry-after.js';
import { type EndTurn, Turns } from './turns.js';

/** What is stored of the last successful response. */
export interface StoredResponse {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /**
   * As a result's `policy`. It names the URL that the validators are for; without it, that is the
   * authority's own /robots.txt.
   */
  readonly policy?: object | undefined;
  /** As a result's `headers`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Milliseconds from an abort until what is under way is left to itself. */
const ABORT_GRACE = 20;

/** Milliseconds of pauses that may lie before a fetch in the line for a host. */
const LONGEST_LINE = 600_000;
const MOST_WAITING = 4096;

/** A place that nobody else wants. */
const OWN_PLACE: Place = {
  leave: () => undefined,
  retake: async () => undefined,
  patience: new AbortController().signal,
};

/**
 * Carries out a wait that is no part of the fetch: its time does not count, and others may have its
 * place.
 */
type Aside = (wait: (signal: AbortSignal) => Promise<EndTurn>) => Promise<EndTurn>;

/** How far a fetch has come. */
interface Progress {
  readonly authority: FetchAuthority;
  readonly requestedAt: number;
  readonly chain: string[];
}

/** Fetches robots.txt files over http, https and ftp, as RFC 9309 sections 2.3 to 2.5 say. */
export class RobotsFetcher implements Fetcher {
  readonly #options: ResolvedFetchOptions;
  /** Of hosts, by name: one request at a time, then a pause. */
  readonly #hosts: Turns;
  /** Of IP addresses. */
  readonly #addresses: Turns;
  readonly #relay = new AbortRelay();
  readonly #closing = new AbortController();

  /** @throws RobotsFilterError `usage` for an option out of range. */
  constructor(options: FetchOptions) {
    this.#options = resolveFetchOptions(options);
    const { pause, perAddress } = this.#options;
    const inLine = pause === 0 ? MOST_WAITING : Math.ceil(LONGEST_LINE / pause);
    const mostWaiting = Math.min(inLine, MOST_WAITING);
    this.#hosts = new Turns({ atOnce: 1, pause, mostWaiting });
    this.#addresses = new Turns({ atOnce: perAddress, pause: 0, mostWaiting: Infinity });
  }

  /**
   * Fetches the robots.txt of an authority, once: `withRetries` repeats it. Whatever servers and
   * networks do becomes a result; it never rejects. With `stored` the request is conditional, but
   * for the profile `google`. When `signal` is aborted the result is there at once: unreachable,
   * `aborted`.
   */
  async fetch(
    authority: FetchAuthority,
    stored: StoredResponse | undefined,
    signal: AbortSignal,
    place: Place = OWN_PLACE,
  ): Promise<FetchResult> {
    const { deadline: limit, now } = this.#options;
    const progress: Progress = { authority, requestedAt: now(), chain: [] };
    // Not AbortSignal.any, which would keep something of each fetch for as long as the caller's
    // signal lives.
    const controller = new AbortController();
    const aborted = () => new FetchFailure('aborted', 'the fetch was aborted');
    const deadline = new Deadline(limit, () => {
      const message = `the fetch took longer than ${limit} ms`;
      controller.abort(new FetchFailure('header-timeout', message));
    });
    const unfollow = [signal, this.#closing.signal].map((ending) =>
      this.#relay.follow(ending, controller, aborted),
    );
    const aside: Aside = async (wait) => {
      const waiting = new AbortController();
      const unfollowWait = this.#relay.follow(place.patience, waiting, aborted);
      const abort = () => waiting.abort(controller.signal.reason);
      controller.signal.addEventListener('abort', abort);
      deadline.stop();
      place.leave();
      try {
        const end = await wait(waiting.signal);
        await place.retake().catch((error: unknown) => {
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
        this.#follow(progress, stored, aside, controller.signal),
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

  /** Asks for one URL after another, until there is an answer that leads nowhere else. */
  async #follow(
    progress: Progress,
    stored: StoredResponse | undefined,
    aside: Aside,
    signal: AbortSignal,
  ): Promise<FetchResult> {
    const { chain, authority } = progress;
    const { maxRedirects, profile } = this.#options;
    const robotsUrl = `${formatAuthority(authority)}/robots.txt`;
    if (!URL.canParse(robotsUrl)) throw new FetchFailure('dns-failed', `${robotsUrl} is no URL`);
    const validated = policyUrl(stored?.policy) ?? new URL(robotsUrl).href;
    for (let url = new URL(robotsUrl); ; ) {
      chain.push(url.href);
      // A validator is for the response of one URL; at others it would mean something else, or
      // nothing.
      const known = profile !== 'google' && url.href === validated ? stored : undefined;
      const answer = await this.#ask(url, known, aside, signal);
      if (answer.status === 304 && known !== undefined && isConditional(known)) {
        return this.#notModified(progress, known, answer);
      }
      const { location } = answer.headers;
      if (!isRedirect(answer.status) || location === undefined) {
        return this.#final(progress, answer);
      }
      const target = locate(location, url);
      if (target instanceof FetchFailure) return this.#final(progress, answer, target);
      if (chain.includes(target.href)) {
        const failure = new FetchFailure('redirect-loop', `redirected to ${target.href} once more`);
        return this.#final(progress, answer, failure);
      }
      if (chain.length > maxRedirects) {
        const failure = new FetchFailure(
          'too-many-redirects',
          `more than ${maxRedirects} redirects`,
        );
        return this.#final(progress, answer, failure);
      }
      url = target;
    }
  }

  async #ask(
    url: URL,
    stored: StoredResponse | undefined,
    aside: Aside,
    signal: AbortSignal,
  ): Promise<Answer> {
    signal.throwIfAborted();
    const { headerTimeout } = this.#options;
    const end = await this.#turn(this.#hosts, hostKey(url), aside);
    const takeAddress = (address: string) =>
      this.#turn(this.#addresses, addressKey(address), aside);
    try {
      if (url.protocol !== 'ftp:') return await this.#get(url, stored, takeAddress, signal);
      const options = { ...this.#options, replyTimeout: headerTimeout };
      return await transfer(url, options, takeAddress, signal);
    } finally {
      end();
    }
  }

  async #get(
    url: URL,
    stored: StoredResponse | undefined,
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
    const socket = await openConnection(url, this.#options, takeAddress, signal);
    return exchange(socket, url, { ...this.#options, headers }, signal);
  }

  /** Takes a turn, at once if there is one. */
  async #turn(turns: Turns, key: string, aside: Aside): Promise<EndTurn> {
    const free = turns.tryTake(key);
    if (free !== undefined) return free;
    if (turns.isCrowded(key)) {
      const text = `too many other requests wait for ${key} already; the next run asks again`;
      throw new FetchFailure('host-crowded', text);
    }
    return await aside((signal) => turns.take(key, signal));
  }

  #final(progress: Progress, answer: Answer, failure?: FetchFailure): FetchResult {
    const { status, headers, body, respondedAt } = answer;
    const { chain } = progress;
    const last = chain.at(-1) ?? '';
    const isFtp = last.startsWith('ftp:');
    return {
      ...progress,
      accessResult: accessResultOfResponse(status, this.#options.on429),
      status: isFtp ? undefined : status,
      error: failure && { code: failure.code, message: failure.message },
      body: body?.octets,
      notModified: false,
      cut: body?.cut ?? false,
      headers,
      policy: isFtp || body === undefined ? undefined : cachePolicy(last, headers, respondedAt),
      retryAfter: this.#retryAfter(headers, respondedAt),
      respondedAt,
    };
  }

  #notModified(progress: Progress, stored: StoredResponse, answer: Answer): FetchResult {
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
      // What was given up may yet ask on for a moment.
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
    return parseRetryAfter(headers['retry-after'], respondedAt, this.#options.maxRetryAfter);
  }
}

/**
 * Rejects a moment after an abort. What is under way hears of it at once, and knows best what it
 * was; but name servers do not.
 */
function rejectedAfter(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => setTimeout(() => reject(signal.reason), ABORT_GRACE);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

/** One key for a host, whether it is spelt with a final dot or not. */
function hostKey({ hostname }: URL): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

function isConditional({ etag, lastModified }: StoredResponse): boolean {
  return isValidator(etag) || isValidator(lastModified);
}

/** What a person wrote into a store need not be fit for a header. */
function isValidator(value: string | undefined): value is string {
  return value !== undefined && value !== '' && isHeaderValue(value);
}

/** A deadline that passes while the body comes is the body's. */
function failureCode({ code, response }: FetchFailure): FetchErrorCode {
  return code === 'header-timeout' && response !== undefined ? 'body-timeout' : code;
}

function locate(location: string, from: URL): URL | FetchFailure {
  try {
    return redirectTarget(location, from);
  } catch (error) {
    if (error instanceof FetchFailure) return error;
    throw error;
  }
}
