import type { Profile } from './profile.js';
import type { Group } from './robots-file.js';

/**
 * For each product token the groups that name it, in the order of the file: their rules together
 * are the ones that a crawler of this token obeys (RFC 9309 section 2.2.1). A group counts once
 * however often it names a token. In draft-koster-rep-00 only the first group of `*` counts.
 */
export function groupsByProductToken(
  groups: readonly Group[],
  profile: Profile,
): Map<string, readonly Group[]> {
  const firstStarOnly = profile === 'draft-koster-rep-00';
  const byToken = new Map<string, Group[]>();
  for (const group of groups) {
    for (const token of group.productTokens) {
      const named = byToken.get(token);
      if (named === undefined) {
        byToken.set(token, [group]);
        continue;
      }
      if (firstStarOnly && token === '*') continue;
      // Groups come in order, so one that already has this token is the last.
      if (named[named.length - 1] !== group) named.push(group);
    }
  }
  return byToken;
}
