import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { BodyClaims } from '../../src/compile/body-claims.js';

/** The first word of the memory: how many digests there are, of at most 2^20. */
const COUNT = 0;
const CAPACITY = 1 << 20;
const SLOTS = 2 * CAPACITY;
const BEING_WRITTEN = -1;

function digest(body: string): Buffer {
  return createHash('sha256').update(body).digest();
}

function slotOf(octets: Buffer): number {
  return 1 + (octets.readUInt32LE(0) % SLOTS);
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

  it('is told from one that wants the same slot', () => {
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

  it('is compiled by every thread where there is no room for its digest, and others are still known', () => {
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

  it('is compiled where another thread has had no room for it just now', () => {
    const claims = new BodyClaims();
    const words = new Int32Array(claims.memory);
    const b = digest('b');
    words[slotOf(b)] = BEING_WRITTEN;
    // What the other thread does between two looks at the slot: it gives it up.
    const atomics: { load(words: Int32Array, index: number): number } = Atomics;
    const look = vi.spyOn(atomics, 'load').mockImplementationOnce(() => {
      words[slotOf(b)] = 0;
      return 0;
    });
    expect(claims.claim(b)).toBe(true);
    expect(look).toHaveBeenCalled();
    look.mockRestore();
  });

  it('is compiled where another thread never ends to write its digest', () => {
    const claims = new BodyClaims();
    const c = digest('c');
    new Int32Array(claims.memory)[slotOf(c)] = BEING_WRITTEN;
    expect(claims.claim(c)).toBe(true);
  });
});
