/** The bounds of scratch memory. How much the host must provide: layout.ts, SCRATCH_FACTOR. */

let scratchEnd: usize = 0;

/** Sets where scratch memory ends for the calls that follow. */
export function limitScratch(end: usize): void {
  scratchEnd = end;
}

/**
 * Traps unless so many octets may be written from `scratch` on. Too little scratch memory is a
 * fault of the program: the run must end, since a write beyond the end would change another
 * thread's records.
 */
export function claimScratch(scratch: usize, octets: usize): void {
  if (scratch > scratchEnd || octets > scratchEnd - scratch) unreachable();
}
