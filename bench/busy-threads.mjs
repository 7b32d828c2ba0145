/**
 * `busy-threads.mjs N`: N threads at the same arithmetic at once, chains of additions that wait for nothing but a free unit of the core. Prints the
 * time of the slowest as JSON, without the start of Node and of the threads. Two of them take as long as one where each has a core,
 * and up to twice as long where they share one with each other, or with whatever else runs on it.
 */
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const STEPS = 3e8;
const WARM_UP = 1e7;

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
  let sum = add(WARM_UP) + add(WARM_UP);
  parentPort.on('message', () => {
    const start = process.hrtime.bigint();
    sum += add(STEPS);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    parentPort.postMessage(Number.isNaN(sum) ? sum : seconds); // a sum that nobody needs would not be worked out
  });
  parentPort.postMessage(0);
}

function add(steps) {
  let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6];
  for (let step = 0; step < steps; step++) {
    a = (a + step) ^ 7;
    b = (b + step) ^ 9;
    c = (c + step) ^ 3;
    d = (d + step) ^ 5;
    e = (e + step) ^ 1;
    f = (f + step) ^ 2;
  }
  return a ^ b ^ c ^ d ^ e ^ f;
}
