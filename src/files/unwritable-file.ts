import { RobotsFilterError } from '../errors.js';
import { errorText } from './system-error.js';
import { systemRemedy } from './system-remedy.js';

/** The error for a file or directory that cannot be written; a RobotsFilterError stays itself. */
export function unwritable(path: string, cause: unknown): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  const remedy =
    systemRemedy(cause, 'replace') ??
    `cannot be written (${errorText(cause)}). Choose another place`;
  return new RobotsFilterError('output', `${path}: ${remedy}.`, { cause });
}
