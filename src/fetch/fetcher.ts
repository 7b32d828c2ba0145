import type { FetchAuthority, FetchResult } from './result.js';

/** The copy that a fetch may ask to be confirmed: a robots.txt that was successful before. */
export interface StoredCopy {
  /** Its validators (RFC 9110 section 8.8). */
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly policy: object | undefined;
}

/** A fetch's place among those that are under way at a time. */
export interface Place {
  /** Gives the place to another fetch, while this one waits for its turn at a host. */
  leave(): void;
  /** Resolves when there is a place again; rejects when `patience` is aborted. */
  retake(): Promise<void>;
  /** Aborted when who waits for a turn is to wait no longer. */
  readonly patience: AbortSignal;
}

/** Who makes one attempt at an authority's robots.txt. */
export interface Fetcher {
  /**
   * Never rejects for what servers and networks do: that is in the result.
   *
   * @param place default one that nobody else wants
   */
  fetch(
    authority: FetchAuthority,
    stored: StoredCopy | undefined,
    signal: AbortSignal,
    place?: Place,
  ): Promise<FetchResult>;
  close(): Promise<void>;
}
