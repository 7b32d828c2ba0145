import type { WarningEvent } from './entry.js';
import type { Skip } from './file.js';

/** The warning for something that is skipped. */
export function skipEvent(
  path: string,
  { code, message }: Pick<Skip, 'code' | 'message'>,
): WarningEvent {
  return { kind: 'warning', warning: { code, path, message } };
}
