import { describe, expect, it } from 'vitest';
import { octetsOf } from '../../fuzz/corpus.js';
import { GuardedKernel, guardedMemory } from '../../fuzz/kernel/guarded-kernel.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { GROUP_LINES } from '../../src/kernel/layout.js';
import { kernelModule } from '../../src/kernel/module.js';
import { scratchOctets } from '../../src/kernel/scratch.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import type { Profile } from '../../src/protocol/profile.js';

/**
 * Everything before the octets that are repeated: each makes another part of the kernel copy the
 * URL or its path.
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
 * What is repeated: one octet, a canonical form of three, dot segments, octets that are dropped.
 */
const FILLS = ['a', '<', '%', '%3c', '\xe2', '/..', '/%2e/', '\\', '?', '\r'];
const REPEATS = [0, 1, 2, 7, 15, 16, 17, 31, 33, 64, 255, 256, 257, 1023];

/** A URL as a JSON string, whose other octets are spelt as `spell` says. */
function json(url: string, spell = (octet: string): string => octet): string {
  const octets = Array.from(url, (octet) =>
    octet < ' ' || octet === '"' || octet === '\\'
      ? `\\u${octet.charCodeAt(0).toString(16).padStart(4, '0')}`
      : spell(octet),
  );
  return `"${octets.join('')}"`;
}

const escapedSlash = (octet: string): string => (octet === '/' ? '\\/' : octet);

/** The ways in which a record may hold the URL. */
const RECORDS: readonly (readonly [string, 'text' | 'ndjson' | 'json', (url: string) => string])[] =
  [
    ['a line of text', 'text', (url) => url],
    ['a string', 'ndjson', (url) => `{"url":${json(url)}}`],
    ['escapes', 'ndjson', (url) => `{"url":${json(url, escapedSlash)}}`],
    ['an escaped key', 'ndjson', (url) => `{"\\u0075rl":${json(url)},"a":[]}`],
    ['a string alone', 'json', (url) => json(url, escapedSlash)],
  ];

function kernelOver(profile: Profile, scratch = scratchOctets): GuardedKernel {
  const builder = new TableBuilder({ profile });
  const authority = parseAuthority('h');
  if (authority === undefined) throw new Error('no authority');
  builder.add(authority, octetsOf('User-agent: *\nDisallow: /*z$'), { source: 'h' });
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

describe('scratch memory without an octet to spare', () => {
  for (const profile of ['rfc9309', 'google'] as const) {
    it.each(RECORDS)(`is enough for %s, profile ${profile}`, (_name, format, record) => {
      const kernel = kernelOver(profile);
      const query = kernel.ask({ google: profile === 'google', format, strict: false });
      let denied = 0;
      for (const url of urls(REPEATS)) {
        const line = octetsOf(record(url));
        const { output } = kernel.run(query, line);
        if (output.includes('deny')) denied++;
        else if (format === 'text' && url.includes('\r')) expect(output).toMatch(/^invalid/);
        else if (profile === 'rfc9309') expect.fail(`${record(url).slice(0, 80)}: ${output}`);
        kernel.judge(query, octetsOf(url));
      }
      expect(denied).toBeGreaterThan(500);
    });

    it(`is enough for a group in which every line needs a copy, profile ${profile}`, () => {
      const kernel = kernelOver(profile);
      for (const [, format, record] of RECORDS) {
        const query = kernel.ask({ google: profile === 'google', format });
        for (const url of urls([0, 3, 40])) {
          const { lines } = kernel.run(query, octetsOf(`${record(url)}\n`.repeat(GROUP_LINES + 6)));
          expect(lines).toBe(GROUP_LINES + 6);
        }
      }
    });
  }

  it('is no more than the worst of them needs', () => {
    const url = octetsOf(`http://h?\r${'<'.repeat(10_000)}z`);
    const enough = kernelOver('rfc9309');
    expect(enough.judge(enough.ask({}), url).verdict).toBe('deny');
    const short = kernelOver('rfc9309', (octets, lines) => scratchOctets(octets, lines) - 256);
    expect(() => short.judge(short.ask({}), url)).toThrow(/unreachable/);
  });
});
