import type { AccessResult } from '../protocol/access.js';
import type { Authority, Scheme } from '../protocol/authority.js';

/** An authority that can be asked: its scheme is known. */
export interface FetchAuthority extends Authority {
  readonly scheme: Scheme;
}

export type { AccessResult };

/** Why a robots.txt was unreachable, or what was refused. */
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

export interface FetchError {
  readonly code: FetchErrorCode;
  readonly message: string;
  /** Of a `local-fault`, the system's code. */
  readonly systemCode?: string | undefined;
}

/** What one attempt at a robots.txt ended with. Times are milliseconds since 1970. */
export interface FetchResult {
  readonly authority: FetchAuthority;
  readonly accessResult: AccessResult;
  /** Status of the last response; of an ftp transfer `undefined`. */
  readonly status: number | undefined;
  readonly error: FetchError | undefined;
  /** The URLs that were asked, the first being the authority's own /robots.txt. */
  readonly chain: readonly string[];
  /**
   * Body after content decoding, at most the limit and one octet; `undefined` unless successful
   * with new content.
   */
  readonly body: Uint8Array | undefined;
  /** The stored copy is still good: 304. */
  readonly notModified: boolean;
  /** Whether more than the limit would have come. */
  readonly cut: boolean;
  /** The headers of the last response that matter: lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * HTTP's own freshness, as http-cache-semantics' `toObject` gives it; `undefined` where there is
   * none.
   */
  readonly policy: object | undefined;
  /** `Retry-After` in milliseconds, capped; `undefined` without one. */
  readonly retryAfter: number | undefined;
  readonly requestedAt: number;
  readonly respondedAt: number;
}
