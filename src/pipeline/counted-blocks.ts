/** The worker blocks of a query, in the memory of the table or in one of its banks. */
export interface CountedBlocks {
  readonly memory: WebAssembly.Memory;
  /** Address of the query. */
  readonly query: number;
  /** Addresses of the worker blocks (kernel/layout.ts, WORKER_…). */
  readonly workerBlocks: readonly number[];
}

/** Worker blocks, and the slots of the table that they count. */
export interface SlotBlocks extends CountedBlocks {
  /** Slots of the table before them. */
  readonly firstSlot: number;
  readonly slots: number;
}
