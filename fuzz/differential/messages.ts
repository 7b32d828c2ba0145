import type { Profile } from '../../src/protocol/profile.js';
import type { Counts } from '../../test/differential/tally.js';

/** So many seeds in a row, to be asked in a profile. */
export interface Work {
  readonly profile: Profile;
  readonly firstSeed: number;
  readonly seeds: number;
}

/** What came of it: counts, or a disagreement made small. */
export type Outcome =
  | { readonly kind: 'done'; readonly work: Work; readonly cases: number; readonly counts: Counts }
  | { readonly kind: 'found'; readonly work: Work; readonly message: string };
