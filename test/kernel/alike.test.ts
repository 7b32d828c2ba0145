import { describe, expect, it } from 'vitest';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import { every } from '../random/cases.js';
import { kernelOver } from './harness.js';

const run = kernelOver({ 'example.com': 'User-agent: *\nDisallow: /no\n' });

const YES = 'http://example.com/yes';

/** What may follow the URL, with this many bytes. */
const rest = (bytes: number): string => `,"text":"${'x'.repeat(bytes - 11)}"}`;

/** What may follow the URL, up to 63 bytes of it. */
const RESTS = [
  '}',
  ',"n":1}',
  ', "n": true, "m": null }',
  ',"a":"","b":"http://example.com/no"}',
  ',"found":1761197486,"status":200,"mime":"text/html"}',
  rest(63),
  rest(64),
  ',"key":"url","k":"abc"}',
  ',"uri":"http://example.com/no"}',
  '}\r',
  ' }',
];

/** A byte of each meaning, and some that have none. */
const BYTES = [...'",:}{[]\\ \t\r\0\u001f!-;<0lz|~\u007f', 'é'];

/** All texts that come of a text by one byte more, less or other. */
function* changed(text: string): Generator<string> {
  for (let at = 0; at <= text.length; at++) {
    const [before, after] = [text.slice(0, at), text.slice(at)];
    yield before + after.slice(1);
    for (const byte of BYTES) {
      yield before + byte + after;
      yield before + byte + after.slice(1);
    }
  }
}

/**
 * The outputs of lines, after many of the first line. A line that begins with a space is never
 * compared with lines before: so it tells what should come out.
 */
function outputs(lines: readonly string[], first: string, settings: Partial<QuerySettings>) {
  const answers = (before: string): readonly string[] => {
    // One line that is alike after each other line, so that comparing goes on.
    const text = [first, first, ...lines.flatMap((line) => [line, first, first])];
    const input = text.map((line) => `${before}${line}\n`).join('');
    return run(input, settings, 1 << 24).output.split('\n');
  };
  const strip = (line: string): string => line.replace(/^ /, '').replace('"input":" ', '"input":"');
  return [answers(''), answers(' ').map(strip)] as const;
}

describe('an object is read as one before it only if it is alike', () => {
  for (const [name, settings] of [
    ['plain', {}],
    ['strict', { strict: true }],
    ['a path of two keys', { urlField: ['url', 'in'] }],
  ] as const) {
    it.each(RESTS)(`${name}: %j, and all that differ from it by a byte`, (end) => {
      const first = `{"url":"${YES}"${end}`;
      const ends = [...changed(end)].map((other) => `{"url":"${YES}"${other}`);
      const heads = [...changed('{"url":"')].map((head) => `${head}${YES}"${end}`);
      const urls = [...changed('/yes"')].map((path) => `{"url":"http://example.com${path}${end}`);
      for (const lines of [ends, heads, urls]) {
        // With `strict` the first bad record ends a batch: then each line that is tried takes two.
        const some = lines.filter((_line, index) => index % every(11) === 0);
        const batches = 'strict' in settings ? some.map((line) => [line]) : [lines];
        for (const batch of batches) {
          const [alike, alone] = outputs(batch, first, settings);
          expect(alike.length).toBeGreaterThan(batch.length);
          expect(alike).toEqual(alone);
        }
      }
    });
  }

  it('what follows the URL may be long', () => {
    const lines = Array.from({ length: 1200 }, (_, more) => `{"url":"${YES}"${rest(20 + more)}`);
    const [alike, alone] = outputs(lines, `{"url":"${YES}"}`, {});
    expect(alike).toEqual(alone);
    expect(alike.filter((line) => line.includes('allow'))).toHaveLength(3 * 1200 + 2);
  });

  it('without a newline after the last line', () => {
    const line = `{"url":"${YES}","n":1}`;
    // What lies in memory after the input would complete them.
    const cut = Array.from(line, (_, at) => line.slice(0, at + 1));
    for (const last of [...cut, `${line}}`, `${line}\r`]) {
      const lines = [line, line, line].join('\n');
      const [alike, alone] = [`${lines}\n${last}`, `${lines}\n ${last}`].map(
        (text) => run(text).output,
      );
      expect(alike).toBe(alone?.replace('\n ', '\n').replace('"input":" ', '"input":"'));
    }
  });

  it('what an earlier query has left is forgotten', () => {
    for (const end of ['x}', 'xyz}', 'x', 'xyz']) {
      expect(run(`{"url":"${YES}"${end}\n`).bad).toHaveLength(1);
    }
  });
});
