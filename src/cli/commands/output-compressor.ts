import type { ReplacementFile } from '../../files/replacement-file.js';
import type { CompressedFile } from '../../pipeline/output/compressed-file.js';

/**
 * The compressor of an output, by the ending of its name; `undefined` if it is not compressed.
 */
export async function outputCompressor(
  path: string,
): Promise<((file: ReplacementFile) => CompressedFile) | undefined> {
  if (!path.endsWith('.gz') && !path.endsWith('.zst')) return undefined;
  const [{ compressorFor }, { CompressedFile }] = await Promise.all([
    import('../../files/compressor.js'),
    import('../../pipeline/output/compressed-file.js'),
  ]);
  const compressor = await compressorFor(path);
  return compressor && ((file) => new CompressedFile(compressor, file));
}
