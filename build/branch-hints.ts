/**
 * Tells V8 which branches of the kernel are hardly ever taken, so that what lies behind them is out
 * of the way: a line takes 2 to 3 % less time. Which were not taken once is counted in a run over
 * generated records, in each of the ways in which the kernel is asked. The hints are those of the
 * proposal "branch hinting": a custom section, which what does not know it passes over.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { corpusIn } from '../bench/corpora.js';
import { KERNEL_VARIANTS, KernelBench, TABLE_ADDRESS, tableOf } from '../bench/kernel-bench.js';
import { TableView } from '../src/compile/table-view.js';
import { createMemory, instantiateKernel, PAGE_OCTETS } from '../src/kernel/kernel.js';
import { MARGIN } from '../src/kernel/layout.js';
import { kernelFile } from '../src/kernel/module.js';
import { aheadFile } from '../src/start/kept-module.js';
import { type BranchCounts, withCounters, withHints } from './branches.js';

/** Enough for what happens to one record in ten thousand. */
const CORPUS = { seed: 1, hosts: 1_000, urls: 100_000 };

const file = aheadFile(kernelFile());
const module = readFileSync(file);
writeFileSync(file, withHints(module, countBranches(module)));

function countBranches(octets: Uint8Array): BranchCounts {
  const place = mkdtempSync(join(tmpdir(), 'robots-filter-build-'));
  try {
    const corpus = corpusIn(place, CORPUS, () => {});
    const table = tableOf(corpus.robots);
    const view = new TableView(table);
    const memory = createMemory(TABLE_ADDRESS + table.length + MARGIN);
    new Uint8Array(memory.buffer).set(table, TABLE_ADDRESS);
    const benches = Object.values(KERNEL_VARIANTS).map((variant) => ({
      bench: new KernelBench(memory, view, variant),
      input: readFileSync(variant.format === 'text' ? corpus.text : corpus.ndjson),
    }));
    const address = memory.buffer.byteLength;
    const counting = withCounters(octets, address);
    memory.grow(Math.ceil(counting.counterOctets / PAGE_OCTETS));
    const kernel = instantiateKernel(new WebAssembly.Module(counting.module), memory);
    for (const { bench, input } of benches) bench.run(kernel, input);
    return new Uint32Array(memory.buffer, address, counting.counterOctets / 4).slice();
  } finally {
    rmSync(place, { recursive: true });
  }
}
