import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { BodyClaims } from '../../../src/compile/table-part.js';

/** The first word of the memory: the number of digests, at most 2^20. */
const COUNT = 0;
const CAPACITY = 1 << 20;
const SLOTS = 2 * CAPACITY;
const BEING_WRITTEN = -1;

function digest(body: string): Buffer {
  return createHash('sha256').update(body).digest();
}

function slotOf(bytes: Buffer): number {
  return 1 + (bytes.readUInt32LE(0) % SLOTS);
}

describe('a body', () => {
  it('is compiled by the first thread that claims it, and by no other', () => {
    const one = new BodyClaims();
    const other = new BodyClaims(one.memory);
    expect(one.claim(digest('a'))).toBe(true);
    expect(other.claim(digest('a'))).toBe(false);
    expect(other.claim(digest('b'))).toBe(true);
    expect(one.claim(digest('b'))).toBe(false);
  });

  it('is distinguished from another body in the same slot', () => {
    const claims = new BodyClaims();
    const a = digest('a');
    const alike = Buffer.from(a);
    alike[31] = (a[31] as number) ^ 1;
    expect([a, alike, a, alike].map((each) => claims.claim(each))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('is compiled by every thread if there is no room for its digest; earlier bodies are still known', () => {
    const claims = new BodyClaims();
    const words = new Int32Array(claims.memory);
    expect(claims.claim(digest('a'))).toBe(true);
    words[COUNT] = CAPACITY;
    expect(claims.claim(digest('b'))).toBe(true);
    expect(claims.claim(digest('b'))).toBe(true);
    expect(words[slotOf(digest('b'))]).toBe(0);
    expect(claims.claim(digest('a'))).toBe(false);
    expect(words[COUNT]).toBe(CAPACITY);
  });

  it('is compiled if another thread has just found no room for it', () => {
    const claims = new BodyClaims();
    const words = new Int32Array(claims.memory);
    const b = digest('b');
    words[slotOf(b)] = BEING_WRITTEN;
    // Between two reads of the slot the other thread gives the slot up.
    const atomics: { load(words: Int32Array, index: number): number } = Atomics;
    const look = vi.spyOn(atomics, 'load').mockImplementationOnce(() => {
      words[slotOf(b)] = 0;
      return 0;
    });
    expect(claims.claim(b)).toBe(true);
    expect(look).toHaveBeenCalled();
    look.mockRestore();
  });

  it('is compiled if another thread never finishes writing its digest', () => {
    const claims = new BodyClaims();
    const c = digest('c');
    new Int32Array(claims.memory)[slotOf(c)] = BEING_WRITTEN;
    expect(claims.claim(c)).toBe(true);
  });
});
