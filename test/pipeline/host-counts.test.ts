import { expect, test } from 'vitest';
import { QUERY_COUNTS } from '../../src/kernel/layout.js';
import { HostCounts } from '../../src/pipeline/counts.js';
import { REASONS, type Reason } from '../../src/protocol/verdict.js';

const AGENTS = 2;
const SLOTS = 4;
const COUNTS = 64;

/** A counter as the kernel leaves it: a number, and the reasons above it. */
function counter(count: number, reasons: readonly Reason[]): bigint {
  const bits = reasons.reduce((sum, reason) => sum | (1n << BigInt(REASONS.indexOf(reason))), 0n);
  return BigInt(count) | (bits << 48n);
}

test('counters beyond 32 bits are added up, and their reasons are not part of the number', () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const query = 1024;
  const workerBlocks = [2048, 4096];
  new DataView(memory.buffer).setUint32(query + QUERY_COUNTS, COUNTS, true);
  const put = (thread: number, slot: number, agent: number, allow: bigint, deny: bigint): void => {
    const at = (workerBlocks[thread] ?? 0) + COUNTS + (slot * AGENTS + agent) * 16;
    new BigUint64Array(memory.buffer, at, 2).set([allow, deny]);
  };
  const most = 2 ** 47 + 5;
  put(0, 1, 0, counter(most, ['rule', 'no-rule']), counter(0, []));
  put(1, 1, 0, counter(7, ['no-group']), counter(2 ** 33, ['unreachable']));
  put(0, 1, 1, counter(3, ['unavailable']), counter(2 ** 32 - 1, ['rule', 'over-budget']));
  put(1, 3, 0, counter(1, ['robots-txt']), counter(0, []));
  const counts = new HostCounts(
    [{ memory, query, workerBlocks, firstSlot: 0, slots: SLOTS }],
    SLOTS,
    AGENTS,
  );
  expect([...counts.slots]).toEqual([1, 3]);
  expect([...counts.urls]).toEqual([most + 7 + 2 ** 33, 1]);
  expect([counts.allowed(1, 0), counts.denied(1, 0)]).toEqual([most + 7, 2 ** 33]);
  expect([counts.allowed(1, 1), counts.denied(1, 1)]).toEqual([3, 2 ** 32 - 1]);
  expect([counts.allowed(3, 0), counts.denied(3, 1)]).toEqual([1, 0]);
  const outcomesOf = (slot: number, agent: number): string[] =>
    Array.from({ length: 32 }, (_, outcome) => outcome)
      .filter((outcome) => ((counts.outcomes(slot, agent) >>> outcome) & 1) !== 0)
      .map((outcome) => `${outcome >> 4} ${REASONS[outcome & 15]}`);
  expect(outcomesOf(1, 0)).toEqual(['0 rule', '0 no-rule', '0 no-group', '1 unreachable']);
  expect(outcomesOf(1, 1)).toEqual(['0 unavailable', '1 rule', '1 over-budget']);
  expect(outcomesOf(3, 0)).toEqual(['0 robots-txt']);
});
