import type { RobotsFilterError } from '../../errors.js';
import type { Compression } from '../../files/compression.js';
import { UnsupportedZstdError, ZstdError } from '../../files/zstd/frame-scanner.js';
import { zstd } from '../../files/zstd.js';
import type { ZstdDamage, ZstdSource } from '../../workers/messages.js';
import { damaged } from './decompressed-chunks.js';
import type { RawInput } from './raw-input.js';

/** A file of zstd data that a thread may decode from its beginning. */
export interface ZstdInput {
  readonly source: ZstdSource;
  /** The error for damage that the thread has met. */
  explain(damage: ZstdDamage): RobotsFilterError;
  /** Returns the number of bytes of the file that the thread has read, and those before them. */
  consumed(): number;
}

/**
 * Describes an input to a thread; `undefined` if the input is not a file of zstd data, or has been
 * read already.
 *
 * @param dropped number of decoded bytes at the start that are no lines
 */
export async function zstdInput(
  { name, descriptor, size, offset, hasEnded }: RawInput,
  compression: Compression | undefined,
  dropped: number,
): Promise<ZstdInput | undefined> {
  if (compression !== zstd || size === undefined || offset === undefined || hasEnded) {
    return undefined;
  }
  const { loadZstd } = await import('../../files/zstd/codec.js');
  const progress = new BigInt64Array(new SharedArrayBuffer(8));
  const codec = await loadZstd();
  return {
    source: { kind: 'zstd', descriptor, offset, bytes: size, dropped, codec, progress },
    explain: ({ message, remedy, bytes }) => {
      const error =
        remedy === undefined ? new ZstdError(message) : new UnsupportedZstdError(message, remedy);
      return damaged(name, zstd, error, bytes);
    },
    consumed: () => Number(Atomics.load(progress, 0)),
  };
}
