/** Compares bytes at once. Vitest alone takes about a microsecond for each byte of two arrays. */

import { Buffer } from 'node:buffer';
import { expect } from 'vitest';

/** Whether both are equal bytes of one class; `undefined` leaves the answer to vitest. */
function areEqualBytes(one: unknown, other: unknown): true | undefined {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return undefined;
  if (one.constructor !== other.constructor) return undefined;
  return Buffer.compare(one, other) === 0 ? true : undefined;
}

expect.addEqualityTesters([areEqualBytes]);
