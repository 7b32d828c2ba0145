import type { Profile } from './profile.js';
import type { Group } from './robots-file.js';

/**
 * Maps each product token to the groups that name it, in the order of the file. A crawler obeys the
 * rules of all its groups (RFC 9309 section 2.2.1). A group counts once even if it names a token
 * twice. In draft-koster-rep-00 only the first group of `*` counts.
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
      // Groups come in order, so a group that is already there is the last one.
      if (named[named.length - 1] !== group) named.push(group);
    }
  }
  return byToken;
}
