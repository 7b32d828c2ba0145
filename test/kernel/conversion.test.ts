import { describe, expect, it } from 'vitest';
import { GuardedKernel, guardedMemory } from '../../fuzz/kernel/guarded-kernel.js';
import { bytesOf } from '../../oracle/bytes.js';
import { CONVERSIONS, convertedUrl, readConverted } from '../../oracle/records.js';
import { COMMA, LF, TAB } from '../../src/base/ascii.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { kernelModule } from '../../src/kernel/kernel.js';
import { MARGIN, ROW_MARKED, ROW_REFUSED } from '../../src/kernel/layout.js';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import { PlainRows } from '../../src/kernel/scanners.js';
import { RowScanner } from '../../src/pipeline/input/columns.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { Random } from '../random/random.js';

/** What each format expands most, and what none does. */
const FILLS = [
  '\x01',
  '"',
  '\xff',
  '\t',
  '\n',
  '\r',
  ',',
  '\xe2\x82',
  '\xed\xa0\x80',
  '\xf4\x90\x80\x80',
  '\xf0\x9f\x98\x80',
  'a',
];
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
        if (settings.format === 'text' && '\t\n\r'.includes(fill)) continue;
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

const DELIMITERS = [COMMA, TAB];

/** The end of the plain rows, read byte by byte. Also says why the next row is not plain. */
function naiveEnd(bytes: Buffer, start: number, delimiter: number) {
  let end = start;
  while (end < bytes.length) {
    const scanner = new RowScanner(delimiter);
    const next = scanner.scan(bytes, end);
    if (next === undefined) return { end, why: 'open' };
    const row = bytes.subarray(end, next);
    if (scanner.newlines > 0) return { end, why: 'newline' };
    if (row[0] === ROW_MARKED || row[0] === ROW_REFUSED) return { end, why: 'mark' };
    if (holdsQuoteInField(row, delimiter)) return { end, why: 'quote' };
    end = next;
  }
  return { end, why: 'all' };
}

/** Whether a quote stands in a row elsewhere than around fields or doubled in them. */
function holdsQuoteInField(row: Buffer, delimiter: number): boolean {
  const byte = String.fromCharCode(delimiter);
  let text = row.toString('latin1');
  for (;;) {
    if (text.startsWith('"')) {
      let close = text.indexOf('"', 1);
      while (text[close + 1] === '"') close = text.indexOf('"', close + 2);
      text = text.slice(close + 1);
    }
    const end = text.indexOf(byte);
    if (text.slice(0, end < 0 ? undefined : end).includes('"')) return true;
    if (end < 0) return false;
    text = text.slice(end + 1);
  }
}

describe('plain rows', () => {
  it('end where rows read byte by byte do', () => {
    const random = new Random(25);
    const reasons = new Map<string, number>();
    for (const delimiter of DELIMITERS) {
      const rows = new PlainRows(delimiter);
      const rest = String.fromCharCode(delimiter);
      const plain = [
        'a',
        'bc\r\n',
        `"${rest}"`,
        '"x""y"',
        rest,
        '\n',
        `${rest}"\x01"\n`,
        'd'.repeat(61),
      ];
      const others = ['"', 'e"', '"\n"', '\x01', '\x02', '"f"g'];
      for (let round = 0; round < 4000; round++) {
        let text = random.run(plain, 0, 60);
        if (random.chance(0.8)) text += random.pick(others) + random.run(plain, 0, 20);
        const bytes = Buffer.from(text, 'latin1');
        // Bytes of the round before stay in the memory after these.
        rows.take(bytes);
        const { end, why } = naiveEnd(bytes, 0, delimiter);
        expect(rows.endFrom(0), JSON.stringify(bytes.toString('latin1'))).toBe(end);
        reasons.set(why, (reasons.get(why) ?? 0) + 1);
        // From each row on, the end is the same.
        const from = bytes.subarray(0, end).indexOf(LF, random.between(0, end)) + 1;
        expect(rows.endFrom(from)).toBe(end);
      }
    }
    expect([...reasons.keys()].sort()).toEqual(['all', 'mark', 'newline', 'open', 'quote']);
    for (const count of reasons.values()) expect(count).toBeGreaterThan(100);
  });

  it.each([63, 64, 65, 127, 128, 129])(
    'end with the last of %i bytes, whatever follows',
    (length) => {
      const rows = new PlainRows(COMMA);
      for (const after of ['"', '\n', 'a"', '\x01', '"\n"\n']) {
        rows.take(Buffer.from(after.repeat(200)));
        rows.take(Buffer.from(`${'a'.repeat(length - 1)}\n`));
        expect(rows.endFrom(0)).toBe(length);
        rows.take(Buffer.from('a'.repeat(length)));
        expect(rows.endFrom(0)).toBe(0);
      }
    },
  );

  it.each([62, 63, 64, 65, 66])('keep the state of quotes over the block at byte %i', (length) => {
    const rows = new PlainRows(COMMA);
    for (const after of ['",', '"\n', '",","', '"""","', '""a",', '\n"']) {
      const bytes = Buffer.from(`\n"${'a'.repeat(length - 1)}${after}",\n\n`);
      rows.take(bytes);
      expect(rows.endFrom(0), after).toBe(naiveEnd(bytes, 0, COMMA).end);
    }
  });
});
