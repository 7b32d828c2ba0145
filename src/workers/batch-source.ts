import type { Batch } from './ring/slots.js';

/** Where a worker gets its batches. */
export interface BatchSource {
  /**
   * The next batch; undefined if the input has ended or no further batch may be taken.
   *
   * @throws DescriptorError
   */
  next(): Promise<Batch | undefined>;
}
