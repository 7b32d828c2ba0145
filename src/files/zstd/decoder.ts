/** Decodes Zstandard data with memory for one block. */

import { LONGEST_UNIT_BYTES, MAX_BLOCK_BYTES, ZstdError } from './frames.js';

/** The fields of ZSTD_inBuffer and ZSTD_outBuffer, as 32-bit words: address, size, position. */
const ADDRESS = 0;
const SIZE = 1;
const POSITION = 2;
const STRUCT_WORDS = 3;

/** The lowest return value that is an error, unsigned: -ZSTD_error_maxCode. */
const FIRST_ERROR = 2 ** 32 - 120;

const NO_MEMORY = 'no memory is left to decode zstd data';

/**
 * Decodes frame headers and blocks one at a time. The codec checks content sizes and checksums.
 */
export class BlockDecoder {
  readonly #codec: ZstdExports;
  #context: number;
  /** Address of the input's struct; the output's struct follows it. */
  readonly #structs: number;
  readonly #input: number;
  readonly #output: number;

  /**
   * @param module what `loadZstd` resolves to
   * @throws Error if there is no memory
   */
  constructor(module: WebAssembly.Module) {
    const codec = instantiateZstd(module);
    this.#codec = codec;
    this.#context = codec.ZSTD_createDCtx();
    this.#structs = codec.malloc(2 * STRUCT_WORDS * 4);
    this.#input = codec.malloc(LONGEST_UNIT_BYTES);
    this.#output = codec.malloc(MAX_BLOCK_BYTES);
    if ([this.#context, this.#structs, this.#input, this.#output].includes(0)) {
      throw new Error(NO_MEMORY);
    }
  }

  /**
   * Begins anew, also after damaged data.
   *
   * @throws Error if there is no memory
   */
  restart(): void {
    this.#codec.ZSTD_freeDCtx(this.#context);
    this.#context = this.#codec.ZSTD_createDCtx();
    if (this.#context === 0) throw new Error(NO_MEMORY);
  }

  /**
   * Decodes a unit of `FrameScanner`; returns at most `MAX_BLOCK_BYTES` bytes, which stay in place
   * until the next call.
   *
   * @throws ZstdError if the data is damaged, or needs more memory than there is
   */
  decode(unit: Uint8Array): Uint8Array {
    const { memory, ZSTD_decompressStream } = this.#codec;
    new Uint8Array(memory.buffer).set(unit, this.#input);
    new Uint32Array(memory.buffer, this.#structs).set([
      this.#input,
      unit.length,
      0,
      this.#output,
      MAX_BLOCK_BYTES,
      0,
    ]);
    const outputStruct = this.#structs + STRUCT_WORDS * 4;
    const result = ZSTD_decompressStream(this.#context, outputStruct, this.#structs) >>> 0;
    // The memory may have grown, which replaces its buffer.
    const words = new Uint32Array(memory.buffer, this.#structs, 2 * STRUCT_WORDS);
    if (result >= FIRST_ERROR || words[POSITION] !== words[SIZE]) {
      throw new ZstdError('a block is damaged, or its checksum does not match');
    }
    const start = words[STRUCT_WORDS + ADDRESS] ?? 0;
    return new Uint8Array(memory.buffer, start, words[STRUCT_WORDS + POSITION] ?? 0);
  }
}

/** The exports of the reference implementation, compiled to WebAssembly. Sizes are in bytes. */
interface ZstdExports {
  readonly memory: WebAssembly.Memory;
  /** Returns 0 if there is no memory left. */
  malloc(bytes: number): number;
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  /**
   * Decodes some of an input (ZSTD_inBuffer: address, size, position) into an output. Returns a
   * number from `FIRST_ERROR` on, unsigned, if that fails.
   */
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/**
 * Makes an instance of the codec. Each stream has its own instance, so that the instance's memory
 * is freed with it, in whatever state damaged data left it. The decoder of the package itself
 * shares one instance, and does not report errors.
 */
function instantiateZstd(module: WebAssembly.Module): ZstdExports {
  const imports = { env: { emscripten_notify_memory_growth: () => {} } };
  // The package has no types of its exports.
  return new WebAssembly.Instance(module, imports).exports as unknown as ZstdExports;
}
