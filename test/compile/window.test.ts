import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ANY, shareOf } from '../../src/compile/window.js';

describe('the shares of octets', () => {
  const octets = Array.from({ length: 256 }, (_, octet) => octet);

  it('fall from that of the slash by a fourteenth from one to the next', () => {
    const sorted = octets.map(shareOf).sort((a, b) => b - a);
    expect(shareOf(0x2f)).toBe(sorted[0]);
    expect(shareOf(0x65)).toBeCloseTo(0.933 * shareOf(0x2f), 4); // the `e`, next in frequency
    expect(shareOf(ANY)).toBe(1);
    for (const share of sorted) expect(share).toBeGreaterThan(0);
  });

  it('are the same to the last bit on every engine, for by them tables are laid out', () => {
    const shares = Float64Array.from(octets, shareOf);
    const digest = createHash('sha256').update(new Uint8Array(shares.buffer)).digest('hex');
    expect(digest).toBe('6fa1c037cb66358bce046aae4668cc6cc10e91a35e5a5dab9b6458356aad4da9');
  });
});
