/** Where V8's code of a file is kept: beside it, under the name of the V8 that can take it. */

import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';

const { platform, arch, versions } = process;
/** V8 looks at its version itself, but not at what processor the code was made on. */
const CODE_SUFFIX = `.${versions.v8}-${platform}-${arch}.code`;

/** Where the code of a file is kept that this V8 can take. */
export function codeFile(file: string): string {
  return `${file}${CODE_SUFFIX}`;
}

/**
 * The code that is kept of a file. V8 knows what code was made of by its length at most, and times
 * tell nothing of files that were copied, or installed: so the file's octets are kept behind the
 * code, and must be those that it has.
 *
 * @param octets what is in the file
 */
export function keptCode(file: string, octets: Uint8Array): Buffer | undefined {
  try {
    const kept = readFileSync(codeFile(file));
    const end = kept.length - octets.length;
    return end > 0 && kept.subarray(end).equals(octets) ? kept.subarray(0, end) : undefined;
  } catch {
    return undefined;
  }
}

/** What is to be kept of a file with these octets. */
export function codeToKeep(code: Uint8Array, octets: Uint8Array): Buffer {
  return Buffer.concat([code, octets]);
}
