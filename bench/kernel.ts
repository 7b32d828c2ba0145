import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileAhead } from '../build/compile-ahead.js';
import { TableView } from '../src/compile/table-view.js';
import { createMemory, instantiateKernel, type Kernel } from '../src/kernel/kernel.js';
import { MARGIN } from '../src/kernel/layout.js';
import { assertEqual } from './assert-equal.js';
import { corpusIn } from './corpora.js';
import {
  KERNEL_VARIANTS,
  KernelBench,
  TABLE_ADDRESS,
  tableOf,
  wholeLines,
} from './kernel-bench.js';
import { median } from './measure.js';
import { aligned } from './report.js';

const USAGE = `Times the kernel alone: one thread, no input or output, CPU time of the calls.
This is what one profiles with: node --cpu-prof --import tsx bench/kernel.ts --only ndjson

npm run bench:kernel -- [options]
    --wasm FILE         a kernel; said several times, they take turns (default: dist/kernel/kernel.ahead.wasm).
                        Compiled ahead of time. All must be of this checkout's table format and memory layout
    --only NAME[,NAME]  of: ndjson, text, agents, explain, allowed (default: all)
    --turn 4            MiB of input after which the next kernel takes its turn; 24 for a table that fits into no cache,
                        of which the kernels would else find warm what the one before has just read
    --rounds 7  --hosts 5000  --urls 1000000  --seed 1
    --corpus DIR        where corpora are kept (default: ${join(tmpdir(), 'robots-filter-bench')})
    --table FILE        a table that "robots-filter compile" wrote, in place of a corpus', and with it
    --input FILE        its lines, of which the first 100 MB count, in the form of each --only
`;

const { values } = parseArgs({
  options: {
    wasm: { type: 'string', multiple: true, default: ['dist/kernel/kernel.ahead.wasm'] },
    only: { type: 'string', default: 'ndjson,text,agents,explain,allowed' },
    turn: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '7' },
    hosts: { type: 'string', default: '5000' },
    urls: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string', default: join(tmpdir(), 'robots-filter-bench') },
    table: { type: 'string' },
    input: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** Octets of an input that is given. */
const MOST_INPUT = 100_000_000;

if (values.help) process.stdout.write(USAGE);
else timeKernels();

/** What is asked: a table, and its input in a form. */
interface Matter {
  readonly table: Uint8Array;
  readonly input: (form: 'text' | 'ndjson') => Uint8Array;
}

function matterOf({ table, input }: typeof values): Matter {
  if (table !== undefined && input !== undefined) {
    const given = firstOctets(input, MOST_INPUT);
    return { table: readFileSync(table), input: () => given };
  }
  if (table !== undefined || input !== undefined) {
    throw new Error('--table and --input are said together');
  }
  const [seed, hosts, urls] = [values.seed, values.hosts, values.urls].map(Number);
  const options = { seed: seed ?? 1, hosts: hosts ?? 1, urls: urls ?? 1 };
  const corpus = corpusIn(values.corpus, options, say);
  return { table: tableOf(corpus.robots), input: (form) => readFileSync(corpus[form]) };
}

/** The first octets of a file, up to the end of a line. */
function firstOctets(path: string, most: number): Uint8Array {
  const octets = Buffer.alloc(most);
  const descriptor = openSync(path, 'r');
  const read = readSync(descriptor, octets);
  closeSync(descriptor);
  return octets.subarray(0, read < most ? read : octets.lastIndexOf(0x0a) + 1);
}

function timeKernels(): void {
  // Before the table asks for its own: of a module that is there V8 takes what it has.
  const modules = values.wasm.map((path) => compileAhead(readFileSync(path)));
  const { table, input } = matterOf(values);
  const memory = createMemory(TABLE_ADDRESS + table.length + MARGIN);
  new Uint8Array(memory.buffer).set(table, TABLE_ADDRESS);
  const kernels = modules.map((module) => instantiateKernel(module, memory));
  const rows = values.only.split(',').map((name) => {
    const variant = KERNEL_VARIANTS[name];
    if (variant === undefined) throw new Error(`--only ${name}: there is no such variant`);
    const bench = new KernelBench(memory, new TableView(table), variant);
    return timeInTurn(name, kernels, bench, input(variant.format === 'text' ? 'text' : 'ndjson'));
  });
  say(aligned([['ns/line', 'least', 'median', 'of the first'], ...rows.flat()]));
}

/**
 * All kernels over a piece of the input, by default some twenty milliseconds, in which a noisy
 * machine is the same for all; then over the next, in another order; they must tally the same. The
 * first round is left out: it is what they warm up in. Behind each kernel's own times stands what
 * it takes in times of the first, the median of all pieces: that repeats to half a percent where
 * the times do not repeat to ten.
 */
function timeInTurn(
  name: string,
  kernels: readonly Kernel[],
  bench: KernelBench,
  input: Uint8Array,
): string[][] {
  const turn = Number(values.turn) * 2 ** 20;
  if (!(turn > 0)) throw new Error(`--turn ${values.turn}: MiB are needed, more than 0`);
  const pieces = [...wholeLines(input, turn)];
  const times = kernels.map((): number[] => []);
  const ratios = kernels.map((): number[] => []);
  for (let round = 0; round <= Number(values.rounds); round++) {
    const sums = kernels.map(() => 0);
    let lines = 0;
    pieces.forEach((piece, place) => {
      const runs = inOrder(kernels, place + round, (kernel) => bench.run(kernel, piece));
      const [first] = runs;
      if (first === undefined) return;
      lines += first.lines;
      runs.forEach((run, index) => {
        assertEqual(`${name}: ${values.wasm[index]}`, run.tally, first.tally);
        sums[index] = (sums[index] ?? 0) + run.nanoseconds;
        if (round > 0) ratios[index]?.push(run.nanoseconds / first.nanoseconds);
      });
    });
    if (round > 0) for (const [index, sum] of sums.entries()) times[index]?.push(sum / lines);
  }
  return times.map((own, index) => [
    `${name.padEnd(8)} ${values.wasm[index]}`,
    Math.min(...own).toFixed(1),
    median(own).toFixed(1),
    median(ratios[index] ?? []).toFixed(3),
  ]);
}

/** The results of all items, in their order, worked out from the one at `start` on. */
function inOrder<Item, Result>(
  items: readonly Item[],
  start: number,
  work: (item: Item) => Result,
): Result[] {
  const from = start % items.length;
  const results = [...items.slice(from), ...items.slice(0, from)].map(work);
  return [...results.slice(items.length - from), ...results.slice(0, items.length - from)];
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
