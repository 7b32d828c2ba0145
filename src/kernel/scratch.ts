import { COPY_MARGIN, GROUP_LINES, SCRATCH_FACTOR, SCRATCH_MARGIN } from './layout.js';

/**
 * Bytes of scratch memory that suffice for any input; SCRATCH_FACTOR in layout.ts has the proof.
 *
 * @param inputBytes bytes of the batch, or of the one URL
 * @param lines upper bound of the input's lines, if it is below GROUP_LINES
 */
export function scratchBytes(inputBytes: number, lines: number = GROUP_LINES): number {
  return SCRATCH_FACTOR * inputBytes + COPY_MARGIN * Math.min(lines, GROUP_LINES) + SCRATCH_MARGIN;
}
