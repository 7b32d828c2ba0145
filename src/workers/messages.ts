/** What the main thread tells the threads of a pool, and what they answer. */

import type { KnownAgent } from '../protocol/known-agent.js';
import type { DivisionRegions, Regions } from './ring/regions.js';

/** An input that threads of the pool read. */
export type Source = FileSource | PipeSource | ZstdSource;

/**
 * The tasks that the main thread gives to a thread of the pool: one task for each thread and run.
 */
export type Task = ComputeTask | ReadTask;

interface RingTask {
  readonly memory: WebAssembly.Memory;
  readonly regions: Regions;
  /** Slots of the ring that this run uses. */
  readonly slots: number;
}

/** A task to judge batches until the input ends. */
export interface ComputeTask extends RingTask {
  readonly role: 'compute';
  readonly module: WebAssembly.Module;
  /** URL of another module with an `instantiateKernel`, for tests. */
  readonly kernel: string | undefined;
  /** Index of the worker among the regions, from 0. */
  readonly worker: number;
  /** Address of the query. */
  readonly query: number;
  /** The memories that hold the table; undefined if the task's own memory holds it. */
  readonly banks: BanksTask | undefined;
  /** How the agents that records name are found; undefined if they name none. */
  readonly agents: AgentsTask | undefined;
  /** The input of the workers; undefined if another thread fills the ring. */
  readonly input: FileSource | PipeSource | undefined;
  /** If the input is a file: its size before the first read. */
  readonly fileBytes: number | undefined;
  /** The descriptor that the workers write to; undefined if the main thread writes. */
  readonly output: number | undefined;
}

/** How a thread finds the agents that records name. */
export interface AgentsTask {
  readonly known: readonly KnownAgent[];
  readonly notation: ValueNotation;
}

/** How values that name agents are written in lines: in JSON strings, in rows, or in logs. */
export type ValueNotation = 'json' | 'rows' | 'log';

/** The banks of a run: memories that hold some shards of the table each. */
export interface BanksTask {
  /** Where batches are divided, in the task's own memory. */
  readonly division: DivisionRegions;
  readonly banks: readonly BankTask[];
}

/** A bank, in which each worker judges its shares of batches. */
export interface BankTask {
  readonly memory: WebAssembly.Memory;
  /** Address of the query. */
  readonly query: number;
  /** Worker `n` has slot `n`. There is no ring. */
  readonly regions: Regions;
  /** Address of the first worker's places (TASK_PLACES), and the distance to the next. */
  readonly places: number;
  readonly placesStride: number;
}

/** A task to read an input to its end, into the ring. */
export interface ReadTask extends RingTask {
  readonly role: 'read';
  readonly input: PipeSource | ZstdSource;
}

/** A regular file. */
interface FileSource {
  readonly kind: 'file';
  readonly descriptor: number;
}

/** A pipe whose reads block. */
export interface PipeSource {
  readonly kind: 'pipe';
  readonly descriptor: number;
  /** The first bytes of the input, read before the run. */
  readonly head: Uint8Array;
}

/** A regular file of zstd data. */
export interface ZstdSource {
  readonly kind: 'zstd';
  readonly descriptor: number;
  /** Where reading begins, and the size of the file when it was opened, in bytes. */
  readonly offset: number;
  readonly bytes: number;
  /** Number of decoded bytes at the start that are no lines: a byte order mark. */
  readonly dropped: number;
  /** The codec, as `loadZstd` gives it. */
  readonly codec: WebAssembly.Module;
  /** The first element is set to the position in the file, as reading goes on. */
  readonly progress: BigInt64Array<SharedArrayBuffer>;
}

/** Why zstd data cannot be decoded to its end: a `ZstdError`. */
export interface ZstdDamage {
  readonly message: string;
  /** What to do, if the error is an `UnsupportedZstdError`. */
  readonly remedy: string | undefined;
  /** Number of bytes that were decoded before. */
  readonly bytes: number;
}

/**
 * The result of a thread's task.
 *
 * - `done`: the input has ended, or no further batch may be taken.
 * - `stopped`: the run was stopped.
 * - `closed`: nobody reads the output any longer.
 * - `refused`: the run is strict and this record is bad; the output ends before this record.
 * - `failed`: a descriptor could not be read or written.
 * - `damaged`: the zstd data is damaged. The lines before the damage are in the ring.
 * - `overrun`: a region of memory was written beyond its end, so any record may be wrong.
 *
 * A task that fails in another way throws.
 */
export type TaskEnd =
  | { readonly end: 'done' | 'stopped' | 'closed' }
  | { readonly end: 'refused'; readonly line: number; readonly reason: number }
  | { readonly end: 'overrun'; readonly message: string }
  | ({ readonly end: 'damaged' } & ZstdDamage)
  | {
      readonly end: 'failed';
      readonly side: 'input' | 'output';
      /** The system's name for the error, such as `ENOSPC`. */
      readonly code: string;
      readonly message: string;
      /** The byte of the input at which reading failed. */
      readonly position: number;
    };

/** Carries out the tasks of runs, on threads of a pool or on the calling thread. */
export interface Executor {
  /** Number of workers that judge at a time. */
  readonly threads: number;
  /** Whether tasks may block, because they run on other threads than the caller's. */
  readonly mayBlock: boolean;
  /** URL of another module with an `instantiateKernel`, for tests. */
  readonly kernel: string | undefined;
  /**
   * Carries out a task. Rejects when the task throws or its thread dies; the task no longer runs
   * then.
   */
  run(task: Task): Promise<TaskEnd>;
  /** Ends the threads. */
  close(): Promise<void>;
}
