import { systemCode } from '../pipeline/cache/file.js';
import { isExhaustion } from './local-fault.js';

/**
 * Why the finding about one authority could not be looked up or kept. Other authorities are not
 * concerned.
 */
export class StoreFault extends Error {
  readonly systemCode: string;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StoreFault';
    this.systemCode = systemCode(cause);
  }

  /** Whether it may pass: the process has run out of something. */
  get isPassing(): boolean {
    return isExhaustion(this.systemCode);
  }
}

/** Something else stands where a file or directory of the authority is to be. */
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
  const code = systemCode(error);
  return IN_THE_WAY.includes(code) || isExhaustion(code) || code === 'EACCES' || code === 'EPERM';
}

/**
 * The same for an error from making that directory: who may not make it may make no other either.
 */
export function concernsOneDirectory(error: unknown): boolean {
  const code = systemCode(error);
  return IN_THE_WAY.includes(code) || isExhaustion(code);
}
