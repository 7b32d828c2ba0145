import type { Transform } from 'node:stream';
import { COMPRESSIONS } from './compressions.js';

/**
 * Makes the stream that compresses a file by the ending of its name; `undefined` for other endings.
 */
export async function compressorFor(path: string): Promise<Transform | undefined> {
  return COMPRESSIONS.find(({ ending }) => path.endsWith(ending))?.compress();
}
