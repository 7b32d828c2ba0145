import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Amount } from '../../fuzz/compare/input.js';
import { LIMITS } from '../../fuzz/compare/lengths.js';
import type { Plan } from '../../fuzz/compare/plan.js';
import { outputFault, playRound } from '../../fuzz/compare/round.js';
import { Totals } from '../../fuzz/compare/totals.js';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'robots-filter-compare-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function play(
  seed: number,
  round: number,
  amount: Amount,
  fixed: Partial<Plan> = {},
): Promise<Totals> {
  const totals = new Totals();
  const finding = await playRound(seed, round, amount, directory(), totals, fixed);
  if (finding !== undefined) expect.fail(`${finding.message}\n${finding.command}`);
  return totals;
}

/** The plainest way to run the command line. */
const GROWTH: Partial<Plan> = {
  ...{ format: 'ndjson', sniffs: false, wayIn: 'file', wayOut: 'stdout to a file' },
  ...{ threads: undefined, maxLineBytes: 3 << 20, output: 'annotate' },
};

describe('the command line agrees with the library', () => {
  // The canonical form of a record once exceeded its memory and overwrote other records.
  it('on records that grow in canonical form', async () => {
    const amount = { records: 600, longBytes: 2_500_000, everyLimit: true };
    const totals = await play(17, 0, amount, GROWTH);
    expect(totals.shapes.get('growing')).toBeGreaterThanOrEqual(15);
  });

  // The longest line is half a batch longer than one, or two batches: a pipe has larger ones.
  it.each([
    ['text', 'pipe', 3, 3 << 20],
    ['ndjson', 'several files', 2, 2 << 20],
    ['array', 'socket', 12, 2 << 20],
  ] as const)('of %s at every limit, by %s', async (format, wayIn, threads, maxLineBytes) => {
    const amount = { records: 300, longBytes: 100_000, everyLimit: true };
    const fixed: Partial<Plan> = {
      format,
      wayIn,
      threads,
      maxLineBytes,
      output: 'annotate',
      unknown: 'unknown',
    };
    const totals = await play(1, 0, amount, fixed);
    for (const limit of LIMITS) {
      for (const distance of ['-1', '+0', '+1']) {
        expect(totals.limits.has(`${limit}${distance}`), `${limit}${distance}`).toBe(true);
      }
    }
    for (const verdict of ['allow', 'deny', 'unknown', 'invalid']) {
      expect(totals.verdicts.get(verdict), verdict).toBeGreaterThan(10);
    }
  });
});

describe('the comparison', () => {
  it('names the first record that is lost', () => {
    const path = directory();
    const [expected, actual] = [join(path, 'expected'), join(path, 'actual')];
    writeFileSync(expected, 'allow\ta\ndeny\tb\nallow\tc\n');
    writeFileSync(actual, 'allow\ta\nallow\tc\n');
    const places = [8, 15, 23].map((outputEnd, index) => ({
      ...{ input: 0, line: index + 1, shape: 'plain', start: 2 * index, end: 2 * index + 2 },
      outputEnd,
    }));
    expect(outputFault(expected, actual, { places })).toMatch(/byte 8 .*\nrecord 2: line 2 of/);
    writeFileSync(actual, 'allow\ta\ndeny\tb\nallow\tc\n');
    expect(outputFault(expected, actual, { places })).toBeUndefined();
    writeFileSync(actual, 'allow\ta\ndeny\tb\n');
    expect(outputFault(expected, actual, { places })).toMatch(/record 3: line 3/);
  });
});
