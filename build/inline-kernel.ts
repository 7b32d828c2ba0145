/**
 * Inlines the functions of the kernel that asc has compiled, far beyond what asc does at any of its
 * levels. A line passes some twenty functions, and what V8 spends on entering each came to a tenth
 * of its time: of text 175 ns a line became 158, of NDJSON 237 became 223.
 *
 * Functions of all sizes in each other take a line 4 to 5 % less time still, and V8 so much to
 * compile that eight million lines are over sooner without. So there are two files: kernel.wasm,
 * which V8 compiles as it runs; and kernel.ahead.wasm, in which all is inlined, for the machine
 * code that is kept when the program is built (keep-kernel.ts). What few lines come to stays
 * outside in both: that made eight million over in 866 ms in place of 937 (text; medians of seven),
 * in 1134 in place of 1192 (NDJSON).
 */

import { readFileSync, writeFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { kernelFile } from '../src/kernel/module.js';
import { aheadFile } from '../src/start/kept-module.js';
import { KERNEL_FEATURES } from './kernel-features.js';

/**
 * How large the functions may be that go into all that call them, in binaryen's units of about an
 * instruction.
 */
interface Inlining {
  readonly callingNone: number;
  readonly callingOthers: number;
}

const AS_IT_RUNS: Inlining = { callingNone: 250, callingOthers: 300 };
const AHEAD: Inlining = { callingNone: 1_000_000, callingOthers: 1_000_000 };
/** The same, for functions with one caller. */
const CALLED_ONCE = 1_000_000;

/** What few lines or runs come to, by the names that asc gives. */
const RARE = [
  '*/splitAny',
  '*/resolveAny',
  '*/locateUrl',
  '*/readUrlString',
  '*/unescapeString',
  '*/isJson',
  '*/canonicalise',
  '*/escapeString',
  '*/columns',
  '*/ruleObject',
  '*/sourceText',
  '*/patternText',
  '*/judgeUrl',
];

binaryen.setOptimizeLevel(3);
binaryen.setShrinkLevel(0);
binaryen.setOneCallerInlineMaxSize(CALLED_ONCE);
binaryen.setAllowInliningFunctionsWithLoops(true);

const compiled = readFileSync(kernelFile());
writeFileSync(aheadFile(kernelFile()), inlined(compiled, AHEAD));
writeFileSync(kernelFile(), inlined(compiled, AS_IT_RUNS));

function inlined(octets: Uint8Array, { callingNone, callingOthers }: Inlining): Uint8Array {
  const module = binaryen.readBinary(octets);
  module.setFeatures(KERNEL_FEATURES);
  // For the names, which are for RARE and do not stay.
  binaryen.setDebugInfo(true);
  for (const name of RARE) {
    binaryen.setPassArgument('no-inline', name);
    module.runPasses(['no-inline']);
  }
  binaryen.setAlwaysInlineMaxSize(callingNone);
  binaryen.setFlexibleInlineMaxSize(callingOthers);
  module.optimize();
  binaryen.setDebugInfo(false);
  return module.emitBinary();
}
