import { median } from './measure.js';
import { warmPages } from './page-cache.js';

/** One thing to time: done again in every round, in turn with the others. */
export interface Case {
  /** What marks and pictures call it by. */
  readonly id: string;
  /** What is run, as a reader would write it. */
  readonly name: string;
  /**
   * `floor`: less than the work, so a limit; `ours`: the command line; `competitor`: what is used
   * in its place.
   */
  readonly kind: 'floor' | 'ours' | 'competitor';
  /** Records that a run takes in, and their octets; 0 where that means nothing. */
  readonly records: number;
  readonly octets: number;
  /** Files that a run reads: they are in the page cache when it begins, whatever ran before it. */
  readonly reads?: readonly string[];
  /** Rounds at most, for what takes long. */
  readonly rounds?: number;
  /**
   * Whether a run to warm up may come before one that is timed: not for what takes so long that it
   * does so by itself.
   */
  readonly warmsUp?: boolean;
  /** A run that is timed where one to warm up came before it. */
  run(): Promise<Outcome>;
  /**
   * A run to warm up, and one that is timed where there is none: asserts what the case comes to,
   * and tells its memory. Default: `run`.
   */
  rehearse?(): Promise<Outcome>;
}

export interface Outcome {
  readonly seconds: number;
  readonly peakOctets: number | undefined;
}

/** All runs of a case. */
export interface Result {
  readonly case: Case;
  readonly seconds: readonly number[];
  readonly peakOctets: number | undefined;
}

/** How cases take turns. */
export interface Turns {
  readonly rounds: number;
  /**
   * Whether each run that is timed comes behind one that is not, which can be watched while the
   * former is left alone. Some virtual machines give memory back to their host that was not in use
   * for some seconds: the first run thereafter paid for its return (the filter with a table of 493
   * MB, after 25 s, up to 2.3 s in place of 1.4 to 1.8, of which 1 s more in the system), the next
   * one did not, and so which cases came behind which decided ratios.
   */
  readonly warmUp: boolean;
}

/** Runs all cases, then all again: what disturbs the machine for a while disturbs all of them. */
export async function inTurn(
  cases: readonly Case[],
  { rounds, warmUp }: Turns,
  report: (sentence: string) => void,
): Promise<Result[]> {
  const results = cases.map((each) => ({
    case: each,
    seconds: [] as number[],
    peakOctets: undefined as number | undefined,
  }));
  for (let round = 0; round < rounds; round++) {
    report(`round ${round + 1} of ${rounds}`);
    for (const result of results) {
      const { rounds: most, reads = [], warmsUp = true } = result.case;
      if (most !== undefined && round >= most) continue;
      await warmPages(reads);
      const rehearsal = await (result.case.rehearse?.() ?? result.case.run());
      const run = warmUp && warmsUp ? await result.case.run() : rehearsal;
      result.seconds.push(run.seconds);
      for (const { peakOctets } of [rehearsal, run]) {
        if (peakOctets === undefined) continue;
        result.peakOctets = Math.max(result.peakOctets ?? 0, peakOctets);
      }
    }
  }
  return results;
}

export function recordsPerSecond(result: Result): number {
  return result.case.records / median(result.seconds);
}
