import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { LONGEST_TEXT } from '../../src/kernel/scanners.js';
import { parseRecord, plainMembers } from '../../src/sources/record.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const MANY_BYTES = 1e6;

/**
 * The members of a record. The line is compared with another form of the same JSON: no plain line
 * has white space before the object.
 */
function read(line: Buffer): unknown {
  const record = parseRecord(line, MANY_BYTES);
  // An error in JSON is reported with its position.
  if ('code' in record) return record.message.includes('not JSON') ? 'not JSON' : record.message;
  const { authority, body, status } = record;
  return { authority, status, body: Buffer.from(body).toString('latin1') };
}

/**
 * The text of a string between its quotes, in all ways that JSON allows, and sometimes in others.
 */
function stringText(random: Random): string {
  const pieces = [
    ...[
      'user-agent: *',
      '\\n',
      '\\r\\n',
      'disallow: /a',
      '\\t',
      '\\"',
      '\\\\',
      '\\/',
      '\\b',
      '\\f',
    ],
    ...[
      '\\u000a',
      '\\u00E9',
      '\\u20ac',
      '\\ud83d\\ude00',
      '\\ud83d',
      '\\ude00',
      '\\uD83Dx',
      'é',
      '😀',
    ],
    ...[' ', '\x7f', 'a', 'a'.repeat(15), 'a'.repeat(16), 'a'.repeat(31), 'a'.repeat(300)],
  ];
  const faults = ['"', '\\', '\\x', '\\u12', '\\u12g4', '\n', '\0', '\x1f', '\\ud83d\\u'];
  const text = random.run(pieces, 0, 12);
  return random.chance(0.1) ? text + random.pick(faults) + random.run(pieces, 0, 2) : text;
}

function line(random: Random): string {
  const [colon, comma] = random.pick([
    [':', ','],
    [': ', ', '],
    [' : ', ' ,'],
  ] as const);
  const members: string[] = [];
  for (let count = random.between(0, 5); count > 0; count--) {
    const key = random.pick([
      'host',
      'url',
      'robots',
      'robots',
      'robots_base64',
      'status',
      'x',
      'h\\u006fst',
    ]);
    const value = random.pick([
      ...[
        `"${stringText(random)}"`,
        `"${stringText(random)}"`,
        '"a.example"',
        '"https://b.example/"',
      ],
      ...[
        '"QUJD"',
        '200',
        '404',
        '0',
        '007',
        '-1',
        '2e2',
        '12345678901234567890',
        'null',
        'true',
        '{"host":"c"}',
        '[]',
      ],
    ]);
    members.push(`"${key}"${colon}${value}`);
  }
  return `{${members.join(comma)}}${random.pick(['', '', '', '', ' ', '\r', '}', ','])}`;
}

/** The same bytes at this distance after a multiple of 8. */
function placed(bytes: Buffer, offset: number): Buffer {
  return Buffer.concat([Buffer.alloc(offset), bytes]).subarray(offset);
}

describe('plain members', () => {
  it('are those that JSON.parse finds; other lines are left to JSON.parse', () => {
    const random = new Random(7);
    let plain = 0;
    let bodies = 0;
    for (let round = 0; round < cases(4000); round++) {
      const text = Buffer.from(
        random.chance(0.7)
          ? `{"host":"a.example","robots":"${stringText(random)}"${random.pick(['', ',"status":200'])}}`
          : line(random),
      );
      const whole = random.chance(0.1) ? text.subarray(0, random.between(0, text.length)) : text;
      const bytes = placed(whole, random.between(0, 8));
      const members = plainMembers(bytes);
      if (members !== undefined) plain++;
      if (members?.robots instanceof Uint8Array) bodies++;
      const other = Buffer.concat([Buffer.from(' '), bytes]);
      expect(plainMembers(other)).toBeUndefined();
      expect(read(bytes), bytes.toString('latin1')).toEqual(read(other));
    }
    expect(plain).toBeGreaterThan(2000);
    expect(bodies).toBeGreaterThan(1400);
  });

  it('are found in typical records', () => {
    for (const text of [
      '{"host":"a.example","robots":"user-agent: *\\ndisallow: /\\u00e9"}',
      '{"url": "https://a.example/", "status": 200, "fetched": "2026-01-01", "robots": "é"}',
      '{"robots_base64":"QUJD","host":"a.example"}',
    ]) {
      expect(plainMembers(Buffer.from(text)), text).toBeDefined();
    }
  });

  it('do not mix with those of the previous line, up to the longest line that is read this way', () => {
    const shell = '{"host":"a.example","robots":""}'.length;
    for (const bytes of [LONGEST_TEXT - shell, LONGEST_TEXT - shell + 1, 3, 0]) {
      const body = 'b'.repeat(bytes);
      const text = Buffer.from(JSON.stringify({ host: 'a.example', robots: body }));
      expect(plainMembers(text) === undefined).toBe(bytes > LONGEST_TEXT - shell);
      const record = parseRecord(text, LONGEST_TEXT);
      expect('body' in record && Buffer.from(record.body).toString()).toBe(body);
      // As far into its memory as possible.
      expect(read(placed(text, 7))).toEqual(read(text));
    }
  });

  it('come from UTF-8 only', () => {
    const text = Buffer.from('{"host":"a.example","robots":"\xe9"}', 'latin1');
    expect(isUtf8(text)).toBe(false);
    expect(parseRecord(text, MANY_BYTES)).toHaveProperty('code', 'bad-record');
  });
});
