/** The system's code of an error, such as `ENOENT`; empty if the error has none. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** The text of any error. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || errorCode(error) || error.name;
  return String(error);
}

/** Describes a system error in a few words, with its code. */
export function describeSystemError(error: unknown): string {
  const code = errorCode(error);
  const meaning = MEANINGS.get(code);
  return meaning === undefined ? errorText(error) : `${meaning} (${code})`;
}

const DENIED = 'permission denied';

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['EACCES', DENIED],
  ['EPERM', DENIED],
  ['ENOENT', 'it does not exist'],
  ['EISDIR', 'it is a directory'],
  ['ENXIO', 'it is a socket'],
  ['ELOOP', 'its symbolic links form a loop'],
]);
