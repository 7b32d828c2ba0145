import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { RobotsFilterError } from '../../errors.js';
import { opening } from '../../files/openings.js';
import { errorText } from '../../files/system-error.js';

/**
 * Reads a PEM file of certificates, and checks each certificate, because TLS ignores damaged ones
 * without an error.
 *
 * @throws RobotsFilterError `input`
 */
export async function readCertificates(path: string): Promise<string> {
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
