import { BadRecordList } from './bad-record-list.js';
import { ConsumerRole } from './consumer-role.js';
import { JumboRegion } from './jumbo-region.js';
import { ProducerRole } from './producer-role.js';
import { CONTROL_BYTES, type Regions, SLOT_HEADER_BYTES } from './regions.js';
import { RingInput } from './ring-input.js';
import { JUMBO, LOCK, PRODUCER, STOP, STOP_ALL, STOP_TAKING } from './ring-words.js';
import { SharedWords } from './shared-words.js';
import { Slots } from './slots.js';
import { Waits } from './waits.js';
import { WriterRole } from './writer-role.js';

/** One thread's view of the ring. */
export class Ring {
  readonly memory: Uint8Array<SharedArrayBuffer>;
  readonly regions: Regions;
  readonly waits: Waits;
  readonly slots: Slots;
  readonly input: RingInput;
  readonly producer: ProducerRole;
  readonly consumer: ConsumerRole;
  readonly writer: WriterRole;
  readonly jumbo: JumboRegion;
  readonly badRecords: BadRecordList;
  readonly #words: SharedWords;

  /**
   * @param slots slots that this run uses
   * @param mayBlock whether consumers on this thread may block it
   */
  constructor(memory: WebAssembly.Memory, regions: Regions, slots: number, mayBlock = true) {
    this.memory = new Uint8Array(memory.buffer);
    this.regions = regions;
    const bytes = CONTROL_BYTES + regions.slots * SLOT_HEADER_BYTES;
    const words = new SharedWords(this.memory.buffer, regions.control, bytes);
    this.#words = words;
    this.waits = new Waits(words, mayBlock);
    this.slots = new Slots(words, this.memory, this.waits, slots);
    this.input = new RingInput(words, this.memory);
    this.producer = new ProducerRole(words, this.slots);
    this.consumer = new ConsumerRole(words, this.slots, this.waits);
    this.jumbo = new JumboRegion(words);
    this.writer = new WriterRole(words, this.slots, this.waits, this.jumbo);
    this.badRecords = new BadRecordList(words, this.writer);
  }

  /**
   * Clears everything except the sums over a flow's inputs; only while no other thread is at work.
   *
   * @param position the first byte of the input that is read
   */
  reset(position: number): void {
    const { consumed } = this.input;
    const records = this.badRecords.from(0);
    this.#words.clear();
    this.badRecords.restore(records);
    this.input.begin(position, consumed);
  }

  /** Whether all threads must return. */
  get stopped(): boolean {
    return this.waits.stopped;
  }

  /**
   * Makes all threads return. Repeat the call until they have returned: see invariant 8 of
   * ring-words.ts.
   */
  stop(): void {
    this.#words.store(STOP, STOP_ALL);
    this.#wakeAll();
  }

  /** Lets no thread take a further batch. Repeat the call like `stop`. */
  stopTaking(): void {
    this.#words.compareExchange(STOP, 0, STOP_TAKING);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const word of [STOP, LOCK, JUMBO, PRODUCER]) this.#words.notify(word);
    for (let slot = 0; slot < this.slots.count; slot++) {
      this.#words.notify(this.slots.stateWord(slot));
      this.slots.ringBell(slot);
    }
  }
}
