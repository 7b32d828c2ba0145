/** Compares bytes at once. Vitest alone takes about a microsecond for each byte of two arrays. */

import { Buffer } from 'node:buffer';
import { expect } from 'vitest';

const IS_ADDED = Symbol.for('robots-filter: bytes are compared at once');

/** Makes `toEqual` and its likes compare bytes at once. A second call has no effect. */
export function compareBytesAtOnce(): void {
  // A process that runs several test files runs this file before each of them. Without the mark,
  // each comparison would ask as many testers as the process has run files.
  if (Object.hasOwn(globalThis, IS_ADDED)) return;
  Object.defineProperty(globalThis, IS_ADDED, { value: true });
  expect.addEqualityTesters([areEqualBytes]);
}

/** Whether both are equal bytes of one class; `undefined` leaves the answer to vitest. */
function areEqualBytes(one: unknown, other: unknown): true | undefined {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return undefined;
  if (one.constructor !== other.constructor) return undefined;
  return Buffer.compare(one, other) === 0 ? true : undefined;
}

compareBytesAtOnce();
