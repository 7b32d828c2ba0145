import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { shareOf } from '../../../src/kernel/automata.js';
import { ANY } from '../../../src/kernel/compile-layout.js';

describe('the shares of bytes', () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);

  it('are largest for the slash, and fall by a tenth of a bit from byte to byte', () => {
    const sorted = bytes.map(shareOf).sort((a, b) => b - a);
    expect(shareOf(0x2f)).toBe(sorted[0]);
    expect(shareOf(0x65)).toBeCloseTo(0.933 * shareOf(0x2f), 4); // the `e`, next in frequency
    expect(shareOf(ANY)).toBe(1);
    for (const share of sorted) expect(share).toBeGreaterThan(0);
  });

  it('are the same to the last bit on every engine, because the layout of tables depends on them', () => {
    const shares = Float64Array.from(bytes, shareOf);
    const digest = createHash('sha256').update(new Uint8Array(shares.buffer)).digest('hex');
    expect(digest).toBe('6fa1c037cb66358bce046aae4668cc6cc10e91a35e5a5dab9b6458356aad4da9');
  });
});
