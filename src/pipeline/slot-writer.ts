import type { ListedRecord } from '../workers/ring/bad-record-list.js';
import type { Ring } from '../workers/ring/ring.js';
import {
  ENDED,
  ownedWord,
  ownerOf,
  REFUSED,
  stateOf,
  TAKEN,
  YIELDED,
} from '../workers/ring/slot-state.js';
import type { Output } from './output/output.js';

/**
 * How the writer on the main thread ended: the input has ended or the run was stopped; nobody reads
 * the output any longer; or the run is strict and this record is bad.
 */
export type WriterEnd = 'done' | 'closed' | ListedRecord;

/**
 * Writes the output of the slots in ring order, on the main thread.
 *
 * @param onWritten called after each write
 * @throws RobotsFilterError `output`
 */
export async function writeSlots(
  { slots, writer, badRecords }: Ring,
  output: Output,
  onWritten: () => void,
): Promise<WriterEnd> {
  for (;;) {
    const slot = writer.turn;
    const word = await slots.wordForWriter(slot);
    const state = word === undefined ? ENDED : stateOf(word);
    if (word === undefined || state === ENDED) return 'done';
    const bytes = slots.output(slot);
    if (bytes.length > 0) {
      writer.beginWrite(slot);
      if (!(await output.write(bytes))) return 'closed';
    }
    if (state === REFUSED) return badRecords.strict(slot);
    badRecords.list(slot);
    if (state !== YIELDED) writer.retire(slot);
    // The worker may have died in the meantime. The slot is then FAILED and stays FAILED.
    else slots.exchangeState(slot, word, ownedWord(TAKEN, ownerOf(word)));
    onWritten();
  }
}
