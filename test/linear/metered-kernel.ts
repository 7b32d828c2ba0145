import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { instantiateKernel, type Kernel } from '../../src/kernel/kernel.js';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { kernelOver } from '../kernel/harness.js';

const METER = fileURLToPath(new URL('meter.mjs', import.meta.url));
const KEPT = fileURLToPath(
  new URL('../../node_modules/.cache/robots-filter/metered', import.meta.url),
);

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
 * Adds a counter of its steps to a module: see meter.mjs, which takes seconds for the kernel. So
 * the result is kept with the digest of the module, for all processes of all runs of the tests.
 */
export function meter(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const digest = createHash('sha256').update(readFileSync(METER)).update(module).digest('hex');
  const kept = join(KEPT, `${digest}.wasm`);
  if (!existsSync(kept)) {
    mkdirSync(KEPT, { recursive: true });
    // Another process may be making the same file.
    const [from, to] = ['in', 'out'].map((end) => `${kept}.${process.pid}.${end}`) as [
      string,
      string,
    ];
    writeFileSync(from, module);
    // V8 spends more time on optimising binaryen than one module saves by it.
    execFileSync(process.execPath, ['--liftoff-only', METER, from, to]);
    rmSync(from);
    renameSync(to, kept);
  }
  return Uint8Array.from(readFileSync(kept));
}
