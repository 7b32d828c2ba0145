import { describe, expect, it } from 'vitest';
import { coreCases, coresOf, coresText } from '../../../bench/measure/cores.js';

/** Results with these times instead of measured times. */
function results(...times: (readonly number[])[]) {
  return coreCases().map((each, index) => ({
    case: each,
    seconds: times[index] ?? [],
    cpuSeconds: [],
    peakBytes: undefined,
  }));
}

describe('the busy threads', () => {
  it('give the ratio of the time with two threads to the time with one, computed in each run', () => {
    const cores = coresOf(results([2, 1, 1], [2, 1.5, 2]));
    expect(cores).toEqual({
      ratio: { median: 1.5, least: 1, greatest: 2 },
      one: { median: 1, least: 1, greatest: 2 },
    });
    expect(coresText(cores)).toContain('took 1.50 (1.00–2.00) times as long as one');
    expect(coresText(cores)).toContain('took 1.000 (1.000–2.000) s');
  });

  it('need both cases', () => {
    expect(() => coresOf(results([1], [1]).slice(0, 1))).toThrow('no case two-busy was run');
  });

  it('report a time above zero', async () => {
    const [one] = coreCases();
    expect((await one?.run())?.seconds).toBeGreaterThan(0);
  });
});
