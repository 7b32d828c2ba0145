import { warmPages } from './page-cache.js';

/** One thing to time. Each whole run times every case once. */
export interface Case {
  /** Name in ratios, records and pictures. */
  readonly id: string;
  /** The command that a reader would type. */
  readonly name: string;
  /**
   * `floor`: less work than the filter's, so a limit; `ours`: the filter; `before`: the filter of
   * `--against`; `competitor`: a library instead of the filter.
   */
  readonly kind: 'floor' | 'ours' | 'before' | 'competitor';
  /** Records and bytes of the input; 0 if not applicable. */
  readonly records: number;
  readonly bytes: number;
  /** Input files, read before the case begins so that the page cache holds them. */
  readonly reads?: readonly string[];
  run(): Promise<Outcome>;
  /** An untimed run that asserts the verdict counts and watches memory. Default: none. */
  rehearse?(): Promise<Outcome>;
}

export interface Outcome {
  readonly seconds: number;
  /** CPU time, of cases that two versions are compared by. */
  readonly cpuSeconds?: number;
  readonly peakBytes: number | undefined;
}

/** All timed runs of a case. */
export interface Result {
  readonly case: Case;
  readonly seconds: readonly number[];
  /** CPU seconds of each run; empty if the case does not count them. */
  readonly cpuSeconds: readonly number[];
  readonly peakBytes: number | undefined;
}

/** The number of runs of all cases, and whether the timed runs are separate from the rehearsals. */
export interface RunPlan {
  readonly runs: number;
  /** False in quick runs, which assert counts: the rehearsal is then the timed run too. */
  readonly timed: boolean;
}

/**
 * Runs all cases, then all again: a disturbance of some seconds then affects one run of several
 * cases instead of all runs of one case.
 */
export async function wholeRuns(
  cases: readonly Case[],
  { runs, timed }: RunPlan,
  report: (sentence: string) => void,
): Promise<Result[]> {
  const results = cases.map((each) => ({
    case: each,
    seconds: [] as number[],
    cpuSeconds: [] as number[],
    peakBytes: undefined as number | undefined,
  }));
  for (let run = 0; run < runs; run++) {
    report(`run ${run + 1} of ${runs}`);
    for (const result of results) {
      await warmPages(result.case.reads ?? []);
      const rehearsal = await result.case.rehearse?.();
      const outcome = rehearsal === undefined || timed ? await result.case.run() : rehearsal;
      result.seconds.push(outcome.seconds);
      if (outcome.cpuSeconds !== undefined) result.cpuSeconds.push(outcome.cpuSeconds);
      for (const peak of [rehearsal?.peakBytes, outcome.peakBytes]) {
        if (peak !== undefined) result.peakBytes = Math.max(result.peakBytes ?? 0, peak);
      }
    }
  }
  return results;
}
