import { describe, expect, it } from 'vitest';
import { coreCases, coresOf, describeCores } from '../../bench/cores.js';
import type { Case } from '../../bench/rounds.js';

/** The cases with these times in place of what they would take. */
function results(...times: (readonly number[])[]) {
  return coreCases().map((each: Case, index) => ({
    case: each,
    seconds: times[index] ?? [],
    peakOctets: undefined,
  }));
}

describe('whether two processors are two cores', () => {
  it('is what two busy threads take in times of one: of medians, and of single rounds', () => {
    const cores = coresOf(results([2, 1, 1], [2, 1.5, 2]));
    const one = { median: 1, least: 1, greatest: 2 };
    expect(cores).toEqual({ ratio: 2, least: 1, greatest: 2, one });
    expect(describeCores(cores)).toContain('2.00 times as long as one (1.00 to 2.00');
    expect(describeCores(cores)).toContain('one took 1.000 s (1.000 to 2.000)');
  });

  it('is not known without both cases', () => {
    expect(() => coresOf(results().slice(0, 1))).toThrow('no case two-busy was run');
  });

  it('is measured by threads that take some time', async () => {
    const [one] = coreCases();
    expect((await one?.run())?.seconds).toBeGreaterThan(0);
  });
});
