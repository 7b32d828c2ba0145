import { readFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { instantiateKernel, type Kernel } from '../../src/kernel/kernel.js';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { kernelOver } from '../kernel/harness.js';

/** A kernel that counts its steps; everything else is as built. */
export interface MeteredKernel {
  readonly kernel: Kernel;
  /** Steps since the last call of this function. */
  takeSteps(): number;
}

/**
 * Judges a line, as a separate file, under a robots.txt for `e.com`; returns the result and the
 * steps.
 */
export type MeteredJudge = (
  line: string,
  settings?: Partial<QuerySettings>,
) => { readonly output: string; readonly steps: number };

export function meteredJudge(robots: string, profile: Profile = 'rfc9309'): MeteredJudge {
  let meter: MeteredKernel | undefined;
  const run = kernelOver({ 'e.com': robots }, profile, (memory) => {
    meter = meteredKernel(memory);
    return meter.kernel;
  });
  return (line, settings) => {
    meter?.takeSteps();
    const { output } = run(`${line}\n`, settings);
    return { output, steps: meter?.takeSteps() ?? 0 };
  };
}

/** The code executed at each entry of a function and at each iteration of a loop. */
const STEP = '(global.set $steps (i64.add (global.get $steps) (i64.const 1)))';

/** Replaces the instructions that move many bytes: a step for each 16 bytes. */
const BULK = ['memory.copy', 'memory.fill'] as const;

let metered: WebAssembly.Module | undefined;

/** The kernel as built, metered, bound to a memory. */
export function meteredKernel(memory: WebAssembly.Memory): MeteredKernel {
  metered ??= new WebAssembly.Module(
    meter(readFileSync(new URL('../../dist/kernel/kernel.wasm', import.meta.url))),
  );
  // instantiateKernel returns the module's exports, including the meter's, which Kernel does not
  // know.
  const kernel = instantiateKernel(metered, memory) as Kernel & { steps: WebAssembly.Global };
  return {
    kernel,
    takeSteps() {
      const steps = Number(kernel.steps.value);
      kernel.steps.value = 0n;
      return steps;
    },
  };
}

/**
 * Adds to a module an exported counter of its steps, `steps`: entries of functions, iterations of
 * loops, and a step for each 16 bytes that memory.copy and memory.fill move. The code between two
 * steps is straight, and the input cannot change its length: so work is at most a constant times
 * the steps.
 */
export function meter(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const original = binaryen.readBinary(module);
  const text = original.emitText();
  original.dispose();
  const parsed = binaryen.parseText(withSteps(text));
  parsed.setFeatures(binaryen.Features.All);
  const binary = Uint8Array.from(parsed.emitBinary());
  parsed.dispose();
  return binary;
}

/**
 * binaryen writes each instruction on its own line, and a function's locals before its
 * instructions.
 */
function withSteps(text: string): string {
  const out: string[] = [];
  let atEntry = false;
  for (const line of text.split('\n')) {
    const instruction = line.trimStart();
    if (atEntry && !instruction.startsWith('(local ')) {
      out.push(STEP);
      atEntry = false;
    }
    let metered = line;
    for (const name of BULK) metered = metered.replace(`(${name}`, `(call $metered.${name}`);
    out.push(metered);
    if (instruction.startsWith('(func ')) atEntry = true;
    if (instruction.startsWith('(loop ')) out.push(STEP);
  }
  const end = out.lastIndexOf(')');
  const counter = '(global $steps (export "steps") (mut i64) (i64.const 0))';
  return [...out.slice(0, end), counter, ...BULK.map(bulkFunction), ')'].join('\n');
}

function bulkFunction(name: (typeof BULK)[number]): string {
  const operands = [0, 1, 2].map((index) => `(local.get ${index})`).join(' ');
  const sixteens = '(i64.extend_i32_u (i32.shr_u (local.get 2) (i32.const 4)))';
  return `(func $metered.${name} (param i32 i32 i32)
    (global.set $steps (i64.add (global.get $steps) ${sixteens}))
    (${name} ${operands}))`;
}
