/**
 * `busy-threads.mjs N`: N threads do the same arithmetic at once and wait only for a free unit of
 * their core. Prints the time of the slowest as JSON, without the start of Node and of the threads.
 * Two threads take as long as one if each has a core, and up to twice as long if they share a core
 * with each other or with another program.
 */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** One call takes about 10 ms, so a call soon runs in optimized code. */
const STEPS = 1e7;
const CALLS = 30;
const WARM_UP_CALLS = 10;

if (isMainThread) await race(Number(process.argv[2]));
else work();

async function race(threads) {
  if (!(threads >= 1)) throw new Error('usage: busy-threads.mjs THREADS');
  const workers = Array.from({ length: threads }, () => new Worker(new URL(import.meta.url)));
  await Promise.all(workers.map(answer));
  const seconds = await Promise.all(
    workers.map((worker) => {
      worker.postMessage('go');
      return answer(worker);
    }),
  );
  await Promise.all(workers.map((worker) => worker.terminate()));
  process.stdout.write(JSON.stringify({ seconds: Math.max(...seconds) }));
}

function answer(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

function work() {
  let sum = add(WARM_UP_CALLS);
  parentPort.on('message', () => {
    const start = process.hrtime.bigint();
    sum += add(CALLS);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    // Using the sum keeps V8 from dropping the loop.
    parentPort.postMessage(Number.isNaN(sum) ? sum : seconds);
  });
  parentPort.postMessage(0);
}

function add(calls) {
  let sum = 0;
  for (let call = 0; call < calls; call++) sum += addOnce();
  return sum;
}

/** Adds in 32-bit integers, so that no value changes its representation while it is timed. */
function addOnce() {
  let a = 1;
  let b = 2;
  let c = 3;
  let d = 4;
  let e = 5;
  let f = 6;
  for (let step = 0; step < STEPS; step++) {
    a = (((a + step) | 0) ^ 7) | 0;
    b = (((b + step) | 0) ^ 9) | 0;
    c = (((c + step) | 0) ^ 3) | 0;
    d = (((d + step) | 0) ^ 5) | 0;
    e = (((e + step) | 0) ^ 1) | 0;
    f = (((f + step) | 0) ^ 2) | 0;
  }
  return a ^ b ^ c ^ d ^ e ^ f;
}
