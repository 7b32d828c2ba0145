/**
 * A stretch of a table that is being written: the whole of it, or one of many that follow one
 * another.
 */
export class TableWindow {
  /** All zero behind what was written. */
  readonly octets: Uint8Array;
  /** The same memory. */
  readonly view: DataView;
  /** Where in the table its first octet is. */
  start = 0;
  /** Octets of it that are written. */
  end = 0;

  constructor(octets: Uint8Array) {
    this.octets = octets;
    this.view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  }

  get room(): number {
    return this.octets.length - this.end;
  }

  get written(): Uint8Array {
    return this.octets.subarray(0, this.end);
  }

  /** Makes it a stretch that starts there in the table, with nothing written. */
  moveTo(start: number): void {
    this.written.fill(0);
    this.start = start;
    this.end = 0;
  }
}

/** A part of a table that is written piece by piece, each of them whole. */
export interface TablePieces {
  /** Octets of the next piece; 0 where none is left. */
  readonly nextOctets: number;
  /**
   * Writes the next piece behind what is written in the window, which has room for it, and moves
   * the window's end behind it.
   */
  write(window: TableWindow): void;
}

/** A part in one piece. */
export class OnePiece implements TablePieces {
  nextOctets: number;
  readonly #fill: (window: TableWindow) => void;

  /** @param fill writes so many octets behind what is written in the window; by default zeros */
  constructor(octets: number, fill: (window: TableWindow) => void = () => {}) {
    this.nextOctets = octets;
    this.#fill = fill;
  }

  write(window: TableWindow): void {
    this.#fill(window);
    window.end += this.nextOctets;
    this.nextOctets = 0;
  }
}
