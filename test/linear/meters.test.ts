import binaryen from 'assemblyscript/binaryen';
import { describe, expect, it } from 'vitest';
import { expectLinear } from './growth.js';
import { meter } from './metered-kernel.js';
import { countSteps } from './metered-script.js';

/** Iterations of two nested loops. */
function quadratic(count: number): number {
  let turns = 0;
  for (let outer = 0; outer < count; outer++) {
    for (let inner = 0; inner < outer; inner++) turns++;
  }
  return turns;
}

function linear(count: number): number {
  let turns = 0;
  for (let turn = 0; turn < count; turn++) turns ^= turn;
  return turns;
}

/** Searches for missing elements in an ever longer array. */
function nativelyQuadratic(count: number): void {
  const bytes = new Uint8Array(count);
  for (let end = 0; end < count; end++) bytes.slice(0, end).indexOf(1);
}

const HERE = '/test/linear/';

describe('steps of TypeScript', () => {
  it('are the iterations of loops, however hot', () => {
    for (const count of [1000, 100_000, 3_000_000]) {
      const steps = countSteps(() => linear(count), HERE);
      expect(steps).toBeGreaterThanOrEqual(count);
      expect(steps).toBeLessThan(count + 500);
    }
    const steps = countSteps(() => quadratic(1000), HERE);
    expect(steps).toBeGreaterThanOrEqual(499_500);
    expect(steps).toBeLessThan(503_000);
  });

  it.each([
    ['two loops', quadratic],
    ['a loop of calls of what is native', nativelyQuadratic],
  ])('tell what is quadratic: %s', (_what, run) => {
    const measured = [250, 1000, 4000].map((bytes) => ({
      bytes,
      steps: countSteps(() => run(bytes), HERE),
    }));
    expect(() => expectLinear(measured, { least: 1, most: 1e6 })).toThrow(/to be less than/);
  });

  it('leave the platform unchanged', () => {
    const before = [Uint8Array.prototype.slice, Array.prototype.sort, Uint8Array];
    expect(() =>
      countSteps(() => {
        throw new Error('in the middle');
      }),
    ).toThrow('in the middle');
    expect([Uint8Array.prototype.slice, Array.prototype.sort, Uint8Array]).toEqual(before);
    expect(Uint8Array).toBe(before[2]);
  });
});

describe('steps of WebAssembly', () => {
  it('are calls of functions, iterations of loops and each 16 bytes moved', () => {
    const module = binaryen.parseText(`(module
      (memory 1)
      (func $turn (param i32) (result i32) (i32.sub (local.get 0) (i32.const 1)))
      (func (export "turns") (param i32)
        (loop $outer
          (local.set 0 (call $turn (local.get 0)))
          (br_if $outer (local.get 0))))
      (func (export "move") (param i32)
        (memory.copy (i32.const 0) (i32.const 16) (local.get 0))
        (memory.fill (i32.const 0) (i32.const 0) (local.get 0))))`);
    module.setFeatures(binaryen.Features.BulkMemory);
    const metered = new WebAssembly.Module(meter(module.emitBinary()));
    module.dispose();
    // The module's own functions; no type describes them.
    const exports = new WebAssembly.Instance(metered, {}).exports as unknown as {
      turns(count: number): void;
      move(bytes: number): void;
      steps: { value: bigint };
    };
    exports.turns(1000);
    expect(exports.steps.value).toBe(1n + 1000n + 1000n);
    exports.steps.value = 0n;
    exports.move(1600);
    expect(Number(exports.steps.value)).toBeGreaterThanOrEqual(1 + 100 + 100);
    expect(Number(exports.steps.value)).toBeLessThanOrEqual(3 + 100 + 100);
  });
});
