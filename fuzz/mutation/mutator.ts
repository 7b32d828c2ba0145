import type { Random } from '../../test/random.js';
import { octetsOf } from '../corpus.js';
import type { Target } from '../target.js';
import { changedOctets, replaced } from './octets.js';

/** How often an input is made from nothing, by the target's grammar. */
const FRESH = 0.1;
/** How often a change inserts a piece of that grammar instead of changing octets. */
const PIECE = 0.25;

/** Makes inputs of a target from others of it. */
export class Mutator {
  readonly #random: Random;
  readonly #target: Target;
  readonly #dictionary: readonly Uint8Array[];

  constructor(random: Random, target: Target) {
    this.#random = random;
    this.#target = target;
    this.#dictionary = target.dictionary.map(octetsOf);
  }

  fresh(): Uint8Array {
    return octetsOf(this.#target.generate(this.#random)).subarray(0, this.#target.maxOctets);
  }

  /** A new input: one of the pool after some changes, in which another may take part. */
  next(pick: () => Uint8Array): Uint8Array {
    const random = this.#random;
    if (random.chance(FRESH)) return this.fresh();
    let input = pick();
    for (let changes = random.pick([1, 1, 1, 2, 2, 3, 4, 6, 10]); changes > 0; changes--) {
      input = random.chance(PIECE)
        ? this.#withPiece(input)
        : changedOctets(random, input, pick(), this.#word());
    }
    return input.subarray(0, this.#target.maxOctets);
  }

  #withPiece(input: Uint8Array): Uint8Array {
    const random = this.#random;
    const piece = octetsOf(this.#target.piece(random));
    const from = random.between(0, input.length);
    const dropped = random.chance(0.5) ? 0 : random.between(0, piece.length);
    return replaced(input, from, Math.min(from + dropped, input.length), piece);
  }

  #word(): Uint8Array {
    return this.#dictionary.length === 0 ? new Uint8Array(1) : this.#random.pick(this.#dictionary);
  }
}
