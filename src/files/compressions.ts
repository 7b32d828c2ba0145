import type { Compression } from './compression.js';
import { gzip } from './gzip.js';
import { startsWith } from './magic.js';
import { zstd } from './zstd.js';

/** All supported compressions. To support another one, add its file here. */
export const COMPRESSIONS: readonly Compression[] = [gzip, zstd];

/** The endings of file names, compressed or not: empty, `.gz` and so on. */
export const COMPRESSION_ENDINGS = ['', ...COMPRESSIONS.map(({ ending }) => ending)];

/** The compression of data by its first bytes; `undefined` if it is not in `COMPRESSIONS`. */
export function compressionOf(head: Uint8Array): Compression | undefined {
  return COMPRESSIONS.find((compression) =>
    magicsOf(compression).some((magic) => startsWith(head, magic)),
  );
}

/** All first bytes that data in a compression may have. */
export function magicsOf({ magic, otherMagics = [] }: Compression): readonly (readonly number[])[] {
  return [magic, ...otherMagics];
}
