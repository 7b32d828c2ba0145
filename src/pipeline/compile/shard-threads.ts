import { RobotsFilterError } from '../../errors.js';
import { entryFile } from '../../workers/entry-file.js';
import { loadPiscina } from '../../workers/piscina.js';
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
  const Piscina = loadPiscina();
  const piscina = new Piscina<ShardTask, CompiledShard | ShardFailure>({
    filename: entryFile('compile') ?? null,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
  });
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      if (signal.aborted) reject(signal.reason);
      // A thread that dies while it starts takes its task with it: the task would wait for ever.
      piscina.on('error', reject);
      piscina.on('workerDestroy', () =>
        setImmediate(() => reject(new Error('a thread has ended'))),
      );
      Promise.all(tasks.map(async (task) => resultOf(await piscina.run(task)))).then(
        resolve,
        reject,
      );
    });
  } catch (cause) {
    if (cause instanceof RobotsFilterError || signal.aborted) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RobotsFilterError(
      'worker',
      `a compiling thread failed: ${reason}. If memory ran out, use more shards or fewer --threads; otherwise this is an error in robots-filter: please report it with the robots.txt files at hand`,
      { cause },
    );
  } finally {
    await piscina.destroy();
  }
}

function resultOf(result: CompiledShard | ShardFailure): CompiledShard {
  if (!('failure' in result)) return result;
  throw new RobotsFilterError(result.failure.code, result.failure.message);
}
