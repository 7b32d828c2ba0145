/**
 * Inlines the functions of the kernel that asc has compiled, further than asc does at any of its
 * levels: a line passes some twenty functions, and entering them is a tenth of its time.
 */

import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const KERNEL = '.build/dist/kernel/kernel.wasm';

/** The features that asconfig.json enables. Newer ones may be missing in the oldest Node. */
const FEATURES = [
  'simd',
  'threads',
  'bulk-memory',
  'bulk-memory-opt',
  'sign-ext',
  'mutable-globals',
  'nontrapping-float-to-int',
];

/*
 * The sizes up to which a function goes into all its callers, in units of about an instruction.
 * Larger ones cost V8 more to compile than a run of some million lines gains.
 */
const CALLING_NONE = 250;
const CALLING_OTHERS = 300;
/** The same, for a function with one caller. */
const CALLED_ONCE = 1_000_000;

/** Functions that few lines or runs reach stay outside. */
const RARE = [
  'splitAny',
  'resolveAny',

  'unescapeString',
  'isKey',
  'invalidEscapes',
  'skipString',
  'invalidScalars',
  'byteBefore',
  'skipContainer',
  'canonicalise',
  'escapeString',
  'columns',
  'ruleObject',
  'sourceText',
  'patternText',
  'decideUrl',
];

// asc brings binaryen, and binaryen the optimizer.
const binaryen = createRequire(import.meta.resolve('assemblyscript')).resolve('binaryen');

execFileSync(process.execPath, [
  join(dirname(binaryen), 'bin/wasm-opt'),
  KERNEL,
  // Reads the names, by which asc calls `function` in `file` `path/file/function`.
  '--debuginfo',
  ...FEATURES.map((feature) => `--enable-${feature}`),
  ...RARE.map((name) => `--no-inline=*/${name}`),
  `--always-inline-max-function-size=${CALLING_NONE}`,
  `--flexible-inline-max-function-size=${CALLING_OTHERS}`,
  `--one-caller-inline-max-function-size=${CALLED_ONCE}`,
  '--inline-functions-with-loops',
  '-O3',
  '--strip-debug',
  `--output=${KERNEL}`,
]);
