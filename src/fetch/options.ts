import type { SecureContextOptions } from 'node:tls';
import { RobotsFilterError } from '../errors.js';
import type { Profile } from '../protocol/profile.js';
import type { On429 } from './access.js';
import { isHeaderValue } from './header-value.js';
import { type Resolve, systemResolver } from './resolver.js';

/** How robots.txt files are fetched. Times are milliseconds. */
export interface FetchOptions {
  /**
   * The `User-Agent` header; the product token should be in it, so that those who are asked know
   * whom they may rule out.
   */
  readonly userAgent: string;
  /** Default `rfc9309`. With `google` a stored copy is not revalidated but fetched again. */
  readonly profile?: Profile | undefined;
  /**
   * Octets of a decoded body that are kept, at least 512,000 (RFC 9309 section 2.5). Default
   * 512,000, or for the profile `google`, which reads all of a file, 8 MiB.
   */
  readonly maxBytes?: number | undefined;
  /** Redirects that are followed one after another; default 5 (RFC 9309 section 2.3.1.2). */
  readonly maxRedirects?: number | undefined;
  /** Default `allow`. */
  readonly on429?: On429 | undefined;
  /** Whether addresses may be connected to that are not of the public internet; default false. */
  readonly allowPrivate?: boolean | undefined;
  /** Until a connection stands, with name servers and TLS; default 10,000. */
  readonly connectTimeout?: number | undefined;
  /** Until the response's headers are there; default 20,000. */
  readonly headerTimeout?: number | undefined;
  /** Between two pieces of a body; default 20,000. */
  readonly bodyTimeout?: number | undefined;
  /**
   * For all of a fetch, redirects and body included, but not what it waits for its turn; default
   * 60,000.
   */
  readonly deadline?: number | undefined;
  /** Connections to one IP address at a time; default 4. */
  readonly perAddress?: number | undefined;
  /**
   * From the end of a request to the next one to the same host, redirects included; default 1,000.
   */
  readonly pause?: number | undefined;
  /** The longest `Retry-After` that is believed; default 600,000. */
  readonly maxRetryAfter?: number | undefined;
  /** Certificates to trust in place of the usual ones, in PEM. */
  readonly ca?: SecureContextOptions['ca'] | undefined;
  /** Finds the addresses of hosts; default `systemResolver`. */
  readonly resolve?: Resolve | undefined;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The options with all defaults in place. */
export interface ResolvedFetchOptions {
  readonly userAgent: string;
  readonly profile: Profile;
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly on429: On429;
  readonly allowPrivate: boolean;
  readonly connectTimeout: number;
  readonly headerTimeout: number;
  readonly bodyTimeout: number;
  readonly deadline: number;
  readonly perAddress: number;
  readonly pause: number;
  readonly maxRetryAfter: number;
  readonly ca: SecureContextOptions['ca'];
  readonly resolve: Resolve;
  readonly now: () => number;
}

/** RFC 9309 section 2.5 allows no limit under 500 kibibytes. */
export const MIN_MAX_BYTES = 512_000;
/** At the default concurrency of 64 no more than 512 MiB. */
const GOOGLE_MAX_BYTES = 8 * 2 ** 20;
const MAX_MAX_BYTES = 2 ** 30;
const MAX_REDIRECTS = 100;
const MAX_PER_ADDRESS = 4096;
const MAX_PAUSE = 86_400_000;
/** The longest timer of Node. */
const MAX_DELAY = 2 ** 31 - 1;

/** Octets of a body that are kept where nobody says how many. */
export function defaultMaxBytes(profile: Profile | undefined): number {
  return profile === 'google' ? GOOGLE_MAX_BYTES : MIN_MAX_BYTES;
}

/** @throws RobotsFilterError `usage` for a value out of range. */
export function resolveFetchOptions(options: FetchOptions): ResolvedFetchOptions {
  const allowPrivate = options.allowPrivate ?? false;
  return {
    userAgent: checkedUserAgent(options.userAgent),
    profile: options.profile ?? 'rfc9309',
    maxBytes: inRange(
      'maxBytes',
      options.maxBytes ?? defaultMaxBytes(options.profile),
      MIN_MAX_BYTES,
      MAX_MAX_BYTES,
    ),
    maxRedirects: inRange('maxRedirects', options.maxRedirects ?? 5, 0, MAX_REDIRECTS),
    on429: options.on429 ?? 'allow',
    allowPrivate,
    connectTimeout: inRange('connectTimeout', options.connectTimeout ?? 10_000, 1, MAX_DELAY),
    headerTimeout: inRange('headerTimeout', options.headerTimeout ?? 20_000, 1, MAX_DELAY),
    bodyTimeout: inRange('bodyTimeout', options.bodyTimeout ?? 20_000, 1, MAX_DELAY),
    deadline: inRange('deadline', options.deadline ?? 60_000, 1, MAX_DELAY),
    perAddress: inRange('perAddress', options.perAddress ?? 4, 1, MAX_PER_ADDRESS),
    pause: inRange('pause', options.pause ?? 1_000, 0, MAX_PAUSE),
    maxRetryAfter: inRange('maxRetryAfter', options.maxRetryAfter ?? 600_000, 0, MAX_DELAY),
    ca: options.ca,
    resolve: options.resolve ?? systemResolver(allowPrivate),
    now: options.now ?? Date.now,
  };
}

function inRange(name: string, value: number, from: number, to: number): number {
  if (Number.isInteger(value) && value >= from && value <= to) return value;
  throw new RobotsFilterError(
    'usage',
    `${name} is ${value}; give a whole number from ${from} to ${to}`,
  );
}

function checkedUserAgent(userAgent: string): string {
  if (userAgent.trim() !== '' && isHeaderValue(userAgent)) return userAgent;
  throw new RobotsFilterError(
    'usage',
    `the user agent ${JSON.stringify(userAgent)} cannot be sent as a header; give one of printable ASCII characters`,
  );
}
