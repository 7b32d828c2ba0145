import { describe, expect, it } from 'vitest';
import { type Case, inTurn, type Outcome } from '../../bench/rounds.js';

describe('cases that take turns', () => {
  const done: string[] = [];

  /** A case that keeps account; a run takes a second, and one to warm up, which is watched, two. */
  function caseOf(id: string, more: Partial<Case> = {}): Case {
    const carryOut = async (what: string, outcome: Outcome) => {
      done.push(`${id} ${what}`);
      return outcome;
    };
    return {
      id,
      name: id,
      kind: 'ours',
      records: 1,
      octets: 1,
      run: () => carryOut('run', { seconds: 1, peakOctets: undefined }),
      rehearse: () => carryOut('rehearse', { seconds: 2, peakOctets: 3 }),
      ...more,
    };
  }

  async function take(cases: readonly Case[], rounds: number, warmUp: boolean) {
    done.length = 0;
    const results = await inTurn(cases, { rounds, warmUp }, () => {});
    return results.map(({ seconds, peakOctets }) => ({ seconds, peakOctets }));
  }

  it('are rehearsed before each run that is timed; the memory is that of the rehearsals', async () => {
    const results = await take([caseOf('a'), caseOf('b')], 2, true);
    const round = ['a rehearse', 'a run', 'b rehearse', 'b run'];
    expect(done).toEqual([...round, ...round]);
    expect(results).toEqual(Array(2).fill({ seconds: [1, 1], peakOctets: 3 }));
  });

  it('have their rehearsal timed where nothing warms up', async () => {
    const results = await take([caseOf('a')], 2, false);
    expect(done).toEqual(['a rehearse', 'a rehearse']);
    expect(results).toEqual([{ seconds: [2, 2], peakOctets: 3 }]);
  });

  it('are run twice to warm up where they have no rehearsal of their own', async () => {
    const { rehearse: _, ...plain } = caseOf('a');
    const results = await take([plain], 1, true);
    expect(done).toEqual(['a run', 'a run']);
    expect(results).toEqual([{ seconds: [1], peakOctets: undefined }]);
  });

  it('are done in as many rounds as they have where they take long', async () => {
    const results = await take([caseOf('a', { rounds: 1 }), caseOf('b')], 2, true);
    const round = ['b rehearse', 'b run'];
    expect(done).toEqual(['a rehearse', 'a run', ...round, ...round]);
    expect(results.map(({ seconds }) => seconds)).toEqual([[1], [1, 1]]);
  });

  it('are done once a round where they do not warm up', async () => {
    const results = await take([caseOf('a', { warmsUp: false })], 2, true);
    expect(done).toEqual(['a rehearse', 'a rehearse']);
    expect(results[0]).toEqual({ seconds: [2, 2], peakOctets: 3 });
  });
});
