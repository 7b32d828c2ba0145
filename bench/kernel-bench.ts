import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TableBuilder } from '../src/compile/table-builder.js';
import type { TableView } from '../src/compile/table-view.js';
import { Arena } from '../src/kernel/arena.js';
import type { Kernel } from '../src/kernel/kernel.js';
import {
  MARGIN,
  OUTCOMES,
  RUN_DONE,
  RUN_OUTPUT_FULL,
  TASK_LINES,
  TASK_OCTETS,
  TASK_OUTPUT,
  WORKER_TALLY,
} from '../src/kernel/layout.js';
import {
  DEFAULT_SETTINGS,
  encodeQuery,
  type QuerySettings,
  queryOctets,
} from '../src/kernel/query.js';
import { scratchOctets } from '../src/kernel/scratch.js';
import { type TaskAddresses, writeTask } from '../src/kernel/task.js';
import { parseAuthority } from '../src/protocol/authority.js';

/** Octets of input in a call, as a run has them. */
const BATCH_OCTETS = 1 << 20;
/** Where the table lies in the memory. */
export const TABLE_ADDRESS = 1024;

const TWO_AGENTS = [
  { name: 'ExampleBot', chain: ['examplebot'] },
  { name: 'GPTBot', chain: ['gptbot'] },
];

/** What a kernel is asked, beside NDJSON that is annotated for one agent. */
export const KERNEL_VARIANTS: Readonly<Record<string, Partial<QuerySettings>>> = {
  ndjson: {},
  text: { format: 'text' },
  agents: { agents: TWO_AGENTS },
  explain: { explain: true },
  allowed: { output: 'allowed' },
};

/** The blocks of memory that a run needs, for one query. */
export class KernelBench {
  readonly #octets: Uint8Array;
  readonly #task: Uint32Array;
  readonly #taskAddress: number;
  readonly #worker: { address: number; octets: number };
  readonly #addresses: Omit<TaskAddresses, 'inputEnd'>;

  constructor(memory: WebAssembly.Memory, view: TableView, variant: Partial<QuerySettings>) {
    const settings: QuerySettings = {
      ...DEFAULT_SETTINGS,
      agents: [{ name: 'ExampleBot', chain: ['examplebot'] }],
      ...variant,
    };
    const arena = new Arena(memory);
    const block = arena.take(queryOctets(settings));
    const { query, bytes } = encodeQuery(settings, block.address, TABLE_ADDRESS, (token) =>
      view.tokenNumber(token),
    );
    const task = arena.take(TASK_OCTETS);
    const scratch = arena.take(scratchOctets(BATCH_OCTETS));
    const output = arena.take(4 * BATCH_OCTETS + query.lineOverhead + 2 * MARGIN);
    this.#worker = { address: arena.take(query.workerOctets).address, octets: query.workerOctets };
    this.#taskAddress = task.address;
    this.#addresses = {
      query: query.address,
      worker: this.#worker.address,
      scratch: scratch.address,
      scratchEnd: scratch.address + scratch.octets,
      input: arena.take(BATCH_OCTETS + MARGIN).address,
      output: output.address,
      outputEnd: output.address + output.octets - MARGIN,
    };
    this.#octets = new Uint8Array(memory.buffer); // after the last growth
    this.#octets.set(bytes, block.address);
    this.#task = new Uint32Array(memory.buffer, task.address, TASK_OCTETS / 4);
    this.#task.fill(0);
  }

  /** Judges all lines; the time is that of the kernel's calls alone, as the CPU spends it. */
  run(kernel: Kernel, input: Uint8Array): { nanoseconds: number; lines: number; tally: string } {
    const { address, octets } = this.#worker;
    this.#octets.fill(0, address, address + octets);
    let microseconds = 0;
    let lines = 0;
    for (const batch of wholeLines(input, BATCH_OCTETS)) {
      this.#octets.set(batch, this.#addresses.input);
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
    const tally = this.#octets.slice(address + WORKER_TALLY, address + WORKER_TALLY + 8 * OUTCOMES);
    return { nanoseconds: microseconds * 1000, lines, tally: tally.toString() };
  }
}

/** The table of a directory of robots.txt files, each named for its authority. */
export function tableOf(directory: string): Uint8Array {
  const builder = new TableBuilder({});
  for (const name of readdirSync(directory)) {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(`${join(directory, name)} is named for no host`);
    builder.add(authority, readFileSync(join(directory, name)), { source: name });
  }
  return builder.build();
}

/** Pieces that end with a line, as large as they may be. */
export function* wholeLines(input: Uint8Array, octets: number): Generator<Uint8Array> {
  for (let start = 0; start < input.length; ) {
    const most = Math.min(start + octets, input.length);
    const end = most === input.length ? most : input.lastIndexOf(0x0a, most - 1) + 1;
    yield input.subarray(start, end);
    start = end;
  }
}
