import type { Transform } from 'node:stream';
import { RobotsFilterError } from '../errors.js';
import { COMPRESSIONS } from './compressions.js';

/**
 * Makes the stream that compresses a file by the ending of its name; `undefined` for other endings.
 *
 * @throws RobotsFilterError `usage` if this version of Node cannot write the compression
 */
export function compressorFor(path: string): Transform | undefined {
  const compression = COMPRESSIONS.find(({ ending }) => path.endsWith(ending));
  if (compression === undefined) return undefined;
  const stream = compression.compress();
  if (stream !== undefined) return stream;
  const { name, compressCommand } = compression;
  throw new RobotsFilterError(
    'usage',
    `-o ${path}: Node ${process.versions.node} cannot write ${name}, Node 22.15 or later can. ` +
      `Name a file that ends in .gz, or compress the file afterwards: ${compressCommand} FILE`,
  );
}
