import { kernelModule } from '../src/kernel/module.js';
import type { Finding } from './fuzzer.js';
import { guardedMemory } from './kernel/guarded-kernel.js';
import type { Target } from './target.js';

/**
 * Runs inputs over the program's own kernel until the target finds a fault.
 *
 * @param begin is told each input before it runs
 */
export async function replay(
  target: Target,
  inputs: readonly Uint8Array[],
  begin: (input: Uint8Array) => void = () => {},
): Promise<Finding | undefined> {
  const check = target.check({ module: kernelModule(), memory: guardedMemory() });
  for (const input of inputs) {
    begin(input);
    try {
      await check(input);
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { input, message: `over the kernel: ${message}` };
    }
  }
  return undefined;
}
