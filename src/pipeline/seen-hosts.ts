import { QUERY_SEEN } from '../kernel/layout.js';

const BITS_OF_OCTET = Uint8Array.from({ length: 256 }, (_, octet) => {
  let bits = 0;
  for (let rest = octet; rest !== 0; rest &= rest - 1) bits++;
  return bits;
});

/** The hosts of a table that URLs were of, by the slots that the kernel has marked. */
export class SeenHosts {
  readonly #marks: Uint8Array;

  /** @param slots slots of the table */
  constructor(slots: number) {
    this.#marks = new Uint8Array(Math.ceil(slots / 8));
  }

  /** Takes over what threads have marked in their worker blocks, for the query at `query`. */
  add(memory: WebAssembly.Memory, query: number, workerBlocks: readonly number[]): void {
    const offset = new DataView(memory.buffer).getUint32(query + QUERY_SEEN, true);
    if (offset === 0) return;
    for (const block of workerBlocks) {
      const marks = new Uint8Array(memory.buffer, block + offset, this.#marks.length);
      for (let index = 0; index < marks.length; index++) {
        this.#marks[index] = (this.#marks[index] ?? 0) | (marks[index] ?? 0);
      }
    }
  }

  get count(): number {
    let count = 0;
    for (const octet of this.#marks) count += BITS_OF_OCTET[octet] ?? 0;
    return count;
  }
}
