import type { BatchJudge } from '../batch-judge.js';
import type { BatchKernel } from '../batch-task.js';
import type { BanksTask, ComputeTask } from '../messages.js';
import type { Ring } from '../ring/ring.js';
import { BankJudge } from './bank-judge.js';
import { DividedBatchJudge } from './divided-batch-judge.js';
import { Division } from './division.js';

/**
 * What judges the batches of a task by a table in several memories. Loaded on demand, because few
 * tables need it.
 *
 * @param bind binds the kernel to a memory
 */
export async function dividedJudge(
  ring: Ring,
  { worker, query, memory }: ComputeTask,
  { division: regions, banks }: BanksTask,
  bind: (memory: WebAssembly.Memory) => Promise<BatchKernel>,
): Promise<BatchJudge> {
  const kernel = await bind(memory);
  const division = new Division({ ring, kernel, worker, query, regions, banks: banks.length });
  const judges: BankJudge[] = [];
  for (const bank of banks) judges.push(new BankJudge(await bind(bank.memory), bank, worker));
  return new DividedBatchJudge(ring, worker, division, judges);
}
