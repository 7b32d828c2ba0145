/** Reads the times that data sets have. The kernel has the code, which reads those of records. */

import { Buffer } from 'node:buffer';
import { FIRST_ADDRESS, PrivateKernel } from './kernel.js';
import { LAST_TIME } from './layout.js';

/** No longer text states a time. */
const LONGEST = 256;

const SECOND = 1000;

let own: PrivateKernel | undefined;

/**
 * The time that a value states; `undefined` if it states none, which is never guessed.
 *
 * - A date, `2025-03-10`, or a date and a time, with `T` or a space between them, such as
 *   `2025-03-10T12:00` or `2025-03-10 12:00:00.5`, and with `Z`, ` UTC` or an offset (`+01:00`,
 *   `+0100`, `+01`) after it. Without an offset it is UTC. A 60th second is the first of the next
 *   minute.
 * - 14 digits, `20250310120000`, as archives have them, and their first 12, 10 and 8 digits, in
 *   UTC. Years are 1900 to 2099.
 * - `10/Oct/2000:13:55:36 -0700`, as the logs of web servers have it.
 * - From 100,000,000 on seconds since 1970, and from 100,000,000,000 on milliseconds since 1970,
 *   with or without a fraction. A smaller number is more likely a year, or something else, than a
 *   time before March 1973.
 *
 * So `2025031012` is a date and an hour, and `1741608000` are seconds.
 *
 * @param value a text or a number; any other value states no time
 * @returns whole milliseconds since 1970
 */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return timeOf(String(value));
  if (typeof value !== 'string' || value.length > LONGEST) return undefined;
  own ??= new PrivateKernel();
  const text = Buffer.from(value);
  const end = FIRST_ADDRESS + text.length;
  own.bytes(end).set(text, FIRST_ADDRESS);
  const time = own.kernel.readTime(FIRST_ADDRESS, end);
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Whether a table can hold a time: it stores whole seconds since 1970 in four bytes, and 0 means
 * that there is none.
 *
 * @param time in milliseconds since 1970
 */
export function fitsTable(time: number): boolean {
  const seconds = Math.floor(time / SECOND);
  return seconds > 0 && seconds <= LAST_TIME;
}
