import { setFlagsFromString } from 'node:v8';
import { hasRecursion } from './recursion.js';

/**
 * What V8 does besides: it compiles a function when it is first called, quickly, and well when it
 * has run for a while.
 */
const AS_IT_RUNS = ['liftoff', 'wasm-lazy-compilation', 'wasm-dynamic-tiering'];
const VERSION = Number.parseInt(process.versions.v8, 10);

/**
 * And up to version 11 it allots registers to large functions badly, so as to be done with them:
 * with all inlined a line takes a fifth longer.
 */
const IN_HASTE = VERSION < 12 ? ['turbo-use-mid-tier-regalloc-for-huge-functions'] : [];

/**
 * And what does not pay in the kernel. To unroll loops: it takes a line 0.5 to 1 % longer. To ask,
 * where a function and each round of a loop begin, whether the stack has room and whether the
 * thread is to end: 2.5 %. Functions of which none calls itself, not by others either, need no more
 * of the stack than V8 keeps free at its end; and what ends a thread waits until it is through with
 * its batch.
 */
const WITHOUT_PAY = ['wasm-loop-unrolling', 'wasm-stack-checks'];

/**
 * What it does not heed without being told (branch-hints.ts), and what it sets along with that.
 * Version 13 does not take code that was made so.
 */
const EXPERIMENTS = VERSION < 13 ? ['experimental-wasm-branch-hinting', 'experimental'] : [];

/**
 * Has V8's optimising compiler compile all of a module at once, in which no function may call
 * itself. Nothing else may be compiled at the time, and the same octets not before: V8 has one
 * module of them. V8's flags are then what they were, if they were as V8 has them: code that is
 * kept is taken only with those that it was made with.
 *
 * @throws Error if a function may call itself
 */
export function compileAhead(octets: Uint8Array): WebAssembly.Module {
  if (hasRecursion(octets)) throw new Error('the module has a function that may call itself');
  const left = [...AS_IT_RUNS, ...IN_HASTE, ...WITHOUT_PAY];
  for (const name of left) setFlagsFromString(`--no-${name}`);
  for (const name of EXPERIMENTS) setFlagsFromString(`--${name}`);
  try {
    return new WebAssembly.Module(octets);
  } finally {
    for (const name of left) setFlagsFromString(`--${name}`);
    for (const name of EXPERIMENTS) setFlagsFromString(`--no-${name}`);
  }
}
