import { CommanderError } from 'commander';
import { RobotsFilterError } from '../errors.js';
import { FAILURE, SUCCESS } from './exit-codes.js';
import { Diagnostics } from './report/diagnostics.js';

/** System errors that the user can remedy, and that are not faults of the program. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
]);

function isRefusal(error: unknown): error is Error & { code: unknown } {
  return (
    error instanceof Error && 'syscall' in error && 'code' in error && REFUSALS.has(error.code)
  );
}

/**
 * Reports on standard error why a command failed.
 *
 * @returns the exit code: 0 if commander ended the command after it printed help or the version
 */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : FAILURE;
  new Diagnostics(true).error(messageOf(error));
  return FAILURE;
}

function messageOf(error: unknown): string {
  if (error instanceof RobotsFilterError) return error.message;
  if (isRefusal(error) && (error.code === 'EMFILE' || error.code === 'ENFILE')) {
    return `${error.message}. Use fewer --threads, or raise the limit of open files (ulimit -n)`;
  }
  if (isRefusal(error)) {
    return `${error.message}. Check permissions, free space and open files, then run it again`;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `internal error; please report it with these lines.\n${trace}`;
}
