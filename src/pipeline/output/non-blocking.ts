import type { BigIntStats, Stats } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * Whether writes to a descriptor never block for long, as for a regular file or a device. A write
 * to a pipe or terminal may block, and a thread that is blocked in a write cannot be ended.
 */
export function isNonBlocking(status: Stats | BigIntStats, descriptor: number): boolean {
  return status.isFile() || (status.isCharacterDevice() && !isatty(descriptor));
}
