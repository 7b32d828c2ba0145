import type { FetchAuthority, FetchResult } from './result.js';

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
