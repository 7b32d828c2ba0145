/** Decodes Zstandard data that is in memory as a whole. */

import { loadZstd } from './codec.js';
import { BlockDecoder } from './decoder.js';
import { FrameScanner, ZstdError } from './frames.js';

let codec: WebAssembly.Module | undefined;
/** A decoder that has never met damaged data. */
let decoder: BlockDecoder | undefined;

/** Loads the codec for `decodeZstd`. */
export async function prepareZstd(): Promise<void> {
  codec ??= await loadZstd();
}

/**
 * Decodes whole Zstandard data at once. Call `prepareZstd` before.
 *
 * @param most maximum number of bytes that may come out
 * @throws ZstdError if the data is damaged, or more than `most` bytes come out
 */
export function decodeZstd(data: Uint8Array, most: number): Uint8Array {
  if (codec === undefined) throw new Error('the zstd codec has not been loaded');
  const current = decoder ?? new BlockDecoder(codec);
  decoder = undefined;
  const output = new Uint8Array(most);
  let filled = 0;
  const scanner = new FrameScanner();
  for (const unit of scanner.scan(data)) {
    const part = current.decode(unit);
    if (filled + part.length > most) throw new ZstdError(`more than ${most} bytes come out`);
    output.set(part, filled);
    filled += part.length;
  }
  scanner.end();
  decoder = current;
  return output.subarray(0, filled);
}
