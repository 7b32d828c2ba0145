import { TableView } from '../../src/compile/table-view.js';
import { instantiateKernel, type Kernel, PAGE_OCTETS } from '../../src/kernel/kernel.js';
import {
  MARGIN,
  MAX_BAD,
  RESULT_RANK,
  RUN_BAD_RECORD,
  RUN_DONE,
  RUN_NEEDS_LINE_BASE,
  RUN_OUTPUT_FULL,
  TASK_BAD,
  TASK_BAD_COUNT,
  TASK_FLAGS,
  TASK_LINE_BASE_KNOWN,
  TASK_LINES,
  TASK_OCTETS,
  TASK_OUTPUT,
  WORKER_LINES,
  WORKER_RESULTS,
  WORKER_TALLY,
} from '../../src/kernel/layout.js';
import {
  DEFAULT_SETTINGS,
  encodeQuery,
  type Query,
  type QuerySettings,
  queryOctets,
} from '../../src/kernel/query.js';
import { scratchOctets } from '../../src/kernel/scratch.js';
import { writeTask } from '../../src/kernel/task.js';
import { lowerCaseAscii } from '../../src/protocol/product-token.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../../src/protocol/verdict.js';
import { charactersOf } from '../corpus.js';
import { COUNTER_OCTETS, COUNTERS } from '../coverage/counters.js';
import { Fault, shown } from '../target.js';

/** A build of the kernel and the memory to which it is bound. */
export interface KernelBuild {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
}

const LF = 0x0a;
const PAGES = 32;
const QUERIES = 32_768;
const TABLE = 131_072;
/** Octets on either side of every region that must stay as they were, and must not matter. */
const GUARD = 192;

/** A memory for `GuardedKernel`, which never grows. */
export function guardedMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: PAGES, maximum: PAGES, shared: true });
}

if (COUNTERS + COUNTER_OCTETS > QUERIES) throw new Error('the counters reach into the queries');

/**
 * What lies between the regions, in blocks that were used before, and behind the input; and by how
 * many octets regions are shifted. Verdicts must be the same whichever it is.
 */
interface Surroundings {
  readonly octets: Uint8Array;
  readonly shift: number;
}

function surroundings(text: string, shift: number): Surroundings {
  const octets = new Uint8Array(TABLE);
  for (let at = 0; at < octets.length; at++) octets[at] = text.charCodeAt(at % text.length);
  return { octets, shift };
}

/** Here the input ends MARGIN octets before the memory does: whoever reads further, traps. */
const PLAIN = surroundings('\0', 0);
/** What may go on where an input ends: a path, a number, an escape, a string, an object. */
const TEMPTING = 'a/b"}2f%41\n0.html?u=*$ab\\{[:,]#@\r\xc3\xa9-x';
/**
 * The same from each of its octets on: which of them stands behind an input depends on the input.
 */
const ROTATED = Array.from(TEMPTING, (_octet, at) =>
  surroundings(TEMPTING.slice(at) + TEMPTING.slice(0, at), 7),
);

/** The surroundings in which an input is run: the plain ones, and one of the others. */
function surroundingsFor(input: Uint8Array): readonly Surroundings[] {
  let sum = input.length;
  for (const octet of input) sum += octet;
  return [PLAIN, ROTATED[sum % ROTATED.length] as Surroundings];
}

function linesIn(input: Uint8Array): number {
  let lines = 1;
  for (let at = input.indexOf(LF); at >= 0; at = input.indexOf(LF, at + 1)) lines++;
  return lines;
}

/** What the kernel made of a batch. */
export interface Run {
  /** One character an octet. */
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
  readonly scratch?: typeof scratchOctets;
  readonly instantiate?: typeof instantiateKernel;
}

/**
 * Runs the kernel so that it cannot read or write beyond what layout.ts grants it unnoticed: every
 * call is made twice, each time with other octets around all regions and in all that was used
 * before; results must be the same, the table, the query, the input and the octets around must stay
 * as they were, and the input ends where the memory does.
 */
export class GuardedKernel {
  readonly #kernel: Kernel;
  readonly #scratchOctets: typeof scratchOctets;
  readonly #octets: Uint8Array;
  #table: Uint8Array = new Uint8Array(0);
  #view: TableView | undefined;
  #queriesEnd = QUERIES;
  /**
   * By settings and the numbers that the table has for their product tokens; what they are for
   * other tables stays.
   */
  readonly #queries = new Map<string, AskedQuery>();
  #regions: Region[] = [];

  /**
   * @param options.scratch how much scratch memory the kernel gets: by default no octet more than
   *   it may ask for
   * @param options.instantiate binds the kernel to its memory, as it is unless said otherwise
   */
  constructor(
    { module, memory }: KernelBuild,
    { scratch = scratchOctets, instantiate = instantiateKernel }: GuardOptions = {},
  ) {
    this.#scratchOctets = scratch;
    this.#kernel = instantiate(module, memory);
    this.#octets = new Uint8Array(memory.buffer);
  }

  /** Takes a table in place of the last one. Queries are to be asked for again. */
  load(table: Uint8Array): void {
    this.#table = table;
    this.#view = new TableView(table);
    this.#octets.set(table, TABLE);
  }

  /** Start of the robots record of some host, for a query that looks no host up. */
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
    if (this.#queriesEnd + queryOctets(whole) + 2 * GUARD > TABLE) {
      this.#queries.clear();
      this.#queriesEnd = QUERIES;
    }
    const address = this.#queriesEnd;
    const asked = encodeQuery(whole, address, TABLE, tokenNumber);
    this.#queriesEnd = (address + asked.bytes.length + GUARD) & ~15;
    this.#octets.set(asked.bytes, address);
    this.#queries.set(key, asked);
    return asked;
  }

  /**
   * Runs a batch, with so little room for output that it has to be emptied after every line or two.
   */
  run(query: AskedQuery, input: Uint8Array): Run {
    const [first, second] = surroundingsFor(input).map((around) => this.#run(query, input, around));
    if (first === undefined || JSON.stringify(first) !== JSON.stringify(second)) {
      throw new Fault(`depends on what lies around: ${shown(first)} or ${shown(second)}`);
    }
    return first;
  }

  /** Judges one URL. */
  judge(query: AskedQuery, url: Uint8Array): Outcome {
    const [first, second] = surroundingsFor(url).map((around) => this.#judge(query, url, around));
    if (first === undefined || first !== second) {
      throw new Fault(`outcome ${first} or ${second}, depending on what lies around`);
    }
    const verdict = VERDICTS[first >> 4];
    const reason = REASONS[first & 15];
    if (verdict === undefined || reason === undefined) throw new Fault(`outcome ${first}`);
    return { verdict, reason };
  }

  #run({ query, bytes }: AskedQuery, input: Uint8Array, around: Surroundings): Run {
    const capacity = input.length + query.lineOverhead + 2 * MARGIN;
    const source = this.#arrange(input, around);
    const worker = this.#worker(query, around);
    const task = this.#take(TASK_OCTETS, around);
    const output = this.#take(capacity + MARGIN, around);
    const scratch = this.#take(this.#scratchOctets(input.length, linesIn(input)), around);
    this.#octets.fill(0, task.address, task.end);
    const words = new Int32Array(this.#octets.buffer, task.address, TASK_OCTETS / 4);
    const addresses = {
      query: query.address,
      worker: worker.address,
      scratch: scratch.address,
      scratchEnd: scratch.end,
      input: source,
      inputEnd: source + input.length,
      output: output.address,
      outputEnd: output.address + capacity,
    };
    writeTask(words, addresses, 0);
    const pieces: string[] = [];
    const bad: [number, Reason][] = [];
    let result: number;
    let calls = 0;
    do {
      // Each call but the last does a line or learns the base.
      if (calls++ > input.length + 2) throw new Fault('the run makes no headway');
      words[TASK_OUTPUT / 4] = output.address;
      result = this.#kernel.run(task.address);
      const end = words[TASK_OUTPUT / 4] as number;
      if (end > output.address + capacity + MARGIN) throw new Fault('output beyond its end');
      pieces.push(charactersOf(this.#octets.slice(output.address, end)));
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
    const scratch = this.#take(this.#scratchOctets(url.length, 1), around);
    const outcome = this.#kernel.judgeUrl(
      query.address,
      worker.address,
      start,
      start + url.length,
      scratch.address,
      scratch.end,
    );
    this.#same('the query', query.address, bytes);
    this.#checkUntouched(url, start, around);
    const rank = new DataView(this.#octets.buffer).getUint32(
      worker.address + WORKER_RESULTS + RESULT_RANK,
      true,
    );
    if (rank !== 0 && REASONS[outcome & 15] !== 'rule') throw new Fault(`a rank of ${rank}`);
    return outcome;
  }

  /** Puts the input at the memory's end; returns where it starts. */
  #arrange(input: Uint8Array, around: Surroundings): number {
    const tableEnd = TABLE + this.#table.length;
    this.#regions = [{ address: TABLE, end: tableEnd }];
    this.#octets.set(around.octets.subarray(0, GUARD), tableEnd);
    const start = PAGES * PAGE_OCTETS - MARGIN - around.shift - input.length;
    this.#octets.set(around.octets.subarray(0, GUARD), start - GUARD);
    this.#octets.set(input, start);
    this.#octets.set(around.octets.subarray(0, MARGIN + around.shift), start + input.length);
    return start;
  }

  /** A region behind the last, full of what was there before. */
  #take(octets: number, { octets: before, shift }: Surroundings): Region {
    const last = this.#regions.at(-1)?.end ?? TABLE;
    // Words are read where they lie, so a shift is in steps of eight but for what holds only
    // octets.
    const address = ((last + GUARD + 15) & ~15) + 8 * shift;
    const end = address + octets;
    if (end + GUARD > PAGES * PAGE_OCTETS - MARGIN - 65_536) throw new Error('too little memory');
    if (end - last > before.length) throw new Error('a region is too long');
    this.#octets.set(before.subarray(0, end - last), last);
    this.#octets.set(before.subarray(0, GUARD), end);
    this.#regions.push({ address, end });
    return { address, end };
  }

  /**
   * A worker block, with entries of lines and results that say anything, and counters that are
   * zero.
   */
  #worker(query: Query, around: Surroundings): Region {
    const region = this.#take(query.workerOctets, around);
    this.#octets.fill(0, region.address, region.address + WORKER_LINES);
    this.#octets.fill(0, region.address + WORKER_TALLY, region.end);
    return region;
  }

  /** Sees that nothing was written but where it may be. */
  #checkUntouched(input: Uint8Array, start: number, { octets, shift }: Surroundings): void {
    this.#same('the table', TABLE, this.#table);
    this.#same('the octets before the input', start - GUARD, octets.subarray(0, GUARD));
    this.#same('the input', start, input);
    const behind = octets.subarray(0, MARGIN + shift);
    this.#same('the octets behind the input', start + input.length, behind);
    for (const { end } of this.#regions) {
      this.#same('octets behind a region', end, octets.subarray(0, GUARD));
    }
  }

  #same(what: string, address: number, octets: Uint8Array): void {
    const now = this.#octets.subarray(address, address + octets.length);
    if (Buffer.compare(now, octets) !== 0) throw new Fault(`${what} were written to`);
  }
}
