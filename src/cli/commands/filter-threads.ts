import { hasWorkingDirectory } from '../../files/working-directory.js';
import type { Executor } from '../../workers/executor.js';
import { MainThread } from '../../workers/main-thread.js';
import type { InputSurvey } from './input-survey.js';

/**
 * Greatest product of input bytes and agents for which the main thread judges
 * alone. Beyond that, threads save more time than they take to start and to end.
 */
const MAIN_THREAD_BYTES = 24 * 1024 * 1024;

/** The facts that decide which threads judge. */
export interface Workload {
  /** Bytes of all inputs, after decompression as far as can be estimated; undefined if unknown. */
  readonly bytes: number | undefined;
  readonly agents: number;
  readonly isOutputNonBlocking: InputSurvey['isOutputNonBlocking'];
  readonly hasPipe: InputSurvey['hasPipe'];
  /** The value of `--threads`. */
  readonly threads: number | undefined;
  readonly cores: number;
}

/**
 * Starts the executor of a run: the main thread if there is little to do, or if no other thread can
 * start; otherwise threads.
 */
export async function startExecutor(workload: Workload): Promise<Executor> {
  const { bytes, agents, isOutputNonBlocking, hasPipe, threads = workload.cores } = workload;
  const isSmall = bytes !== undefined && bytes * agents <= MAIN_THREAD_BYTES;
  if ((workload.threads === undefined && isSmall) || !hasWorkingDirectory()) {
    return new MainThread();
  }
  const { JointPool } = await import('../../workers/joint-pool.js');
  const { Pool } = await import('../../workers/pool.js');
  // Flow describes who reads and writes in each case.
  if (bytes !== undefined && isOutputNonBlocking) return new JointPool({ threads });
  const reader = hasPipe && bytes === undefined && (threads === 1 || !isOutputNonBlocking);
  return new Pool({ threads, reader });
}
