import { hash } from 'node:crypto';

/** Length of a SHA-256 digest. */
export const DIGEST_BYTES = 32;

const digest = Buffer.alloc(DIGEST_BYTES);

/**
 * The SHA-256 digest of a body; the next call overwrites the digest. The digest is returned through
 * a string, because allocating and collecting a Buffer for each body is slower.
 */
export function digestOf(body: Uint8Array): Buffer {
  digest.write(hash('sha256', body, 'binary'), 'binary');
  return digest;
}
