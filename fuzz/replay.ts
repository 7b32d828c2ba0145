import { kernelModule } from '../src/kernel/kernel.js';
import type { Finding } from './fuzzer.js';
import { guardedMemory } from './kernel/guarded-kernel.js';
import type { Target } from './target.js';

export interface ReplayOptions {
  /** Default: the program's own kernel. */
  readonly module?: WebAssembly.Module;
  /** Default: a new one. */
  readonly memory?: WebAssembly.Memory;
  /** Called with each input before it runs. */
  readonly begin?: (input: Uint8Array) => void;
}

/** Runs inputs over a kernel until the target finds a fault. */
export async function replay(
  target: Target,
  inputs: readonly Uint8Array[],
  { module = kernelModule(), memory = guardedMemory(), begin }: ReplayOptions = {},
): Promise<Finding | undefined> {
  const check = target.check({ module, memory });
  for (const input of inputs) {
    begin?.(input);
    try {
      await check(input);
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { input, message: `over the kernel: ${message}` };
    }
  }
  return undefined;
}
