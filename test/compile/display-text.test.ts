import { describe, expect, it } from 'vitest';
import { displaySource, writeDisplayText } from '../../src/compile/display-text.js';

function display(octets: Uint8Array): string {
  const out = new Uint8Array(8000).fill(0x23);
  const end = writeDisplayText(octets, out, 5);
  expect(end - 5).toBeLessThanOrEqual(6 * Math.min(1000, octets.length));
  expect(out.subarray(end).every((octet) => octet === 0x23)).toBe(true);
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(out.subarray(5, end));
}

function octets(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const TEXTS = [
  '/plain?a=b&c*$',
  '/\u00e9\u4e2d\ud83d\ude00',
  '/"quoted\\"',
  '/\0\t\x1b[31m\x7f\u0080\u009b',
  '/\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028',
  '\ufeff/bom',
];

describe('what is shown of a rule', () => {
  it.each(TEXTS)('%j is the inside of a JSON string, and safe on a terminal', (text) => {
    const shown = display(octets(text));
    expect(JSON.parse(`"${shown}"`)).toBe(text);
    for (const character of shown) {
      const code = character.codePointAt(0) ?? 0;
      expect(code).toBeGreaterThanOrEqual(0x20);
      expect(code < 0x7f || code > 0x9f).toBe(true);
      expect('\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028'.includes(character)).toBe(false);
    }
  });

  it('what is no UTF-8 becomes U+FFFD', () => {
    expect(display(Uint8Array.of(0x2f, 0xff, 0x61, 0xc3))).toBe('/\ufffda\ufffd');
  });

  it('is cut between characters', () => {
    for (const character of ['a', '\u00e9', '\u4e2d', '\ud83d\ude00']) {
      for (let shift = 0; shift < 5; shift++) {
        const text = 'x'.repeat(shift) + character.repeat(1001);
        const shown = display(octets(text));
        expect(shown.endsWith('\u2026')).toBe(true);
        expect(text.startsWith(shown.slice(0, -1))).toBe(true);
        expect(octets(shown).length).toBeLessThanOrEqual(1000);
        expect(octets(shown).length).toBeGreaterThan(996);
      }
    }
    expect(display(octets('a'.repeat(1000)))).toBe('a'.repeat(1000));
    expect(display(octets('\x01'.repeat(5000)))).toBe(`${'\\u0001'.repeat(997)}\u2026`);
    expect(display(new Uint8Array(5000).fill(0x80))).toBe(`${'\ufffd'.repeat(994)}\u2026`);
  });
});

describe('what is shown of a source', () => {
  const shown = (source: string): string => Buffer.from(displaySource(source)).toString();

  it.each(TEXTS)('%j is the inside of a JSON string', (text) => {
    expect(JSON.parse(`"${shown(text)}"`)).toBe(text);
  });

  it('of a long one the end, in at most 4,096 octets', () => {
    expect(shown('a'.repeat(4096))).toBe('a'.repeat(4096));
    const long = `${'a'.repeat(9000)}/robots.txt`;
    expect(shown(long)).toBe(`\u2026${long.slice(-(4096 - 3))}`);
    for (const character of ['\x01', '\u4e2d', '\ud83d\ude00', '"']) {
      const text = shown(character.repeat(5000));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
      expect(Buffer.byteLength(text)).toBeGreaterThan(4080);
      const source = JSON.parse(`"${text}"`) as string;
      expect(source.startsWith('\u2026')).toBe(true);
      expect(character.repeat(5000).endsWith(source.slice(1))).toBe(true);
    }
  });
});
