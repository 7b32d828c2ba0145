/**
 * The fake kernel in a thread that dies on order. Every step that the thread takes in shared memory
 * or in a descriptor is counted, over all threads, and at the steps that the plan names it dies,
 * before or behind the step. The production code knows nothing of it. The plan lies in the first
 * page of memory, which flows of tests leave alone:
 *
 *      1024  i32  STEPS     steps taken so far
 *      1028  i32  FIRST     the step at which a thread dies
 *      1032  i32  SECOND    the step at which another dies
 *      1036  i32  MANNER    0 = it throws, 1 = it exits; in a read or write it always exits
 *      1040  i32  MOST      octets that a write takes at a time, 0 = all
 *      1044  i32  DEATHS
 *      1048  i32  GOOD      reads of the file that succeed before one fails with EIO, 0 = all do
 *      1052  i32  HEIR      the step, counted from its own first, at which the thread dies that
 *                           came in place of the first dead one
 *      1056       two words of the fake kernel
 *      1064  i32  THREADS   of the run
 *      1068  i32  COME      threads that have begun a task: from THREADS on they came in place of
 *                           others
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { instantiateKernel as instantiateFakeKernel } from '../workers/fake-kernel.mjs';
import { Schedule } from './schedule.mjs';

const STEPS = 0;
const FIRST = 1;
const SECOND = 2;
const MANNER = 3;
const MOST = 4;
const DEATHS = 5;
const GOOD = 6;
const HEIR = 7;
const THREADS = 10;
const COME = 11;

const { add, load } = Atomics;
/** The memory of the task at hand. */
let buffer;
let plan;
let schedule;
/** The thread came in place of the first that died, and has taken so many steps. */
let isHeir = false;
let own = 0;

/** A wait with a shorter bound than the ring's longest may end at any time. */
const UNBOUNDED = 1000;

/** Takes a step, which may be the last. */
function step(exits = false) {
  schedule.step();
  const steps = add(plan, STEPS, 1) + 1;
  const asHeir = isHeir && ++own === load(plan, HEIR);
  if (steps !== load(plan, FIRST) && steps !== load(plan, SECOND) && !asHeir) return;
  add(plan, DEATHS, 1);
  schedule.die();
  if (exits || load(plan, MANNER) === 1) process.exit(7);
  throw new Error(`died at step ${steps}`);
}

for (const name of ['store', 'exchange', 'compareExchange', 'add', 'and', 'notify', 'wait']) {
  const original = Atomics[name];
  Atomics[name] = (array, ...rest) => {
    if (array.buffer !== buffer) {
      // The thread may be about to wait for its next task.
      schedule?.leave();
      return original(array, ...rest);
    }
    step();
    const result = carryOut(name, original, array, rest);
    step();
    return result;
  };
}

function carryOut(name, original, array, rest) {
  if (!schedule.isOn) return original(array, ...rest);
  if (name === 'notify') schedule.notify(array, ...rest);
  if (name !== 'wait') return original(array, ...rest);
  const [index, value, milliseconds] = rest;
  if (load(array, index) !== value) return 'not-equal';
  return milliseconds < UNBOUNDED ? 'timed-out' : schedule.wait(array, index, value);
}

const { readSync, writeSync } = fs;
fs.readSync = (...call) => {
  // A thread that does nothing but read a pipe takes no steps. It may have judged in a run before;
  // it gives no position.
  if (buffer === undefined || call.at(-1) === null) {
    schedule?.leave();
    return readSync(...call);
  }
  step(true);
  if (load(plan, GOOD) > 0 && add(plan, GOOD, -1) === 1) {
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  }
  const octets = readSync(...call);
  step(true);
  return octets;
};
fs.writeSync = (descriptor, octets, offset, length, ...rest) => {
  if (buffer === undefined) return writeSync(descriptor, octets, offset, length, ...rest);
  step(true);
  const most = load(plan, MOST);
  const part = most === 0 ? length : Math.min(length, most);
  const written = writeSync(descriptor, octets, offset, part, ...rest);
  step(true);
  return written;
};
syncBuiltinESMExports();

export function instantiateKernel(module, memory) {
  const kernel = instantiateFakeKernel(module, memory);
  buffer = memory.buffer;
  plan = new Int32Array(buffer, 1024, 12);
  isHeir = add(plan, COME, 1) >= load(plan, THREADS) && load(plan, DEATHS) === 1;
  own = 0;
  schedule = new Schedule(buffer);
  schedule.come();
  return {
    run(task) {
      step();
      const result = kernel.run(task);
      step();
      return result;
    },
  };
}
