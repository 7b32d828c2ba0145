import { describe, expect, it } from 'vitest';
import { type Case, type Outcome, wholeRuns } from '../../../bench/measure/runs.js';

describe('whole runs', () => {
  const done: string[] = [];

  /** A case that logs its calls: a timed run takes a second, a rehearsal two. */
  function caseOf(id: string, more: Partial<Case> = {}): Case {
    const log = async (what: string, outcome: Outcome) => {
      done.push(`${id} ${what}`);
      return outcome;
    };
    return {
      id,
      name: id,
      kind: 'ours',
      records: 1,
      bytes: 1,
      run: () => log('run', { seconds: 1, cpuSeconds: 7, peakBytes: undefined }),
      rehearse: () => log('rehearse', { seconds: 2, peakBytes: 3 }),
      ...more,
    };
  }

  async function take(cases: readonly Case[], runs: number, timed: boolean) {
    done.length = 0;
    const results = await wholeRuns(cases, { runs, timed }, () => {});
    return results.map(({ seconds, cpuSeconds, peakBytes }) => ({
      seconds,
      cpuSeconds,
      peakBytes,
    }));
  }

  it('rehearse each case before its timed run and keep the memory of the rehearsals', async () => {
    const results = await take([caseOf('a'), caseOf('b')], 2, true);
    const run = ['a rehearse', 'a run', 'b rehearse', 'b run'];
    expect(done).toEqual([...run, ...run]);
    expect(results).toEqual(Array(2).fill({ seconds: [1, 1], cpuSeconds: [7, 7], peakBytes: 3 }));
  });

  it('count the rehearsal as the run if nothing is timed', async () => {
    const results = await take([caseOf('a')], 2, false);
    expect(done).toEqual(['a rehearse', 'a rehearse']);
    expect(results).toEqual([{ seconds: [2, 2], cpuSeconds: [], peakBytes: 3 }]);
  });

  it('run a case without a rehearsal once', async () => {
    const { rehearse: _, ...plain } = caseOf('a');
    expect(await take([plain], 2, true)).toEqual([
      { seconds: [1, 1], cpuSeconds: [7, 7], peakBytes: undefined },
    ]);
    expect(done).toEqual(['a run', 'a run']);
  });
});
