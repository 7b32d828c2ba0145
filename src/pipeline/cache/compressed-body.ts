import { compressionOf } from '../compression.js';
import type { Refusal } from './file.js';

/**
 * Why a body is left out that is compressed, as a server may send it: as text it would hold no rules, and all would be allowed. To be
 * asked where nothing tells that a server sent it so in no content coding: of that a crawler takes what it can (RFC 9309 section 2.2).
 */
export function refuseCompressed(body: Uint8Array): Refusal | undefined {
  const compression = compressionOf(body);
  if (compression === undefined) return undefined;
  const { name, remedy } = compression;
  return {
    kind: 'refusal',
    code: 'compressed',
    message: `Its body is ${name}, not text; left out. Decompress it (${remedy}).`,
  };
}
