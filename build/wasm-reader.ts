/** Reads the binary format of WebAssembly, octet by octet. */
export class WasmReader {
  readonly #octets: Uint8Array;
  #at = 0;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
  }

  get at(): number {
    return this.#at;
  }

  get hasEnded(): boolean {
    return this.#at === this.#octets.length;
  }

  /** @throws RangeError if there is none left */
  octet(): number {
    const octet = this.#octets[this.#at++];
    if (octet === undefined) throw new RangeError('the module ends too early');
    return octet;
  }

  /** The next so many octets. */
  take(length: number): Uint8Array {
    const taken = this.#octets.subarray(this.#at, this.#at + length);
    if (taken.length !== length) throw new RangeError('the module ends too early');
    this.#at += length;
    return taken;
  }

  /** A number in LEB128, unsigned. */
  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const octet = this.octet();
      value += (octet & 0x7f) * scale;
      if (octet < 0x80) return value;
    }
  }

  /** Passes a number in LEB128, signed or not. */
  passNumber(): void {
    while (this.octet() >= 0x80) {
      // Those are its octets but the last.
    }
  }

  /**
   * Passes an instruction; returns its opcode. @throws RangeError for one that is not known here
   */
  instruction(): number {
    const opcode = this.octet();
    if (opcode === Opcode.BR_TABLE) {
      for (let targets = this.number() + 1; targets > 0; targets--) this.passNumber();
    } else if (opcode === Opcode.SELECT_TYPED) {
      this.take(this.number());
    } else if (opcode === Opcode.BULK) {
      this.#passNumbers(numbersOfBulk(this.number()));
    } else if (opcode === Opcode.SIMD) {
      this.#passVector(this.number());
    } else if (opcode === Opcode.ATOMIC) {
      this.#passNumbers(this.number() === ATOMIC_FENCE ? 1 : 2);
    } else if (opcode === Opcode.F32_CONST || opcode === Opcode.F64_CONST) {
      this.take(opcode === Opcode.F32_CONST ? 4 : 8);
    } else if (opcode === Opcode.CALL_INDIRECT || (opcode >= 0x28 && opcode <= 0x3e)) {
      this.#passNumbers(2);
    } else if (hasOneNumber(opcode)) {
      this.passNumber();
    } else if (!isAlone(opcode)) {
      throw new RangeError(`there is no instruction ${opcode}`);
    }
    return opcode;
  }

  #passVector(operation: number): void {
    const isLoadOrStore = operation <= 11 || operation === 92 || operation === 93;
    const isLaneOfMemory = operation >= 84 && operation <= 91;
    const isLane = operation >= 21 && operation <= 34;
    const isConstantOrShuffle = operation === 12 || operation === 13;
    if (isLoadOrStore || isLaneOfMemory) this.#passNumbers(2);
    if (isLane || isLaneOfMemory) this.octet();
    if (isConstantOrShuffle) this.take(16);
  }

  #passNumbers(count: number): void {
    for (let left = count; left > 0; left--) this.passNumber();
  }
}

/** Opcodes of which something must be known; see the specification's index of instructions. */
export const Opcode = {
  IF: 0x04,
  BR_IF: 0x0d,
  BR_TABLE: 0x0e,
  CALL: 0x10,
  CALL_INDIRECT: 0x11,
  SELECT_TYPED: 0x1c,
  F32_CONST: 0x43,
  F64_CONST: 0x44,
  BULK: 0xfc,
  SIMD: 0xfd,
  ATOMIC: 0xfe,
} as const;

const ATOMIC_FENCE = 3;

/** Blocks, branches, calls, locals, globals, tables, constants, sizes of memory. */
function hasOneNumber(opcode: number): boolean {
  return (
    (opcode >= 0x02 && opcode <= 0x04) ||
    (opcode >= 0x0c && opcode <= 0x10 && opcode !== 0x0f) ||
    (opcode >= 0x20 && opcode <= 0x26) ||
    (opcode >= 0x3f && opcode <= 0x42) ||
    opcode === 0xd0 ||
    opcode === 0xd2
  );
}

/** Ends of blocks, drops, selections, comparisons, arithmetic, conversions. */
function isAlone(opcode: number): boolean {
  return (
    [0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].includes(opcode) ||
    (opcode >= 0x45 && opcode <= 0xc4)
  );
}

/**
 * How many numbers follow: none behind conversions that saturate, two behind what names two of
 * memories, segments and tables.
 */
function numbersOfBulk(operation: number): number {
  if (operation < 8) return 0;
  return [8, 10, 12, 14].includes(operation) ? 2 : 1;
}
