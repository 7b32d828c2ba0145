/** Reads WARC files in zstd, with or without a dictionary in their first frame. */

import { startsWith } from '../files/magic.js';
import { loadZstd } from '../files/zstd/codec.js';
import { decodeZstd, prepareZstd } from '../files/zstd/decode.js';
import { BlockDecoder } from '../files/zstd/decoder.js';
import { DictionaryDecoder } from '../files/zstd/dictionary-decoder.js';
import {
  beginsFrame,
  beginsWithDictionary,
  DICTIONARY_HEAD_BYTES,
  DICTIONARY_MAGIC,
  FrameScanner,
  LONGEST_HEADER_BYTES,
  LONGEST_UNIT_BYTES,
  UnsupportedZstdError,
  ZSTD_MAGIC,
  ZstdError,
} from '../files/zstd/frames.js';
import {
  type ByteSource,
  beginsRecord,
  DamageSearch,
  type RecordHandler,
  type RecordSplitter,
} from './records.js';

/** Bytes that are read at a time. A frame header and a block fit in. */
const WINDOW = 512 * 1024;

/** Bytes that are read at a time for a single record. */
const SMALL_WINDOW = 32 * 1024;

/** The longest content of a frame that is passed on in one piece, in bytes. */
const LONGEST_HELD = 1024 * 1024;

/** Bytes that the search must see from the beginning of a frame on. */
const PROBE = LONGEST_HEADER_BYTES + LONGEST_UNIT_BYTES;

/**
 * Reads a zstd file of WARC records: usually one frame per record. Damage costs the frame in which
 * it lies; what was decoded before counts, unless the frame's checksum is wrong. Reading goes on at
 * the next frame whose first block can be decoded.
 *
 * A file may begin with a dictionary for its frames. Then a frame is decoded as a whole, so its
 * damage costs all of it.
 *
 * Memory: a window of the file, the content of a frame up to a limit, and the frame's own window;
 * with a dictionary, a whole frame and its content.
 */
export class ZstdReader {
  readonly #source: ByteSource;
  readonly #splitter: RecordSplitter;
  readonly #handler: RecordHandler & { readonly isDone?: boolean };
  readonly #window: Buffer;
  /** Offset of the window in the file, and bytes in it. */
  #offset = 0;
  #filled = 0;
  #isEnd = false;
  readonly #from: number;
  readonly #isSingle: boolean;
  #decoder: BlockDecoder | DictionaryDecoder | undefined;
  #dictionaryId = 0;
  /** Content of the frame at hand that was not passed on yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Whether the beginning of the frame at hand was passed on. */
  #isLong = false;
  /** The frame before, held until the next one proves where it ended. */
  #ended:
    | { readonly offset: number; readonly end: number; readonly hasChecksum: boolean }
    | undefined;
  /** Bytes that came out of the decoder since a search. */
  #output = 0;
  readonly #damage = new DamageSearch();
  #hasDecoded = false;
  /** Why nothing could be decoded so far, and where. */
  #refusal: { readonly error: UnsupportedZstdError; readonly offset: number } | undefined;

  /**
   * @param handler reading ends when it is done
   * @param place where to begin, if a single record is wanted
   */
  constructor(
    source: ByteSource,
    splitter: RecordSplitter,
    handler: RecordHandler & { readonly isDone?: boolean },
    place?: { readonly from: number },
  ) {
    this.#source = source;
    this.#splitter = splitter;
    this.#handler = handler;
    this.#isSingle = place !== undefined;
    this.#window = Buffer.allocUnsafeSlow(this.#isSingle ? SMALL_WINDOW : WINDOW);
    this.#from = place?.from ?? 0;
  }

  /**
   * Passes the content of all frames to the splitter.
   *
   * @throws UnsupportedZstdError if no frame can be decoded, since they need what is not supported,
   *   or if the file's dictionary is damaged
   */
  async read(): Promise<void> {
    const dictionary = await readDictionary(this.#source);
    this.#dictionaryId = dictionary?.id ?? 0;
    const decoder =
      dictionary === undefined
        ? new BlockDecoder(await loadZstd())
        : await DictionaryDecoder.create(dictionary.bytes);
    this.#decoder = decoder;
    try {
      let from = this.#from;
      while (from >= 0 && this.#handler.isDone !== true) from = await this.#readFrames(from);
    } finally {
      if (decoder instanceof DictionaryDecoder) decoder.close();
    }
    if (!this.#hasDecoded && this.#refusal !== undefined) throw this.#refusal.error;
  }

  /** Reads frames from an offset on; resolves to the offset of those after damage, or to -1. */
  async #readFrames(start: number): Promise<number> {
    const decoder = this.#decoder as BlockDecoder | DictionaryDecoder;
    const scanner = new FrameScanner(this.#dictionaryId);
    /** The frame whose unit is being decoded. */
    let decoding: number | undefined;
    let isLastChecked = false;
    this.#output = 0;
    try {
      for (let offset = start; ; ) {
        const bytes = await this.#load(offset, 1);
        if (bytes.length === 0) break;
        for (const unit of scanner.scan(bytes)) {
          this.#pushFrame();
          const frame = start + scanner.frameOffset;
          decoding = frame;
          isLastChecked = scanner.isBetween && scanner.hasChecksum;
          this.#hold(decoder.decode(unit, scanner.isBetween), frame);
          decoding = undefined;
          if (scanner.isBetween) {
            this.#endFrame(frame, start + scanner.position, scanner.hasChecksum);
          }
          const pending = this.#handler.settle();
          if (pending !== undefined) await pending;
          if (this.#handler.isDone === true) return -1;
        }
        offset += bytes.length;
      }
      scanner.end();
      this.#pushFrame();
      return -1;
    } catch (error) {
      if (!(error instanceof ZstdError)) throw error;
      if (decoding !== undefined && isLastChecked) this.#drop();
      const damaged = this.#dropWrongEnd() ?? decoding ?? start + scanner.damageOffset;
      this.#note(error, damaged);
      const end = start + scanner.position;
      return this.#isSingle ? -1 : this.#search(this.#damage.next(damaged, end, this.#output));
    }
  }

  /** Takes content of the frame at hand. */
  #hold(content: Uint8Array, frame: number): void {
    if (content.length === 0) return;
    this.#held.push(Buffer.from(content));
    this.#heldBytes += content.length;
    this.#output += content.length;
    if (this.#isLong || this.#heldBytes > LONGEST_HELD) this.#pushPart(frame);
  }

  #endFrame(offset: number, end: number, hasChecksum: boolean): void {
    this.#admit();
    if (this.#isLong) {
      this.#pushPart(offset);
      this.#splitter.endMember(end);
    } else this.#ended = { offset, end, hasChecksum };
    this.#isLong = false;
  }

  /** Passes on the frame before. */
  #pushFrame(): void {
    if (this.#ended === undefined) return;
    const { offset, end } = this.#ended;
    this.#ended = undefined;
    if (this.#heldBytes === 0) return;
    this.#splitter.push({ bytes: this.#taken(), offset, end, kind: 'member' });
  }

  /**
   * Drops the frame before if it is damaged, and returns its offset. Without a checksum, a block
   * whose length is wrong takes in the beginning of the next frame, and does not end as a record.
   */
  #dropWrongEnd(): number | undefined {
    if (this.#ended === undefined) return undefined;
    const { offset, hasChecksum } = this.#ended;
    if (hasChecksum || endsRecord(this.#held.at(-1))) {
      this.#pushFrame();
      return undefined;
    }
    this.#ended = undefined;
    this.#drop();
    return offset;
  }

  /** Passes on what is held of a frame that is long or damaged. */
  #pushPart(offset: number): void {
    if (this.#heldBytes === 0) return;
    this.#admit();
    const bytes = this.#taken();
    const isFirst = !this.#isLong;
    if (isFirst && beginsRecord(bytes, 0)) this.#splitter.restart();
    this.#isLong = true;
    this.#splitter.push({ bytes, offset, kind: 'part', isFirst });
  }

  #taken(): Buffer {
    const [first = Buffer.alloc(0)] = this.#held;
    const bytes = this.#held.length === 1 ? first : Buffer.concat(this.#held);
    this.#drop();
    return bytes;
  }

  #drop(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** Notes damage within a frame, or between frames. */
  #note(error: ZstdError, offset: number): void {
    this.#pushPart(offset);
    this.#isLong = false;
    this.#splitter.interrupt(offset);
    if (!this.#hasDecoded && error instanceof UnsupportedZstdError) {
      this.#refusal ??= { error, offset };
    } else this.#warn(offset, error);
  }

  /** Notes that a frame was decoded: what came before was damage. */
  #admit(): void {
    if (this.#hasDecoded) return;
    this.#hasDecoded = true;
    if (this.#refusal !== undefined) this.#warn(this.#refusal.offset, this.#refusal.error);
  }

  #warn(offset: number, error: ZstdError): void {
    const reason =
      error instanceof UnsupportedZstdError
        ? `the zstd frame is not supported: ${error.message}`
        : 'the zstd data is damaged or cut short';
    this.#handler.damage(offset, reason, false);
  }

  /**
   * The offset of the next frame whose first block can be decoded; -1 if there is none. The search
   * also looks into skippable frames: the length of a false one could pass over all that follows.
   */
  async #search(from: number): Promise<number> {
    for (let offset = from; ; ) {
      const bytes = await this.#load(offset, PROBE);
      const last = bytes.length - (this.#isEnd ? 0 : PROBE - 1);
      let at = 0;
      while (at < last) {
        const next = beginsFrame(bytes, at) ? this.#probe(bytes, at) : at + 1;
        if (next === at) return offset + at;
        at = next;
      }
      if (this.#isEnd) return -1;
      offset += at;
    }
  }

  /** The index of a frame if its first block can be decoded; otherwise where to search on. */
  #probe(bytes: Buffer, at: number): number {
    const decoder = this.#decoder as BlockDecoder | DictionaryDecoder;
    const scanner = new FrameScanner(this.#dictionaryId);
    let output = 0;
    let units = 0;
    try {
      decoder.restart();
      for (const unit of scanner.scan(bytes.subarray(at, at + PROBE))) {
        output += decoder.decode(unit, scanner.isBetween).length;
        if (++units === 2) break;
      }
    } catch (error) {
      if (!(error instanceof ZstdError)) throw error;
      units = 0;
    }
    decoder.restart();
    return units === 2 ? at : this.#damage.next(at, at + scanner.position, output);
  }

  /** The bytes of the file from an offset on: so many at least, unless the file ends. */
  async #load(offset: number, least: number): Promise<Buffer> {
    const at = offset - this.#offset;
    const isWithin = at >= 0 && at <= this.#filled;
    if (isWithin && (this.#isEnd || this.#filled - at >= least)) {
      return this.#window.subarray(at, this.#filled);
    }
    this.#offset = offset;
    this.#filled = 0;
    this.#isEnd = false;
    while (this.#filled < least && !this.#isEnd) {
      const free = this.#window.subarray(this.#filled);
      const bytes = await this.#source.read(offset + this.#filled, free);
      this.#filled += bytes;
      this.#isEnd = bytes === 0;
    }
    return this.#window.subarray(0, this.#filled);
  }
}

/** Whether bytes end in the two line ends that follow each record. */
function endsRecord(bytes: Buffer = Buffer.alloc(0)): boolean {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 4));
  return end === '\r\n\r\n' || end.endsWith('\n\n');
}

/*
 * WARC files in zstd may begin with a skippable frame that holds a dictionary, which all other
 * frames need (IIPC, "Zstandard Compression for WARC Files"). The dictionary may be a zstd frame.
 */

/** Bytes before the dictionary: the magic bytes, and the length. */
const FRAME_HEADER_BYTES = 8;

/** Maximum length of a dictionary, compressed or not, in bytes. Usual ones have 1 MiB at most. */
const LONGEST_DICTIONARY = 16 * 1024 * 1024;

/** A dictionary that a file begins with. */
interface ZstdDictionary {
  readonly bytes: Uint8Array;
  /** Bytes of the file up to the end of its frame. */
  readonly end: number;
  /** The number by which frames name it; 0 if it has none. */
  readonly id: number;
}

/**
 * Reads the dictionary that a file begins with; `undefined` if there is none.
 *
 * @throws UnsupportedZstdError if the dictionary is too long, damaged or cut short
 */
export async function readDictionary(source: ByteSource): Promise<ZstdDictionary | undefined> {
  const head = await readFully(source, 0, DICTIONARY_HEAD_BYTES);
  if (beginsWithDictionary(head) !== true) return undefined;
  const isCompressed = startsWith(head, ZSTD_MAGIC, FRAME_HEADER_BYTES);
  const length = head.readUInt32LE(4);
  if (length > LONGEST_DICTIONARY) {
    throw new UnsupportedZstdError('its dictionary is longer than 16 MiB');
  }
  const stored = await readFully(source, FRAME_HEADER_BYTES, length);
  if (stored.length < length) throw unreadable('its dictionary is cut short');
  const bytes = isCompressed ? await decoded(stored) : stored;
  const isNumbered = startsWith(bytes, DICTIONARY_MAGIC) && bytes.length >= FRAME_HEADER_BYTES;
  const id = isNumbered ? Buffer.from(bytes.subarray(0, 8)).readUInt32LE(4) : 0;
  return { bytes, end: FRAME_HEADER_BYTES + length, id };
}

async function decoded(stored: Buffer): Promise<Uint8Array> {
  await prepareZstd();
  try {
    return Uint8Array.from(decodeZstd(stored, LONGEST_DICTIONARY));
  } catch (error) {
    if (!(error instanceof ZstdError)) throw error;
    throw unreadable(`its dictionary cannot be decompressed: ${error.message}`);
  }
}

function unreadable(what: string): UnsupportedZstdError {
  return new UnsupportedZstdError(what, 'Download the file again, or leave it out');
}

/** The bytes of a file from an offset on: so many, unless the file ends. */
async function readFully(source: ByteSource, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, Math.min(length, source.length - offset)));
  let filled = 0;
  while (filled < buffer.length) {
    const bytes = await source.read(offset + filled, buffer.subarray(filled));
    if (bytes === 0) break;
    filled += bytes;
  }
  return buffer.subarray(0, filled);
}
