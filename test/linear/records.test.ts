import { describe, expect, it } from 'vitest';
import { expectLinear } from './growth.js';
import { meteredJudge } from './metered-kernel.js';

/**
 * Steps for each byte of a line: to find the URL, to read and match it, and to write the verdict. A
 * step may cover many bytes.
 */
const STEPS = { least: 0.005, most: 16 };
/** The longest is a megabyte. */
const SIZES = [31_250, 500_000];

/** Text of this many bytes, from a repeated part. */
function fill(part: string, bytes: number): string {
  return part.repeat(Math.ceil(bytes / Buffer.byteLength(part)));
}

/**
 * Disallows the end of every path in this file, so that the verdict shows whether the whole URL was
 * read.
 */
const ROBOTS = 'user-agent: *\ndisallow: /*END$\ndisallow: /*?*END$\n';

type Family = readonly [name: string, text: (bytes: number) => string, verdict: string];

const URLS: readonly Family[] = [
  ['a path of letters', (bytes) => `https://e.com/${fill('a', bytes)}END`, 'deny'],
  ['a path of %', (bytes) => `https://e.com/${fill('%', bytes)}END`, 'deny'],
  ['a path of % before one digit', (bytes) => `https://e.com/${fill('%4z', bytes)}END`, 'deny'],
  ['letters that are encoded', (bytes) => `https://e.com/${fill('%61', bytes)}END`, 'deny'],
  ['bytes that stay encoded', (bytes) => `https://e.com/${fill('%2f', bytes)}END`, 'deny'],
  ['bytes to be encoded', (bytes) => `https://e.com/${fill('"', bytes)}END`, 'deny'],
  ['characters to be encoded', (bytes) => `https://e.com/${fill('\u{1f600}', bytes)}END`, 'deny'],
  ['a query of %', (bytes) => `https://e.com/?${fill('%', bytes)}END`, 'deny'],
  ['a query of ?', (bytes) => `https://e.com/?${fill('?', bytes)}END`, 'deny'],
  ['segments', (bytes) => `https://e.com/${fill('a/', bytes)}END`, 'deny'],
  ['segments and dots', (bytes) => `https://e.com/${fill('a/../', bytes)}END`, 'deny'],
  ['dots alone', (bytes) => `https://e.com/${fill('./../', bytes)}END`, 'deny'],
  ['dots that are encoded', (bytes) => `https://e.com/${fill('a/.%2e/', bytes)}END`, 'deny'],
  [
    'segments, all of them taken back',
    (bytes) => `https://e.com/${fill('a/', bytes / 2)}${fill('../', bytes / 2)}END`,
    'deny',
  ],
  ['back slashes', (bytes) => `https://e.com/${fill('\\', bytes)}END`, 'deny'],
  ['slashes before the host', (bytes) => `https:/${fill('/', bytes)}e.com/END`, 'deny'],
  ['a fragment', (bytes) => `https://e.com/END#${fill('#', bytes)}`, 'deny'],
  ['user information', (bytes) => `https://${fill('@', bytes)}e.com/END`, 'deny'],
  ['colons of it', (bytes) => `https://${fill(':', bytes)}@e.com/END`, 'deny'],
  ['zeros of a port', (bytes) => `https://e.com:${fill('0', bytes)}443/END`, 'deny'],
  ['digits of a port', (bytes) => `https://e.com:${fill('1', bytes)}/END`, 'invalid'],
  ['a host', (bytes) => `https://${fill('a', bytes)}/END`, 'invalid'],
  ['labels of a host', (bytes) => `https://${fill('a.', bytes)}/END`, 'invalid'],
  ['% in a host', (bytes) => `https://${fill('%65', bytes)}/END`, 'invalid'],
  ['letters to be mapped', (bytes) => `https://${fill('\u00c4', bytes)}/END`, 'invalid'],
  ['Punycode', (bytes) => `https://${fill('xn--a-', bytes)}/END`, 'invalid'],
  ['soft hyphens in a host', (bytes) => `https://${fill('\u00ad', bytes)}e.com/END`, 'invalid'],
  ['digits of an address', (bytes) => `https://${fill('0', bytes)}1/END`, 'invalid'],
  ['numbers of an address', (bytes) => `https://${fill('1.', bytes)}/END`, 'invalid'],
  ['groups of an address', (bytes) => `https://[${fill('1:', bytes)}]/END`, 'invalid'],
  ['a scheme', (bytes) => `${fill('a', bytes)}://e.com/END`, 'invalid'],
  ['no URL', (bytes) => fill('%', bytes), 'invalid'],
];

describe('a URL is read and judged in linear time', () => {
  const judge = meteredJudge(ROBOTS);

  it.each(URLS)('%s', (_name, urlOf, verdict) => {
    for (const record of [false, true]) {
      const measured = SIZES.map((bytes) => {
        const url = urlOf(bytes);
        const line = record ? JSON.stringify({ url }) : url;
        const { output, steps } = judge(line, { format: record ? 'ndjson' : 'text' });
        const expected = record ? `,"verdict":"${verdict}"}\n` : `${verdict}\t`;
        expect(record ? output.slice(-expected.length) : output.slice(0, expected.length)).toBe(
          expected,
        );
        return { bytes: Buffer.byteLength(line), steps };
      });
      expectLinear(measured, STEPS);
    }
  });

  it.each([
    ['tabs', '\\t'],
    ['line ends', '\\n'],
    ['escapes of letters', '\\u0061'],
    ['escapes of %', '\\u0025'],
    ['escapes of characters of four bytes', '\\ud83d\\ude00'],
    ['escapes of halves of characters', '\\ud83d'],
  ])('%s in a record', (_name, part) => {
    const measured = SIZES.map((bytes) => {
      const line = `{"url":"https://e.com/${fill(part, bytes)}END"}`;
      const { output, steps } = judge(line);
      expect(output).toMatch(/,"verdict":"deny"}\n$/);
      return { bytes: line.length, steps };
    });
    expectLinear(measured, STEPS);
  });
});

const URL_MEMBER = '"url":"https://e.com/END"';

const RECORDS: readonly Family[] = [
  [
    'arrays in arrays',
    (bytes) => `{"a":${fill('[', bytes / 2)}${fill(']', bytes / 2)},${URL_MEMBER}}`,
    'deny',
  ],
  [
    'objects in objects',
    (bytes) => `{"a":${fill('{"a":', bytes)}1${fill('}', bytes / 5)},${URL_MEMBER}}`,
    'deny',
  ],
  [
    'URLs of objects in objects',
    (bytes) => `{"a":${fill('{"url":', bytes)}1${fill('}', bytes / 7)},${URL_MEMBER}}`,
    'deny',
  ],
  ['arrays that do not end', (bytes) => `{${URL_MEMBER},"a":${fill('[', bytes)}`, 'invalid'],
  ['objects that do not end', (bytes) => `{${URL_MEMBER},"a":${fill('{"a":', bytes)}`, 'invalid'],
  ['arrays that do not begin', (bytes) => `{${URL_MEMBER},"a":${fill(']', bytes)}`, 'invalid'],
  ['members', (bytes) => `{${fill('"a":1,', bytes)}${URL_MEMBER}}`, 'deny'],
  [
    'URLs, of which the last counts',
    (bytes) => `{${fill('"url":1,', bytes)}${URL_MEMBER}}`,
    'deny',
  ],
  ['keys that are escaped', (bytes) => `{${fill('"\\u0075rm":1,', bytes)}${URL_MEMBER}}`, 'deny'],
  ['a key', (bytes) => `{"${fill('u', bytes)}":1,${URL_MEMBER}}`, 'deny'],
  ['a key of escapes', (bytes) => `{"${fill('\\u0075', bytes)}":1,${URL_MEMBER}}`, 'deny'],
  ['back slashes', (bytes) => `{"a":"${fill('\\\\', bytes)}",${URL_MEMBER}}`, 'deny'],
  ['escaped quotation marks', (bytes) => `{"a":"${fill('\\"', bytes)}",${URL_MEMBER}}`, 'deny'],
  ['strings', (bytes) => `{"a":[${fill('"",', bytes)}""],${URL_MEMBER}}`, 'deny'],
  ['a number', (bytes) => `{"a":${fill('1', bytes)},${URL_MEMBER}}`, 'deny'],
  ['numbers', (bytes) => `{"a":[${fill('-1.5e-3,', bytes)}1],${URL_MEMBER}}`, 'deny'],
  ['white space', (bytes) => `{${fill(' ', bytes)}${URL_MEMBER}}`, 'deny'],
  ['colons', (bytes) => `{${URL_MEMBER}${fill(':', bytes)}}`, 'invalid'],
  ['verdicts of others', (bytes) => `{${fill('"verdict":1,', bytes)}${URL_MEMBER}}`, 'deny'],
];

describe('the URL of a record is found in linear time', () => {
  const judge = meteredJudge(ROBOTS);

  it.each(RECORDS)('%s', (_name, lineOf, verdict) => {
    for (const strict of [false, true]) {
      for (const urlField of [['url'], ['a', 'url']]) {
        const measured = SIZES.map((bytes) => {
          const line = lineOf(bytes);
          const { output, steps } = judge(line, { strict, urlField });
          if (!strict && urlField.length === 1) {
            // An invalid record is quoted after its verdict.
            expect(output.slice(0, 30) + output.slice(-30)).toContain(`"verdict":"${verdict}"`);
          }
          return { bytes: line.length, steps };
        });
        expectLinear(measured, STEPS);
      }
    }
  });
});

/** Steps for each byte of short lines: each line has a share of its own. */
const STEPS_OF_LINES = { least: 1, most: 64 };

describe('a batch of short lines is read in linear time', () => {
  const judge = meteredJudge(ROBOTS);

  it.each([
    ['keys', 'com,e)/'],
    ['keys and no time', 'com,e)/ 20240101000000'],
    ['a time and no object', 'com,e)/ 20240101000000 text'],
    ['an object that does not end', 'com,e)/ 20240101000000 {'],
  ])('%s of an index', (_name, line) => {
    const measured = SIZES.map((bytes) => {
      const text = fill(`${line}\n`, bytes);
      const { output, steps } = judge(text.slice(0, -1), { format: 'cdxj' });
      const lines = output.split('\n').slice(0, -1);
      expect(lines.length).toBe(text.length / (line.length + 1));
      expect(lines.filter((each) => !each.includes('"verdict":"invalid"'))).toEqual([]);
      return { bytes: text.length, steps };
    });
    expectLinear(measured, STEPS_OF_LINES);
  });
});

describe('records that name their agents', () => {
  const judge = meteredJudge(ROBOTS);
  const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

  it.each([
    ['differ in the last bytes of a word', (two: string) => `crawler/robot${two}/`.slice(0, 16)],
    ['differ at the end', (two: string) => `abcdef${two}`],
    ['differ in the middle of a long one', (two: string) => `abcdef${two}${'x'.repeat(300)}`],
  ])('are read in linear time if their agents %s', (_name, agentOf) => {
    const measured = [160, 2600].map((count) => {
      const lines = Array.from({ length: count }, (_, at) => {
        const two = `${LETTERS[at % 52]}${LETTERS[Math.floor(at / 52)]}`;
        return JSON.stringify({ url: 'https://e.com/END', agent: agentOf(two) });
      });
      const { output, steps } = judge(lines.join('\n'), {
        format: 'ndjson',
        agentField: ['agent'],
        agents: [{ name: 'field:agent', chain: ['*'] }],
      });
      expect(output.match(/"verdict":"deny"/g)).toHaveLength(count);
      return { bytes: Buffer.byteLength(lines.join('\n')), steps };
    });
    expectLinear(measured, STEPS);
  });
});
