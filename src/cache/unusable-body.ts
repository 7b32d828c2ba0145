import { createHash } from 'node:crypto';
import { unsupportedBody } from '../files/unsupported-formats.js';
import { isBinary } from '../protocol/binary-body.js';
import type { Skip } from './file.js';

/**
 * Why a body is skipped: it is compressed, of another format, or binary. Read as text, the body
 * would have no rules, and so allow everything. `undefined` if the body is usable.
 *
 * @param sha256 digest of the body that a fetch stored. If such a body is still compressed after
 *   its declared content codings were undone, its bytes count as they are (RFC 9309 section 2.2)
 */
export function unusableBody(body: Uint8Array, sha256?: string): Skip | undefined {
  const format = unsupportedBody(body);
  if (format === undefined && !isBinary(body)) return undefined;
  if (sha256 !== undefined && createHash('sha256').update(body).digest('hex') === sha256)
    return undefined;
  if (format === undefined) {
    const message = 'The body is binary data, not text; skipped. Download it again.';
    return { kind: 'skip', code: 'not-text', message };
  }
  const { name, command, advice } = format;
  if (advice !== undefined) {
    const message = `The file is ${name}, not a robots.txt; skipped. Take it out of the directory.`;
    return { kind: 'skip', code: 'not-text', message };
  }
  const remedy = command === undefined ? 'Download it again.' : `Decompress it (${command}).`;
  const message = `The body is ${name}, not text; skipped. ${remedy}`;
  return { kind: 'skip', code: 'compressed', message };
}
