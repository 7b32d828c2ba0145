import { threadId, workerData } from 'node:worker_threads';
import type { CachePart } from '../cache/cache.js';
import { type CompiledPart, PartCompiler, type PartCompilerOptions } from './part-compiler.js';

/** A part compiled by a thread; those of one thread build on one another. */
export interface ThreadResult {
  readonly thread: number;
  readonly compiled: CompiledPart;
}

let compiler: PartCompiler | undefined;
let previous: Promise<unknown> = Promise.resolve();

/**
 * What a thread of CompileThreads runs for each part. Parts that come together are compiled one
 * after the other.
 */
export default function compilePart(part: CachePart): Promise<ThreadResult> {
  compiler ??= new PartCompiler(workerData as PartCompilerOptions, true);
  const own = compiler;
  const result = previous.then(() => own.compile(part));
  previous = result.catch(() => {});
  return result.then((compiled) => ({ thread: threadId, compiled }));
}
