import type { FetchAuthority, FetchResult } from './result.js';

/** The stored robots.txt of the last success, which a conditional request may confirm. */
export interface StoredCopy {
  /** Validators (RFC 9110 section 8.8). */
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** As in `FetchResult`. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * As in `FetchResult`. The policy names the URL that the validators are for; without a policy
   * they are for the authority's own /robots.txt.
   */
  readonly policy?: object | undefined;
}

/** The right to be one of the fetches under way, whose number is limited. */
export interface Permit {
  /** Lets another fetch go ahead while this one waits for its turn at a host. */
  release(): void;
  /** Resolves when the fetch may go on; rejects when `signal` is aborted. */
  reacquire(): Promise<void>;
  /** Aborted when nobody may wait for a turn any longer. */
  readonly signal: AbortSignal;
}

/** Makes one attempt at the robots.txt of an authority. */
export interface Fetcher {
  /**
   * Never rejects for what servers and networks do: the result tells it.
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
