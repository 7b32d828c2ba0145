import { shownValue } from '../arguments.js';
import { RobotsFilterError } from '../errors.js';
import { lowerCaseAscii } from './product-token.js';
import type { Profile } from './profile.js';
import { endOfTokenText } from './token-text.js';
import { headerCandidates, isBrowserWord, isUserAgentHeader } from './user-agent-header.js';

/**
 * A crawler: its product tokens (RFC 9309 section 2.2.1), the preferred one first. The first token
 * that a group names decides; the google profile merges the groups of all tokens.
 */
export interface Agent {
  /** The name as given, such as `Googlebot-Image>Googlebot`. */
  readonly name: string;
  readonly chain: readonly string[];
}

/** The leading characters of a text that a product token may hold: letters, `-` and `_`. */
export function tokenPrefix(text: string): string {
  return text.slice(0, endOfTokenText(text));
}

/** Whether a text is a product token, or `*` (RFC 9309 section 2.2). */
export function isProductToken(text: string): boolean {
  return text === '*' || (text !== '' && tokenPrefix(text).length === text.length);
}

/**
 * Reads an agent: a product token, or a fallback chain as `A>B` or a list. In the google profile
 * any text is a token, as in google/robotstxt.
 *
 * @throws RobotsFilterError `usage` if a link of the chain is not a product token
 */
export function parseAgent(agent: string | readonly string[], profile: Profile): Agent {
  const given = typeof agent === 'string' ? agent.split('>') : agent;
  if (!Array.isArray(given) || !given.every((link) => typeof link === 'string')) {
    throw new RobotsFilterError(
      'usage',
      `the agent is ${shownValue(agent)}. Pass a product token such as 'MyBot', '*', or a fallback chain: 'A>B' or ['A', 'B']`,
    );
  }
  const links = profile === 'google' ? given : given.map((link) => link.trim());
  if (links.length === 0) {
    throw new RobotsFilterError('usage', 'an agent needs at least one product token');
  }
  if (profile !== 'google') {
    for (const link of links) {
      if (isProductToken(link)) continue;
      throw new RobotsFilterError(
        'usage',
        `${JSON.stringify(link)} is not a product token (RFC 9309 section 2.2.1): ${remedyFor(link)}`,
      );
    }
  }
  return { name: typeof agent === 'string' ? agent : links.join('>'), chain: links };
}

/**
 * Refuses an agent that comes twice. Capitals make no difference to a product token (RFC 9309
 * section 2.2.1), and none to SQL, where the columns of such agents would have the same name.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseSameAgents(agents: readonly Agent[]): void {
  const known = new Map<string, string>();
  for (const { name, chain } of agents) {
    const key = lowerCaseAscii(chain.join('>'));
    const other = known.get(key);
    known.set(key, name);
    if (other === undefined) continue;
    const first = JSON.stringify(other);
    throw new RobotsFilterError(
      'usage',
      other === name
        ? `the agent ${first} is named twice. Name it once`
        : `${first} and ${JSON.stringify(name)} are the same agent: capitals make no difference. Name it once`,
    );
  }
}

/** What to write in place of a text that is not a product token. */
function remedyFor(link: string): string {
  if (link.includes('://') && !link.includes(' ')) return 'pass the URL first, then the agent';
  if (isUserAgentHeader(link)) {
    const candidates = headerCandidates(link).map((token) => `"${token}"`);
    return candidates.length === 0
      ? 'it is a whole User-Agent header without the name of a crawler. Use the product token that the operator documents'
      : `it is a whole User-Agent header. Use the crawler's product token, such as ${candidates.join(' or ')}`;
  }
  const token = tokenPrefix(link);
  if (isBrowserWord(token)) {
    return 'it begins as the User-Agent headers of browsers do, and names no crawler. Use the product token that the operator documents';
  }
  if (token === '') return 'use letters, "-" and "_", or "*"';
  // The first word may be the token of another crawler: Google of Google Extended.
  return link.includes(' ')
    ? 'it has spaces. Use the product token that the operator documents, which may have "-" in their place'
    : `use "${token}"`;
}
