import { errorCode } from '../../files/system-error.js';
import { isExhaustion } from '../transport/local-fault.js';

/** Why the record of one authority could not be read or written. Others are not affected. */
export class StoreFault extends Error {
  readonly systemCode: string;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StoreFault';
    this.systemCode = errorCode(cause);
  }

  /** Whether the fault may pass: the process has run out of a resource. */
  get isPassing(): boolean {
    return isExhaustion(this.systemCode);
  }
}

/** Codes if something else has the name of a file or directory of the authority. */
const IN_THE_WAY: readonly string[] = [
  'EEXIST',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'ENOTEMPTY',
];

/** Whether an error from within the directory of an authority concerns that authority alone. */
export function concernsOneAuthority(error: unknown): boolean {
  const code = errorCode(error);
  return IN_THE_WAY.includes(code) || isExhaustion(code) || code === 'EACCES' || code === 'EPERM';
}

/**
 * The same for an error when that directory is created. Without the permission for it, no other can
 * be created either.
 */
export function concernsOneDirectory(error: unknown): boolean {
  const code = errorCode(error);
  return IN_THE_WAY.includes(code) || isExhaustion(code);
}
