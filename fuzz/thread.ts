import { parentPort, workerData } from 'node:worker_threads';
import { KernelCoverage } from './coverage/counters.js';
import { ScriptCoverage } from './coverage/script.js';
import { FIRST_SCRIPT_FEATURE, type Finding, Fuzzer } from './fuzzer.js';
import { guardedMemory } from './kernel/guarded-kernel.js';
import type { FromThread, ThreadTask } from './messages.js';
import { replay } from './replay.js';
import type { Target } from './target.js';
import { Watch } from './watch.js';

/** The thread that runs a target; session.ts watches it. */
const task = workerData as ThreadTask;
/** The coverage of a replay, which measures none. */
const NOTHING = { edges: 0, counts: 0, blocks: 0 };
const watch = new Watch(task.watched);
const { target } = (await import(task.targetUrl)) as { target: Target };

if (task.kind === 'replay') await replayAll(task.inputs);
else await fuzz(task);

function say(message: FromThread): void {
  parentPort?.postMessage(message);
}

/** Runs inputs over the program's own kernel, watched, until the target finds a fault. */
function watchedReplay(inputs: readonly Uint8Array[]): Promise<Finding | undefined> {
  return replay(target, inputs, { begin: (input) => watch.begin(input) });
}

async function replayAll(inputs: readonly Uint8Array[]): Promise<void> {
  const finding = await watchedReplay(inputs);
  if (finding !== undefined) say({ kind: 'finding', finding });
  else say({ kind: 'done', runs: inputs.length, reached: NOTHING, inputs: [] });
}

/**
 * Runs ever new inputs with the instrumented kernel; then the smallest set with the same coverage
 * with the program's own kernel.
 */
async function fuzz({ kernel, inputs, limits }: ThreadTask & { kind: 'fuzz' }): Promise<void> {
  const memory = guardedMemory();
  const module = new WebAssembly.Module(kernel.bytes as Uint8Array<ArrayBuffer>);
  const scripts = new ScriptCoverage(task.covered, FIRST_SCRIPT_FEATURE);
  const coverage = { kernel: new KernelCoverage(memory, kernel.probes), scripts };
  const fuzzer = new Fuzzer(target, target.check({ module, memory }), coverage, watch);
  let next = performance.now();
  let finding = await fuzzer.fuzz(inputs, limits, (progress) => {
    if (performance.now() < next) return;
    next = performance.now() + 1000;
    say({ kind: 'progress', progress });
  });
  const { runs, reached } = fuzzer.progress;
  const kept = finding === undefined ? await fuzzer.smallCorpus() : [];
  finding ??= await watchedReplay(kept);
  if (finding !== undefined) say({ kind: 'finding', finding });
  else say({ kind: 'done', runs, reached, inputs: kept });
  scripts.close();
}
