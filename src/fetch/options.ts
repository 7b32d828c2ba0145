/** The options of a fetch, with their defaults, and what the status of a response means. */

import type { SecureContextOptions } from 'node:tls';
import { RobotsFilterError } from '../base/errors.js';
import {
  type AccessResult,
  accessResultOf,
  isReadByProfile,
  isSuccess,
  type Profile,
} from '../protocol/verdict.js';
import { maxBytesRange, RANGES, type Range, userAgentFault } from './limits.js';
import type { ProxySettings } from './proxy.js';
import { type Resolve, systemResolver } from './resolver.js';

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
export type ResolvedFetchOptions = Complete<Omit<FetchOptions, Bare>> & Pick<FetchOptions, Bare>;

/**
 * Fills in the defaults of missing options.
 *
 * @throws RobotsFilterError `usage` for a value out of range
 */
export function resolveFetchOptions(options: FetchOptions): ResolvedFetchOptions {
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
export function accessOfResponse(
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
