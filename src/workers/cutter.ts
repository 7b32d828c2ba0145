import { BAD_INPUT_LIMIT, MARGIN } from '../kernel/layout.js';
import type { Ring } from './ring.js';
import { FILLED, FLAG_JUMBO, FLAG_OVERLONG, linesOf, openWord } from './ring-words.js';

const NEWLINE = 10;
/** Octets of a line that is too long which the kernel gets to see. */
const OVERLONG_OCTETS = BAD_INPUT_LIMIT + MARGIN;

/**
 * Cuts an input into batches at line ends: gives out room to read to, looks for the newlines in
 * what has come, and seals a batch when it is full. Whether octets come one by one or all at once,
 * the lines are the same.
 *
 * A batch is one of three:
 *
 * - whole lines, up to `batchOctets`, in the slot's own input; the last of an input may lack its
 *   newline;
 * - one line that is longer than that, with its newline, in the jumbo region;
 * - the beginning of a line that has no newline within `holdOctets`: FLAG_OVERLONG; the rest of it
 *   is skipped as it comes.
 *
 * Every octet is looked at once for a newline, and moved at most once behind a batch and once into
 * the jumbo region.
 */
export class Cutter {
  readonly #ring: Ring;
  #slot = 0;
  /** Where the batch is gathered: the slot's input, or the jumbo region. */
  #start = 0;
  #inJumbo = false;
  /** The slot's input is full without a newline, and the jumbo region must be had. */
  #wantsJumbo = false;
  /** Octets gathered. */
  #used = 0;
  /** The slot's word as this side last wrote it. */
  #word = 0;
  /** The input continues in a line that was too long. */
  #skipping = false;
  /** What was gathered behind the batch: address and octets. */
  #carry = 0;
  #carryOctets = 0;

  constructor(ring: Ring) {
    this.#ring = ring;
  }

  /** Begins a batch in a FREE slot, with what was read behind the last one. */
  open(slot: number): void {
    const { regions } = this.#ring;
    this.#slot = slot;
    this.#start = regions.inputs + slot * regions.inputStride;
    this.#inJumbo = false;
    this.#wantsJumbo = false;
    this.#used = 0;
    this.#skipping = this.#ring.input.skipping;
    this.#carryOctets = 0;
    this.#ring.setInput(
      slot,
      this.#start,
      0,
      0,
      this.#ring.input.read - this.#ring.input.carryOctets,
    );
    this.#word = openWord(0);
    this.#ring.setState(slot, this.#word);
    // This is less than a batch, and so does not fill it: at least one octet of the last read was a
    // newline.
    this.#gather(this.#ring.input.takeCarry(this.#start));
  }

  /**
   * Where the next octets of input belong; undefined while the jumbo region is wanted and not free.
   */
  room(): Uint8Array<SharedArrayBuffer> | undefined {
    const { memory, regions } = this.#ring;
    if (this.#wantsJumbo && !this.#moveToJumbo()) return undefined;
    const capacity = this.#inJumbo
      ? Math.min(regions.holdOctets, this.#used + regions.batchOctets)
      : regions.batchOctets;
    return memory.subarray(this.#start + this.#used, this.#start + capacity);
  }

  /**
   * Takes note of octets that have come into the room. True: the batch is handed over, open the
   * next.
   */
  accept(octets: number): boolean {
    this.#ring.input.read += octets;
    return this.#gather(octets);
  }

  /**
   * At the end of the input hands over what there is. False: there is nothing left. True: open the
   * next slot and finish again.
   *
   * @param whole whether a last line without newline is a line, or the torn end of an input that
   *   failed
   */
  finish(whole = true): boolean {
    // Behind the lines that have been offered there is no newline.
    if (!whole) this.#used = linesOf(this.#word);
    if (this.#used === 0) return false;
    if (this.#inJumbo) {
      this.#seal(this.#used, FLAG_JUMBO);
    } else {
      this.#publish(this.#used);
      this.#carryFrom(linesOf(this.#word));
    }
    return true;
  }

  /** Where the input goes on behind the batch that was handed over, in octets. */
  get position(): number {
    return this.#ring.input.read - this.#carryOctets;
  }

  /** The input goes on there in a line that was too long. */
  get skipping(): boolean {
    return this.#skipping;
  }

  /** Leaves what belongs to the next batch to whoever opens that; once the batch is handed over. */
  passOn(): void {
    this.#ring.input.skipping = this.#skipping;
    this.#ring.input.setCarry(this.#carry, this.#carryOctets);
  }

  #gather(octets: number): boolean {
    let come = octets;
    if (this.#skipping) {
      come = this.#skip(octets);
      if (come === 0) return false;
    }
    return this.#inJumbo ? this.#gatherJumbo(come) : this.#gatherLines(come);
  }

  /**
   * Drops octets up to the end of a line that was too long; returns how many are left, at the
   * start.
   */
  #skip(octets: number): number {
    const { memory } = this.#ring;
    const come = memory.subarray(this.#start, this.#start + octets);
    const newline = come.indexOf(NEWLINE);
    if (newline < 0) return 0;
    this.#skipping = false;
    come.copyWithin(0, newline + 1);
    const left = octets - (newline + 1);
    this.#ring.setInput(this.#slot, this.#start, 0, 0, this.#ring.input.read - left);
    return left;
  }

  #gatherLines(octets: number): boolean {
    const { memory, regions } = this.#ring;
    const from = this.#start + this.#used;
    const newline = memory.subarray(from, from + octets).lastIndexOf(NEWLINE);
    const lines = this.#used + newline + 1;
    this.#used += octets;
    const taken = newline >= 0 && !this.#publish(lines);
    const full = this.#used === regions.batchOctets;
    if (!taken && !full) return false;
    const published = linesOf(this.#word);
    if (published > 0) {
      this.#carryFrom(published);
      return true;
    }
    if (this.#used >= regions.holdOctets) return this.#sealOverlong(0);
    this.#wantsJumbo = true;
    return false;
  }

  #gatherJumbo(octets: number): boolean {
    const { memory, regions } = this.#ring;
    const from = this.#start + this.#used;
    const newline = memory.subarray(from, from + octets).indexOf(NEWLINE);
    const line = this.#used + newline + 1;
    this.#used += octets;
    if (newline >= 0) {
      this.#seal(line, FLAG_JUMBO);
      this.#carryFrom(line);
      return true;
    }
    return this.#used >= regions.holdOctets && this.#sealOverlong(FLAG_JUMBO);
  }

  #moveToJumbo(): boolean {
    const { memory, regions } = this.#ring;
    if (regions.jumbo === undefined)
      throw new Error('a line longer than a batch, and no room for it');
    if (!this.#ring.jumbo.take(this.#slot)) return false;
    memory.copyWithin(regions.jumbo.input, this.#start, this.#start + this.#used);
    this.#start = regions.jumbo.input;
    this.#inJumbo = true;
    this.#wantsJumbo = false;
    return true;
  }

  /**
   * Offers the first octets, which are whole lines; false if the batch has been taken with fewer.
   */
  #publish(lines: number): boolean {
    const word = openWord(lines);
    if (!this.#ring.exchangeState(this.#slot, this.#word, word)) return false;
    this.#word = word;
    return true;
  }

  /**
   * Hands over the first octets, which are no number of whole lines. Nothing of the slot has been
   * offered.
   */
  #seal(octets: number, flags: number): void {
    const start = this.#ring.input.read - this.#used;
    this.#ring.setInput(this.#slot, this.#start, octets, flags, start);
    this.#ring.setState(this.#slot, FILLED);
  }

  #sealOverlong(flags: number): true {
    this.#seal(Math.min(this.#used, OVERLONG_OCTETS), FLAG_OVERLONG | flags);
    this.#skipping = true;
    return true;
  }

  /** Sets what was gathered behind the first octets aside for the next batch. */
  #carryFrom(octets: number): void {
    this.#carry = this.#start + octets;
    this.#carryOctets = this.#used - octets;
  }
}
