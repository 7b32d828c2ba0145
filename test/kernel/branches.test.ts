import { readFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { describe, expect, it } from 'vitest';
import { withCounters, withHints } from '../../build/branches.js';
import { KERNEL_FEATURES } from '../../build/kernel-features.js';
import {
  branchesOf,
  contentOf,
  SectionId,
  sectionsOf,
  sizedItems,
} from '../../build/wasm-module.js';
import { Opcode, WasmReader } from '../../build/wasm-reader.js';
import { createMemory, PAGE_OCTETS } from '../../src/kernel/kernel.js';
import { kernelFile } from '../../src/kernel/module.js';
import { aheadFile } from '../../src/start/kept-module.js';

/**
 * The sum of the odd numbers below one; it has constants of all lengths, which hold octets of
 * branches.
 */
const SOURCE = `(module
  (import "env" "memory" (memory 1 65536 shared))
  (import "environment" "unused" (func $unused (param i32)))
  (func $never (export "never") (param i32) (result i32)
    (if (result i32) (i32.const 0) (then (i32.const 0x0d0d0d0d)) (else (i32.const -4))))
  (func (export "sum") (param $n i32) (result i32) (local $i i32) (local $sum i32) (local $v v128)
    (local.set $v (v128.const i32x4 0x0d040d04 0x0d0d0d0d 4 13))
    (block $end
      (loop $next
        (br_if $end (i32.ge_u (local.get $i) (local.get $n)))
        (if (i32.and (local.get $i) (i32.const 1))
          (then (local.set $sum (i32.add (local.get $sum) (local.get $i)))))
        (if (i64.eq (i64.extend_i32_u (local.get $i)) (i64.const 0x0d040d040d04))
          (then (drop (i32.atomic.load offset=13 (i32.const 0)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (local.get $sum)))`;

function assembled(): Uint8Array {
  const module = binaryen.parseText(SOURCE);
  module.setFeatures(KERNEL_FEATURES);
  return module.emitBinary();
}

function instance(module: Uint8Array, memory: WebAssembly.Memory): WebAssembly.Instance {
  return new WebAssembly.Instance(new WebAssembly.Module(module), {
    env: { memory },
    environment: { unused: () => {} },
  });
}

function sumOfOdd(module: Uint8Array, memory: WebAssembly.Memory, below: number): number {
  const { sum } = instance(module, memory).exports as { sum: (below: number) => number };
  return sum(below);
}

/** What a module hints at, as function, offset and whether the condition is likely to be true. */
function hintsOf(module: Uint8Array): [index: number, at: number, isLikely: boolean][] {
  const sections = sectionsOf(module);
  const custom = sections.findIndex(({ id }) => id === SectionId.CUSTOM);
  expect(sections[custom + 1]?.id).toBe(SectionId.CODE);
  const reader = new WasmReader(contentOf(sections, SectionId.CUSTOM));
  const name = reader.take(reader.number());
  expect(Buffer.from(name).toString()).toBe('metadata.code.branch_hint');
  const hints: [number, number, boolean][] = [];
  for (let functions = reader.number(); functions > 0; functions--) {
    const index = reader.number();
    for (let left = reader.number(); left > 0; left--) {
      const at = reader.number();
      expect(reader.number()).toBe(1);
      hints.push([index, at, reader.octet() === 1]);
    }
  }
  expect(reader.hasEnded).toBe(true);
  return hints;
}

describe('branches of WebAssembly', () => {
  it('are counted by a module that does what it did', () => {
    const memory = createMemory(2 * PAGE_OCTETS);
    const module = assembled();
    const counting = withCounters(module, PAGE_OCTETS);
    expect(counting.counterOctets).toBe(4 * 8);
    expect(sumOfOdd(module, memory, 1000)).toBe(250_000);
    expect(sumOfOdd(counting.module, memory, 1000)).toBe(250_000);
    const counts = new Uint32Array(memory.buffer, PAGE_OCTETS, 8);
    expect([...counts]).toEqual([0, 0, 1000, 1, 500, 500, 1000, 0]);
  });

  it('are hinted at if they went but one way', () => {
    const module = assembled();
    const hinted = withHints(module, Uint32Array.of(0, 0, 1000, 1, 0, 500, 1000, 0));
    const bodies = sizedItems(contentOf(sectionsOf(module), SectionId.CODE));
    const [, first, second, third] = bodies.flatMap(branchesOf);
    // One function is imported, and another comes first.
    expect(hintsOf(hinted)).toEqual([
      [2, second, true],
      [2, third, false],
    ]);
    expect([first, second, third].map((at) => bodies[1]?.[at ?? -1])).toEqual([
      Opcode.BR_IF,
      Opcode.IF,
      Opcode.IF,
    ]);
    expect(sumOfOdd(hinted, createMemory(PAGE_OCTETS), 1000)).toBe(250_000);
    expect(() => withHints(module, new Uint32Array(6))).toThrow(RangeError);
  });

  it('are hinted at in the kernel that is compiled ahead of time: some hundred, each at a branch', () => {
    const kernel = readFileSync(aheadFile(kernelFile()));
    const bodies = sizedItems(contentOf(sectionsOf(kernel), SectionId.CODE));
    const hints = hintsOf(kernel);
    expect(hints.length).toBeGreaterThan(100);
    expect(hints.some(([, , isLikely]) => isLikely)).toBe(true);
    for (const [index, at] of hints) {
      // canonicalHost is imported.
      const opcode = bodies[index - 1]?.[at];
      expect([Opcode.IF, Opcode.BR_IF]).toContain(opcode);
    }
    const code = contentOf(sectionsOf(readFileSync(kernelFile())), SectionId.CODE);
    expect(sizedItems(code).flatMap(branchesOf).length).toBeGreaterThan(500);
  });

  it('are not looked for behind an instruction that is not known', () => {
    const [body = new Uint8Array()] = sizedItems(
      contentOf(sectionsOf(assembled()), SectionId.CODE),
    );
    for (const opcode of [0x06, 0x12, 0x27, 0xc5, 0xfb, 0xff]) {
      expect(() => branchesOf(Uint8Array.of(0, opcode, ...body.subarray(1)))).toThrow(RangeError);
    }
    // return, and a branch behind it.
    expect(branchesOf(Uint8Array.of(0, 0x0f, Opcode.BR_IF, 0, 0x0b))).toEqual([2]);
  });

  it('end where their module is cut off', () => {
    const module = assembled();
    for (let length = 8; length < module.length; length++) {
      expect(() =>
        sizedItems(contentOf(sectionsOf(module.subarray(0, length)), SectionId.CODE)).map(
          branchesOf,
        ),
      ).toThrow(RangeError);
    }
  });
});
