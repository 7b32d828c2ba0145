import type { WarcHeader } from './warc-header.js';

/** A record that is followed by another record, or by the end. */
export interface WarcRecord {
  readonly header: WarcHeader;
  /** Offset of the record in the file, in bytes. */
  readonly offset: number;
  /** The first bytes of the block, as many as were wanted. The next call overwrites them. */
  readonly block: Buffer;
}

/** What becomes of records. */
export interface RecordHandler {
  /**
   * The number of bytes of the block that are wanted; 0 if the record is not.
   *
   * @param offset where the record lies in the file, in bytes
   * @param isAlone whether the record can be read alone, from its offset: in a plain file, or at
   *   the beginning of a gzip member or zstd frame
   */
  wanted(header: WarcHeader, offset: number, isAlone: boolean): number;
  /** Takes a wanted record. */
  take(record: WarcRecord): void;
  /** Notes damage. `isCapture` tells whether a wanted record was lost. */
  damage(offset: number, reason: string, isCapture: boolean): void;
  /** Completes work that `take` could not do at once. Readers wait for it between pieces. */
  settle(): Promise<void> | undefined;
}
