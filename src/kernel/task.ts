/** Runs the kernel over a batch, call by call, until all of its lines are judged. */

import type { Kernel } from './kernel.js';
import {
  RUN_BAD_RECORD,
  RUN_DONE,
  TASK_BYTES,
  TASK_FLAGS,
  TASK_INPUT,
  TASK_INPUT_END,
  TASK_LINE_BASE,
  TASK_LINE_BASE_KNOWN,
  TASK_LINES,
  TASK_OUTPUT,
  TASK_OUTPUT_END,
  TASK_PLACES,
  TASK_QUERY,
  TASK_RESUMED,
  TASK_SCRATCH,
  TASK_SCRATCH_END,
  TASK_WORKER,
} from './layout.js';

/** Addresses of all blocks that the kernel needs for a batch; kernel/layout.ts has the sizes. */
export interface TaskAddresses {
  readonly query: number;
  readonly worker: number;
  readonly scratch: number;
  readonly scratchEnd: number;
  readonly input: number;
  readonly inputEnd: number;
  readonly output: number;
  readonly outputEnd: number;
  /** The places of the lines. Default: 0, the input is the whole batch. */
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

/** Runs the kernel over one batch after another, in one memory. */
export class KernelTask {
  /** The words of the task block. */
  readonly words: Int32Array<SharedArrayBuffer>;
  /** Address of the output of the batch. */
  output = 0;
  readonly #kernel: Pick<Kernel, 'run'>;
  readonly #address: number;
  readonly #lineBase: BigInt64Array<SharedArrayBuffer>;
  #idle = 0;

  /** @param address the task block: TASK_BYTES */
  constructor(kernel: Pick<Kernel, 'run'>, memory: SharedArrayBuffer, address: number) {
    this.#kernel = kernel;
    this.#address = address;
    this.words = new Int32Array(memory, address, TASK_BYTES / 4);
    this.#lineBase = new BigInt64Array(memory, address + TASK_LINE_BASE, 1);
  }

  /** Begins a batch. */
  start(addresses: TaskAddresses, flags = 0): void {
    this.output = addresses.output;
    this.#idle = 0;
    writeTask(this.words, addresses, flags);
  }

  /**
   * Judges lines until the batch ends or something is needed; returns RUN_… of kernel/layout.ts.
   *
   * A loop around it ends, because each call judges lines. The exceptions are the last call, one
   * call that asks for the line base, one call that needs its output emptied, one call that needs
   * room for counters of rules, and one call that needs an agent. Any further call without progress
   * is an error.
   *
   * @param resumes whether the bad records of the call before stay listed
   */
  run(resumes = false): number {
    const input = this.words[TASK_INPUT / 4];
    const flags = (this.words[TASK_FLAGS / 4] as number) & ~TASK_RESUMED;
    this.words[TASK_FLAGS / 4] = resumes ? flags | TASK_RESUMED : flags;
    const result = this.#kernel.run(this.#address);
    if (result !== RUN_DONE && result !== RUN_BAD_RECORD) {
      this.#idle = input === this.words[TASK_INPUT / 4] ? this.#idle + 1 : 0;
      if (this.#idle > 4) {
        throw new Error(`the kernel makes no progress on a batch (result ${result})`);
      }
    }
    return result;
  }

  /** Lines of the batch that are done. */
  get lines(): number {
    return this.words[TASK_LINES / 4] as number;
  }

  /** Bytes of output since it was emptied. */
  get outputBytes(): number {
    return ((this.words[TASK_OUTPUT / 4] as number) - this.output) >>> 0;
  }

  /** Lets the next output begin where the first began. */
  emptyOutput(): void {
    this.words[TASK_OUTPUT / 4] = this.output;
  }

  /** @param lines lines of the input before the batch */
  setLineBase(lines: number): void {
    this.#lineBase[0] = BigInt(lines);
    this.words[TASK_FLAGS / 4] = (this.words[TASK_FLAGS / 4] as number) | TASK_LINE_BASE_KNOWN;
  }
}
