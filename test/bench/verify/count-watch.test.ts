import { describe, expect, it } from 'vitest';
import type { Statistics } from '../../../bench/program/filter.js';
import { CountWatch } from '../../../bench/verify/count-watch.js';

const EXPECTED = { records: 10, unknown: 2, invalid: 1 };

function counted(allow: number, deny: number, unknown = 2, invalid = 1): Statistics {
  const records = allow + deny + unknown + invalid;
  const agents = [{ agent: 'ExampleBot', verdicts: { allow, deny, unknown, invalid } }];
  return { complete: true, records, passed: records, agents };
}

describe('the watch over counts', () => {
  it('accepts runs with the same counts', () => {
    const watch = new CountWatch();
    watch.check('f', EXPECTED, counted(4, 3));
    watch.check('f', EXPECTED, counted(4, 3));
    expect(watch.runs).toBe(2);
  });

  it('rejects a run that lost a record or whose counts differ from the generator', () => {
    const watch = new CountWatch();
    expect(() => watch.check('f', EXPECTED, counted(4, 2))).toThrow('f: records: 9');
    expect(() => watch.check('f', EXPECTED, counted(4, 2, 3))).toThrow('f: unknown: 3');
    expect(() => watch.check('f', EXPECTED, counted(4, 3, 1, 2))).toThrow('f: unknown: 1');
    expect(watch.runs).toBe(0);
  });

  it('rejects a run whose verdicts differ from an earlier run or from the naive matcher', () => {
    const watch = new CountWatch();
    watch.check('f', EXPECTED, counted(4, 3));
    expect(() => watch.check('f', EXPECTED, counted(3, 4))).toThrow('f: ExampleBot');
    const counts = { allow: 5, deny: 2, unknown: 2, invalid: 1 };
    expect(() => watch.check('g', { ...EXPECTED, counts }, counted(4, 3))).toThrow('g: ');
  });

  it('keeps the counts of each input separately', () => {
    const watch = new CountWatch();
    watch.check('f', EXPECTED, counted(4, 3));
    expect(() => watch.check('g', EXPECTED, counted(3, 4))).not.toThrow();
  });
});
