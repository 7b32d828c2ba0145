/** The bound of scratch memory. SCRATCH_FACTOR in layout.ts says how much the host must provide. */

let scratchEnd: usize = 0;

/** Sets the end of scratch memory for the following calls. */
export function limitScratch(end: usize): void {
  scratchEnd = end;
}

/**
 * Traps unless `bytes` bytes may be written from `scratch` on. Too little scratch memory is a
 * fault of the program. The run must end: a write beyond the end would change another thread's
 * records.
 */
export function claimScratch(scratch: usize, bytes: usize): void {
  if (scratch > scratchEnd || bytes > scratchEnd - scratch) unreachable();
}
