import type { Profile } from '../../src/protocol/verdict.js';
import type { Counts } from '../../test/differential/tally.js';

/** This many consecutive seeds, to be asked in a profile. */
export interface Work {
  readonly profile: Profile;
  readonly firstSeed: number;
  readonly seeds: number;
}

/** The result: counts, or a reduced disagreement. */
export type Outcome =
  | { readonly kind: 'done'; readonly work: Work; readonly cases: number; readonly counts: Counts }
  | { readonly kind: 'found'; readonly work: Work; readonly message: string };
