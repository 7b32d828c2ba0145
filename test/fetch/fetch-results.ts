import type { FetchAuthority, FetchResult } from '../../src/fetch/result.js';
import { formatAuthority, parseAuthority } from '../../src/protocol/authority.js';

export const ROBOTS = 'user-agent: *\ndisallow: /private\n';

export function authorityOf(text: string): FetchAuthority {
  const authority = parseAuthority(text);
  if (authority?.scheme === undefined) throw new Error(`${text} is no authority`);
  return { ...authority, scheme: authority.scheme };
}

export const EXAMPLE = authorityOf('https://example.com');

/** The result of a fetch from EXAMPLE, answered at `now`; without a status, of a refused one. */
export function fetchResult(
  now: number,
  status: number | undefined,
  members: Partial<FetchResult> = {},
): FetchResult {
  const successful = status !== undefined && status >= 200 && status <= 299;
  return {
    authority: EXAMPLE,
    accessResult: successful
      ? 'successful'
      : status !== undefined && status >= 300 && status <= 499
        ? 'unavailable'
        : 'unreachable',
    isByProfile: status === 429,
    status,
    error: status === undefined ? { code: 'connect-failed', message: 'refused' } : undefined,
    chain: [`${formatAuthority(EXAMPLE)}/robots.txt`],
    body: successful ? Buffer.from(ROBOTS) : undefined,
    notModified: false,
    cut: false,
    headers: successful ? { etag: '"1"' } : {},
    policy: undefined,
    retryAfter: undefined,
    requestedAt: now - 5,
    respondedAt: now,
    ...members,
  };
}
