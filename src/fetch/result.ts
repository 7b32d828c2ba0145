/** What one attempt at a robots.txt gives, and what it starts from. */

import type { Authority, Scheme } from '../protocol/authority.js';
import type { AccessResult } from '../protocol/verdict.js';

/** An authority whose scheme is known, so that its robots.txt can be requested. */
export interface FetchAuthority extends Authority {
  readonly scheme: Scheme;
}

/** The reason why a robots.txt was unreachable, or a redirect was not followed. */
export type FetchErrorCode =
  | 'aborted'
  | 'address-refused'
  | 'body-broken'
  | 'body-timeout'
  | 'connect-failed'
  | 'connect-timeout'
  | 'decoding-failed'
  | 'dns-failed'
  | 'ftp-failed'
  | 'header-timeout'
  | 'host-crowded'
  | 'local-fault'
  | 'protocol-error'
  | 'redirect-loop'
  | 'redirect-refused'
  | 'tls-failed'
  | 'too-many-redirects';

interface FetchError {
  readonly code: FetchErrorCode;
  readonly message: string;
  /** The system's code, or one of a proxy such as `PROXY_FAILED`; only for `local-fault`. */
  readonly systemCode?: string | undefined;
}

/** The result of one attempt at a robots.txt. Times are in milliseconds since 1970. */
export interface FetchResult {
  readonly authority: FetchAuthority;
  readonly accessResult: AccessResult;
  /** Whether the profile of the fetch made the status that result: another one may not. */
  readonly isByProfile?: boolean | undefined;
  /** Status of the last response; `undefined` for ftp, and if there was no response. */
  readonly status: number | undefined;
  readonly error: FetchError | undefined;
  /** The URLs that were requested: first the authority's own /robots.txt, then redirects. */
  readonly chain: readonly string[];
  /**
   * The body after content decoding: at most one byte more than the limit. `undefined` unless the
   * fetch was successful and the content is new.
   */
  readonly body: Uint8Array | undefined;
  /** Whether the server confirmed the stored copy (304). */
  readonly notModified: boolean;
  /** Whether the body was longer than the limit. */
  readonly cut: boolean;
  /** Headers of the last response, as `pickHeaders` returns them. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** HTTP's freshness, as `cachePolicy` returns it; `undefined` for ftp, and unless successful. */
  readonly policy: object | undefined;
  /** `Retry-After` in milliseconds, at most ten minutes; `undefined` without the header. */
  readonly retryAfter: number | undefined;
  readonly requestedAt: number;
  readonly respondedAt: number;
}

/** The stored robots.txt of the last success, which a conditional request may confirm. */
export interface StoredCopy {
  /** Validators (RFC 9110 section 8.8). */
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** Headers, as in `FetchResult`. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The cache policy, as in `FetchResult`. It names the URL to which the validators belong. Without
   * a policy, they belong to the authority's own /robots.txt.
   */
  readonly policy?: object | undefined;
}

/** The right to be one of the fetches under way, whose number is limited. */
export interface Permit {
  /** Lets another fetch continue while this one waits for its turn at a host. */
  release(): void;
  /** Resolves when the fetch may continue; rejects when `signal` is aborted. */
  reacquire(): Promise<void>;
  /** Aborted when no fetch may wait for a turn any longer. */
  readonly signal: AbortSignal;
}

/** Makes one attempt at the robots.txt of an authority. */
export interface Fetcher {
  /**
   * Makes one attempt. Never rejects for a failure of a server or network: the result has the
   * error.
   *
   * @param stored makes the request conditional
   * @param signal ends the fetch with the error `aborted`
   * @param permit released while the fetch waits for a turn; by default there is no limit
   */
  fetch(
    authority: FetchAuthority,
    stored: StoredCopy | undefined,
    signal: AbortSignal,
    permit?: Permit,
  ): Promise<FetchResult>;
  close(): Promise<void>;
}
