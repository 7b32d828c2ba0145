import { Buffer } from 'node:buffer';

/**
 * A stretch of a table that is being written: the whole table, or one of several consecutive
 * stretches.
 */
export class TableChunk {
  /** The memory of the chunk; after the written bytes, it holds anything. */
  readonly bytes: Buffer;
  /** A view of the same memory. */
  readonly view: DataView;
  /** Offset in the table of the first byte. */
  start = 0;
  /** Number of written bytes. */
  end = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get room(): number {
    return this.bytes.length - this.end;
  }

  get written(): Buffer {
    return this.bytes.subarray(0, this.end);
  }

  /** Empties the chunk for the stretch that starts at this offset in the table. */
  moveTo(start: number): void {
    this.start = start;
    this.end = 0;
  }
}

/** A stretch of a table that is written piece by piece; a piece is never split between chunks. */
export interface TablePieces {
  /** Bytes of the next piece; 0 after the last one. */
  readonly nextBytes: number;
  /** Appends the next piece, each byte of it, to a chunk that has room for it. */
  write(chunk: TableChunk): void;
}

/** A stretch of one piece. */
export class OnePiece implements TablePieces {
  nextBytes: number;
  readonly #fill: (chunk: TableChunk) => void;

  /** @param fill writes bytes at the end of the chunk; the others are zero */
  constructor(bytes: number, fill: (chunk: TableChunk) => void = () => {}) {
    this.nextBytes = bytes;
    this.#fill = fill;
  }

  write(chunk: TableChunk): void {
    chunk.bytes.fill(0, chunk.end, chunk.end + this.nextBytes);
    this.#fill(chunk);
    chunk.end += this.nextBytes;
    this.nextBytes = 0;
  }
}
