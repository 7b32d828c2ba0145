import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { RobotsFilterError } from '../../errors.js';
import { opening } from '../../files/openings.js';
import { errorText } from '../../files/system-error.js';

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
    const text = await opening(path, readFile(path, 'utf8'));
    const certificates = certificatesIn(text);
    if (certificates.length === 0) throw new Error('there are none');
    for (const certificate of certificates) new X509Certificate(certificate);
    return text;
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `${path}: the certificates cannot be read (${errorText(cause)}). Name a PEM file with --ca`,
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
