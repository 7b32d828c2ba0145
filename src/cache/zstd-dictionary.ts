import { startsWith } from '../files/magic.js';
import { UnsupportedZstdError, ZSTD_MAGIC } from '../files/zstd/frame-scanner.js';

/*
 * WARC files in zstd may begin with a skippable frame that holds a dictionary, which all other
 * frames need (IIPC, "Zstandard Compression for WARC Files"). The dictionary may be a zstd frame.
 */

/** Magic bytes of the skippable frame. */
const FRAME_MAGIC: readonly number[] = [0x5d, 0x2a, 0x4d, 0x18];

/** Magic bytes of a dictionary (RFC 8878 section 5). */
const DICTIONARY_MAGIC: readonly number[] = [0x37, 0xa4, 0x30, 0xec];

/** Bytes before the dictionary: the magic bytes, and the length. */
const FRAME_HEADER_BYTES = 8;

/** Bytes of a file by which `checkDictionary` decides. */
export const DICTIONARY_HEAD_BYTES = FRAME_HEADER_BYTES + DICTIONARY_MAGIC.length;

/** A file is compressed with a dictionary that it holds itself. */
class OwnDictionaryError extends UnsupportedZstdError {
  readonly length: number;
  readonly isCompressed: boolean;

  /** @param length of the dictionary in the file, in bytes */
  constructor(length: number, isCompressed: boolean) {
    super('a dictionary is needed');
    this.length = length;
    this.isCompressed = isCompressed;
  }
}

/** @throws UnsupportedZstdError if the first bytes of a file are those of a dictionary */
export function checkDictionary(head: Buffer): void {
  if (!startsWith(head, FRAME_MAGIC) || head.length < DICTIONARY_HEAD_BYTES) return;
  const isCompressed = startsWith(head, ZSTD_MAGIC, FRAME_HEADER_BYTES);
  if (!isCompressed && !startsWith(head, DICTIONARY_MAGIC, FRAME_HEADER_BYTES)) return;
  throw new OwnDictionaryError(head.readUInt32LE(4), isCompressed);
}

/** Why a file whose zstd data is not supported cannot be used, and what to type. */
export function zstdMessage(path: string, error: UnsupportedZstdError): string {
  if (!(error instanceof OwnDictionaryError)) {
    return `The zstd data is not supported: ${error.message}.`;
  }
  const extract = `tail -c +${FRAME_HEADER_BYTES + 1} ${path} | head -c ${error.length}`;
  const decode = error.isCompressed ? `${extract} | zstd -dc` : extract;
  return `The file is compressed with a zstd dictionary of its own, which is not supported. Decompress it first: ${decode} > dictionary && zstd -dc -D dictionary ${path} > decompressed.warc`;
}
