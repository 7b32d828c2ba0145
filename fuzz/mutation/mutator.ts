import { bytesOf } from '../../oracle/bytes.js';
import type { Random } from '../../test/random/random.js';
import type { Target } from '../target.js';
import { changedBytes, replaced } from './bytes.js';

/** Share of inputs that are drawn anew from the target's grammar. */
const FRESH = 0.1;
/** Share of changes that insert a piece from that grammar instead of changing bytes. */
const PIECE = 0.25;

/** Makes inputs of a target from its existing inputs. */
export class Mutator {
  readonly #random: Random;
  readonly #target: Target;
  readonly #dictionary: readonly Uint8Array[];

  constructor(random: Random, target: Target) {
    this.#random = random;
    this.#target = target;
    this.#dictionary = target.dictionary.map(bytesOf);
  }

  fresh(): Uint8Array {
    return bytesOf(this.#target.generate(this.#random)).subarray(0, this.#target.maxBytes);
  }

  /** A new input: an input of the pool after some changes, which may use another input. */
  next(pick: () => Uint8Array): Uint8Array {
    const random = this.#random;
    if (random.chance(FRESH)) return this.fresh();
    let input = pick();
    for (let changes = random.pick([1, 1, 1, 2, 2, 3, 4, 6, 10]); changes > 0; changes--) {
      input = random.chance(PIECE)
        ? this.#withPiece(input)
        : changedBytes(random, input, pick(), this.#word());
    }
    return input.subarray(0, this.#target.maxBytes);
  }

  #withPiece(input: Uint8Array): Uint8Array {
    const random = this.#random;
    const piece = bytesOf(this.#target.piece(random));
    const from = random.between(0, input.length);
    const dropped = random.chance(0.5) ? 0 : random.between(0, piece.length);
    return replaced(input, from, Math.min(from + dropped, input.length), piece);
  }

  #word(): Uint8Array {
    return this.#dictionary.length === 0 ? new Uint8Array(1) : this.#random.pick(this.#dictionary);
  }
}
