import { type Authority, authorityOfUrl, parseAuthority } from '../../protocol/authority.js';

/** The authority of a host, HOST:PORT, or a URL in any form that the filter reads. */
export function askedAuthority(text: string): Authority | undefined {
  return parseAuthority(text) ?? urlAuthority(text);
}

/**
 * The authority of a URL in a list. `undefined` for several columns: the URL Standard drops tabs,
 * which would join `https://a.example` and the next column.
 */
export function urlAuthority(text: string): Authority | undefined {
  return text.includes('\t') || text.includes('\r') ? parseAuthority(text) : authorityOfUrl(text);
}
