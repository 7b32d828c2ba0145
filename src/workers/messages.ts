import type { Regions } from './regions.js';

/** What the main thread sends to a thread of the pool: one task for each thread and run. */
export type Task = ComputeTask | ReadTask;

interface RingTask {
  readonly memory: WebAssembly.Memory;
  readonly regions: Regions;
  /** Slots of the ring that this run uses. */
  readonly slots: number;
}

/** Judge batches until the input ends. */
export interface ComputeTask extends RingTask {
  readonly role: 'compute';
  readonly module: WebAssembly.Module;
  /** URL of the module that instantiates the kernel, where it is not the usual one. */
  readonly kernel: string | undefined;
  /** Which of the regions' workers this is, from 0. */
  readonly worker: number;
  /** Address of the query. */
  readonly query: number;
  /** The slot whose batch is to be judged first, since a thread has died over it. */
  readonly resume: number | undefined;
  /** What the workers read themselves; otherwise the ring is filled by another thread. */
  readonly input: FileSource | PipeSource | undefined;
  /** Where that is a file, the octets that it had before the first read. */
  readonly fileOctets: number | undefined;
  /**
   * Descriptor to which the workers write themselves; otherwise the main thread empties the ring.
   */
  readonly output: number | undefined;
}

/** Read a pipe to its end, into the ring. */
export interface ReadTask extends RingTask {
  readonly role: 'read';
  readonly input: PipeSource;
}

/** A regular file. */
export interface FileSource {
  readonly kind: 'file';
  readonly descriptor: number;
}

/** A pipe whose reads block. */
export interface PipeSource {
  readonly kind: 'pipe';
  readonly descriptor: number;
  /** What has been read of it before: the first octets of the input. */
  readonly head: Uint8Array;
}

/**
 * How a thread's task ended.
 *
 * - `done`: the input has ended.
 * - `stopped`: the run was stopped from without.
 * - `closed`: nobody reads the output any more.
 * - `refused`: the run is strict, and this record is bad; the output ends before it.
 * - `failed`: a descriptor could not be read or written.
 * - `overrun`: a region of memory was written beyond its end, so no record is certain any more.
 *
 * A task that fails otherwise throws.
 */
export type TaskEnd =
  | { readonly end: 'done' | 'stopped' | 'closed' }
  | { readonly end: 'refused'; readonly line: number; readonly reason: number }
  | { readonly end: 'overrun'; readonly message: string }
  | {
      readonly end: 'failed';
      readonly side: 'input' | 'output';
      /** As the system names it: `ENOSPC`. */
      readonly code: string;
      readonly message: string;
      /** Where in the input reading failed, in octets. */
      readonly position: number;
    };
