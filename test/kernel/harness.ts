import { CLOSE_BRACE, LF } from '../../src/base/ascii.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import {
  Arena,
  createMemory,
  instantiateKernel,
  type Kernel,
  kernelModule,
  scratchBytes,
} from '../../src/kernel/kernel.js';
import {
  MARGIN,
  MAX_AGENTS,
  MAX_BAD,
  OUTCOMES,
  RESULT_BYTES,
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_AGENT,
  RUN_NEEDS_LINE_BASE,
  SHAPE_BYTES,
  SHAPES_LIST,
  TASK_BAD,
  TASK_BAD_COUNT,
  TASK_BYTES,
  TASK_FLAGS,
  TASK_LINE_BASE_KNOWN,
  TASK_LINES,
  TASK_OUTPUT,
  TASK_RESUMED,
  WORKER_BEFORE,
  WORKER_MARKS,
  WORKER_RESULTS,
  WORKER_SHAPES,
  WORKER_TALLY,
} from '../../src/kernel/layout.js';
import { encodeQuery, queryBytes, rememberedBytes } from '../../src/kernel/query.js';
import { DEFAULT_SETTINGS, type QuerySettings } from '../../src/kernel/query-settings.js';
import { writeTask } from '../../src/kernel/task.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { BUCKET_SLOTS, HEADER_BUCKETS } from '../../src/table/format.js';
import { ShardView } from '../../src/view/shard-view.js';
import { AgentRegister } from '../../src/workers/record-agents.js';

export interface Ran {
  readonly output: string;
  readonly lines: number;
  readonly result: number;
  /** Pairs of (line from 0, reason). */
  readonly bad: readonly (readonly [number, number])[];
  /** Number of lines by the first agent's outcome, `verdict << REASON_BITS | reason`. */
  readonly tally: readonly number[];
}

const GUARD = 0xa5;
const GUARDS = Buffer.alloc(MAX_AGENTS * RESULT_BYTES + 8, GUARD);

/** A separate kernel over a table of these robots.txt files, by authority; runs single batches. */
export function kernelOver(
  files: Record<string, string>,
  profile: Profile = 'rfc9309',
  instantiate: (memory: WebAssembly.Memory) => Kernel = (memory) =>
    instantiateKernel(kernelModule(), memory),
  statuses: Record<string, number> = {},
): (input: string | Uint8Array, settings?: Partial<QuerySettings>, outputBytes?: number) => Ran {
  const builder = new TableBuilder({ profile });
  for (const [name, body] of Object.entries(files)) {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(`${name} is not an authority`);
    builder.add(authority, new TextEncoder().encode(body), { source: name, status: undefined });
  }
  for (const [name, status] of Object.entries(statuses)) {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(`${name} is not an authority`);
    builder.add(authority, new Uint8Array(), { source: name, status });
  }
  const table = builder.build();
  const view = new ShardView(table);
  const address = 1024;
  const memory = createMemory(address + table.length + MARGIN);
  new Uint8Array(memory.buffer).set(table, address);
  const arena = new Arena(memory);
  const kernel = instantiate(memory);
  const slots = BUCKET_SLOTS * view.reader.u32(HEADER_BUCKETS);
  /** What the kernel remembers, by agents: later runs use what earlier runs found. */
  const remembered = new Map<string, number>();
  const rememberedFor = (settings: QuerySettings): number => {
    const bytes = rememberedBytes(settings, slots);
    if (bytes === 0) return 0;
    const agents = JSON.stringify(settings.agents);
    const known = remembered.get(agents);
    if (known !== undefined) return known;
    const { address } = arena.take(bytes);
    new Uint8Array(memory.buffer, address, bytes).fill(0);
    remembered.set(agents, address);
    return address;
  };

  return (text, overrides = {}, outputBytes = 1 << 20) => {
    const asked = { ...DEFAULT_SETTINGS, google: profile === 'google', ...overrides };
    const settings = { remembered: rememberedFor(asked), ...asked };
    const input = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const block = arena.take(queryBytes(settings));
    const { query, bytes } = encodeQuery(settings, block.address, address, (token) =>
      view.tokenNumber(token),
    );
    const worker = arena.take(query.workerBytes);
    const tallyAt = worker.address + WORKER_TALLY;
    const task = arena.take(TASK_BYTES);
    const source = arena.take(input.length + MARGIN);
    const target = arena.take(
      query.lineFactor * input.length + query.lineOverhead + outputBytes + 2 * MARGIN,
    );
    const scratch = arena.take(scratchBytes(input.length));
    const memoryBytes = new Uint8Array(memory.buffer);
    memoryBytes.fill(0, worker.address, worker.address + query.workerBytes);
    // Nothing is promised about the line entries of a task that begins.
    memoryBytes.fill(0xa5, worker.address + WORKER_BEFORE, worker.address + WORKER_MARKS);
    // Shapes of an earlier query: letters before a brace.
    const shapes = worker.address + WORKER_SHAPES + SHAPES_LIST;
    for (let bytes = 1; bytes < SHAPE_BYTES; bytes++) {
      memoryBytes[shapes + bytes * SHAPE_BYTES + bytes - 1] = 16;
    }
    // The results of agents that are not asked are guard bytes.
    const guard = memoryBytes.subarray(
      worker.address + WORKER_RESULTS + settings.agents.length * RESULT_BYTES,
      worker.address + WORKER_TALLY,
    );
    guard.fill(GUARD);
    memoryBytes.set(bytes, block.address);
    memoryBytes.set(input, source.address);
    // What would complete an object and a line that the input breaks off.
    memoryBytes.fill(LF, source.address + input.length, source.address + input.length + MARGIN);
    memoryBytes[source.address + input.length] = CLOSE_BRACE;
    const words = new Uint32Array(memory.buffer, task.address, TASK_BYTES / 4);
    words.fill(0);
    const addresses = {
      query: query.address,
      worker: worker.address,
      scratch: scratch.address,
      scratchEnd: scratch.address + scratchBytes(input.length),
      input: source.address,
      inputEnd: source.address + input.length,
      output: target.address,
      outputEnd: target.address + target.bytes - MARGIN,
    };
    writeTask(words, addresses, 0);
    const register =
      settings.agentField &&
      new AgentRegister(memory.buffer as SharedArrayBuffer, query.address, worker.address, {
        known: [],
        notation: 'json',
      });
    const pieces: Uint8Array[] = [];
    const bad: [number, number][] = [];
    let result: number;
    do {
      result = kernel.run(task.address);
      pieces.push(memoryBytes.slice(target.address, words[TASK_OUTPUT / 4]));
      words[TASK_OUTPUT / 4] = target.address;
      const count = Math.min(words[TASK_BAD_COUNT / 4] ?? 0, MAX_BAD);
      for (let i = 0; i < count; i++) {
        bad.push([words[TASK_BAD / 4 + 2 * i] ?? 0, words[TASK_BAD / 4 + 2 * i + 1] ?? 0]);
      }
      if (result === RUN_NEEDS_LINE_BASE) words[TASK_FLAGS / 4] = TASK_LINE_BASE_KNOWN;
      if (result !== RUN_NEEDS_AGENT) continue;
      register?.add();
      words[TASK_FLAGS / 4] = TASK_RESUMED;
    } while (result !== RUN_DONE && result !== RUN_BAD_RECORD);
    if (!GUARDS.subarray(0, guard.length).equals(guard)) {
      throw new Error('the kernel has written beyond its results');
    }
    for (const region of [block, worker, task, source, target, scratch]) arena.give(region);
    return {
      output: Buffer.concat(pieces).toString(),
      lines: words[TASK_LINES / 4] ?? 0,
      result,
      bad,
      tally: Array.from(new BigUint64Array(memory.buffer, tallyAt, OUTCOMES), Number),
    };
  };
}
