import { instantiateKernel } from '../kernel/kernel.js';
import type { BatchKernel } from './batch-task.js';
import type { ComputeTask } from './messages.js';

/**
 * Binds the kernel to a memory of a task; in tests another kernel, which the task names. On the
 * calling thread a build has only the kernel: see build/bundleable.ts.
 */
export async function bindKernel(
  task: ComputeTask,
  memory: WebAssembly.Memory,
): Promise<BatchKernel> {
  if (task.kernel === undefined) return instantiateKernel(task.module, memory);
  const other: {
    instantiateKernel: (module: WebAssembly.Module, memory: WebAssembly.Memory) => BatchKernel;
  } = await import(task.kernel);
  return other.instantiateKernel(task.module, memory);
}
