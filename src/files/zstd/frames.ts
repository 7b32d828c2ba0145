/** Splits Zstandard data (RFC 8878) into frames and blocks, without decoding them. */

import { startsWith } from '../magic.js';

/*
 * The framing of Zstandard data (RFC 8878 section 3.1): where frames and blocks begin and end. A
 * decoder that gets one block at a time writes at most MAX_BLOCK_BYTES at a time.
 */

/** Magic bytes of a frame (section 3.1.1). */
export const ZSTD_MAGIC: readonly number[] = [0x28, 0xb5, 0x2f, 0xfd];
/** Magic bytes of the 16 kinds of skippable frames (section 3.1.2). */
export const SKIPPABLE_MAGICS: readonly (readonly number[])[] = Array.from(
  { length: 16 },
  (_, kind) => [0x50 + kind, 0x2a, 0x4d, 0x18],
);

/** Largest window that is decoded, in bytes: the limit of `zstd -dc` without options. */
const MAX_WINDOW_BYTES = 128 * 1024 * 1024;
/** Largest content of a block, in bytes (section 3.1.1.2.4). */
export const MAX_BLOCK_BYTES = 128 * 1024;

const MAGIC_BYTES = 4;
const SKIPPABLE_HEADER_BYTES = 8;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;
/** Longest unit that a scanner yields. */
export const LONGEST_UNIT_BYTES = BLOCK_HEADER_BYTES + MAX_BLOCK_BYTES + CHECKSUM_BYTES;
const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;
/** The bit of Frame_Header_Descriptor that must be zero (section 3.1.1.1.1.4). */
const RESERVED_BIT = 0x08;

/** The longest header of a frame, in bytes (section 3.1.1.1). */
export const LONGEST_HEADER_BYTES = 18;

/** Magic bytes of the skippable frame with the dictionary of a WARC file (IIPC). */
const DICTIONARY_FRAME_MAGIC: readonly number[] = [0x5d, 0x2a, 0x4d, 0x18];

/** Magic bytes of a dictionary (RFC 8878 section 5), which its number follows. */
export const DICTIONARY_MAGIC: readonly number[] = [0x37, 0xa4, 0x30, 0xec];

/** Number of first bytes by which the dictionary of a WARC file is recognised. */
export const DICTIONARY_HEAD_BYTES = SKIPPABLE_HEADER_BYTES + MAGIC_BYTES;

/**
 * Whether a WARC file begins with a dictionary for its frames, which may be a frame itself;
 * `undefined` if more bytes are needed.
 */
export function beginsWithDictionary(head: Uint8Array): boolean | undefined {
  if (!startsWith(head, DICTIONARY_FRAME_MAGIC)) return false;
  if (head.length < DICTIONARY_HEAD_BYTES) return undefined;
  return [ZSTD_MAGIC, DICTIONARY_MAGIC].some((magic) =>
    startsWith(head, magic, SKIPPABLE_HEADER_BYTES),
  );
}

/** Damaged, truncated or unsupported Zstandard data. */
export class ZstdError extends Error {}

/** Zstandard data that needs a larger window, or a dictionary. */
export class UnsupportedZstdError extends ZstdError {
  /** What to do. */
  readonly remedy: string;

  constructor(message: string, remedy = 'Decompress it first') {
    super(message);
    this.remedy = remedy;
  }
}

/** The kind of the next bytes: the beginning of a frame, or a block. */
type Unit = 'frame' | 'block';

/** Splits Zstandard data into frame headers and blocks. Skippable frames are dropped. */
export class FrameScanner {
  #unit: Unit = 'frame';
  /** Number of bytes of the unit that are known to belong to it. */
  #needed = MAGIC_BYTES;
  /** The beginning of the unit, from earlier chunks. */
  #held: Uint8Array = new Uint8Array(0);
  #heldBytes = 0;
  /** Number of bytes of a skippable frame that are still to come. */
  #toSkip = 0;
  #blockLimit = 0;
  #hasChecksum = false;
  /** Bytes of all chunks. */
  #scanned = 0;
  #position = 0;
  #frameOffset = 0;
  #isSkipped = false;
  readonly #dictionaryId: number;

  /** @param dictionaryId the number of the dictionary that frames may need; 0 if they need none */
  constructor(dictionaryId = 0) {
    this.#dictionaryId = dictionaryId;
  }

  /** Bytes of all whole units, from the first byte on. */
  get position(): number {
    return this.#position;
  }

  /** Where the frame of the last unit began, counted from the first byte. */
  get frameOffset(): number {
    return this.#frameOffset;
  }

  /** Whether the last unit ended its frame. */
  get isBetween(): boolean {
    return this.#unit === 'frame';
  }

  /** Whether the frame of the last unit has a checksum. */
  get hasChecksum(): boolean {
    return this.#hasChecksum;
  }

  /**
   * Where bytes that are no frame begin, after `scan` or `end` has failed. They may come after a
   * skippable frame because its length is wrong: then that is where it begins.
   */
  get damageOffset(): number {
    return this.isBetween && !this.#isSkipped ? this.#position : this.#frameOffset;
  }

  /**
   * Yields the units that a chunk completes: a frame header, or a block with its header and, after
   * the last block, the frame's checksum. A unit is valid until the next one is requested.
   *
   * @throws ZstdError as soon as the bytes are not frames, or need a larger window or a dictionary
   */
  *scan(chunk: Uint8Array): Generator<Uint8Array> {
    let at = 0;
    const before = this.#scanned;
    this.#scanned += chunk.length;
    while (at < chunk.length) {
      if (this.#toSkip > 0) {
        const skipped = Math.min(this.#toSkip, chunk.length - at);
        this.#toSkip -= skipped;
        at += skipped;
        continue;
      }
      const taken = Math.min(this.#needed - this.#heldBytes, chunk.length - at);
      const isHeld = this.#heldBytes > 0 || taken < this.#needed;
      if (isHeld) this.#hold(chunk.subarray(at, at + taken));
      const unit = isHeld
        ? this.#held.subarray(0, this.#heldBytes)
        : chunk.subarray(at, at + taken);
      at += taken;
      if (unit.length < this.#needed) return;
      this.#needed = this.#lengthOf(unit);
      if (unit.length < this.#needed) {
        // The unit is read again, with more bytes.
        if (!isHeld) at -= taken;
        continue;
      }
      this.#heldBytes = 0;
      this.#position = before + at;
      if (this.#finish(unit)) yield unit;
    }
  }

  /** @throws ZstdError if the data ends within a frame */
  end(): void {
    if (this.#unit === 'block' || this.#heldBytes > 0 || this.#toSkip > 0) {
      throw new ZstdError('the data ends within a frame');
    }
  }

  #hold(bytes: Uint8Array): void {
    const length = this.#heldBytes + bytes.length;
    if (length > this.#held.length) {
      const grown = new Uint8Array(Math.max(this.#needed, length));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#heldBytes);
    this.#heldBytes = length;
  }

  /** The length of the unit that begins with these bytes, as far as they determine it. */
  #lengthOf(start: Uint8Array): number {
    return this.#unit === 'frame' ? frameHeaderBytes(start) : this.#blockBytes(start);
  }

  #blockBytes(start: Uint8Array): number {
    const header = littleEndian(start, 0, BLOCK_HEADER_BYTES);
    const isLast = (header & 1) !== 0;
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === RESERVED_BLOCK) throw new ZstdError('a block has a reserved type');
    if (size > this.#blockLimit) throw new ZstdError(`a block of ${size} bytes is too long`);
    const content = type === RLE_BLOCK ? 1 : size;
    return BLOCK_HEADER_BYTES + content + (isLast && this.#hasChecksum ? CHECKSUM_BYTES : 0);
  }

  /** Reads what a whole unit tells about the next one; returns whether a decoder needs the unit. */
  #finish(unit: Uint8Array): boolean {
    if (this.#unit === 'block') {
      const isLast = ((unit[0] ?? 0) & 1) !== 0;
      this.#begin(isLast ? 'frame' : 'block');
      return true;
    }
    this.#frameOffset = this.#position - unit.length;
    this.#isSkipped = isSkippable(unit);
    if (this.#isSkipped) {
      this.#toSkip = littleEndian(unit, MAGIC_BYTES, 4);
      this.#begin('frame');
      return false;
    }
    const { windowBytes, hasChecksum, dictionaryId } = frameHeader(unit);
    if (dictionaryId !== 0 && dictionaryId !== this.#dictionaryId) {
      throw new UnsupportedZstdError(
        this.#dictionaryId === 0 ? 'a dictionary is needed' : 'another dictionary is needed',
        'Decompress it first: zstd -dc -D DICTIONARY FILE',
      );
    }
    if (windowBytes > MAX_WINDOW_BYTES) {
      throw new UnsupportedZstdError(
        `a window of ${windowBytes} bytes is needed, and the limit is ${MAX_WINDOW_BYTES}`,
        'Decompress it first: zstd -dc --long=31 FILE',
      );
    }
    this.#blockLimit = Math.min(windowBytes, MAX_BLOCK_BYTES);
    this.#hasChecksum = hasChecksum;
    this.#begin('block');
    return true;
  }

  #begin(unit: Unit): void {
    this.#unit = unit;
    this.#needed = unit === 'frame' ? MAGIC_BYTES : BLOCK_HEADER_BYTES;
  }
}

/** Whether a frame that can be decoded may begin at an index, as far as five bytes tell. */
export function beginsFrame(bytes: Uint8Array, at: number): boolean {
  return startsWith(bytes, ZSTD_MAGIC, at) && ((bytes[at + MAGIC_BYTES] ?? 0) & RESERVED_BIT) === 0;
}

function isSkippable(head: Uint8Array): boolean {
  return SKIPPABLE_MAGICS.some((magic) => startsWith(head, magic));
}

/** The length of a frame's header; or the length of its beginning that is needed to tell more. */
function frameHeaderBytes(start: Uint8Array): number {
  if (isSkippable(start)) return SKIPPABLE_HEADER_BYTES;
  if (!startsWith(start, ZSTD_MAGIC)) throw new ZstdError('bytes after a frame are no frame');
  const descriptor = start[MAGIC_BYTES];
  if (descriptor === undefined) return MAGIC_BYTES + 1;
  const { windowFieldBytes, dictionaryBytes, contentBytes } = fieldsOf(descriptor);
  return MAGIC_BYTES + 1 + windowFieldBytes + dictionaryBytes + contentBytes;
}

/** Lengths of the fields after a Frame_Header_Descriptor, in bytes (section 3.1.1.1.1). */
function fieldsOf(descriptor: number) {
  const isSingle = (descriptor & 0x20) !== 0;
  const contentFlag = descriptor >> 6;
  return {
    windowFieldBytes: isSingle ? 0 : 1,
    dictionaryBytes: [0, 1, 2, 4][descriptor & 3] ?? 0,
    contentBytes: contentFlag === 0 ? (isSingle ? 1 : 0) : 1 << contentFlag,
  };
}

/** What a frame's header tells (section 3.1.1.1). */
interface FrameHeader {
  readonly windowBytes: number;
  readonly hasChecksum: boolean;
  /** 0 if the header names no dictionary. */
  readonly dictionaryId: number;
  /** Length of the frame's content; `undefined` if the header does not tell. */
  readonly contentBytes: number | undefined;
}

/**
 * Reads a whole frame header, which is a unit of `FrameScanner`.
 *
 * @throws ZstdError if the header is damaged
 */
export function frameHeader(header: Uint8Array): FrameHeader {
  const descriptor = header[MAGIC_BYTES] ?? 0;
  if ((descriptor & RESERVED_BIT) !== 0) throw new ZstdError('a frame header has a reserved bit');
  const { windowFieldBytes, dictionaryBytes, contentBytes } = fieldsOf(descriptor);
  let at = MAGIC_BYTES + 1;
  const window = header[at] ?? 0;
  at += windowFieldBytes;
  const dictionaryId = littleEndian(header, at, dictionaryBytes);
  at += dictionaryBytes;
  const content = littleEndian(header, at, contentBytes) + (contentBytes === 2 ? 256 : 0);
  const base = 2 ** (10 + (window >> 3));
  return {
    windowBytes: windowFieldBytes === 0 ? content : base + (base / 8) * (window & 7),
    hasChecksum: (descriptor & 0x04) !== 0,
    dictionaryId,
    contentBytes: contentBytes === 0 ? undefined : content,
  };
}

/** An unsigned number of up to eight bytes; above 2^53 it is rounded. */
function littleEndian(bytes: Uint8Array, start: number, length: number): number {
  let value = 0;
  for (let at = start + length - 1; at >= start; at--) value = value * 256 + (bytes[at] ?? 0);
  return value;
}
