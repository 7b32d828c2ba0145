import { threadId, workerData } from 'node:worker_threads';
import type { CachePart } from '../../sources/cache.js';
import { type CompiledPart, PartCompiler, type PartCompilerOptions } from './part-compiler.js';
import {
  type CompiledShard,
  runShardTask,
  type ShardFailure,
  type ShardTask,
} from './shard-compiler.js';

/** A compiled part and its thread. Later parts of a thread refer to earlier ones. */
export interface ThreadResult {
  readonly thread: number;
  readonly compiled: CompiledPart;
}

let compiler: PartCompiler | undefined;
let previous: Promise<unknown> = Promise.resolve();

/**
 * Compiles a part on a thread of CompileThreads, one part at a time, in order of arrival; or a
 * shard, on a thread of pipeline/compile/threads.ts.
 */
export default function compile(
  task: CachePart | ShardTask,
): Promise<ThreadResult | CompiledShard | ShardFailure> {
  return task.kind === 'shard' ? runShardTask(task) : compilePart(task);
}

function compilePart(part: CachePart): Promise<ThreadResult> {
  compiler ??= new PartCompiler(workerData as PartCompilerOptions, true);
  const own = compiler;
  const result = previous.then(() => own.compile(part));
  previous = result.catch(() => {});
  return result.then((compiled) => ({ thread: threadId, compiled }));
}
