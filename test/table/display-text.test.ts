import { describe, expect, it } from 'vitest';
import { displaySource, writeDisplayText } from '../../src/table/display-text.js';

function display(bytes: Uint8Array): string {
  const out = new Uint8Array(8000).fill(0x23);
  const end = writeDisplayText(bytes, out, 5);
  expect(end - 5).toBeLessThanOrEqual(6 * Math.min(1000, bytes.length));
  expect(out.subarray(end).every((byte) => byte === 0x23)).toBe(true);
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(out.subarray(5, end));
}

function bytes(text: string): Uint8Array {
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

describe('the text shown for a rule', () => {
  it.each(TEXTS)('%j is the inside of a JSON string, and safe on a terminal', (text) => {
    const shown = display(bytes(text));
    expect(JSON.parse(`"${shown}"`)).toBe(text);
    for (const character of shown) {
      const code = character.codePointAt(0) ?? 0;
      expect(code).toBeGreaterThanOrEqual(0x20);
      expect(code < 0x7f || code > 0x9f).toBe(true);
      expect('\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028'.includes(character)).toBe(false);
    }
  });

  it('has U+FFFD for bytes that are not UTF-8', () => {
    expect(display(Uint8Array.of(0x2f, 0xff, 0x61, 0xc3))).toBe('/\ufffda\ufffd');
  });

  it('is truncated between characters', () => {
    for (const character of ['a', '\u00e9', '\u4e2d', '\ud83d\ude00']) {
      for (let shift = 0; shift < 5; shift++) {
        const text = 'x'.repeat(shift) + character.repeat(1001);
        const shown = display(bytes(text));
        expect(shown.endsWith('\u2026')).toBe(true);
        expect(text.startsWith(shown.slice(0, -1))).toBe(true);
        expect(bytes(shown).length).toBeLessThanOrEqual(1000);
        expect(bytes(shown).length).toBeGreaterThan(996);
      }
    }
    expect(display(bytes('a'.repeat(1000)))).toBe('a'.repeat(1000));
    expect(display(bytes('\x01'.repeat(5000)))).toBe(`${'\\u0001'.repeat(997)}\u2026`);
    expect(display(new Uint8Array(5000).fill(0x80))).toBe(`${'\ufffd'.repeat(994)}\u2026`);
  });
});

describe('the text shown for a source', () => {
  const shown = (source: string): string => Buffer.from(displaySource(source)).toString();

  it.each(TEXTS)('%j is the inside of a JSON string', (text) => {
    expect(JSON.parse(`"${shown(text)}"`)).toBe(text);
  });

  it('is the end of a long source, at most 4,096 bytes', () => {
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
