import { FRAME_OUTCOMES, FRAME_RECORD, FRAME_URL } from './layout.js';

/** A record of the output, and what it is about. */
export interface Frame {
  /** With its line end. */
  readonly record: Buffer;
  /** Empty if the record has none. */
  readonly url: Buffer;
  /** `verdict << 4 | reason` of each agent. */
  readonly outcomes: Buffer;
}

/**
 * Reads the frames of an output (kernel/layout.ts, QUERY_FRAMES).
 *
 * @returns the offset of the frame that is not complete
 */
export function readFrames(bytes: Buffer, agents: number, onFrame: (frame: Frame) => void): number {
  let at = 0;
  while (at + FRAME_OUTCOMES <= bytes.length) {
    const outcomesAt = at + FRAME_OUTCOMES;
    const urlAt = outcomesAt + agents;
    const recordAt = urlAt + bytes.readUInt32LE(at + FRAME_URL);
    const end = recordAt + bytes.readUInt32LE(at + FRAME_RECORD);
    if (end > bytes.length) break;
    onFrame({
      record: bytes.subarray(recordAt, end),
      url: bytes.subarray(urlAt, recordAt),
      outcomes: bytes.subarray(outcomesAt, urlAt),
    });
    at = end;
  }
  return at;
}
