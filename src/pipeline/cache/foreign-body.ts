import { createHash } from 'node:crypto';
import { foreignOf } from '../signature.js';
import { isBinary } from './binary.js';
import type { Refusal } from './file.js';

/**
 * Why a body is left out that is compressed, as a server may send it, of another format, or binary
 * data of none that is known: as text it would hold no rules, and all would be allowed.
 *
 * @param sha256 digest of what a fetch has kept: what remains compressed when the declared content
 *   codings are undone, a crawler takes
 * as it is (RFC 9309 section 2.2)
 */
export function refuseForeignBody(body: Uint8Array, sha256?: string): Refusal | undefined {
  const foreign = foreignOf(body);
  if (foreign === undefined && !isBinary(body)) return undefined;
  if (sha256 !== undefined && createHash('sha256').update(body).digest('hex') === sha256)
    return undefined;
  if (foreign === undefined) {
    const message = 'Its body is binary data, not text; left out. Get it anew.';
    return { kind: 'refusal', code: 'not-text', message };
  }
  const { name, remedy } = foreign;
  if (foreign.advice !== undefined) {
    const message = `It is ${name}, not a robots.txt; left out. Take it out of the directory.`;
    return { kind: 'refusal', code: 'not-text', message };
  }
  const advice = remedy === undefined ? 'Get it anew.' : `Decompress it (${remedy}).`;
  const message = `Its body is ${name}, not text; left out. ${advice}`;
  return { kind: 'refusal', code: 'compressed', message };
}
