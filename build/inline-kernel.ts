/**
 * Inlines the functions of the kernel that asc has compiled, far beyond what asc does at any of its levels. A line passes some twenty
 * functions, and what V8 spends on entering each came to a tenth of its time: of text 175 ns a line became 158, of NDJSON
 * 237 became 223. Functions of all sizes in each other are faster still (156 and 216), but take V8 so long to
 * compile that eight million lines are over sooner without. For the same reason what few lines come to stays outside: that
 * made them over in 866 ms in place of 937 (text; medians of seven), in 1134 in place of 1192 (NDJSON).
 */

import { readFileSync, writeFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { KERNEL_FEATURES } from './kernel-features.js';

const KERNEL = new URL('../dist/kernel/kernel.wasm', import.meta.url);

/** Functions up to this size, in binaryen's units of about an instruction, go into all that call them. */
const INLINED = 250;
/** The same, for functions that call others; and for functions with one caller. */
const INLINED_WITH_CALLS = 300;
const INLINED_ONCE = 1_000_000;

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

const module = binaryen.readBinary(readFileSync(KERNEL));
module.setFeatures(KERNEL_FEATURES);
binaryen.setOptimizeLevel(3);
binaryen.setShrinkLevel(0);
for (const name of RARE) {
  binaryen.setPassArgument('no-inline', name);
  module.runPasses(['no-inline']);
}
binaryen.setAlwaysInlineMaxSize(INLINED);
binaryen.setFlexibleInlineMaxSize(INLINED_WITH_CALLS);
binaryen.setOneCallerInlineMaxSize(INLINED_ONCE);
binaryen.setAllowInliningFunctionsWithLoops(true);
module.optimize();
// Without the names, which were for RARE.
binaryen.setDebugInfo(false);
writeFileSync(KERNEL, module.emitBinary());
