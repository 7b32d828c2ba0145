import {
  TASK_FLAGS,
  TASK_INPUT,
  TASK_INPUT_END,
  TASK_LINES,
  TASK_OUTPUT,
  TASK_OUTPUT_END,
  TASK_PLACES,
  TASK_QUERY,
  TASK_SCRATCH,
  TASK_SCRATCH_END,
  TASK_WORKER,
} from './layout.js';

/** Addresses of all blocks that the kernel needs for a batch; layout.ts has the sizes. */
export interface TaskAddresses {
  readonly query: number;
  readonly worker: number;
  readonly scratch: number;
  readonly scratchEnd: number;
  readonly input: number;
  readonly inputEnd: number;
  readonly output: number;
  readonly outputEnd: number;
  /** Default: the input is the whole batch. */
  readonly places?: number;
}

/**
 * Writes the task of a batch, before its first line is done.
 *
 * @param words the words of the task block
 * @param flags TASK_LINE_BASE_KNOWN, TASK_OVERLONG
 */
export function writeTask(
  words: Int32Array | Uint32Array,
  addresses: TaskAddresses,
  flags: number,
): void {
  words[TASK_QUERY / 4] = addresses.query;
  words[TASK_WORKER / 4] = addresses.worker;
  words[TASK_SCRATCH / 4] = addresses.scratch;
  words[TASK_SCRATCH_END / 4] = addresses.scratchEnd;
  words[TASK_INPUT / 4] = addresses.input;
  words[TASK_INPUT_END / 4] = addresses.inputEnd;
  words[TASK_OUTPUT / 4] = addresses.output;
  words[TASK_OUTPUT_END / 4] = addresses.outputEnd;
  words[TASK_PLACES / 4] = addresses.places ?? 0;
  words[TASK_LINES / 4] = 0;
  words[TASK_FLAGS / 4] = flags;
}
