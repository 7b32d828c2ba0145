import { BAD_INPUT_LIMIT, MARGIN } from '../kernel/layout.js';
import type { Ring } from './ring/ring.js';
import { FILLED, FLAG_JUMBO, FLAG_OVERLONG, linesOf, openWord } from './ring/words.js';

const NEWLINE = 10;
/** Number of bytes of an overlong line that the kernel gets. */
const OVERLONG_BYTES = BAD_INPUT_LIMIT + MARGIN;

/**
 * Splits an input into batches at line ends. Gives out room to read into, looks for newlines in the
 * bytes that were read, and hands over a batch when it is full. The lines do not depend on how many
 * bytes come at a time.
 *
 * A batch is one of:
 *
 * - whole lines, up to `batchBytes`, in the slot's own input region. The last line of an input may
 *   lack its newline;
 * - one longer line with its newline, in the jumbo region;
 * - the beginning of a line without a newline in its first `holdBytes` bytes (FLAG_OVERLONG). The
 *   rest of that line is skipped as it comes.
 *
 * Every byte is searched once for a newline. It is moved at most once to the next slot, and once
 * into the jumbo region.
 */
export class BatchSplitter {
  readonly #ring: Ring;
  #slot = 0;
  /** Where the bytes of the batch are: the slot's input region, or the jumbo region. */
  #start = 0;
  #inJumbo = false;
  /**
   * Whether the slot's input region is full without a newline: the batch must move to the jumbo
   * region.
   */
  #wantsJumbo = false;
  /** Number of gathered bytes. */
  #used = 0;
  /** The slot's word as the producer wrote it last. */
  #word = 0;
  /** Whether the input continues in a line that was too long. */
  #skipping = false;
  /** Address and length of the bytes that follow the batch. */
  #carry = 0;
  #carryBytes = 0;

  constructor(ring: Ring) {
    this.#ring = ring;
  }

  /** Begins a batch in a FREE slot, with the bytes left over from the last batch. */
  open(slot: number): void {
    const { regions } = this.#ring;
    this.#slot = slot;
    this.#start = regions.inputs + slot * regions.inputStride;
    this.#inJumbo = false;
    this.#wantsJumbo = false;
    this.#used = 0;
    this.#skipping = this.#ring.input.skipping;
    this.#carryBytes = 0;
    const { input, slots } = this.#ring;
    slots.setInput(
      slot,
      { address: this.#start, bytes: 0, flags: 0 },
      input.read - input.carryBytes,
    );
    this.#word = openWord(0);
    slots.setState(slot, this.#word);
    // The carry is less than a batch: at least one byte of the last read was a newline.
    this.#gather(input.takeCarry(this.#start));
  }

  /** Room for the next read; undefined while the jumbo region is needed and not free. */
  room(): Uint8Array<SharedArrayBuffer> | undefined {
    const { memory, regions } = this.#ring;
    if (this.#wantsJumbo && !this.#moveToJumbo()) return undefined;
    const capacity = this.#inJumbo
      ? Math.min(regions.holdBytes, this.#used + regions.batchBytes)
      : regions.batchBytes;
    return memory.subarray(this.#start + this.#used, this.#start + capacity);
  }

  /**
   * Notes that this many bytes were read into the room; returns whether the batch was handed over,
   * so that the next batch must be opened.
   */
  accept(bytes: number): boolean {
    this.#ring.input.read += bytes;
    return this.#gather(bytes);
  }

  /**
   * Hands over the rest at the end of the input; returns false if nothing was left. If it returns
   * true, open the next slot and call `finish` again.
   *
   * @param whole whether a last line without a newline counts as a line; false if the input failed
   */
  finish(whole = true): boolean {
    // The bytes after the offered lines have no newline.
    if (!whole) this.#used = linesOf(this.#word);
    if (this.#used === 0) return false;
    if (this.#inJumbo) {
      this.#seal(this.#used, FLAG_JUMBO);
    } else {
      this.#offer(this.#used);
      this.#carryFrom(linesOf(this.#word));
    }
    return true;
  }

  /** Leaves the rest for the next batch, after this batch was handed over. */
  passOn(): void {
    this.#ring.input.skipping = this.#skipping;
    this.#ring.input.setCarry(this.#carry, this.#carryBytes);
  }

  #gather(bytes: number): boolean {
    let come = bytes;
    if (this.#skipping) {
      come = this.#skip(bytes);
      if (come === 0) return false;
    }
    return this.#inJumbo ? this.#gatherJumbo(come) : this.#gatherLines(come);
  }

  /**
   * Drops bytes up to the end of an overlong line; returns how many are left. The remaining bytes
   * are moved to the start.
   */
  #skip(bytes: number): number {
    const { memory } = this.#ring;
    const come = memory.subarray(this.#start, this.#start + bytes);
    const newline = come.indexOf(NEWLINE);
    if (newline < 0) return 0;
    this.#skipping = false;
    come.copyWithin(0, newline + 1);
    const left = bytes - (newline + 1);
    this.#ring.slots.setInput(
      this.#slot,
      { address: this.#start, bytes: 0, flags: 0 },
      this.#ring.input.read - left,
    );
    return left;
  }

  #gatherLines(bytes: number): boolean {
    const { memory, regions } = this.#ring;
    const from = this.#start + this.#used;
    const newline = memory.subarray(from, from + bytes).lastIndexOf(NEWLINE);
    const lines = this.#used + newline + 1;
    this.#used += bytes;
    const taken = newline >= 0 && !this.#offer(lines);
    const full = this.#used === regions.batchBytes;
    if (!taken && !full) return false;
    const offered = linesOf(this.#word);
    if (offered > 0) {
      this.#carryFrom(offered);
      return true;
    }
    if (this.#used >= regions.holdBytes) return this.#sealOverlong(0);
    this.#wantsJumbo = true;
    return false;
  }

  #gatherJumbo(bytes: number): boolean {
    const { memory, regions } = this.#ring;
    const from = this.#start + this.#used;
    const newline = memory.subarray(from, from + bytes).indexOf(NEWLINE);
    const line = this.#used + newline + 1;
    this.#used += bytes;
    if (newline >= 0) {
      this.#seal(line, FLAG_JUMBO);
      this.#carryFrom(line);
      return true;
    }
    return this.#used >= regions.holdBytes && this.#sealOverlong(FLAG_JUMBO);
  }

  #moveToJumbo(): boolean {
    const { memory, regions } = this.#ring;
    if (regions.jumbo === undefined) throw new Error('no region for a line longer than a batch');
    if (!this.#ring.jumbo.take(this.#slot)) return false;
    memory.copyWithin(regions.jumbo.input, this.#start, this.#start + this.#used);
    this.#start = regions.jumbo.input;
    this.#inJumbo = true;
    this.#wantsJumbo = false;
    return true;
  }

  /**
   * Offers this many bytes, which are whole lines; false if the batch was taken with fewer bytes.
   */
  #offer(lines: number): boolean {
    const word = openWord(lines);
    if (!this.#ring.slots.exchangeState(this.#slot, this.#word, word)) return false;
    this.#word = word;
    return true;
  }

  /**
   * Hands over this many bytes that are not made of whole lines. Nothing of the slot has been
   * offered before.
   */
  #seal(bytes: number, flags: number): void {
    const start = this.#ring.input.read - this.#used;
    this.#ring.slots.setInput(this.#slot, { address: this.#start, bytes, flags }, start);
    this.#ring.slots.setState(this.#slot, FILLED);
  }

  #sealOverlong(flags: number): true {
    this.#seal(Math.min(this.#used, OVERLONG_BYTES), FLAG_OVERLONG | flags);
    this.#skipping = true;
    return true;
  }

  /** Sets aside for the next batch the bytes gathered after this many. */
  #carryFrom(bytes: number): void {
    this.#carry = this.#start + bytes;
    this.#carryBytes = this.#used - bytes;
  }
}
