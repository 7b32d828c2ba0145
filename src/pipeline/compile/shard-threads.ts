import { RobotsFilterError } from '../../errors.js';
import { entryFile } from '../../workers/entry-file.js';
import { ThreadQueue } from '../../workers/thread-queue.js';
import type { CompiledShard, ShardFailure, ShardTask } from './shard-compiler.js';

/**
 * Compiles shards on threads, one shard on each at a time.
 *
 * @throws RobotsFilterError that of the first shard that fails; `worker` if a thread dies
 */
export async function compileOnThreads(
  tasks: readonly ShardTask[],
  threads: number,
  signal: AbortSignal,
): Promise<CompiledShard[]> {
  const queue = new ThreadQueue<ShardTask, CompiledShard | ShardFailure>(threads, {
    file: entryFile('compile'),
  });
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
  try {
    const compiled = tasks.map(async (task) => resultOf(await queue.run(task)));
    return await Promise.race([Promise.all(compiled), aborted]);
  } catch (cause) {
    if (cause instanceof RobotsFilterError || signal.aborted) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RobotsFilterError(
      'worker',
      `a compiling thread failed: ${reason}. If memory ran out, use more shards or fewer --threads; otherwise this is an error in robots-filter: please report it with the robots.txt files at hand`,
      { cause },
    );
  } finally {
    await queue.close();
  }
}

function resultOf(result: CompiledShard | ShardFailure): CompiledShard {
  if (!('failure' in result)) return result;
  throw new RobotsFilterError(result.failure.code, result.failure.message);
}
