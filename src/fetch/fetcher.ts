import type { FetchAuthority, FetchResult } from './result.js';

/** The copy that a fetch may ask to be confirmed: a robots.txt that was successful before. */
export interface StoredCopy {
  /** Its validators (RFC 9110 section 8.8). */
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly policy: object | undefined;
}

/** Who makes one attempt at an authority's robots.txt. */
export interface Fetcher {
  /** Never rejects for what servers and networks do: that is in the result. */
  fetch(
    authority: FetchAuthority,
    stored: StoredCopy | undefined,
    signal: AbortSignal,
  ): Promise<FetchResult>;
  close(): Promise<void>;
}
