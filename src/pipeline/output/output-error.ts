import { RobotsFilterError } from '../../errors.js';
import { errorCode, errorText } from '../../files/system-error.js';
import { systemRemedy } from '../../files/system-remedy.js';

/**
 * The error for a descriptor or stream that cannot be written to. A `RobotsFilterError` of a stream
 * is that error.
 *
 * @param option the option that names another output; empty if there is none
 */
export function outputError(name: string, cause: unknown, option = ' (-o)'): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  const remedy =
    systemRemedy(cause, 'write') ?? `writing failed (${errorText(cause)}). Write elsewhere`;
  return new RobotsFilterError('output', `${name}: ${remedy}${option}`, { cause });
}

/** Whether an error means that the reader of the output is gone. */
export function isClosed(error: unknown): boolean {
  const code = errorCode(error);
  return (
    code === 'EPIPE' ||
    code === 'ECONNRESET' ||
    code === 'ERR_STREAM_DESTROYED' ||
    code === 'ERR_STREAM_PREMATURE_CLOSE'
  );
}
