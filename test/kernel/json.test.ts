import { describe, expect, it } from 'vitest';
import {
  MARKS_MOST,
  REASON_NO_JSON,
  REASON_NO_OBJECT,
  REASON_NO_URL,
  RUN_BAD_RECORD,
  RUN_DONE,
} from '../../src/kernel/layout.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { kernelOver } from './harness.js';

const run = kernelOver({ 'example.com': 'User-agent: *\nDisallow: /no\n' });

/** The result of JSON.parse and the field's path for a line. */
function expected(line: string, field: readonly string[]): string | undefined | 'no-json' {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'no-json';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no-json';
  for (const key of field) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return typeof value === 'string' ? value : undefined;
}

/** Host and path of an http URL, `undefined` for any other text. (URL.canParse errs in Node 20.) */
function hostAndPathOf(url: string): string | undefined {
  try {
    const { protocol, host, pathname } = new URL(url);
    return protocol === 'http:' ? host + pathname : undefined;
  } catch {
    return undefined;
  }
}

describe('the JSON scanner agrees with JSON.parse', () => {
  const lines: readonly string[] = [
    '{"url":"http://example.com/no"}',
    '{ "url" : "http://example.com/no" }',
    '\t{"a":1,"url":"http://example.com/no","b":[1,{"url":"x"}],"c":{"url":"http://example.com/yes"}}',
    '{"url":"http://example.com/yes","url":"http://example.com/no"}',
    '{"url":"http://example.com/no","url":17}',
    '{"\\u0075rl":"http://example.com/no"}',
    '{"url":"http:\\/\\/example.com\\/no"}',
    '{"url":"http://example.com/\\u006e\\u006F"}',
    '{"u\\"rl":"http://example.com/yes","url":"http://example.com/no"}',
    '{"a":"\\\\","url":"http://example.com/no"}',
    '{"a":"}","b":"{\\"url\\":","url":"http://example.com/no"}',
    '{"url":null}',
    '{"url":{"url":"http://example.com/no"}}',
    '{"url":["http://example.com/no"]}',
    '{}',
    '{"a":{},"b":[],"url":"http://example.com/no","n":-1.5e+10,"t":true}',
    '{"url":"http://example.com/\\ud83d\\ude00"}',
    '{"url":"http://example.com/\\ud83d"}',
    '{"url":"http://example.com/é"}',
  ];
  it.each(lines)('%s', (line) => {
    const url = expected(line, ['url']);
    const { output, lines: count } = run(`${line}\n`, { explain: true });
    const record = JSON.parse(output) as { verdict: string; reason: string };
    expect(count).toBe(1);
    if (url === undefined) expect(record.reason).toBe('no-url');
    else expect(record.verdict).toBe(new URL(url).pathname.startsWith('/no') ? 'deny' : 'allow');
    const kept = output.slice(0, line.lastIndexOf('}'));
    expect(line.startsWith(kept.replace(/,$/, ''))).toBe(true);
  });

  it.each([
    ['not json', REASON_NO_OBJECT],
    ['[1]', REASON_NO_OBJECT],
    ['"http://example.com/"', REASON_NO_OBJECT],
    ['{', REASON_NO_JSON],
    ['{"url"}', REASON_NO_JSON],
    ['{"url":}', REASON_NO_JSON],
    ['{"url":"http://example.com/"', REASON_NO_JSON],
    ['{"url":"http://example.com/}', REASON_NO_JSON],
    ['{"url":"http://example.com/"}}', REASON_NO_JSON],
    ['{"url":"http://example.com/"}{"url":"http://example.com/"}', REASON_NO_JSON],
    ['{"url":"http://example.com/" "a":1}', REASON_NO_JSON],
    ['{"url":"http://example.com/",}', REASON_NO_JSON],
    ['{"a":"b",\t}', REASON_NO_JSON],
    ['{"a":1, ', REASON_NO_JSON],
    ['{"url":"http://example.com/","a":[}', REASON_NO_JSON],
    ['{"url":"http://example.com/\\x"}', REASON_NO_JSON],
    ['{"url":"http://example.com/\\u12"}', REASON_NO_JSON],
    ['{"url":1}', REASON_NO_URL],
  ])('%s is a bad record', (line, reason) => {
    const { output, bad } = run(`${line}\n`);
    expect(bad).toEqual([[0, reason]]);
    const record = JSON.parse(output) as Record<string, unknown>;
    expect(record.verdict).toBe('invalid');
    if (reason !== REASON_NO_URL)
      expect(record).toEqual({ verdict: 'invalid', line: 1, input: line });
  });

  it('on generated documents, valid and broken, with dotted fields; with strict on every byte', () => {
    const source = new Random(20261121);
    const random = (): number => source.number();
    const pick = (list: readonly string[]): string => source.pick(list);
    const space = (): string => pick(['', '', '', ' ', '\t']);
    const string = (): string =>
      pick([
        '"url"',
        '"a"',
        '"request"',
        '"\\u0075rl"',
        '"http://example.com/no"',
        '"http:\\/\\/example.com\\/x"',
        '"{\\"url\\""',
        '"\\\\"',
        '""',
        '"\\n"',
        '"]}"',
      ]);
    const value = (depth: number): string => {
      const kind = random();
      if (depth > 3 || kind < 0.5) return string();
      if (kind < 0.65)
        return pick(['0', '-1', '1.5e3', 'true', 'false', 'null', '12345678901234567890']);
      if (kind < 0.75) return `[${space()}${list(depth, (d) => value(d))}${space()}]`;
      return object(depth);
    };
    const list = (depth: number, item: (depth: number) => string): string =>
      Array.from(
        { length: Math.floor(random() * 4) },
        () => space() + item(depth + 1) + space(),
      ).join(',');
    const object = (depth: number): string =>
      `{${space()}${list(depth, (d) => `${string()}${space()}:${space()}${value(d)}`)}${space()}}`;
    const broken = (text: string): string => {
      const at = Math.floor(random() * text.length);
      const kind = random();
      if (kind < 0.4) return text.slice(0, at) + text.slice(at + 1);
      if (kind < 0.8)
        return (
          text.slice(0, at) +
          pick(['"', '{', '}', '[', ']', ',', ':', '\\', 'x', '0']) +
          text.slice(at)
        );
      return text.slice(0, at);
    };
    const seen = { url: 0, none: 0, bad: 0 };
    for (let i = 0; i < cases(3000); i++) {
      const line = random() < 0.7 ? object(0) : broken(object(0));
      if (line.trim() === '') continue;
      const field = random() < 0.7 ? ['url'] : ['request', 'url'];
      const url = expected(line, field);
      const strict = run(`${line}\n`, { urlField: field, strict: true });
      const isBad = url === 'no-json' || url === undefined || hostAndPathOf(url) === undefined;
      expect({ line, bad: strict.bad.length > 0 }).toEqual({ line, bad: isBad });
      if (url === 'no-json') {
        seen.bad++;
        continue;
      }
      // Without strict a broken record may pass, but a sound record is never refused or misread.
      const { output } = run(`${line}\n`, { urlField: field, explain: true });
      const record = JSON.parse(output) as { verdict: string; reason: string };
      if (url === undefined) {
        seen.none++;
        expect({ line, reason: record.reason }).toEqual({ line, reason: 'no-url' });
      } else {
        seen.url++;
        const path = hostAndPathOf(url);
        const verdict =
          path === undefined
            ? 'invalid'
            : path.startsWith('example.com/no')
              ? 'deny'
              : path.startsWith('example.com/')
                ? 'allow'
                : 'unknown';
        expect({ line, verdict: record.verdict }).toEqual({ line, verdict });
      }
    }
    expect(seen.url).toBeGreaterThan(150);
    expect(seen.none).toBeGreaterThan(150);
    expect(seen.bad).toBeGreaterThan(150);
  });

  it.each([
    7,
    8,
    9,
    15,
    16,
    17,
    63,
    64,
    65,
    MARKS_MOST - 1,
    MARKS_MOST,
    MARKS_MOST + 1,
    3 * MARKS_MOST,
  ])('reads %i marks in a row, and the line after them', (marks) => {
    const good = '{"a":"b","url":"http://example.com/no"}';
    const members = '"":"",'.repeat(Math.ceil(marks / 4));
    const lines: readonly (readonly [string, string])[] = [
      [`{"a":${'"'.repeat(marks)}`, 'invalid'],
      [`{${'"'.repeat(marks)}:"","url":"http://example.com/no"}`, 'invalid'],
      [`{${members}"url":"http://example.com/no"}`, 'deny'],
      [`{"a":"${'\\"'.repeat(marks)}","url":"http://example.com/no"}`, 'deny'],
      [`{"a":"${'\x01'.repeat(marks)}","url":"http://example.com/no"}`, 'deny'],
      ['\n'.repeat(marks), ''],
    ];
    for (const [line, verdict] of lines) {
      const { output } = run(`${line}\n${good}\n`, { output: 'verdicts' });
      expect(output.split('\n').filter(Boolean), line.slice(0, 20)).toEqual(
        verdict === '' ? ['deny'] : [verdict, 'deny'],
      );
      if (verdict === '') continue;
      // The marks of --strict are more: control characters, and the backslashes of escapes.
      const isBad = verdict === 'invalid' || line.includes('\x01');
      const strict = run(`${line}\n${good}\n`, { output: 'verdicts', strict: true });
      expect(strict.result, line.slice(0, 20)).toBe(isBad ? RUN_BAD_RECORD : RUN_DONE);
    }
  });

  it('reads a line among others as it reads the line alone', () => {
    const random = new Random(20261125);
    const filler = (): string =>
      random.pick(['', 'x', '\\"', '\\\\', ' : ', '{', '","']).repeat(random.between(0, 400));
    const value = (): string =>
      random.pick([
        `"${filler()}"`,
        '"http://example.com/no"',
        '"http://example.com/yes"',
        `{"url":"${filler()}","a":[${random.between(0, 8)},{}]}`,
        '[]',
        `${random.between(0, 1_000_000)}`,
        '12345678901234567890',
        'null',
      ]);
    const member = (): string =>
      random.pick(['"a": ', '"url":', '"url": ', '"\\u0075rl":', `"${filler()}":`]) + value();
    const line = (): string => {
      const text = `{${Array.from({ length: random.between(0, 8) }, member).join(random.pick([',', ', ', ',\t', ',\n']))}}`;
      if (!random.chance(0.3)) return text;
      const at = random.between(0, text.length - 1);
      return (
        text.slice(0, at) +
        random.pick(['', '"', '\\', '{', '\t', '\n', ' \n ']) +
        text.slice(at + 1)
      );
    };
    const settings = { urlField: ['url'], output: 'verdicts' } as const;
    const seen = new Map<string, number>();
    for (let round = 0; round < 150; round++) {
      const lines = Array.from({ length: random.between(1, 20) }, line);
      const alone = lines.map((each) => run(`${each}\n`, settings).output);
      expect(run(`${lines.join('\n')}\n`, settings).output).toBe(alone.join(''));
      for (const verdict of alone) seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
    }
    for (const verdict of ['allow', 'deny', 'invalid'])
      expect(seen.get(`${verdict}\n`)).toBeGreaterThan(30);
  });
});
