import { GUARD_BYTES, type Regions, scratchAddress, taskAddress } from './regions.js';

/** The value of a guard's words. An overrun that writes the same value does no harm. */
const WORD = 0x6a09e667;

/** A write beyond a region: the contents of the following regions are no longer certain. */
export class GuardError extends Error {}

/**
 * The guards after the regions of a run. A write beyond a region could change another thread's
 * records unnoticed; a changed guard shows it, and the run ends.
 */
export class Guards {
  readonly #words: Uint32Array;
  readonly #regions: Regions;

  constructor(memory: SharedArrayBuffer, regions: Regions) {
    this.#words = new Uint32Array(memory);
    this.#regions = regions;
  }

  /** Writes all guards, before any thread starts to work. */
  set(): void {
    const { slots, threads } = this.#regions;
    this.#write(this.#regions.workers);
    for (let worker = 0; worker < threads; worker++) {
      for (const { end } of this.#ofWorker(worker)) this.#write(end);
    }
    for (let slot = 0; slot < slots; slot++) {
      for (const { end } of this.#ofSlot(slot)) this.#write(end);
    }
    for (const { end } of this.#ofJumbo()) this.#write(end);
  }

  /**
   * Checks the guards after the regions that a worker writes to for a slot's batch.
   *
   * @throws GuardError if one has changed
   */
  check(worker: number, slot: number, jumbo: boolean): void {
    const regions = [...this.#ofWorker(worker), ...(jumbo ? this.#ofJumbo() : this.#ofSlot(slot))];
    for (const { name, end } of regions) {
      if (!this.#stands(end)) throw new GuardError(`the ${name} was written beyond its end`);
    }
  }

  /** The regions of a worker: their names, and where the next region begins. */
  #ofWorker(worker: number): readonly { name: string; end: number }[] {
    return [
      { name: 'worker block', end: scratchAddress(this.#regions, worker) },
      { name: 'scratch memory', end: taskAddress(this.#regions, worker + 1) },
    ];
  }

  #ofSlot(slot: number): readonly { name: string; end: number }[] {
    const { inputs, inputStride, outputs, outputStride } = this.#regions;
    return [
      { name: 'input of a batch', end: inputs + (slot + 1) * inputStride },
      { name: 'output of a batch', end: outputs + (slot + 1) * outputStride },
    ];
  }

  #ofJumbo(): readonly { name: string; end: number }[] {
    const { jumbo, end } = this.#regions;
    if (jumbo === undefined) return [];
    return [
      { name: 'input of a long line', end: jumbo.output },
      { name: 'output of a long line', end: jumbo.scratch },
      { name: 'scratch memory of a long line', end },
    ];
  }

  #write(end: number): void {
    this.#words.fill(WORD, (end - GUARD_BYTES) / 4, end / 4);
  }

  #stands(end: number): boolean {
    for (let word = (end - GUARD_BYTES) / 4; word < end / 4; word++) {
      if (this.#words[word] !== WORD) return false;
    }
    return true;
  }
}
