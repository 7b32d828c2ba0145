import { setImmediate } from 'node:timers/promises';
import { instantiateKernel } from '../kernel/kernel.js';
import { BatchJudge, type BatchKernel } from './batch-judge.js';
import { RingDelivery, TurnDelivery } from './delivery.js';
import { DescriptorError } from './descriptor.js';
import { GuardError } from './guards.js';
import { FileIntake, type Intake, RingIntake } from './intake.js';
import type { ComputeTask, PipeSource, Task, TaskEnd } from './messages.js';
import { PipeFiller } from './pipe-filler.js';
import { Ring } from './ring.js';

/** Milliseconds for which the event loop of the main thread may stand still. */
const TURN = 10;

/**
 * Carries out a task, which lasts for the whole of an input.
 *
 * @param mayBlock whether it may block its thread, as those of a pool; else it gives way to the
 *   event loop after each batch, and does not read pipes
 */
export default async function work(task: Task, mayBlock = true): Promise<TaskEnd> {
  const ring = new Ring(task.memory, task.regions, task.slots, mayBlock);
  try {
    if (task.role === 'read') return fillRing(ring, task.input);
    return await judgeBatches(ring, task, await bindKernel(task));
  } catch (error) {
    if (error instanceof GuardError) return { end: 'overrun', message: error.message };
    if (!(error instanceof DescriptorError)) throw error;
    const { side, code, message, position } = error;
    if (side === 'output' && code === 'EPIPE') return { end: 'closed' };
    return { end: 'failed', side, code, message, position };
  }
}

async function bindKernel(task: ComputeTask): Promise<BatchKernel> {
  if (task.kernel === undefined) return instantiateKernel(task.module, task.memory);
  const other: {
    instantiateKernel: (module: WebAssembly.Module, memory: WebAssembly.Memory) => BatchKernel;
  } = await import(task.kernel);
  return other.instantiateKernel(task.module, task.memory);
}

async function judgeBatches(ring: Ring, task: ComputeTask, kernel: BatchKernel): Promise<TaskEnd> {
  const { worker, output, resume } = task;
  const judge = new BatchJudge(ring, kernel, worker, task.query);
  const intake = intakeOf(ring, task);
  const delivery =
    output === undefined ? new RingDelivery(ring, worker) : new TurnDelivery(ring, worker, output);
  if (resume === undefined) delivery.begin();
  let yielded = performance.now();
  let batch = resume === undefined ? await intake.next() : ring.batch(resume);
  while (batch !== undefined) {
    const result = await judge.judge(batch, delivery);
    if (result === 'stopped') break;
    if (result !== 'done') return { end: 'refused', ...result };
    // Where workers read and write, nothing else is to be done on the main thread but to hear
    // signals.
    if (!ring.mayBlock && (output === undefined || performance.now() - yielded > TURN)) {
      await setImmediate();
      yielded = performance.now();
    }
    batch = await intake.next();
  }
  return { end: ring.stopped ? 'stopped' : 'done' };
}

function intakeOf(ring: Ring, { worker, input, fileOctets }: ComputeTask): Intake {
  switch (input?.kind) {
    case 'file':
      return new FileIntake(ring, worker, input.descriptor, fileOctets);
    case 'pipe':
      return new RingIntake(ring, worker, new PipeFiller(ring, input));
    default:
      return new RingIntake(ring, worker);
  }
}

function fillRing(ring: Ring, input: PipeSource): TaskEnd {
  const filler = new PipeFiller(ring, input);
  while (filler.fill());
  return { end: ring.stopped ? 'stopped' : 'done' };
}
