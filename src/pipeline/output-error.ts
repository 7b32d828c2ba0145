import { RobotsFilterError } from '../errors.js';
import { errorCode } from '../workers/descriptor.js';

/**
 * The error for a descriptor or stream that can't be written.
 *
 * @param option the option that names another output, where there is one
 */
export function outputError(name: string, cause: unknown, option = ' (-o)'): RobotsFilterError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const remedy = REMEDIES.get(errorCode(cause)) ?? `writing failed (${message}). Write elsewhere`;
  return new RobotsFilterError('output', `${name}: ${remedy}${option}`, { cause });
}

const REMEDIES: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOSPC', 'no space left on the device. Free some, or write elsewhere'],
  ['EDQUOT', 'the disk quota is used up. Free some space, or write elsewhere'],
  ['EFBIG', 'the file would be larger than its file system or ulimit -f allows. Write elsewhere'],
  ['EBADF', 'is closed or not open for writing. Redirect it, or name a file'],
]);
