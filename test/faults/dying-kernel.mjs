/**
 * The fake kernel in a thread that dies on schedule: it exits or throws at the moment that the plan
 * names. The production code knows nothing of it. The plan lies in the first page of memory, which
 * flows of tests leave alone:
 *
 *      1024  i32  READ      the thread exits at this read of the input, counted from 1; 0 = never
 *      1028  i32  READ_AFTER   1 = after the read, 0 = before it
 *      1032  i32  WRITE     the thread exits at this write of the output
 *      1036  i32  WRITE_BYTES  after so many bytes of it
 *      1040  i32  WAIT      1 = a thread that has to wait for its batch's turn throws, and judges
 *                           the line SIGNAL; 2 = it throws, and leaves that to the test
 *      1044  i32  STEP      the thread throws at this step in shared memory
 *      1048  i32  STEPS     steps taken so far
 *      1052  i32  DEATHS    threads that have died
 *      1056                 words of the fake kernel
 *      1072  i32  READS     reads so far
 *      1076  i32  WRITES    writes so far
 *      1080  i32  GOOD      reads that succeed before one fails with EIO; 0 = all do
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { instantiateKernel as instantiateFakeKernel } from '../workers/fake-kernel.mjs';
import layout from '../workers/layout.mjs';

const PLAN = 1024;
const PLAN_WORDS = 15;
const READ = 0;
const READ_AFTER = 1;
const WRITE = 2;
const WRITE_BYTES = 3;
const WAIT = 4;
const STEP = 5;
const STEPS = 6;
const DEATHS = 7;
const READS = 12;
const WRITES = 13;
const GOOD = 14;

/** The word of the fake kernel that says that the line SIGNAL has been judged. */
const SIGNALLED = 265;

const { add, load, notify, store } = Atomics;
/** The memory of the current task. */
let buffer;
let plan;
/** The kernel asked for its batch's turn. */
let awaitsTurn = false;

function exit() {
  add(plan, DEATHS, 1);
  process.exit(7);
}

function fail(message) {
  add(plan, DEATHS, 1);
  throw new Error(message);
}

for (const name of ['store', 'exchange', 'compareExchange', 'add', 'and', 'notify', 'wait']) {
  const original = Atomics[name];
  Atomics[name] = (array, ...rest) => {
    if (array.buffer !== buffer) return original(array, ...rest);
    if (name === 'wait' && awaitsTurn && load(plan, WAIT) > 0) {
      const words = new Int32Array(buffer);
      if (load(plan, WAIT) === 1) {
        store(words, SIGNALLED, 1);
        notify(words, SIGNALLED);
      }
      fail('waited on purpose');
    }
    const step = add(plan, STEPS, 1) + 1;
    if (step === load(plan, STEP)) fail(`died at step ${step}`);
    return original(array, ...rest);
  };
}

const { readSync, writeSync } = fs;
fs.readSync = (...call) => {
  if (buffer === undefined) return readSync(...call);
  const mine = add(plan, READS, 1) + 1 === load(plan, READ);
  if (mine && load(plan, READ_AFTER) === 0) exit();
  if (load(plan, GOOD) > 0 && add(plan, GOOD, -1) === 1) {
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  }
  const bytes = readSync(...call);
  if (mine) exit();
  return bytes;
};
fs.writeSync = (descriptor, bytes, offset, length, ...rest) => {
  if (buffer === undefined || add(plan, WRITES, 1) + 1 !== load(plan, WRITE)) {
    return writeSync(descriptor, bytes, offset, length, ...rest);
  }
  writeSync(descriptor, bytes, offset, Math.min(length, load(plan, WRITE_BYTES)), ...rest);
  return exit();
};
syncBuiltinESMExports();

export function instantiateKernel(module, memory) {
  const kernel = instantiateFakeKernel(module, memory);
  buffer = memory.buffer;
  plan = new Int32Array(buffer, PLAN, PLAN_WORDS);
  awaitsTurn = false;
  return {
    run(task) {
      const result = kernel.run(task);
      awaitsTurn = result !== layout.RUN_DONE;
      return result;
    },
  };
}
