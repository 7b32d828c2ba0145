import {
  DIVISION_BANKS,
  DIVISION_LINES,
  DIVISION_LIST,
  DIVISION_MERGED,
  DIVISION_OUTPUT,
  DIVISION_OUTPUT_END,
  DIVISION_SHARES,
  LINE_OUTCOME,
  LINE_SHARD,
  SHARE_BYTES,
  SHARE_DISTANCE,
  SHARE_INPUT,
  SHARE_NUMBER,
  SHARE_OUTPUT,
  SHARE_PLACE,
  SHARE_PLACE_END,
  TASK_QUERY,
  TASK_SCRATCH,
  TASK_SCRATCH_END,
  TASK_WORKER,
  WORKER_LINES,
} from '../../kernel/layout.js';
import { type BatchKernel, BatchTask } from '../batch-task.js';
import { taskAddress } from '../ring/regions.js';
import type { Ring } from '../ring/ring.js';
import type { Batch } from '../ring/slots.js';
import { BANK_BYTES, type DivisionRegions, PLACE_BYTES } from './division-regions.js';

/** The outcome of a line whose URL is fine (kernel/assembly/memory/line.ts). */
const PENDING = -1;

/** The parts of a division. */
export interface DivisionParts {
  readonly ring: Ring;
  readonly kernel: BatchKernel;
  readonly worker: number;
  /** Address of the query that finds the URL of each line. */
  readonly query: number;
  readonly regions: DivisionRegions;
  /** Number of banks. */
  readonly banks: number;
}

/** The lines of a batch that are judged in one bank. */
export interface Share {
  readonly lines: Uint8Array;
  /** The number of each in the batch. */
  readonly numbers: Uint32Array;
}

/** Output of a share in its bank. */
export interface ShareOutput {
  readonly bytes: Uint8Array;
  /** Address of these bytes in the bank. */
  readonly address: number;
  /** The first line that they are about, counted in the share. */
  readonly first: number;
  /** Addresses in the bank where the output of each line ends. */
  readonly ends: Uint32Array;
}

/** Divides batches by the banks of their hosts, and merges the outputs, for one worker. */
export class Division {
  readonly #parts: DivisionParts;
  /** The worker's task in the memory of the ring. It judges nothing. */
  readonly #task: BatchTask;
  readonly #memory: Uint8Array<SharedArrayBuffer>;
  /** Address of the division block, and its words. */
  readonly #block: number;
  readonly #words: Uint32Array<SharedArrayBuffer>;

  constructor(parts: DivisionParts) {
    const { ring, kernel, worker, query, regions, banks } = parts;
    const { buffer } = ring.memory;
    this.#parts = parts;
    this.#task = new BatchTask({ kernel, memory: buffer, regions: ring.regions, worker, query });
    this.#memory = ring.memory;
    this.#block = regions.workers + worker * regions.workerStride;
    const words = (DIVISION_SHARES + banks * SHARE_BYTES) / 4;
    this.#words = new Uint32Array(buffer, this.#block, words);
    this.#set(DIVISION_BANKS, regions.banks);
    this.#set(DIVISION_LIST, this.#block + regions.list);
  }

  /** Divides a batch of whole lines; returns the share of each bank. */
  divide(batch: Batch): readonly Share[] {
    const { ring, kernel, worker, regions, banks } = this.#parts;
    this.#task.begin(batch);
    for (let bank = 0; bank < banks; bank++) {
      this.#setShare(bank, SHARE_INPUT, this.#at(bank, regions.input));
      this.#setShare(bank, SHARE_NUMBER, this.#at(bank, regions.places));
      // Nothing is judged yet.
      this.#setShare(bank, SHARE_PLACE, 0);
      this.#setShare(bank, SHARE_PLACE_END, 0);
    }
    kernel.divide(taskAddress(ring.regions, worker), this.#block);
    const shares = Array.from({ length: banks }, (_, bank) => this.#shareOf(bank));
    const bytes = shares.reduce((sum, { lines }) => sum + lines.length, 0);
    if (bytes !== batch.bytes) throw new Error(`${bytes} of ${batch.bytes} bytes were divided`);
    return shares;
  }

  /** The bank for the line that is the whole batch. */
  bankOfLine(batch: Batch): number {
    const { kernel, regions } = this.#parts;
    this.#task.begin(batch);
    const word = (field: number): number => (this.#task.words[field / 4] as number) >>> 0;
    const worker = word(TASK_WORKER);
    kernel.locateRecord(
      word(TASK_QUERY),
      worker,
      batch.address,
      batch.address + batch.bytes,
      word(TASK_SCRATCH),
      word(TASK_SCRATCH_END),
    );
    const view = new DataView(this.#memory.buffer);
    const line = worker + WORKER_LINES;
    if (view.getInt32(line + LINE_OUTCOME, true) !== PENDING) return 0;
    const shard = view.getUint32(line + LINE_SHARD, true);
    return view.getUint16(regions.banks + BANK_BYTES * shard, true);
  }

  // ---- Merging

  /** Lines of the batch whose output is merged. */
  get merged(): number {
    return this.#get(DIVISION_MERGED);
  }

  /** Lines of the batch. */
  get lines(): number {
    return this.#get(DIVISION_LINES);
  }

  /** Where merged output goes, up to `end`. */
  setOutput(address: number, end: number): void {
    this.#set(DIVISION_OUTPUT, address);
    this.#set(DIVISION_OUTPUT_END, end);
  }

  /** The end of the merged output. */
  get outputEnd(): number {
    return this.#get(DIVISION_OUTPUT);
  }

  /** Takes over the next output of a bank; all output that it had before is merged. */
  take(bank: number, { bytes, address, first, ends }: ShareOutput): void {
    const { regions } = this.#parts;
    const output = this.#at(bank, regions.output);
    const places = this.#at(bank, regions.places) + PLACE_BYTES * first;
    this.#memory.set(bytes, output);
    new Uint32Array(this.#memory.buffer, places, ends.length).set(ends);
    this.#setShare(bank, SHARE_OUTPUT, output);
    this.#setShare(bank, SHARE_PLACE, places);
    this.#setShare(bank, SHARE_PLACE_END, places + PLACE_BYTES * ends.length);
    this.#setShare(bank, SHARE_DISTANCE, output - address);
  }

  /** Merges what is there; returns MERGE_…, or the bank whose output is missing. */
  merge(): number {
    return this.#parts.kernel.merge(this.#block);
  }

  #shareOf(bank: number): Share {
    const { regions } = this.#parts;
    const lines = this.#at(bank, regions.input);
    const numbers = this.#at(bank, regions.places);
    const count = (this.#getShare(bank, SHARE_NUMBER) - numbers) / PLACE_BYTES;
    return {
      lines: this.#memory.subarray(lines, this.#getShare(bank, SHARE_INPUT)),
      numbers: new Uint32Array(this.#memory.buffer, numbers, count),
    };
  }

  /** Address of a part of a bank's share. */
  #at(bank: number, part: number): number {
    const { shares, shareStride } = this.#parts.regions;
    return this.#block + shares + bank * shareStride + part;
  }

  #get(field: number): number {
    return this.#words[field / 4] as number;
  }

  #set(field: number, value: number): void {
    this.#words[field / 4] = value;
  }

  #getShare(bank: number, field: number): number {
    return this.#get(DIVISION_SHARES + bank * SHARE_BYTES + field);
  }

  #setShare(bank: number, field: number, value: number): void {
    this.#set(DIVISION_SHARES + bank * SHARE_BYTES + field, value);
  }
}
