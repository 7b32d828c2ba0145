import { COPY_MARGIN, GROUP_LINES, SCRATCH_FACTOR, SCRATCH_MARGIN } from './layout.js';

/**
 * Scratch memory, in octets, with which the kernel judges any input: layout.ts, SCRATCH_FACTOR, has
 * the reasons.
 *
 * @param inputOctets octets of the batch, or of the one URL
 * @param lines lines of the input, where fewer than a group are certain
 */
export function scratchOctets(inputOctets: number, lines: number = GROUP_LINES): number {
  return SCRATCH_FACTOR * inputOctets + COPY_MARGIN * Math.min(lines, GROUP_LINES) + SCRATCH_MARGIN;
}
