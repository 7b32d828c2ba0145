import { describe, expect, it } from 'vitest';
import type { Statistics } from '../../bench/command.js';
import { CountWatch } from '../../bench/counts.js';

const EXPECTED = { records: 10, unknown: 2, invalid: 1 };

function counted(allow: number, deny: number, unknown = 2, invalid = 1): Statistics {
  const records = allow + deny + unknown + invalid;
  const agents = [{ agent: 'ExampleBot', verdicts: { allow, deny, unknown, invalid } }];
  return { complete: true, records, passed: records, agents };
}

describe('the watch over counts', () => {
  it('lets runs pass that count the same', () => {
    const watch = new CountWatch();
    watch.check('f', EXPECTED, counted(4, 3));
    watch.check('f', EXPECTED, counted(4, 3));
    expect(watch.runs).toBe(2);
  });

  it('refuses a run that lost a record, or counts otherwise than the generator', () => {
    const watch = new CountWatch();
    expect(() => watch.check('f', EXPECTED, counted(4, 2))).toThrow('f: records: 9');
    expect(() => watch.check('f', EXPECTED, counted(4, 2, 3))).toThrow('f: unknown: 3');
    expect(() => watch.check('f', EXPECTED, counted(4, 3, 1, 2))).toThrow('f: unknown: 1');
    expect(watch.runs).toBe(0);
  });

  it('refuses a run that decides otherwise than one before, or than the naive matcher', () => {
    const watch = new CountWatch();
    watch.check('f', EXPECTED, counted(4, 3));
    expect(() => watch.check('f', EXPECTED, counted(3, 4))).toThrow('f: ExampleBot');
    const counts = { allow: 5, deny: 2, unknown: 2, invalid: 1 };
    expect(() => watch.check('g', { ...EXPECTED, counts }, counted(4, 3))).toThrow('g: ');
  });

  it('keeps inputs apart', () => {
    const watch = new CountWatch();
    watch.check('f', EXPECTED, counted(4, 3));
    expect(() => watch.check('g', EXPECTED, counted(3, 4))).not.toThrow();
  });
});
