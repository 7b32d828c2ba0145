import { errorCode } from '../../files/system-error.js';
import { isExhaustion } from '../transport/local-fault.js';

/** A fault in reading or writing the record of one authority. Others are not affected. */
export class StoreFault extends Error {
  readonly systemCode: string;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StoreFault';
    this.systemCode = errorCode(cause);
  }

  /** Whether the fault may pass, because the process has run out of a resource. */
  get isPassing(): boolean {
    return isExhaustion(this.systemCode);
  }
}

/** Codes for something else in place of a file or directory of the authority. */
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
 * Whether an error in creating that directory concerns that authority alone. Without the permission
 * to create it, no other can be created either.
 */
export function concernsOneDirectory(error: unknown): boolean {
  const code = errorCode(error);
  return IN_THE_WAY.includes(code) || isExhaustion(code);
}
