import { BLOCK_OFFSET, blockTokenNumber, type RobotsBlock } from './compile/robots-block.js';
import type { JudgeTarget } from './kernel/agent-queries.js';
import { Arena, type Region } from './kernel/arena.js';
import { Judge } from './kernel/judge.js';
import { createMemory, PAGE_BYTES } from './kernel/kernel.js';
import type { Profile } from './protocol/profile.js';
import { TAIL_BYTES } from './table/format.js';

/** Greatest length of the region for blocks, unless a single block needs more. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The region grows by this factor. */
const GROWTH = 4;

/** A block in memory, until the next round. */
export class ResidentBlock implements JudgeTarget {
  readonly anyHost = BLOCK_OFFSET;
  readonly profile: Profile;
  readonly table: number;
  /** The round in which the block was copied. */
  readonly round: number;
  readonly #tokens: readonly string[];

  constructor(table: number, round: number, { tokens }: RobotsBlock, profile: Profile) {
    this.table = table;
    this.round = round;
    this.profile = profile;
    this.#tokens = tokens;
  }

  tokenNumber(token: string): number {
    return blockTokenNumber(this.#tokens, token);
  }

  checkAgent(): void {}
}

/**
 * One kernel and one memory, in which the blocks of all `Robots` lie one after another.
 *
 * A block is copied when its `Robots` is asked, and stays until the region is full. Then a new
 * round begins, at the start of the region or in a larger region, and each block is copied again
 * when it is next asked for. So the memory is bounded whatever the number of `Robots`, nothing is
 * released one by one, and a block costs no more than a copy now and then.
 */
export class RobotsMemory {
  readonly judge: Judge;
  readonly #arena = new Arena(createMemory(PAGE_BYTES));
  readonly #mostBytes: number;
  #region: Region;
  /** The bytes of the region. */
  #bytes: Uint8Array;
  #used = 0;
  #round = 1;

  /** @param mostBytes greatest length of the region, for tests */
  constructor(mostBytes = MOST_BYTES) {
    this.judge = new Judge(this.#arena);
    this.#mostBytes = mostBytes;
    this.#region = this.#arena.take(PAGE_BYTES);
    this.#bytes = this.#regionBytes();
  }

  /** Whether a block is still where it was copied to. */
  holds(resident: ResidentBlock): boolean {
    return resident.round === this.#round;
  }

  /**
   * Copies a block into the memory.
   *
   * @throws RobotsFilterError `limit` if the block does not fit into 4 GiB
   */
  load(block: RobotsBlock, profile: Profile): ResidentBlock {
    const { bytes } = block;
    // The kernel reads up to TAIL_BYTES past a block, but never past the region.
    if (this.#used + bytes.length + TAIL_BYTES > this.#region.bytes) {
      this.#beginRound(bytes.length + TAIL_BYTES);
    }
    const address = this.#region.address + this.#used;
    this.#bytes.set(bytes, this.#used);
    this.#used += bytes.length;
    return new ResidentBlock(address - BLOCK_OFFSET, this.#round, block, profile);
  }

  #beginRound(leastBytes: number): void {
    const grown = Math.min(GROWTH * this.#region.bytes, this.#mostBytes);
    const bytes = Math.max(grown, leastBytes);
    if (bytes > this.#region.bytes) {
      const region = this.#arena.take(bytes);
      this.#arena.give(this.#region);
      this.#region = region;
      this.#bytes = this.#regionBytes();
    }
    this.#round++;
    this.#used = 0;
  }

  #regionBytes(): Uint8Array {
    const { address, bytes } = this.#region;
    return new Uint8Array(this.#arena.memory.buffer, address, bytes);
  }
}
