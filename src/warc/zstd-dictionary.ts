import { startsWith } from '../files/magic.js';
import { decodeZstd, prepareZstd } from '../files/zstd/decode.js';
import { UnsupportedZstdError, ZSTD_MAGIC, ZstdError } from '../files/zstd/frame-scanner.js';
import type { ByteSource } from './byte-source.js';

/*
 * WARC files in zstd may begin with a skippable frame that holds a dictionary, which all other
 * frames need (IIPC, "Zstandard Compression for WARC Files"). The dictionary may be a zstd frame.
 */

/** Magic bytes of the skippable frame. */
const FRAME_MAGIC: readonly number[] = [0x5d, 0x2a, 0x4d, 0x18];

/** Magic bytes of a dictionary (RFC 8878 section 5), which its number follows. */
const DICTIONARY_MAGIC: readonly number[] = [0x37, 0xa4, 0x30, 0xec];

/** Bytes before the dictionary: the magic bytes, and the length. */
const FRAME_HEADER_BYTES = 8;

/** Maximum length of a dictionary, compressed or not, in bytes. Usual ones have 1 MiB at most. */
const LONGEST_DICTIONARY = 16 * 1024 * 1024;

/** A dictionary that a file begins with. */
export interface ZstdDictionary {
  readonly bytes: Uint8Array;
  /** The number by which frames name it; 0 if it has none. */
  readonly id: number;
}

/**
 * Reads the dictionary that a file begins with; `undefined` if there is none.
 *
 * @throws UnsupportedZstdError if the dictionary is too long, damaged or cut short
 */
export async function readDictionary(source: ByteSource): Promise<ZstdDictionary | undefined> {
  const head = await readFully(source, 0, FRAME_HEADER_BYTES + DICTIONARY_MAGIC.length);
  if (!startsWith(head, FRAME_MAGIC)) return undefined;
  const isCompressed = startsWith(head, ZSTD_MAGIC, FRAME_HEADER_BYTES);
  if (!isCompressed && !startsWith(head, DICTIONARY_MAGIC, FRAME_HEADER_BYTES)) return undefined;
  const length = head.readUInt32LE(FRAME_MAGIC.length);
  if (length > LONGEST_DICTIONARY) {
    throw new UnsupportedZstdError('its dictionary is longer than 16 MiB');
  }
  const stored = await readFully(source, FRAME_HEADER_BYTES, length);
  if (stored.length < length) throw unreadable('its dictionary is cut short');
  const bytes = isCompressed ? await decoded(stored) : stored;
  const isNumbered = startsWith(bytes, DICTIONARY_MAGIC) && bytes.length >= FRAME_HEADER_BYTES;
  const id = isNumbered ? Buffer.from(bytes.subarray(0, 8)).readUInt32LE(4) : 0;
  return { bytes, id };
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
