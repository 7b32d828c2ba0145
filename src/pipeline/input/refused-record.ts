import {
  BAD_INPUT_LIMIT,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REFUSED_OCTETS,
  REFUSED_REASON,
  REFUSED_RECORD,
} from '../../kernel/layout.js';
import { FaultFinder, type JsonFault } from './json-judge.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const NOTHING = Buffer.alloc(0);

/** Why a record of JSON is not judged. */
export type Refusal = 'too long' | 'too deep';

const REASONS: Record<Refusal, number> = {
  'too long': REASON_LINE_TOO_LONG,
  'too deep': REASON_NESTED_TOO_DEEP,
};

/** The octets of a record that its line shows. */
export const SHOWN_OCTETS = BAD_INPUT_LIMIT;
/** The octets that the line of a refused record has beyond those of the record that it shows. */
export const REFUSED_LINE_OCTETS = REFUSED_OCTETS + 1;

export function countLineFeeds(octets: Buffer): number {
  let count = 0;
  for (let at = octets.indexOf(LINE_FEED); at >= 0; at = octets.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}

/**
 * Writes the line that stands for a refused record (REFUSED_RECORD), and returns its octets. It
 * shows the beginning of the record as it came, but for line breaks, which become spaces.
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
  for (const octet of beginning.subarray(0, SHOWN_OCTETS)) {
    target[write++] = octet === LINE_FEED || octet === CARRIAGE_RETURN ? SPACE : octet;
  }
  target[write++] = LINE_FEED;
  return write - start;
}

/** Octets of the end of what was read that are kept: a fault may be found some octets late. */
const TAIL_OCTETS = 64;

export interface RefusedRecordOptions {
  readonly refusal: Refusal;
  /** Where it begins in the input, and the line feeds before it. */
  readonly offset: number;
  readonly lineFeeds: number;
  /** Text that brings a reader of JSON to where it begins, and to behind its end. */
  readonly lead: string;
  readonly leadBehind: string;
}

/**
 * A refused record that has not ended: it is read on to its end, and nothing of it is kept but its
 * beginning.
 */
export class RefusedRecord {
  readonly refusal: Refusal;
  readonly offset: number;
  readonly leadBehind: string;
  readonly #finder: FaultFinder;
  #beginning: Buffer = NOTHING;
  #tail: Buffer = NOTHING;
  #tailLineFeeds: number;

  constructor({ refusal, offset, lineFeeds, lead, leadBehind }: RefusedRecordOptions) {
    this.refusal = refusal;
    this.offset = offset;
    this.leadBehind = leadBehind;
    this.#tailLineFeeds = lineFeeds;
    this.#finder = new FaultFinder(lead);
  }

  /** The first octets that were accepted, at most SHOWN_OCTETS. */
  get beginning(): Buffer {
    return this.#beginning;
  }

  /** The last octets that were accepted, as they came, and the line feeds before them. */
  get tail(): { readonly octets: Buffer; readonly lineFeeds: number } {
    return { octets: this.#tail, lineFeeds: this.#tailLineFeeds };
  }

  /**
   * Takes the next octets of the record; returns the first fault in it, counted from the record's
   * beginning.
   *
   * @param octets as they came
   * @param text the same, as the judge is to see them
   */
  accept(octets: Buffer, text: Buffer): JsonFault | undefined {
    const fault = this.#finder.accept(text);
    if (fault === undefined) {
      const missing = SHOWN_OCTETS - this.#beginning.length;
      if (missing > 0) {
        this.#beginning = Buffer.concat([this.#beginning, octets.subarray(0, missing)]);
      }
      const all = Buffer.concat([this.#tail, octets]);
      const tail = Math.max(all.length - TAIL_OCTETS, 0);
      this.#tailLineFeeds += countLineFeeds(all.subarray(0, tail));
      this.#tail = Buffer.from(all.subarray(tail));
    }
    return fault;
  }

  /** Brings out every fault, at the end of the record. */
  settle(): JsonFault | undefined {
    return this.#finder.settle();
  }
}
