import { describe, expect, it } from 'vitest';
import { GuardedKernel, guardedMemory } from '../../fuzz/kernel/guarded-kernel.js';
import { bytesOf } from '../../oracle/bytes.js';
import { CONVERSIONS, convertedUrl, readConverted } from '../../oracle/records.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { kernelModule } from '../../src/kernel/kernel.js';
import { MARGIN } from '../../src/kernel/layout.js';
import type { QuerySettings } from '../../src/kernel/query.js';
import { parseAuthority } from '../../src/protocol/authority.js';

/** What each format expands most, and what none does. */
const FILLS = ['\x01', '"', '\xff', '\t', '\n', ',', '\xe2\x82', '\xf0\x9f\x98\x80', 'a'];
const REPEATS = [0, 1, 2, 3, 7, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 1100];

const quoted = (url: string): string => `"${url.replaceAll('"', '""')}"`;
const escaped = (url: string): string =>
  Array.from(url, (byte) =>
    byte < ' ' || byte === '"' || byte === '\\'
      ? `\\u${byte.charCodeAt(0).toString(16).padStart(4, '0')}`
      : byte,
  ).join('');

/** How a record may hold the URL: in place, or so that it must be copied. */
const RECORDS: readonly (readonly [
  name: string,
  settings: Partial<QuerySettings>,
  record: (url: string) => string,
])[] = [
  ['a line of text', { format: 'text' }, (url) => url],
  ['a string', { format: 'ndjson' }, (url) => `{"url":"${escaped(url)}"}`],
  ['a string alone', { format: 'json' }, (url) => `"\\u0068${escaped(url.slice(1))}"`],
  [
    'a field',
    { format: 'csv', column: 1 },
    (url) =>
      url.includes('\n') ? `\x01\x02,${quoted(url).replaceAll('\n', '\x02')}` : `1,${quoted(url)}`,
  ],
];

function kernelOver(): GuardedKernel {
  const builder = new TableBuilder();
  const authority = parseAuthority('h');
  if (authority === undefined) throw new Error('no authority');
  builder.add(authority, bytesOf('User-agent: *\nDisallow: /*z$'), { source: 'h' });
  const kernel = new GuardedKernel({ module: kernelModule(), memory: guardedMemory() });
  kernel.load(builder.build());
  return kernel;
}

describe('conversions, without a byte of output to spare', () => {
  it.each(RECORDS)('of %s', (_name, settings, record) => {
    const kernel = kernelOver();
    let compared = 0;
    for (const conversion of CONVERSIONS) {
      if (conversion === settings.format) continue;
      for (const fill of FILLS) {
        if (settings.format === 'text' && (fill === '\n' || fill === '\t')) continue;
        for (const count of REPEATS) {
          // The stand-in for newlines must not occur in the row itself.
          const url = `http://h/${fill.repeat(count)}z`;
          const asked = kernel.ask({ ...settings, conversion });
          const { output } = kernel.run(asked, bytesOf(record(url)));
          const [row, ...others] = readConverted(output, conversion, true);
          expect(others).toEqual([]);
          expect(row).toEqual({ url: convertedUrl(url, conversion), verdict: 'deny' });
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(400);
  });

  it.each(CONVERSIONS)('one byte less than a line may need is not used: %s', (conversion) => {
    const kernel = kernelOver();
    const input = bytesOf(`{"url":"http://h/${escaped('\x01'.repeat(300))}"}`);
    const format = conversion === 'ndjson' ? 'json' : 'ndjson';
    const asked = kernel.ask({ format, conversion });
    const less = (bytes: number) => ({
      ...asked,
      query: { ...asked.query, lineOverhead: asked.query.lineOverhead - bytes },
    });
    const whole = kernel.run(asked, input).output;
    expect(whole).not.toBe('');
    expect(kernel.run(less(MARGIN), input).output).toBe(whole);
    expect(() => kernel.run(less(MARGIN + 1), input)).toThrow('no progress');
  });
});
