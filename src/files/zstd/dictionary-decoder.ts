import { createDCtx, decompressUsingDict, freeDCtx } from '@bokuweb/zstd-wasm';
import { loadWholeFrameCodec } from './encoder.js';
import { frameHeader, MAX_BLOCK_BYTES, UnsupportedZstdError, ZstdError } from './frames.js';

/** Maximum content of a frame, in bytes: all of it is in memory, and the frame too. */
const LONGEST_CONTENT = 64 * 1024 * 1024;

const NOTHING = new Uint8Array(0);

/**
 * Decodes frames with a dictionary. Takes the units of `FrameScanner`, as `BlockDecoder` does, but
 * decodes a frame only when the frame is complete.
 */
export class DictionaryDecoder {
  readonly #dictionary: Uint8Array;
  readonly #context: number;
  /** The units of the frame at hand, the header first. */
  #units: Uint8Array[] = [];
  #bytes = 0;

  /** Makes a decoder, once its codec is loaded. */
  static async create(dictionary: Uint8Array): Promise<DictionaryDecoder> {
    await loadWholeFrameCodec();
    return new DictionaryDecoder(dictionary);
  }

  private constructor(dictionary: Uint8Array) {
    this.#dictionary = dictionary;
    this.#context = createDCtx();
    if (this.#context === 0) throw new Error('no memory is left to decode zstd data');
  }

  /** Forgets the frame at hand. */
  restart(): void {
    this.#units = [];
    this.#bytes = 0;
  }

  /** Frees the memory. The decoder must not be used afterwards. */
  close(): void {
    freeDCtx(this.#context);
  }

  /**
   * Takes a unit; returns the frame's content if the unit is the frame's last one.
   *
   * @throws ZstdError if the frame is damaged, or too long
   */
  decode(unit: Uint8Array, isLast: boolean): Uint8Array {
    this.#units.push(Uint8Array.from(unit));
    this.#bytes += unit.length;
    if (this.#bytes > LONGEST_CONTENT) throw tooLong();
    if (!isLast) return NOTHING;
    const units = this.#units;
    const frame = Buffer.concat(units, this.#bytes);
    this.restart();
    // No more comes out than this, whatever the header says.
    const most = (units.length - 1) * MAX_BLOCK_BYTES;
    const { contentBytes } = frameHeader(units[0] as Uint8Array);
    if (contentBytes !== undefined && contentBytes > most) throw damaged();
    if (contentBytes !== undefined && contentBytes > LONGEST_CONTENT) throw tooLong();
    const defaultHeapSize = Math.min(most, LONGEST_CONTENT);
    try {
      return decompressUsingDict(this.#context, frame, this.#dictionary, { defaultHeapSize });
    } catch {
      throw contentBytes === undefined && most > LONGEST_CONTENT ? tooLong() : damaged();
    }
  }
}

function damaged(): ZstdError {
  return new ZstdError('a frame is damaged, or its checksum does not match');
}

function tooLong(): ZstdError {
  return new UnsupportedZstdError('a frame with a dictionary has more than 64 MiB of content');
}
