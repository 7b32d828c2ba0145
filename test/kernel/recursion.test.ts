import { readFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { describe, expect, it } from 'vitest';
import { compileAhead } from '../../build/compile-ahead.js';
import { hasRecursion } from '../../build/recursion.js';
import { kernelFile } from '../../src/kernel/module.js';
import { aheadFile } from '../../src/start/kept-module.js';

/** A module of functions, by what each of them does. */
function moduleOf(...bodies: readonly string[]): Uint8Array {
  const functions = bodies.map((body, index) => `(func $f${index} (export "${index}") ${body})`);
  return binaryen
    .parseText(
      `(module (import "environment" "outside" (func $outside)) (table 1 funcref) ${functions.join(' ')})`,
    )
    .emitBinary();
}

describe('recursion', () => {
  it('is a function that calls itself, or another that does so for it', () => {
    expect(hasRecursion(moduleOf('(call $f0)'))).toBe(true);
    expect(hasRecursion(moduleOf('', '(call $f0) (call $f2)', '(call $f3)', '(call $f1)'))).toBe(
      true,
    );
  });

  it('may be a call by number', () => {
    expect(hasRecursion(moduleOf('(call_indirect (i32.const 0))'))).toBe(true);
  });

  it('is not a function that is called twice, or from outside', () => {
    const calls = moduleOf('(call $outside)', '(call $f0)', '(call $f0) (call $f1) (call $f1)');
    expect(hasRecursion(calls)).toBe(false);
    expect(hasRecursion(binaryen.parseText('(module (func))').emitBinary())).toBe(false);
  });

  it('is not in the kernel, and in none that is compiled ahead of time', () => {
    expect(hasRecursion(readFileSync(aheadFile(kernelFile())))).toBe(false);
    expect(() => compileAhead(moduleOf('(call $f0)'))).toThrow('may call itself');
  });
});
