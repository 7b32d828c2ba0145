import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { compareBytesAtOnce } from './equal-bytes.js';

it('bytes are equal if all of them are, and the classes', () => {
  const bytes = (last: number) => Uint8Array.of(1, 2, last);
  expect({ at: [bytes(3)] }).toEqual({ at: [bytes(3)] });
  expect({ at: [bytes(3)] }).not.toEqual({ at: [bytes(4)] });
  expect(bytes(3)).not.toEqual(Uint8Array.of(1, 2));
  expect(bytes(3)).not.toEqual(Uint8Array.of(1, 2, 3, 0));
  expect(Buffer.from(bytes(3))).toStrictEqual(Buffer.from(bytes(3)));
  expect(Buffer.from(bytes(3))).not.toStrictEqual(bytes(3));
});

it('a process asks one tester, however many files it has run', () => {
  const counts: number[] = [];
  expect.extend({
    toCountTesters() {
      counts.push(this.customTesters.length);
      return { pass: true, message: () => '' };
    },
  });
  compareBytesAtOnce();
  (expect(0) as unknown as { toCountTesters(): void }).toCountTesters();
  expect(counts).toEqual([1]);
});
