import { describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { checkTable } from '../../src/judge/table-memory.js';
import { checksum } from '../../src/kernel/hashes.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { displaySource, writeDisplayText } from '../../src/table/display-text.js';
import { RECORD_VALUE_LIMIT } from '../../src/table/format.js';
import { encodeRecordList, readRecordList } from '../../src/table/record-list.js';
import { verifyShard } from '../../src/verify/verify-table.js';
import { ShardView } from '../../src/view/shard-view.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const FILE = `License: https://a.example/licence.xml
Crawl-delay: 1
User-agent: Bot
User-agent: other
Crawl-delay: 2.5
Sitemap: https://a.example/s.xml # the comment
Disallow: /x
Content-Signal: search=yes
User-agent: *
Content-Usage: /p train-ai=n
Unknown: kept nowhere
Allow: /
User-agent: *
Noindex: /n
`;

interface Settings {
  readonly profile?: Profile;
  readonly agents?: readonly string[];
  readonly records?: boolean;
}

function viewOf(files: Readonly<Record<string, string>>, settings: Settings = {}): ShardView {
  const builder = new TableBuilder({ records: true, ...settings });
  for (const [name, text] of Object.entries(files)) {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(name);
    const date = name === 'dated.example' ? 1_700_000_000_999 : undefined;
    builder.add(authority, new TextEncoder().encode(text), { source: name, date });
  }
  const table = builder.build();
  verifyShard(table, checkTable(table, 'it'), 'it');
  return new ShardView(table, 'it');
}

function recordsOf(view: ShardView, host: string): unknown {
  const [authority] = view.find(host)?.authorities ?? [];
  if (authority === undefined) throw new Error(host);
  const { records, date } = view.recordsOf(authority);
  const rows = records.map(({ kind, line, productTokens, value }) => [
    kind,
    line,
    productTokens?.join(),
    value,
  ]);
  return { rows, date };
}

const ROWS = [
  ['license', 1, undefined, 'https://a.example/licence.xml'],
  ['crawl-delay', 2, undefined, '1'],
  ['crawl-delay', 5, 'bot,other', '2.5'],
  ['sitemap', 6, undefined, 'https://a.example/s.xml'],
  ['content-signal', 8, 'bot,other', 'search=yes'],
  ['content-usage', 10, '*', '/p train-ai=n'],
  ['noindex', 14, '*', '/n'],
];

describe('the records of a table', () => {
  it('are those of each file, with line and group; a date alone is kept too', () => {
    const view = viewOf({
      'a.example': FILE,
      'b.example': FILE,
      'dated.example': 'User-agent: *\nDisallow: /\n',
      'none.example': 'User-agent: *\nDisallow: /\n',
      'https://b.example:8443': 'Sitemap: /b',
    });
    expect(view.hasRecords).toBe(true);
    expect(recordsOf(view, 'a.example')).toEqual({ rows: ROWS, date: undefined });
    expect(recordsOf(view, 'b.example')).toEqual({ rows: ROWS, date: undefined });
    expect(recordsOf(view, 'dated.example')).toEqual({ rows: [], date: 1_700_000_000 });
    expect(recordsOf(view, 'none.example')).toEqual({ rows: [], date: undefined });
    const port = view.find('b.example')?.authorities.find(({ port }) => port === 8443);
    expect(port && view.recordsOf(port).records).toMatchObject([{ value: '/b', line: 1 }]);
  });

  it('are left out by default, with every byte of theirs', () => {
    const files = { 'a.example': FILE, 'dated.example': FILE };
    const view = viewOf(files, { records: false });
    expect(view.hasRecords).toBe(false);
    expect(recordsOf(view, 'a.example')).toEqual({ rows: [], date: undefined });
  });

  it('of a reduced table are those of its agents', () => {
    const view = viewOf({ 'a.example': FILE }, { agents: ['Other'] });
    const kept = ROWS.map(([kind, line, tokens, value]) => [
      kind,
      line,
      tokens === 'bot,other' ? 'other' : tokens,
      value,
    ]);
    expect(recordsOf(view, 'a.example')).toEqual({ rows: kept, date: undefined });
    const other = viewOf({ 'a.example': FILE }, { agents: ['third'] });
    const rows = ROWS.filter(([, , tokens]) => tokens !== 'bot,other');
    expect(recordsOf(other, 'a.example')).toEqual({ rows, date: undefined });
  });

  it('of a second group of * do not count in the draft of 2019', () => {
    const view = viewOf({ 'a.example': FILE }, { profile: 'draft-koster-rep-00' });
    const rows = ROWS.filter(([kind]) => kind !== 'noindex');
    expect(recordsOf(view, 'a.example')).toEqual({ rows, date: undefined });
  });

  it('have values up to the limit, and are marked where the rest is missing', () => {
    const whole = `/${'\u00e9'.repeat((RECORD_VALUE_LIMIT - 2) / 2)}a`;
    const view = viewOf({ 'a.example': `Sitemap: ${whole}\nSitemap: ${whole}\u00e9\n` });
    const [authority] = view.find('a.example')?.authorities ?? [];
    const { records = [] } = authority === undefined ? {} : view.recordsOf(authority);
    expect(records.map(({ value, isTruncated }) => [value, isTruncated])).toEqual([
      [whole, false],
      [whole, true],
    ]);
  });

  it('do not change with the order in which files are added', () => {
    const files = { 'a.example': FILE, 'b.example': 'Sitemap: /b', 'c.example': FILE };
    const turned = Object.fromEntries(Object.entries(files).reverse());
    for (const host of Object.keys(files)) {
      expect(recordsOf(viewOf(turned), host)).toEqual(recordsOf(viewOf(files), host));
    }
  });
});

describe('a table of version 7', () => {
  it('is read, without records', () => {
    const builder = new TableBuilder();
    const authority = { scheme: undefined, host: 'a.example', port: undefined };
    builder.add(authority, new TextEncoder().encode(FILE), { source: '' });
    const table = builder.build();
    const view = new DataView(table.buffer);
    view.setUint32(8, 7, true);
    view.setUint32(20, checksum(table), true);
    expect(checkTable(table, 'it').version).toBe(7);
    expect(new ShardView(table).find('a.example')?.host).toBe('a.example');
  });
});

describe('a record list', () => {
  const fault = (_at: number, what: string): Error => new Error(`refused: ${what}`);

  it('comes back as it was, or is refused, whatever byte is changed', () => {
    const list = Uint8Array.from(
      encodeRecordList([
        { kind: 'sitemap', line: 300, productTokens: undefined, value: 'x'.repeat(200) },
        { kind: 'noindex', line: 70_000, productTokens: ['a', '*'], value: '' },
      ]),
    );
    expect(readRecordList(list, 0, list.length, fault)).toMatchObject({
      records: [
        { kind: 'sitemap', line: 300, productTokens: undefined, value: 'x'.repeat(200) },
        { kind: 'noindex', line: 70_000, productTokens: ['a', '*'], value: '' },
      ],
      end: list.length,
    });
    const random = new Random(5);
    let refused = 0;
    for (let round = 0; round < cases(1500); round++) {
      const forged = list.slice(0, random.chance(0.2) ? random.between(1, list.length) : undefined);
      forged[random.between(0, forged.length - 1)] = random.between(0, 255);
      try {
        const { end } = readRecordList(forged, 0, forged.length, fault);
        expect(end).toBeLessThanOrEqual(forged.length);
      } catch (error) {
        expect((error as Error).message).toMatch(/^refused: /);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(500);
    expect(refused).toBeLessThan(cases(1500) - 5);
  });
});

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
