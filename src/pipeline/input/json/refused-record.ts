import { CR, LF, SPACE } from '../../../ascii.js';
import {
  BAD_INPUT_LIMIT,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REFUSED_BYTES,
  REFUSED_REASON,
  REFUSED_RECORD,
} from '../../../kernel/layout.js';
import { FaultFinder, type JsonFault } from './json-validator.js';

const NOTHING = Buffer.alloc(0);

/** The reason why a record of JSON is not judged. */
export type Refusal = 'too long' | 'too deep';

const REASONS: Record<Refusal, number> = {
  'too long': REASON_LINE_TOO_LONG,
  'too deep': REASON_NESTED_TOO_DEEP,
};

/** Maximum number of bytes of a refused record that its line shows. */
export const SHOWN_BYTES = BAD_INPUT_LIMIT;
/** Number of bytes of that line in addition to those of the record. */
export const REFUSED_LINE_BYTES = REFUSED_BYTES + 1;

export function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}

/**
 * Writes the line that stands for a refused record (REFUSED_RECORD); returns its length in bytes.
 * The line shows the beginning of the record, with spaces in place of line breaks.
 */
export function writeRefusedLine(
  refusal: Refusal,
  beginning: Uint8Array,
  target: Uint8Array,
  start: number,
): number {
  let write = start;
  target[write++] = REFUSED_RECORD;
  target[write++] = REFUSED_REASON + REASONS[refusal];
  for (const byte of beginning.subarray(0, SHOWN_BYTES)) {
    target[write++] = byte === LF || byte === CR ? SPACE : byte;
  }
  target[write++] = LF;
  return write - start;
}

/**
 * Number of bytes that are kept after they were read, because a fault may be found some bytes late.
 */
const TAIL_BYTES = 64;

export interface RefusedRecordOptions {
  readonly refusal: Refusal;
  /** Offset of the record in the input, in bytes. */
  readonly offset: number;
  /** Number of line feeds before the record. */
  readonly lineFeeds: number;
  /** Text that brings a JSON reader into the state before the record. */
  readonly lead: string;
  /** Text that brings a JSON reader into the state after the record. */
  readonly leadAfter: string;
}

/** A refused record that is read to its end. Only its beginning is kept. */
export class RefusedRecord {
  readonly refusal: Refusal;
  readonly offset: number;
  readonly leadAfter: string;
  readonly #finder: FaultFinder;
  #beginning: Buffer = NOTHING;
  #tail: Buffer = NOTHING;
  #tailLineFeeds: number;

  constructor({ refusal, offset, lineFeeds, lead, leadAfter }: RefusedRecordOptions) {
    this.refusal = refusal;
    this.offset = offset;
    this.leadAfter = leadAfter;
    this.#tailLineFeeds = lineFeeds;
    this.#finder = new FaultFinder(lead);
  }

  /** The first bytes that were accepted, at most SHOWN_BYTES. */
  get beginning(): Buffer {
    return this.#beginning;
  }

  /** The last bytes that were accepted, and the line feeds before them. */
  get tail(): { readonly bytes: Buffer; readonly lineFeeds: number } {
    return { bytes: this.#tail, lineFeeds: this.#tailLineFeeds };
  }

  /**
   * Takes the next bytes of the record. Returns the first fault, counted from the start of the
   * record.
   *
   * @param bytes the bytes of the input
   * @param text the same bytes as the validator may see them (`RecordScanner.text`)
   */
  accept(bytes: Buffer, text: Buffer): JsonFault | undefined {
    const fault = this.#finder.accept(text);
    if (fault === undefined) {
      const missing = SHOWN_BYTES - this.#beginning.length;
      if (missing > 0) {
        this.#beginning = Buffer.concat([this.#beginning, bytes.subarray(0, missing)]);
      }
      const all = Buffer.concat([this.#tail, bytes]);
      const tail = Math.max(all.length - TAIL_BYTES, 0);
      this.#tailLineFeeds += countLineFeeds(all.subarray(0, tail));
      this.#tail = Buffer.from(all.subarray(tail));
    }
    return fault;
  }

  /** Finds any remaining fault, at the end of the record. */
  settle(): JsonFault | undefined {
    return this.#finder.settle();
  }
}
