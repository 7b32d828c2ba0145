import type { CacheWarning, WarningEvent } from './entry.js';

/** The warning for something that is skipped, or is worth a look. */
export function skipEvent(
  path: string,
  { code, message }: Pick<CacheWarning, 'code' | 'message'>,
): WarningEvent {
  return { kind: 'warning', warning: { code, path, message } };
}
