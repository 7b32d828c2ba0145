/**
 * The kernel, for threads that fail over a batch that they have divided. The first word of the
 * memory of the ring says how: they throw, exit, or take the batch for finished too early.
 */
const THROW = 1;
const EXIT = 2;
const FORGET = 3;

/** Address of the word that a test sets; the run leaves it alone. */
const PLAN = 0;

export function instantiateKernel(module, memory) {
  const environment = { canonicalHost: () => -1 };
  const { exports } = new WebAssembly.Instance(module, { env: { memory }, environment });
  const plan = new Int32Array(memory.buffer, PLAN, 1);
  let merges = 0;
  return {
    ...exports,
    merge(division) {
      const merged = exports.merge(division);
      // Past the first batch, in the middle of another.
      if (merged < 0 || ++merges < 4) return merged;
      if (plan[0] === THROW) throw new Error('thrown on purpose');
      if (plan[0] === EXIT) process.exit(7);
      return plan[0] === FORGET ? -1 : merged;
    },
  };
}
