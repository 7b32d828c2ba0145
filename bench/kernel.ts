import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createMemory, instantiateKernel, type Kernel } from '../src/kernel/kernel.js';
import { MARGIN } from '../src/kernel/layout.js';
import type { QuerySettings } from '../src/kernel/query-settings.js';
import { ShardView } from '../src/view/shard-view.js';
import type { ShapeName } from './corpus/shapes.js';
import { DEFAULT_CORPUS_DIRECTORY, provideCorpus, provideRecords } from './inputs/corpus-store.js';
import { firstBytes } from './inputs/lines.js';
import { median } from './measure/statistics.js';
import { KernelCaller, TABLE_ADDRESS, tableOf, wholeLines } from './program/kernel-caller.js';
import { say } from './report/say.js';
import { aligned } from './report/tables.js';
import { assertEqual } from './verify/assert-equal.js';

/** The options and inputs of the kernel. */
interface Variant {
  readonly input: 'text' | ShapeName;
  readonly settings: Partial<QuerySettings>;
}

const TWO_AGENTS = [
  { name: 'ExampleBot', chain: ['examplebot'] },
  { name: 'GPTBot', chain: ['gptbot'] },
];

const VARIANTS: Readonly<Record<string, Variant>> = {
  text: { input: 'text', settings: { format: 'text' } },
  short: { input: 'short', settings: {} },
  index: { input: 'index', settings: {} },
  nested: { input: 'nested', settings: { urlField: ['request', 'url'] } },
  agents: { input: 'short', settings: { agents: TWO_AGENTS } },
  explain: { input: 'short', settings: { explain: true } },
  allowed: { input: 'short', settings: { output: 'allowed' } },
};

const USAGE = `Time the kernel alone: one thread, no input or output, CPU time of the calls. This is what one
profiles with: node --cpu-prof --import tsx bench/kernel.ts --only short

npm run bench:kernel -- [options]
    --wasm FILE         a kernel with this checkout's table format and memory layout; repeatable:
                        kernels take turns (default: dist/kernel/kernel.wasm)
    --only NAME[,NAME]  of: ${Object.keys(VARIANTS).join(', ')} (default: all)
    --turn 4            MiB of input after which the next kernel takes its turn; 24 for a table that
                        does not fit into the caches, so that no kernel finds its predecessor's
                        part of the table there
    --rounds 7  --hosts 5000  --urls 1000000  --seed 1
    --corpus DIR        where corpora are kept (default: ${DEFAULT_CORPUS_DIRECTORY})
    --table FILE        a table that "robots-filter compile" wrote, and with it
    --input FILE        its lines, of which the first 100 MB count, in the format of each --only
`;

const { values } = parseArgs({
  options: {
    wasm: { type: 'string', multiple: true, default: ['dist/kernel/kernel.wasm'] },
    only: { type: 'string', default: Object.keys(VARIANTS).join(',') },
    turn: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '7' },
    hosts: { type: 'string', default: '5000' },
    urls: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string', default: DEFAULT_CORPUS_DIRECTORY },
    table: { type: 'string' },
    input: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const MOST_INPUT_BYTES = 100_000_000;

if (values.help) process.stdout.write(USAGE);
else timeKernels();

/** A table, and its input in one format. */
interface Material {
  readonly table: Uint8Array;
  readonly input: (form: Variant['input']) => Uint8Array;
}

function material({ table, input }: typeof values): Material {
  if (table !== undefined && input !== undefined) {
    const given = wholeFirstLines(input);
    return { table: readFileSync(table), input: () => given };
  }
  if (table !== undefined || input !== undefined) throw new Error('--table needs --input');
  const [seed, hosts, urls] = [values.seed, values.hosts, values.urls].map(Number);
  const options = { seed: seed ?? 1, hosts: hosts ?? 1, urls: urls ?? 1 };
  const corpus = provideCorpus(values.corpus, options, say);
  return {
    table: tableOf(corpus.robots),
    input: (form) =>
      form === 'text'
        ? readFileSync(corpus.text)
        : wholeFirstLines(provideRecords(corpus, form, 'middle')),
  };
}

/** The first lines of a file, at most MOST_INPUT_BYTES. */
function wholeFirstLines(path: string): Uint8Array {
  const bytes = firstBytes(path, MOST_INPUT_BYTES);
  return bytes.length < MOST_INPUT_BYTES ? bytes : bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
}

function timeKernels(): void {
  const modules = values.wasm.map((path) => new WebAssembly.Module(readFileSync(path)));
  const { table, input } = material(values);
  const memory = createMemory(TABLE_ADDRESS + table.length + MARGIN);
  new Uint8Array(memory.buffer).set(table, TABLE_ADDRESS);
  const kernels = modules.map((module) => instantiateKernel(module, memory));
  const rows = values.only.split(',').map((name) => {
    const variant = VARIANTS[name];
    if (variant === undefined) throw new Error(`--only ${name}: unknown variant`);
    const caller = new KernelCaller(memory, new ShardView(table), variant.settings);
    return timeInTurn(name, kernels, caller, input(variant.input));
  });
  say(aligned([['ns/line', 'minimum', 'median', 'vs first'], ...rows.flat()]));
}

/**
 * Runs all kernels over a piece of the input, then over the next piece in another order, so that a
 * noisy moment affects all kernels alike. They must have the same tally. The first round warms up.
 * The last column is the median ratio of a kernel's time to the first kernel's time for the same
 * piece.
 */
function timeInTurn(
  name: string,
  kernels: readonly Kernel[],
  caller: KernelCaller,
  input: Uint8Array,
): string[][] {
  const turn = Number(values.turn) * 2 ** 20;
  if (!(turn > 0)) throw new Error(`--turn ${values.turn}: expected a number of MiB above 0`);
  const pieces = [...wholeLines(input, turn)];
  const times = kernels.map((): number[] => []);
  const ratios = kernels.map((): number[] => []);
  for (let round = 0; round <= Number(values.rounds); round++) {
    const sums = kernels.map(() => 0);
    let lines = 0;
    pieces.forEach((piece, place) => {
      const runs = inOrder(kernels, place + round, (kernel) => caller.run(kernel, piece));
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

/** The results of all items in their order, computed starting with the item at `start`. */
function inOrder<Item, Result>(
  items: readonly Item[],
  start: number,
  work: (item: Item) => Result,
): Result[] {
  const from = start % items.length;
  const results = [...items.slice(from), ...items.slice(0, from)].map(work);
  return [...results.slice(items.length - from), ...results.slice(0, items.length - from)];
}
