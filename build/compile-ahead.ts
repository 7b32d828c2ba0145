import { setFlagsFromString } from 'node:v8';

/** What else V8 does: it compiles a function when it is first called, quickly, and well when it has run for a while. */
const AS_IT_RUNS = ['liftoff', 'wasm-lazy-compilation', 'wasm-dynamic-tiering'];
/** And it allots registers to large functions badly, so as to be done with them: with all inlined a line takes a fifth longer. */
const IN_HASTE = 'turbo-use-mid-tier-regalloc-for-huge-functions';
/** What it does not heed yet without being told (branch-hints.ts). */
const HINTS = 'experimental-wasm-branch-hinting';

/** Has V8's optimising compiler compile all of a module at once. Nothing else may be compiled at the time. */
export function compileAhead(octets: Uint8Array): WebAssembly.Module {
  const left = [...AS_IT_RUNS, IN_HASTE];
  for (const name of left) setFlagsFromString(`--no-${name}`);
  setFlagsFromString(`--${HINTS}`);
  try {
    return new WebAssembly.Module(octets);
  } finally {
    for (const name of left) setFlagsFromString(`--${name}`);
    setFlagsFromString(`--no-${HINTS}`);
  }
}
