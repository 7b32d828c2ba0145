import type { Ring } from './ring.js';
import {
  DELIVERED,
  ENDED,
  FILLED,
  FREE,
  OPEN,
  ownedWord,
  stateOf,
  TAKEN,
  YIELDED,
} from './ring-words.js';

/** How a run's batches come and go. */
export interface Ways {
  /** The input is a file, and the workers read it themselves. */
  readonly file: boolean;
  /** The workers write themselves. */
  readonly direct: boolean;
}

/**
 * What a dead worker was about.
 *
 * - `nothing`: it waited, or what it had begun is done.
 * - `input`: it read the next batch, which begins at this octet of the file. Whoever takes the lock
 *   next reads it again.
 * - `batch`: it judged the batch of this slot, or waited for its turn; the batch can be judged
 *   again, once the slot is not YIELDED any more.
 * - `write`: it was writing the output of this slot, and nobody knows how much of it.
 */
export type Remains =
  | { readonly held: 'nothing' }
  | { readonly held: 'input'; readonly position: number }
  | { readonly held: 'batch' | 'write'; readonly slot: number };

/**
 * Repairs what a worker has left behind, so that the others get on; ring-words.ts says why this
 * suffices. To be called by the main thread, when the worker's thread does nothing any more.
 */
export function recover(ring: Ring, worker: number, ways: Ways): Remains {
  const reading = recoverLock(ring, worker, ways);
  const remains = recoverSlot(ring, worker, ways);
  // It may have died between changing a word and waking those who wait for it.
  ring.wakeAll();
  if (remains.held === 'nothing' && reading)
    return { held: 'input', position: ring.input.position };
  return remains;
}

/** Gives the input lock back if the worker had it; says whether it was reading a batch. */
function recoverLock(ring: Ring, worker: number, { file }: Ways): boolean {
  if (ring.lockHolder !== worker) return false;
  const slot = ring.nextSlot;
  let reading = false;
  if (ring.hasTakenNext(worker)) {
    if (file) ring.input.proceedBehind(slot);
    ring.advance();
  } else if (file) {
    const state = stateOf(ring.loadState(slot));
    reading = state === OPEN || state === FILLED;
    if (reading) {
      ring.jumbo.give(slot);
      ring.setState(slot, FREE);
    }
  }
  if (file && stateOf(ring.loadState(slot)) !== ENDED) ring.input.readAgain();
  ring.unlock();
  return reading;
}

function recoverSlot(ring: Ring, worker: number, { direct }: Ways): Remains {
  if (direct && ring.writer.isHeldBy(worker)) {
    const { due } = ring;
    if (due !== undefined && ring.writer.isWriting(due)) return { held: 'write', slot: due };
    for (let slot = 0; slot < ring.slots; slot++) {
      if (ring.loadState(slot) === ownedWord(DELIVERED, worker)) ring.retire(slot);
    }
    ring.writer.resign();
  }
  for (let slot = 0; slot < ring.slots; slot++) {
    const word = ring.loadState(slot);
    if (word !== ownedWord(TAKEN, worker) && word !== ownedWord(YIELDED, worker)) continue;
    if (ring.writer.isWriting(slot)) return { held: 'write', slot };
    ring.counters.restore(slot, worker);
    return { held: 'batch', slot };
  }
  return { held: 'nothing' };
}
