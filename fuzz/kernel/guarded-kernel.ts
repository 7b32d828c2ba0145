import { charactersOf } from '../../oracle/bytes.js';
import {
  instantiateKernel,
  type Kernel,
  PAGE_BYTES,
  scratchBytes,
} from '../../src/kernel/kernel.js';
import {
  MARGIN,
  MAX_BAD,
  OFFSET_BYTES,
  REASON_BITS,
  RESULT_RANK,
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_LINE_BASE,
  RUN_OUTPUT_FULL,
  TASK_BAD,
  TASK_BAD_COUNT,
  TASK_BYTES,
  TASK_FLAGS,
  TASK_LINE_BASE_KNOWN,
  TASK_LINES,
  TASK_OUTPUT,
  WORKER_LINES,
  WORKER_RESULTS,
  WORKER_TALLY,
} from '../../src/kernel/layout.js';
import { encodeQuery, type Query, queryBytes, rememberedBytes } from '../../src/kernel/query.js';
import { DEFAULT_SETTINGS, type QuerySettings } from '../../src/kernel/query-settings.js';
import { writeTask } from '../../src/kernel/task.js';
import { lowerCaseAscii } from '../../src/protocol/agent.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../../src/protocol/verdict.js';
import { BUCKET_SLOTS, HEADER_BUCKETS } from '../../src/table/format.js';
import { ShardView } from '../../src/view/shard-view.js';
import { COUNTER_BYTES, COUNTERS } from '../coverage/counters.js';
import { Fault, shown } from '../fault.js';

/** A build of the kernel, and its memory. */
export interface KernelBuild {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
}

const LF = 0x0a;
const PAGES = 36;
const QUERIES = 32_768;
const TABLE = 393_216;
/** Bytes that a query may remember; with a larger table it remembers nothing. */
const MOST_REMEMBERED = 16_384;
/** Queries that are kept as bytes, which take longer to make than a short run. */
const MOST_ENCODED = 1000;
/** The longest region, with what is before it. */
const LONGEST = 131_072;
/** Bytes on either side of every region that must stay unchanged and must not affect the result. */
const GUARD = 192;

/** A memory for `GuardedKernel`, which never grows. */
export function guardedMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: PAGES, maximum: PAGES, shared: true });
}

if (COUNTERS + COUNTER_BYTES > QUERIES) throw new Error('the counters overlap the queries');

/**
 * The bytes between the regions, in used blocks and after the input; and the shift of the regions
 * in bytes. Verdicts must not depend on them.
 */
interface Surroundings {
  readonly bytes: Uint8Array;
  readonly shift: number;
}

function surroundings(text: string, shift: number): Surroundings {
  const bytes = new Uint8Array(LONGEST);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at % text.length);
  return { bytes, shift };
}

/** Here the input ends MARGIN bytes before the end of the memory: reading further traps. */
const PLAIN = surroundings('\0', 0);
/** Texts that may follow the end of an input: a path, a number, an escape, a string, an object. */
const TEMPTING = 'a/b"}2f%41\n0.html?u=*$ab\\{[:,]#@\r\xc3\xa9-x';
/** The same texts from each of their bytes on; the input decides which of them follows. */
const ROTATED = Array.from(TEMPTING, (_byte, at) =>
  surroundings(TEMPTING.slice(at) + TEMPTING.slice(0, at), 7),
);

/** The surroundings of an input's runs: the plain surroundings, and one of the others. */
function surroundingsFor(input: Uint8Array): readonly Surroundings[] {
  let sum = input.length;
  for (const byte of input) sum += byte;
  return [PLAIN, ROTATED[sum % ROTATED.length] as Surroundings];
}

function linesIn(input: Uint8Array): number {
  let lines = 1;
  for (let at = input.indexOf(LF); at >= 0; at = input.indexOf(LF, at + 1)) lines++;
  return lines;
}

/** The kernel's result for a batch. */
export interface Run {
  /** One character for each byte. */
  readonly output: string;
  readonly lines: number;
  /** Reasons of bad records, by line from 0; at most ten for each call of the kernel. */
  readonly bad: readonly (readonly [number, Reason])[];
  /** Whether a bad record ended the run. */
  readonly stopped: boolean;
}

export interface Outcome {
  readonly verdict: Verdict;
  readonly reason: Reason;
}

export interface AskedQuery {
  readonly query: Query;
  readonly bytes: Uint8Array;
}

interface Region {
  readonly address: number;
  readonly end: number;
}

export interface GuardOptions {
  readonly scratch?: typeof scratchBytes;
  readonly instantiate?: typeof instantiateKernel;
}

/**
 * Runs the kernel so that any access beyond the bounds of layout.ts is noticed. Every call is made
 * twice, each time with other bytes around all regions and in all used blocks. Both results must be
 * equal. The table, the query, the input and the bytes around them must be unchanged, and the input
 * ends where the memory ends.
 */
export class GuardedKernel {
  readonly #kernel: Kernel;
  readonly #scratchBytes: typeof scratchBytes;
  readonly #bytes: Uint8Array;
  #table: Uint8Array = new Uint8Array(0);
  #view: ShardView | undefined;
  #queriesEnd = QUERIES;
  /**
   * By settings and the table's numbers of their product tokens; queries for other tables are kept.
   */
  readonly #queries = new Map<string, AskedQuery>();
  /** By the same and their addresses: queries for the next table begin at the same place. */
  readonly #encoded = new Map<string, AskedQuery>();
  #regions: Region[] = [];

  /**
   * @param options.scratch size of the scratch memory for the kernel: by default exactly as much as
   *   the kernel may need
   * @param options.instantiate binds the kernel to its memory; by default the kernel's own function
   */
  constructor(
    { module, memory }: KernelBuild,
    { scratch = scratchBytes, instantiate = instantiateKernel }: GuardOptions = {},
  ) {
    this.#scratchBytes = scratch;
    this.#kernel = instantiate(module, memory);
    this.#bytes = new Uint8Array(memory.buffer);
  }

  /** Replaces the table. Queries must be requested again. */
  load(table: Uint8Array): void {
    this.#table = table;
    this.#view = new ShardView(table);
    this.#bytes.set(table, TABLE);
    // What the kernel remembers of a table must not reach the next table.
    this.#queries.clear();
    this.#queriesEnd = QUERIES;
  }

  /** Start of the robots record of some host, for a query that looks up no host. */
  get anyRobots(): number {
    for (const { authorities } of this.#view?.hosts() ?? []) return authorities[0]?.robots ?? 0;
    return 0;
  }

  /** A query over the table. */
  ask(settings: Partial<QuerySettings>): AskedQuery {
    const whole = { ...DEFAULT_SETTINGS, ...settings };
    const tokenNumber = (token: string): number => this.#view?.tokenNumber(token) ?? -1;
    const numbers = whole.agents.map(({ chain }) =>
      chain.map((link) => tokenNumber(lowerCaseAscii(link))),
    );
    const key = JSON.stringify([whole, numbers]);
    const known = this.#queries.get(key);
    if (known !== undefined) return known;
    const slots = BUCKET_SLOTS * (this.#view?.reader.u32(HEADER_BUCKETS) ?? 0);
    const wanted = rememberedBytes(whole, slots);
    const words = wanted > MOST_REMEMBERED ? 0 : wanted;
    if (this.#queriesEnd + words + queryBytes(whole) + 2 * GUARD > TABLE) {
      this.#queries.clear();
      this.#queriesEnd = QUERIES;
    }
    const remembered = words === 0 ? 0 : this.#queriesEnd;
    const address = this.#queriesEnd + words;
    const place = `${key} ${remembered} ${address}`;
    const asked =
      this.#encoded.get(place) ??
      encodeQuery({ ...whole, remembered }, address, TABLE, tokenNumber);
    if (this.#encoded.size === MOST_ENCODED) this.#encoded.clear();
    this.#encoded.set(place, asked);
    this.#bytes.fill(0, address - words, address);
    this.#queriesEnd = (address + asked.bytes.length + GUARD) & ~15;
    this.#bytes.set(asked.bytes, address);
    this.#queries.set(key, asked);
    return asked;
  }

  /**
   * Runs a batch, with so little room for output that it must be emptied after every line or two.
   *
   * @param lineBytes bytes of the input that are lines; for FORMAT_OFFSETS the values follow
   */
  run(query: AskedQuery, input: Uint8Array, lineBytes = input.length): Run {
    const [first, second] = surroundingsFor(input).map((around) =>
      this.#run(query, input, lineBytes, around),
    );
    if (first === undefined || JSON.stringify(first) !== JSON.stringify(second)) {
      throw new Fault(
        `the result depends on the bytes around: ${shown(first)} or ${shown(second)}`,
      );
    }
    return first;
  }

  /** Judges one URL. */
  judge(query: AskedQuery, url: Uint8Array): Outcome {
    const [first, second] = surroundingsFor(url).map((around) => this.#judge(query, url, around));
    if (first === undefined || first !== second) {
      throw new Fault(`outcome ${first} or ${second}, depending on the bytes around`);
    }
    const verdict = VERDICTS[first >> REASON_BITS];
    const reason = REASONS[first & 15];
    if (verdict === undefined || reason === undefined) throw new Fault(`outcome ${first}`);
    return { verdict, reason };
  }

  #run(
    { query, bytes }: AskedQuery,
    input: Uint8Array,
    lineBytes: number,
    around: Surroundings,
  ): Run {
    const capacity = query.lineFactor * input.length + query.lineOverhead + 2 * MARGIN;
    const source = this.#arrange(input, around);
    const worker = this.#worker(query, around);
    const task = this.#take(TASK_BYTES, around);
    const output = this.#take(capacity + MARGIN, around);
    const scratch = this.#take(
      lineBytes === input.length
        ? this.#scratchBytes(input.length, linesIn(input))
        : this.#scratchBytes(input.length - lineBytes - OFFSET_BYTES, lineBytes / OFFSET_BYTES),
      around,
    );
    this.#bytes.fill(0, task.address, task.end);
    const words = new Int32Array(this.#bytes.buffer, task.address, TASK_BYTES / 4);
    const addresses = {
      query: query.address,
      worker: worker.address,
      scratch: scratch.address,
      scratchEnd: scratch.end,
      input: source,
      inputEnd: source + lineBytes,
      output: output.address,
      outputEnd: output.address + capacity,
    };
    writeTask(words, addresses, 0);
    const pieces: string[] = [];
    const bad: [number, Reason][] = [];
    let result: number;
    let calls = 0;
    do {
      // Each call except the last does a line or gets the line base.
      if (calls++ > input.length + 2) throw new Fault('the run makes no progress');
      words[TASK_OUTPUT / 4] = output.address;
      result = this.#kernel.run(task.address);
      const end = words[TASK_OUTPUT / 4] as number;
      if (end > output.address + capacity + MARGIN)
        throw new Fault('output beyond the end of its region');
      pieces.push(charactersOf(this.#bytes.slice(output.address, end)));
      for (let i = 0; i < Math.min(words[TASK_BAD_COUNT / 4] ?? 0, MAX_BAD); i++) {
        const entry = TASK_BAD / 4 + 2 * i;
        const reason = REASONS[words[entry + 1] as number];
        if (reason === undefined) throw new Fault(`reason ${words[entry + 1]}`);
        bad.push([words[entry] as number, reason]);
      }
      if (result === RUN_NEEDS_LINE_BASE) words[TASK_FLAGS / 4] = TASK_LINE_BASE_KNOWN;
      else if (result !== RUN_DONE && result !== RUN_BAD_RECORD && result !== RUN_OUTPUT_FULL) {
        throw new Fault(`the run returned ${result}`);
      }
    } while (result === RUN_OUTPUT_FULL || result === RUN_NEEDS_LINE_BASE);
    this.#same('the query', query.address, bytes);
    this.#checkUntouched(input, source, around);
    const stopped = result === RUN_BAD_RECORD;
    return { output: pieces.join(''), lines: words[TASK_LINES / 4] as number, bad, stopped };
  }

  #judge({ query, bytes }: AskedQuery, url: Uint8Array, around: Surroundings): number {
    const start = this.#arrange(url, around);
    const worker = this.#worker(query, around);
    const scratch = this.#take(this.#scratchBytes(url.length, 1), around);
    const outcome = this.#kernel.decideUrl(
      query.address,
      worker.address,
      start,
      start + url.length,
      scratch.address,
      scratch.end,
    );
    this.#same('the query', query.address, bytes);
    this.#checkUntouched(url, start, around);
    const rank = new DataView(this.#bytes.buffer).getUint32(
      worker.address + WORKER_RESULTS + RESULT_RANK,
      true,
    );
    if (rank !== 0 && REASONS[outcome & 15] !== 'rule') throw new Fault(`a rank of ${rank}`);
    return outcome;
  }

  /** Puts the input at the memory's end; returns its start. */
  #arrange(input: Uint8Array, around: Surroundings): number {
    const tableEnd = TABLE + this.#table.length;
    this.#regions = [{ address: TABLE, end: tableEnd }];
    this.#bytes.set(around.bytes.subarray(0, GUARD), tableEnd);
    const start = PAGES * PAGE_BYTES - MARGIN - around.shift - input.length;
    this.#bytes.set(around.bytes.subarray(0, GUARD), start - GUARD);
    this.#bytes.set(input, start);
    this.#bytes.set(around.bytes.subarray(0, MARGIN + around.shift), start + input.length);
    return start;
  }

  /** A region after the last, full of earlier contents. */
  #take(bytes: number, { bytes: before, shift }: Surroundings): Region {
    const last = this.#regions.at(-1)?.end ?? TABLE;
    // Words are read in place, so a shift is a multiple of eight, except for regions of bytes.
    const address = ((last + GUARD + 15) & ~15) + 8 * shift;
    const end = address + bytes;
    if (end + GUARD > PAGES * PAGE_BYTES - MARGIN - 65_536) throw new Error('too little memory');
    if (end - last > before.length) throw new Error('a region is too long');
    this.#bytes.set(before.subarray(0, end - last), last);
    this.#bytes.set(before.subarray(0, GUARD), end);
    this.#regions.push({ address, end });
    return { address, end };
  }

  /** A worker block with random line entries and results, and with counters at zero. */
  #worker(query: Query, around: Surroundings): Region {
    const region = this.#take(query.workerBytes, around);
    this.#bytes.fill(0, region.address, region.address + WORKER_LINES);
    this.#bytes.fill(0, region.address + WORKER_TALLY, region.end);
    return region;
  }

  /** Asserts that only permitted bytes were written. */
  #checkUntouched(input: Uint8Array, start: number, { bytes, shift }: Surroundings): void {
    this.#same('the table', TABLE, this.#table);
    this.#same('the bytes before the input', start - GUARD, bytes.subarray(0, GUARD));
    this.#same('the input', start, input);
    const after = bytes.subarray(0, MARGIN + shift);
    this.#same('the bytes after the input', start + input.length, after);
    for (const { end } of this.#regions) {
      this.#same('bytes after a region', end, bytes.subarray(0, GUARD));
    }
  }

  #same(what: string, address: number, bytes: Uint8Array): void {
    const now = this.#bytes.subarray(address, address + bytes.length);
    if (Buffer.compare(now, bytes) !== 0) throw new Fault(`${what} were overwritten`);
  }
}
