import type { Compression } from './compression.js';
import { gzip } from './gzip.js';
import { startsWith } from './magic.js';
import { zstd } from './zstd.js';

/** All compressions that are undone. To support another one, add its file here. */
export const COMPRESSIONS: readonly Compression[] = [gzip, zstd];

/** The endings of file names, compressed or not: empty, `.gz` and so on. */
export const COMPRESSION_ENDINGS = ['', ...COMPRESSIONS.map(({ ending }) => ending)];

/** The compression that data begins with; `undefined` if none of `COMPRESSIONS`. */
export function compressionOf(head: Uint8Array): Compression | undefined {
  return COMPRESSIONS.find((compression) =>
    magicsOf(compression).some((magic) => startsWith(head, magic)),
  );
}

/** All bytes that data in a compression may begin with. */
export function magicsOf({ magic, otherMagics = [] }: Compression): readonly (readonly number[])[] {
  return [magic, ...otherMagics];
}
