import { RobotsFilterError } from '../errors.js';
import type { Profile } from './profile.js';

/**
 * A crawler as the protocol knows it: the product tokens it answers to (RFC 9309 section 2.2.1),
 * the preferred one first. The first that some group names decides; in the google profile the
 * groups of all are merged.
 */
export interface Agent {
  /** As it was given, `Googlebot-Image>Googlebot`. */
  readonly name: string;
  readonly chain: readonly string[];
}

function isTokenOctet(code: number): boolean {
  const letter = code | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || code === 0x2d || code === 0x5f;
}

/** The octets at the start of a text that can stand in a product token: letters, `-` and `_`. */
function tokenPrefix(text: string): string {
  let end = 0;
  while (end < text.length && isTokenOctet(text.charCodeAt(end))) end++;
  return text.slice(0, end);
}

/** Whether a text is a product token, or `*` (RFC 9309 section 2.2). */
export function isProductToken(text: string): boolean {
  return text === '*' || (text !== '' && tokenPrefix(text).length === text.length);
}

/**
 * Reads an agent: a product token, or a fallback chain of them, `A>B` or a list. The google profile
 * takes any text for a token, as google/robotstxt does.
 *
 * @throws RobotsFilterError `usage` if a link of the chain is no product token, saying what to
 *   write instead.
 */
export function parseAgent(agent: string | readonly string[], profile: Profile): Agent {
  const given = typeof agent === 'string' ? agent.split('>') : agent;
  const links = profile === 'google' ? given : given.map((link) => link.trim());
  if (links.length === 0) {
    throw new RobotsFilterError('usage', 'an agent needs at least one product token');
  }
  if (profile !== 'google') {
    for (const link of links) {
      if (isProductToken(link)) continue;
      const token = tokenPrefix(link);
      const remedy = token === '' ? 'use letters, "-" and "_", or "*"' : `use "${token}"`;
      throw new RobotsFilterError(
        'usage',
        `${JSON.stringify(link)} is no product token (RFC 9309 section 2.2.1): ${remedy}`,
      );
    }
  }
  return { name: typeof agent === 'string' ? agent : links.join('>'), chain: links };
}
