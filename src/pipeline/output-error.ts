import { RobotsFilterError } from '../errors.js';
import { errorCode } from '../workers/descriptor.js';

/** The error for a descriptor or stream that can't be written. */
export function outputError(name: string, cause: unknown): RobotsFilterError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const remedy =
    REMEDIES.get(errorCode(cause)) ?? `writing failed (${message}). Write elsewhere (-o)`;
  return new RobotsFilterError('output', `${name}: ${remedy}`, { cause });
}

const REMEDIES: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOSPC', 'no space left on the device. Free some, or write elsewhere (-o)'],
  ['EDQUOT', 'the disk quota is used up. Free some space, or write elsewhere (-o)'],
  [
    'EFBIG',
    'the file would be larger than its file system or ulimit -f allows. Write elsewhere (-o)',
  ],
  ['EBADF', 'is closed or not open for writing. Redirect it, or name a file (-o)'],
]);
