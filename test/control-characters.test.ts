import { describe, expect, it } from 'vitest';
import { decodeBytes, printable, printableJson } from '../src/base/control-characters.js';

describe('printable', () => {
  it('escapes C0 controls and DEL', () => {
    expect(printable('\u001b[31mred\u0000\r\n\t\u007f')).toBe(
      '\\x1b[31mred\\x00\\x0d\\x0a\\x09\\x7f',
    );
  });

  it('escapes C1 controls', () => {
    expect(printable('\u0080\u009b2J\u009f')).toBe('\\x80\\x9b2J\\x9f');
  });

  it('escapes the controls of the bidirectional algorithm, and separators of lines', () => {
    expect(printable('a\u202egpj.exe\u2066b\u2069\u200e\u200f\u061c\u2028\u2029')).toBe(
      'a\\u{202e}gpj.exe\\u{2066}b\\u{2069}\\u{200e}\\u{200f}\\u{61c}\\u{2028}\\u{2029}',
    );
  });

  it('escapes nothing else: every other UTF-16 code unit is unchanged', () => {
    const controls =
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is tested
      /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
    let kept = 0;
    for (let code = 0; code <= 0xffff; code++) {
      const text = String.fromCharCode(code);
      if (controls.test(text)) {
        expect(printable(text)).toMatch(/^\\(x[0-9a-f]{2}|u\{[0-9a-f]+\})$/);
      } else {
        if (printable(text) !== text) expect.fail(`U+${code.toString(16)} was escaped`);
        kept++;
      }
    }
    expect(kept).toBe(0x10000 - 32 - 33 - 3 - 7 - 4);
    expect(printable('bücher.example \\x1b 🤖')).toBe('bücher.example \\x1b 🤖');
  });

  it('leaves escaped text unchanged', () => {
    const once = printable('\u001b\u202e');
    expect(printable(once)).toBe(once);
    expect(printable('')).toBe('');
  });
});

describe('printableJson', () => {
  it('escapes what JSON.stringify leaves unescaped, and parses to the same value', () => {
    const value = { 'a\u009b': ['\u007f\u202e\u2028', 'é 🤖 \u001b\n'], b: { c: 1 } };
    const json = printableJson(value);
    expect(json).toBe('{"a\\u009b":["\\u007f\\u202e\\u2028","é 🤖 \\u001b\\n"],"b":{"c":1}}');
    expect(JSON.parse(json)).toEqual(value);
    expect(printable(json)).toBe(json);
    const indented = printableJson(value, 2);
    expect(JSON.parse(indented)).toEqual(value);
    expect(indented.split('\n').map(printable).join('\n')).toBe(indented);
    expect(indented.split('\n').length).toBeGreaterThan(5);
  });
});

describe('decodeBytes', () => {
  it('leaves well-formed UTF-8 unchanged, and returns an unfinished character at the end', () => {
    const bytes = Buffer.from('a é € 🤖 \u009b');
    expect(decodeBytes(bytes)).toEqual({ text: 'a é € 🤖 \u009b', left: 0 });
    expect(decodeBytes(bytes.subarray(0, 12))).toEqual({ text: 'a é € ', left: 3 });
  });

  it('shows each byte that is not UTF-8', () => {
    const text = (...bytes: number[]) => decodeBytes(Buffer.from([...bytes, 0x61])).text;
    expect(text(0x9b)).toBe('\\x9ba');
    expect(text(0xc0, 0x9b)).toBe('\\xc0\\x9ba');
    expect(text(0xe0, 0x82, 0x9b)).toBe('\\xe0\\x82\\x9ba');
    expect(text(0xed, 0xa0, 0x80)).toBe('\\xed\\xa0\\x80a');
    expect(text(0xf4, 0x90, 0x80, 0x80)).toBe('\\xf4\\x90\\x80\\x80a');
    expect(text(0xc3, 0xc3, 0xa9, 0xff)).toBe('\\xc3é\\xffa');
  });
});
