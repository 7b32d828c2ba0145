/** The program of a thread that judges batches, or reads an input into the ring. */

import {
  type BatchSource,
  DescriptorBatchSink,
  FileBatchSource,
  RingBatchSink,
  RingBatchSource,
} from './batch-ends.js';
import { type BatchJudge, type BatchKernel, BatchTask, wholeBatchJudge } from './batch-task.js';
import { bindKernel } from './bind-kernel.js';
import { DescriptorError, descriptorEnd } from './descriptor.js';
import type { AgentsTask, ComputeTask, ReadTask, Task, TaskEnd } from './messages.js';
import { PipeProducer, ZstdProducer } from './producer.js';
import type { RegisterIn } from './record-agents.js';
import { blockAddress, GuardError } from './ring/regions.js';
import { Ring } from './ring/ring.js';

/** Maximum seconds for which the main thread keeps its event loop waiting. */
const LONGEST_BLOCK = 0.01;

/**
 * Carries out a task, which lasts as long as its input.
 *
 * @param mayBlock whether the task may block its thread, as in a pool. Otherwise the task yields to
 *   the event loop between batches, and does not read pipes
 */
export default async function work(task: Task, mayBlock = true): Promise<TaskEnd> {
  const ring = new Ring(task.memory, task.regions, task.slots, mayBlock);
  try {
    if (task.role === 'read') return readAll(ring, task.input);
    return await judgeBatches(ring, task, await judgeOf(ring, task));
  } catch (error) {
    if (error instanceof GuardError) return { end: 'overrun', message: error.message };
    if (error instanceof DescriptorError) return descriptorEnd(error);
    throw error;
  }
}

/** What judges the batches of a task. */
async function judgeOf(ring: Ring, task: ComputeTask): Promise<BatchJudge> {
  const bind = (memory: WebAssembly.Memory): Promise<BatchKernel> => bindKernel(task, memory);
  const registerIn = await registers(task.agents);
  if (task.banks !== undefined) {
    const { dividedJudge } = await import('./divided-judge.js');
    return dividedJudge(ring, task, task.banks, { bind, registerIn });
  }
  const { worker, query } = task;
  const { regions } = ring;
  const { buffer: memory } = ring.memory;
  const kernel = await bind(task.memory);
  const register = registerIn(memory, query, blockAddress(regions, worker));
  const own = new BatchTask({ kernel, memory, regions, worker, query, register });
  return wholeBatchJudge(ring, own);
}

/** What opens registers. */
async function registers(agents: AgentsTask | undefined): Promise<RegisterIn> {
  if (agents === undefined) return () => undefined;
  // Loaded on demand, because few runs need it.
  const { AgentRegister } = await import('./record-agents.js');
  return (memory, query, worker) => new AgentRegister(memory, query, worker, agents);
}

async function judgeBatches(ring: Ring, task: ComputeTask, judge: BatchJudge): Promise<TaskEnd> {
  const { worker, output } = task;
  const source = sourceOf(ring, task);
  const sink =
    output === undefined
      ? new RingBatchSink(ring, worker)
      : new DescriptorBatchSink(ring, worker, output);
  // `performance` would take half a millisecond to load.
  let yielded = process.uptime();
  let batch = await source.next();
  while (batch !== undefined) {
    const result = await judge(batch, sink);
    if (result === 'stopped') break;
    if (result !== 'done') return { end: 'refused', ...result };
    // If the workers read and write, the event loop only has to receive signals.
    if (
      !ring.waits.mayBlock &&
      (output === undefined || process.uptime() - yielded > LONGEST_BLOCK)
    ) {
      await new Promise(setImmediate);
      yielded = process.uptime();
    }
    batch = await source.next();
  }
  return { end: ring.stopped ? 'stopped' : 'done' };
}

function sourceOf(ring: Ring, { worker, input, fileBytes }: ComputeTask): BatchSource {
  switch (input?.kind) {
    case 'file':
      return new FileBatchSource(ring, worker, input.descriptor, fileBytes);
    case 'pipe':
      return new RingBatchSource(ring, worker, new PipeProducer(ring, input));
    default:
      return new RingBatchSource(ring, worker);
  }
}

function readAll(ring: Ring, input: ReadTask['input']): TaskEnd {
  if (input.kind === 'zstd') return new ZstdProducer(ring, input).fill();
  const producer = new PipeProducer(ring, input);
  while (producer.fill());
  return { end: ring.stopped ? 'stopped' : 'done' };
}
