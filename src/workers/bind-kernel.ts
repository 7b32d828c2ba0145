import { instantiateKernel } from '../kernel/kernel.js';
import type { BatchKernel } from './batch-judge.js';
import type { ComputeTask } from './messages.js';

/**
 * Binds the kernel to the memory of a task; in tests another kernel, which the task names. The
 * build for bundlers has only the kernel: see rolldown.config.ts.
 */
export async function bindKernel(task: ComputeTask): Promise<BatchKernel> {
  if (task.kernel === undefined) return instantiateKernel(task.module, task.memory);
  const other: {
    instantiateKernel: (module: WebAssembly.Module, memory: WebAssembly.Memory) => BatchKernel;
  } = await import(task.kernel);
  return other.instantiateKernel(task.module, task.memory);
}
