import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { type Output, rewritten, TerminalText } from '../../../src/pipeline/output/output.js';
import { actingOn } from '../../random/controls.js';

/** The output of consecutive writes of these bytes. */
async function shown(...writes: readonly Uint8Array[]): Promise<string> {
  const written: Buffer[] = [];
  const terminal: Output = {
    taken: 0,
    async write(bytes) {
      written.push(Buffer.from(bytes));
      return true;
    },
    end: async () => true,
    abandon() {},
    release() {},
  };
  const output = rewritten(terminal, new TerminalText());
  for (const bytes of writes) expect(await output.write(bytes)).toBe(true);
  expect(await output.end()).toBe(true);
  return Buffer.concat(written).toString('latin1');
}

const HOSTILE = Buffer.concat([
  Buffer.from('allow\thttps://bücher.example/🤖\r\n'),
  Buffer.from('deny\thttps://a.example/\u001b]0;title\u0007\u009b2J\u007f\u202e\r\rb\n'),
  Buffer.from([0x9b, 0x32, 0x4a, 0xe2, 0x80, 0x0a, 0xf0, 0x9f, 0xa4]),
]);

const HARMLESS = Buffer.from(
  'allow\thttps://bücher.example/🤖\r\n' +
    'deny\thttps://a.example/\\x1b]0;title\\x07\\x9b2J\\x7f\\u{202e}\\x0d\\x0db\n' +
    '\\x9b2J\\xe2\\x80\n\\xf0\\x9f\\xa4',
).toString('latin1');

describe('on a terminal', () => {
  it('control characters and bytes that are not UTF-8 are escaped; line ends and tabs are unchanged', async () => {
    expect(await shown(HOSTILE)).toBe(HARMLESS);
  });

  it('the output is the same wherever the bytes are split', async () => {
    for (let at = 0; at <= HOSTILE.length; at++) {
      expect(await shown(HOSTILE.subarray(0, at), HOSTILE.subarray(at))).toBe(HARMLESS);
    }
    expect(await shown(...Array.from(HOSTILE, (byte) => Uint8Array.of(byte)))).toBe(HARMLESS);
  });

  it('a last line may end with a carriage return', async () => {
    expect(await shown(Buffer.from('a\r'))).toBe('a\\x0d');
  });

  it('every byte of the output is harmless, whatever the input', async () => {
    const every: number[] = [];
    for (let first = 0; first < 256; first++) {
      for (let second = 0; second < 256; second++) every.push(first, second);
    }
    const text = await shown(Uint8Array.from(every));
    const decoded = Buffer.from(text, 'latin1').toString();
    expect(isUtf8(Buffer.from(text, 'latin1'))).toBe(true);
    expect(actingOn(decoded)).toEqual([]);
    expect(decoded).toContain('\\x9b');
  });
});
