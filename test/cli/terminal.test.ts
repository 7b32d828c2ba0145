import { describe, expect, it } from 'vitest';
import { printable } from '../../src/cli/terminal.js';

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

  it('escapes nothing else: every other UTF-16 code unit stays', () => {
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

  it('changes nothing that was escaped before', () => {
    const once = printable('\u001b\u202e');
    expect(printable(once)).toBe(once);
    expect(printable('')).toBe('');
  });
});
