import { describe, expect, it } from 'vitest';
import { GuardedKernel, guardedMemory } from '../../fuzz/kernel/guarded-kernel.js';
import { bytesOf } from '../../oracle/bytes.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { kernelModule, scratchBytes } from '../../src/kernel/kernel.js';
import { GROUP_LINES } from '../../src/kernel/layout.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import type { Profile } from '../../src/protocol/verdict.js';

/**
 * Beginnings before the repeated bytes: each makes another part of the kernel copy the URL or its
 * path.
 */
const STARTS = [
  'http://h/',
  'http://h?',
  'http://h/\r',
  'http://h?\r',
  'HTTP://h/',
  'HTTP://u:p@H?',
  'http:\\\\h\\a\\..\\',
  'http://%68/a/%2e%2e/',
  'http://\xef\xbd\x88/./',
];
/**
 * The repeated bytes: one byte, a byte whose canonical form has three, dot segments, dropped bytes.
 */
const FILLS = ['a', '<', '%', '%3c', '\xe2', '/..', '/%2e/', '\\', '?', '\r'];
const REPEATS = [0, 1, 2, 7, 15, 16, 17, 31, 33, 64, 255, 256, 257, 1023];

/** A URL as a JSON string, with its other bytes spelt by `spell`. */
function json(url: string, spell = (byte: string): string => byte): string {
  const bytes = Array.from(url, (byte) =>
    byte < ' ' || byte === '"' || byte === '\\'
      ? `\\u${byte.charCodeAt(0).toString(16).padStart(4, '0')}`
      : spell(byte),
  );
  return `"${bytes.join('')}"`;
}

const escapedSlash = (byte: string): string => (byte === '/' ? '\\/' : byte);

/** The ways in which a record may hold the URL. */
const RECORDS: readonly (readonly [string, 'text' | 'ndjson' | 'json', (url: string) => string])[] =
  [
    ['a line of text', 'text', (url) => url],
    ['a string', 'ndjson', (url) => `{"url":${json(url)}}`],
    ['escapes', 'ndjson', (url) => `{"url":${json(url, escapedSlash)}}`],
    ['an escaped key', 'ndjson', (url) => `{"\\u0075rl":${json(url)},"a":[]}`],
    ['a string alone', 'json', (url) => json(url, escapedSlash)],
  ];

function kernelOver(profile: Profile, scratch = scratchBytes): GuardedKernel {
  const builder = new TableBuilder({ profile });
  const authority = parseAuthority('h');
  if (authority === undefined) throw new Error('no authority');
  builder.add(authority, bytesOf('User-agent: *\nDisallow: /*z$'), { source: 'h' });
  const kernel = new GuardedKernel(
    { module: kernelModule(), memory: guardedMemory() },
    { scratch },
  );
  kernel.load(builder.build());
  return kernel;
}

const urls = (repeats: readonly number[]): string[] =>
  STARTS.flatMap((start) =>
    FILLS.flatMap((fill) => repeats.map((count) => `${start}${fill.repeat(count)}z`)),
  );

describe('scratch memory without a byte to spare', () => {
  for (const profile of ['rfc9309', 'google'] as const) {
    it.each(RECORDS)(`is enough for %s, profile ${profile}`, (_name, format, record) => {
      const kernel = kernelOver(profile);
      const query = kernel.ask({ google: profile === 'google', format, strict: false });
      let denied = 0;
      for (const url of urls(REPEATS)) {
        const line = bytesOf(record(url));
        const { output } = kernel.run(query, line);
        if (output.includes('deny')) denied++;
        else if (format === 'text' && url.includes('\r')) expect(output).toMatch(/^invalid/);
        else if (profile === 'rfc9309') expect.fail(`${record(url).slice(0, 80)}: ${output}`);
        kernel.judge(query, bytesOf(url));
      }
      expect(denied).toBeGreaterThan(500);
    });

    it(`is enough for a group in which every line needs a copy, profile ${profile}`, () => {
      const kernel = kernelOver(profile);
      for (const [, format, record] of RECORDS) {
        const query = kernel.ask({ google: profile === 'google', format });
        for (const url of urls([0, 40])) {
          const { lines } = kernel.run(query, bytesOf(`${record(url)}\n`.repeat(GROUP_LINES + 6)));
          expect(lines).toBe(GROUP_LINES + 6);
        }
      }
    });
  }

  it('is no larger than the worst record needs', () => {
    const url = bytesOf(`http://h?\r${'<'.repeat(10_000)}z`);
    const enough = kernelOver('rfc9309');
    expect(enough.judge(enough.ask({}), url).verdict).toBe('deny');
    const short = kernelOver('rfc9309', (bytes, lines) => scratchBytes(bytes, lines) - 256);
    expect(() => short.judge(short.ask({}), url)).toThrow(/unreachable/);
  });
});
