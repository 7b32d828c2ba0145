import type { Agent } from './agent.js';
import { lowerCaseAscii } from './product-token.js';
import type { Profile } from './profile.js';
import type { Group } from './robots-file.js';

/**
 * Maps each product token to the groups that name it, in the order of the file. A crawler obeys the
 * rules of all its groups (RFC 9309 section 2.2.1). A group counts once even if it names a token
 * twice. In draft-koster-rep-00 only the first group of `*` counts.
 */
export function groupsByProductToken<G extends Pick<Group, 'productTokens'>>(
  groups: readonly G[],
  profile: Profile,
): Map<string, readonly G[]> {
  const firstStarOnly = profile === 'draft-koster-rep-00';
  const byToken = new Map<string, G[]>();
  for (const group of groups) {
    for (const token of group.productTokens) {
      const named = byToken.get(token);
      if (named === undefined) {
        byToken.set(token, [group]);
        continue;
      }
      if (firstStarOnly && token === '*') continue;
      // Groups come in order, so a group that is already there is the last one.
      if (named[named.length - 1] !== group) named.push(group);
    }
  }
  return byToken;
}

/**
 * The groups that decide for an agent, by the product token that they name: the first token of the
 * chain that a group names, else `*` (RFC 9309 section 2.2.1). In the google profile all tokens of
 * the chain count, and an agent `*` names no group.
 */
export function groupsFor(
  agent: Agent,
  byToken: ReadonlyMap<string, readonly Group[]>,
  profile: Profile,
): Map<string, readonly Group[]> {
  const isGoogle = profile === 'google';
  const found = new Map<string, readonly Group[]>();
  for (const token of agent.chain.map(lowerCaseAscii)) {
    const groups = byToken.get(token);
    if (groups === undefined || (isGoogle && token === '*')) continue;
    found.set(token, groups);
    if (!isGoogle) break;
  }
  if (found.size === 0) found.set('*', byToken.get('*') ?? []);
  return found;
}
