import { HEADER_BYTES } from '../table/format.js';
import { LINE_OUTCOME, LINE_URL, LINE_URL_END, MARGIN, WORKER_LINES } from './layout.js';
import { FIRST_ADDRESS, PrivateKernel } from './private-kernel.js';
import { encodeQuery, queryBytes } from './query.js';
import { DEFAULT_SETTINGS, type QuerySettings } from './query-settings.js';
import { scratchBytes } from './scratch.js';

/** The outcome of a line whose URL is fine (assembly/memory/line.ts). */
const PENDING = -1;

/**
 * Finds the URL of single records as a run does, with the same code: whatever a run takes for a
 * record with a URL is one here, and nothing else is.
 */
export class RecordLocator {
  readonly #own = new PrivateKernel();
  readonly #query: number;
  readonly #worker: number;
  /** Where a record is placed. */
  readonly #room: number;

  constructor(settings: Pick<QuerySettings, 'format' | 'urlField' | 'maxLineBytes'>) {
    const all = { ...DEFAULT_SETTINGS, ...settings };
    // Only the key of host hashes and the number of slots are read of a table: both are zero.
    const table = FIRST_ADDRESS;
    this.#query = aligned(table + HEADER_BYTES);
    this.#worker = aligned(this.#query + queryBytes(all));
    const { query, bytes } = encodeQuery(all, this.#query, table, () => -1);
    this.#room = aligned(this.#worker + query.workerBytes) + MARGIN;
    this.#own.bytes(this.#room).set(bytes, this.#query);
  }

  /**
   * The URL of a record, valid until the next call; `undefined` if the record has no valid URL.
   *
   * @param line the record without its line end; not blank
   */
  urlOf(line: Uint8Array): Uint8Array | undefined {
    const end = this.#room + line.length;
    const scratch = end + MARGIN;
    const scratchEnd = scratch + scratchBytes(line.length, 1);
    const bytes = this.#own.bytes(scratchEnd);
    bytes.set(line, this.#room);
    this.#own.kernel.locateRecord(this.#query, this.#worker, this.#room, end, scratch, scratchEnd);
    const entry = new DataView(bytes.buffer, this.#worker + WORKER_LINES);
    if (entry.getInt32(LINE_OUTCOME, true) !== PENDING) return undefined;
    return bytes.subarray(entry.getUint32(LINE_URL, true), entry.getUint32(LINE_URL_END, true));
  }
}

function aligned(address: number): number {
  return (address + MARGIN - 1) & -MARGIN;
}
