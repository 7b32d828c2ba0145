import type { Stats } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * Whether an open descriptor takes all that is written to it at once, as a regular file or a device
 * does. A pipe or terminal may block for long, and a thread that is blocked in a write can't be
 * ended.
 */
export function takesAtOnce(status: Stats, descriptor: number): boolean {
  return status.isFile() || (status.isCharacterDevice() && !isatty(descriptor));
}
