/** The certificates that fetches trust. */

import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { RobotsFilterError } from '../base/errors.js';
import { readWhole } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';

/** Maximum length of a file of certificates, in bytes: that of a system has some 200,000. */
const MAX_FILE_BYTES = 16 * 1024 ** 2;

/**
 * The certificates that fetches trust: those of Node and those of `--ca`. `undefined` without
 * `--ca`. Call it before any work, so that a wrong file costs none.
 *
 * @throws RobotsFilterError `input`
 */
export async function trustedCertificates(
  path: string | undefined,
): Promise<readonly string[] | undefined> {
  return path === undefined ? undefined : [...rootCertificates, await readCertificates(path)];
}

/**
 * Reads a PEM file of certificates, and checks each certificate, because TLS ignores damaged ones
 * without an error.
 *
 * @throws RobotsFilterError `input`
 */
async function readCertificates(path: string): Promise<string> {
  try {
    const bytes = await readWhole(path, MAX_FILE_BYTES);
    if (bytes === undefined) throw new Error(`longer than ${MAX_FILE_BYTES} bytes`);
    const text = bytes.toString();
    const certificates = certificatesIn(text);
    if (certificates.length === 0) throw new Error('there are none');
    for (const certificate of certificates) new X509Certificate(certificate);
    return text;
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `${path}: the certificates cannot be read (${describeSystemError(cause)}). Name a PEM file with --ca`,
      { cause },
    );
  }
}

/** The certificates of a PEM file, each from its label on (RFC 7468). */
function certificatesIn(text: string): string[] {
  return text
    .split('-----BEGIN ')
    .slice(1)
    .filter((block) => block.slice(0, block.indexOf('-----')).endsWith('CERTIFICATE'))
    .map((block) => `-----BEGIN ${block}`);
}
