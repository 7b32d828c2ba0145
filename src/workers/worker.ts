import { setImmediate } from 'node:timers/promises';
import { instantiateKernel } from '../kernel/kernel.js';
import { BatchJudge, type BatchKernel } from './batch-judge.js';
import { RingDelivery, TurnDelivery } from './delivery.js';
import { DescriptorError, readInto } from './descriptor.js';
import { Filler } from './filler.js';
import { FileIntake, type Intake, RingIntake } from './intake.js';
import type { ComputeTask, ReadTask, Task, TaskEnd } from './messages.js';
import { type Batch, Ring } from './ring.js';

/**
 * Carries out a task, which lasts for the whole of an input.
 *
 * @param mayBlock whether it may block its thread, as those of a pool; else it gives way to the event loop after each batch, and
 *   does not read pipes
 */
export default async function work(task: Task, mayBlock = true): Promise<TaskEnd> {
  const ring = new Ring(task.memory, task.regions, task.slots, mayBlock);
  try {
    if (task.role === 'read') return fillRing(ring, task);
    return await judgeBatches(ring, task, await bindKernel(task));
  } catch (error) {
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
  const { worker, input, output, resume } = task;
  const judge = new BatchJudge(ring, kernel, worker, task.query);
  const intake =
    input === undefined ? new RingIntake(ring, worker) : new FileIntake(ring, worker, input);
  const delivery =
    output === undefined ? new RingDelivery(ring, worker) : new TurnDelivery(ring, worker, output);
  let batch = resume === undefined ? await takeNext(ring, worker, intake) : ring.batch(resume);
  while (batch !== undefined) {
    const result = await judge.judge(batch, delivery);
    if (result === 'stopped') break;
    if (result !== 'done') return { end: 'refused', ...result };
    if (!ring.mayBlock) await setImmediate();
    batch = await takeNext(ring, worker, intake);
  }
  return { end: ring.stopped ? 'stopped' : 'done' };
}

async function takeNext(ring: Ring, worker: number, intake: Intake): Promise<Batch | undefined> {
  if (!ring.lock(worker)) return undefined;
  const batch = await intake.take();
  ring.unlock();
  return batch;
}

function fillRing(ring: Ring, task: ReadTask): TaskEnd {
  const filler = new Filler(ring);
  let head = task.head;
  while (!ring.stopped) {
    const room = filler.room();
    if (room === undefined) {
      ring.wait(filler.awaitedWord, filler.awaitedValue);
      continue;
    }
    let octets: number;
    if (head.length > 0) {
      octets = Math.min(head.length, room.length);
      room.set(head.subarray(0, octets));
      head = head.subarray(octets);
    } else {
      octets = readInto(ring, task.input, room, null);
      if (octets === 0) break;
    }
    filler.accept(octets);
  }
  while (!ring.stopped && !filler.end()) ring.wait(filler.awaitedWord, filler.awaitedValue);
  return { end: ring.stopped ? 'stopped' : 'done' };
}
