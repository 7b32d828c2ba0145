import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TableBuilder } from '../../src/compile/table-builder.js';

import { Arena, type Kernel, scratchBytes } from '../../src/kernel/kernel.js';
import {
  MARGIN,
  OUTCOMES,
  RUN_DONE,
  RUN_OUTPUT_FULL,
  TASK_BYTES,
  TASK_LINES,
  TASK_OUTPUT,
  WORKER_TALLY,
} from '../../src/kernel/layout.js';
import { encodeQuery, queryBytes, rememberedBytes } from '../../src/kernel/query.js';
import { DEFAULT_SETTINGS, type QuerySettings } from '../../src/kernel/query-settings.js';
import { type TaskAddresses, writeTask } from '../../src/kernel/task.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { BUCKET_SLOTS, HEADER_BUCKETS } from '../../src/table/format.js';
import type { ShardView } from '../../src/view/shard-view.js';

/** Bytes of input in a call, as in a run of the command line. */
const BATCH_BYTES = 1 << 20;
/** Address of the table. */
export const TABLE_ADDRESS = 1024;

/** Calls a kernel as a worker does, with the memory regions for one query. */
export class KernelCaller {
  readonly #bytes: Uint8Array;
  readonly #task: Uint32Array;
  readonly #taskAddress: number;
  readonly #worker: { address: number; bytes: number };
  readonly #addresses: Omit<TaskAddresses, 'inputEnd'>;

  /** @param memory holds the table at TABLE_ADDRESS */
  constructor(memory: WebAssembly.Memory, view: ShardView, changed: Partial<QuerySettings>) {
    const settings: QuerySettings = {
      ...DEFAULT_SETTINGS,
      agents: [{ name: 'ExampleBot', chain: ['examplebot'] }],
      ...changed,
    };
    const arena = new Arena(memory);
    const block = arena.take(queryBytes(settings));
    const words = rememberedBytes(settings, BUCKET_SLOTS * view.reader.u32(HEADER_BUCKETS));
    const remembered = words === 0 ? 0 : arena.take(words).address;
    const { query, bytes } = encodeQuery(
      { ...settings, remembered },
      block.address,
      TABLE_ADDRESS,
      (token) => view.tokenNumber(token),
    );
    const task = arena.take(TASK_BYTES);
    const scratch = arena.take(scratchBytes(BATCH_BYTES));
    const output = arena.take(4 * BATCH_BYTES + query.lineOverhead + 2 * MARGIN);
    this.#worker = { address: arena.take(query.workerBytes).address, bytes: query.workerBytes };
    this.#taskAddress = task.address;
    this.#addresses = {
      query: query.address,
      worker: this.#worker.address,
      scratch: scratch.address,
      scratchEnd: scratch.address + scratch.bytes,
      input: arena.take(BATCH_BYTES + MARGIN).address,
      output: output.address,
      outputEnd: output.address + output.bytes - MARGIN,
    };
    this.#bytes = new Uint8Array(memory.buffer); // after the arena's last growth
    this.#bytes.set(bytes, block.address);
    this.#task = new Uint32Array(memory.buffer, task.address, TASK_BYTES / 4);
    this.#task.fill(0);
  }

  /** Judges all lines. The time is the CPU time of the kernel's calls. */
  run(kernel: Kernel, input: Uint8Array): { nanoseconds: number; lines: number; tally: string } {
    const { address, bytes } = this.#worker;
    this.#bytes.fill(0, address, address + bytes);
    let microseconds = 0;
    let lines = 0;
    for (const batch of wholeLines(input, BATCH_BYTES)) {
      this.#bytes.set(batch, this.#addresses.input);
      const inputEnd = this.#addresses.input + batch.length;
      writeTask(this.#task, { ...this.#addresses, inputEnd }, 0);
      const before = process.cpuUsage();
      let result: number;
      do {
        this.#task[TASK_OUTPUT / 4] = this.#addresses.output;
        result = kernel.run(this.#taskAddress);
      } while (result === RUN_OUTPUT_FULL);
      const { user, system } = process.cpuUsage(before);
      if (result !== RUN_DONE) throw new Error(`the kernel stopped with ${result}`);
      microseconds += user + system;
      lines += this.#task[TASK_LINES / 4] ?? 0;
    }
    const tally = this.#bytes.slice(address + WORKER_TALLY, address + WORKER_TALLY + 8 * OUTCOMES);
    return { nanoseconds: microseconds * 1000, lines, tally: tally.toString() };
  }
}

/** The table of a directory of robots.txt files named for their hosts. */
export function tableOf(directory: string): Uint8Array {
  const builder = new TableBuilder({});
  for (const name of readdirSync(directory)) {
    const authority = parseAuthority(name);
    if (authority === undefined)
      throw new Error(`${join(directory, name)} is not named after a host`);
    builder.add(authority, readFileSync(join(directory, name)), { source: name });
  }
  return builder.build();
}

/** Pieces of at most `bytes` that end with a whole line. */
export function* wholeLines(input: Uint8Array, bytes: number): Generator<Uint8Array> {
  for (let start = 0; start < input.length; ) {
    const most = Math.min(start + bytes, input.length);
    const end = most === input.length ? most : input.lastIndexOf(0x0a, most - 1) + 1;
    yield input.subarray(start, end);
    start = end;
  }
}
