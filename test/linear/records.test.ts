import { describe, expect, it } from 'vitest';
import { expectLinear } from './growth.js';
import { meteredJudge } from './metered-kernel.js';

/**
 * Steps for each octet of a line: to find the URL, to read and match it, and to write the verdict.
 * A step may be of many octets.
 */
const STEPS = { least: 0.005, most: 16 };
/** The longest is a megabyte. */
const SIZES = [62_500, 1_000_000];

/** Text of so many octets, of a part that comes again and again. */
function fill(part: string, octets: number): string {
  return part.repeat(Math.ceil(octets / Buffer.byteLength(part)));
}

/** Denies what ends as every path here does, so that it shows whether all of a URL was read. */
const ROBOTS = 'user-agent: *\ndisallow: /*END$\ndisallow: /*?*END$\n';

type Family = readonly [name: string, text: (octets: number) => string, verdict: string];

const URLS: readonly Family[] = [
  ['a path of letters', (octets) => `https://e.com/${fill('a', octets)}END`, 'deny'],
  ['a path of %', (octets) => `https://e.com/${fill('%', octets)}END`, 'deny'],
  ['a path of % before one digit', (octets) => `https://e.com/${fill('%4z', octets)}END`, 'deny'],
  ['letters that are encoded', (octets) => `https://e.com/${fill('%61', octets)}END`, 'deny'],
  ['octets that stay encoded', (octets) => `https://e.com/${fill('%2f', octets)}END`, 'deny'],
  ['octets to be encoded', (octets) => `https://e.com/${fill('"', octets)}END`, 'deny'],
  ['characters to be encoded', (octets) => `https://e.com/${fill('\u{1f600}', octets)}END`, 'deny'],
  ['a query of %', (octets) => `https://e.com/?${fill('%', octets)}END`, 'deny'],
  ['a query of ?', (octets) => `https://e.com/?${fill('?', octets)}END`, 'deny'],
  ['segments', (octets) => `https://e.com/${fill('a/', octets)}END`, 'deny'],
  ['segments and dots', (octets) => `https://e.com/${fill('a/../', octets)}END`, 'deny'],
  ['dots alone', (octets) => `https://e.com/${fill('./../', octets)}END`, 'deny'],
  ['dots that are encoded', (octets) => `https://e.com/${fill('a/.%2e/', octets)}END`, 'deny'],
  [
    'segments, all of them taken back',
    (octets) => `https://e.com/${fill('a/', octets / 2)}${fill('../', octets / 2)}END`,
    'deny',
  ],
  ['back slashes', (octets) => `https://e.com/${fill('\\', octets)}END`, 'deny'],
  ['slashes before the host', (octets) => `https:/${fill('/', octets)}e.com/END`, 'deny'],
  ['a fragment', (octets) => `https://e.com/END#${fill('#', octets)}`, 'deny'],
  ['user information', (octets) => `https://${fill('@', octets)}e.com/END`, 'deny'],
  ['colons of it', (octets) => `https://${fill(':', octets)}@e.com/END`, 'deny'],
  ['zeros of a port', (octets) => `https://e.com:${fill('0', octets)}443/END`, 'deny'],
  ['digits of a port', (octets) => `https://e.com:${fill('1', octets)}/END`, 'invalid'],
  ['a host', (octets) => `https://${fill('a', octets)}/END`, 'invalid'],
  ['labels of a host', (octets) => `https://${fill('a.', octets)}/END`, 'invalid'],
  ['% in a host', (octets) => `https://${fill('%65', octets)}/END`, 'invalid'],
  ['letters to be mapped', (octets) => `https://${fill('\u00c4', octets)}/END`, 'invalid'],
  ['Punycode', (octets) => `https://${fill('xn--a-', octets)}/END`, 'invalid'],
  ['soft hyphens in a host', (octets) => `https://${fill('\u00ad', octets)}e.com/END`, 'invalid'],
  ['digits of an address', (octets) => `https://${fill('0', octets)}1/END`, 'invalid'],
  ['numbers of an address', (octets) => `https://${fill('1.', octets)}/END`, 'invalid'],
  ['groups of an address', (octets) => `https://[${fill('1:', octets)}]/END`, 'invalid'],
  ['a scheme', (octets) => `${fill('a', octets)}://e.com/END`, 'invalid'],
  ['no URL', (octets) => fill('%', octets), 'invalid'],
];

describe('a URL is read and judged in linear time', () => {
  const judge = meteredJudge(ROBOTS);

  it.each(URLS)('%s', (_name, urlOf, verdict) => {
    for (const record of [false, true]) {
      const measured = SIZES.map((octets) => {
        const url = urlOf(octets);
        const line = record ? JSON.stringify({ url }) : url;
        const { output, steps } = judge(line, { format: record ? 'ndjson' : 'text' });
        const expected = record ? `,"verdict":"${verdict}"}\n` : `${verdict}\t`;
        expect(record ? output.slice(-expected.length) : output.slice(0, expected.length)).toBe(
          expected,
        );
        return { octets: Buffer.byteLength(line), steps };
      });
      expectLinear(measured, STEPS);
    }
  });

  it.each([
    ['tabs', '\\t'],
    ['line ends', '\\n'],
    ['escapes of letters', '\\u0061'],
    ['escapes of %', '\\u0025'],
    ['escapes of characters of four octets', '\\ud83d\\ude00'],
    ['escapes of halves of characters', '\\ud83d'],
  ])('%s in a record', (_name, part) => {
    const measured = SIZES.map((octets) => {
      const line = `{"url":"https://e.com/${fill(part, octets)}END"}`;
      const { output, steps } = judge(line);
      expect(output).toMatch(/,"verdict":"deny"}\n$/);
      return { octets: line.length, steps };
    });
    expectLinear(measured, STEPS);
  });
});

const URL_MEMBER = '"url":"https://e.com/END"';

const RECORDS: readonly Family[] = [
  [
    'arrays in arrays',
    (octets) => `{"a":${fill('[', octets / 2)}${fill(']', octets / 2)},${URL_MEMBER}}`,
    'deny',
  ],
  [
    'objects in objects',
    (octets) => `{"a":${fill('{"a":', octets)}1${fill('}', octets / 5)},${URL_MEMBER}}`,
    'deny',
  ],
  [
    'URLs of objects in objects',
    (octets) => `{"a":${fill('{"url":', octets)}1${fill('}', octets / 7)},${URL_MEMBER}}`,
    'deny',
  ],
  ['arrays that do not end', (octets) => `{${URL_MEMBER},"a":${fill('[', octets)}`, 'invalid'],
  ['objects that do not end', (octets) => `{${URL_MEMBER},"a":${fill('{"a":', octets)}`, 'invalid'],
  ['arrays that do not begin', (octets) => `{${URL_MEMBER},"a":${fill(']', octets)}`, 'invalid'],
  ['members', (octets) => `{${fill('"a":1,', octets)}${URL_MEMBER}}`, 'deny'],
  [
    'URLs, of which the last counts',
    (octets) => `{${fill('"url":1,', octets)}${URL_MEMBER}}`,
    'deny',
  ],
  ['keys that are escaped', (octets) => `{${fill('"\\u0075rm":1,', octets)}${URL_MEMBER}}`, 'deny'],
  ['a key', (octets) => `{"${fill('u', octets)}":1,${URL_MEMBER}}`, 'deny'],
  ['a key of escapes', (octets) => `{"${fill('\\u0075', octets)}":1,${URL_MEMBER}}`, 'deny'],
  ['back slashes', (octets) => `{"a":"${fill('\\\\', octets)}",${URL_MEMBER}}`, 'deny'],
  ['escaped quotation marks', (octets) => `{"a":"${fill('\\"', octets)}",${URL_MEMBER}}`, 'deny'],
  ['strings', (octets) => `{"a":[${fill('"",', octets)}""],${URL_MEMBER}}`, 'deny'],
  ['a number', (octets) => `{"a":${fill('1', octets)},${URL_MEMBER}}`, 'deny'],
  ['numbers', (octets) => `{"a":[${fill('-1.5e-3,', octets)}1],${URL_MEMBER}}`, 'deny'],
  ['white space', (octets) => `{${fill(' ', octets)}${URL_MEMBER}}`, 'deny'],
  ['colons', (octets) => `{${URL_MEMBER}${fill(':', octets)}}`, 'invalid'],
  ['verdicts of others', (octets) => `{${fill('"verdict":1,', octets)}${URL_MEMBER}}`, 'deny'],
];

describe('the URL of a record is found in linear time', () => {
  const judge = meteredJudge(ROBOTS);

  it.each(RECORDS)('%s', (_name, lineOf, verdict) => {
    for (const strict of [false, true]) {
      for (const urlField of [['url'], ['a', 'url']]) {
        const measured = SIZES.map((octets) => {
          const line = lineOf(octets);
          const { output, steps } = judge(line, { strict, urlField });
          if (!strict && urlField.length === 1) {
            // An invalid record is quoted behind its verdict.
            expect(output.slice(0, 30) + output.slice(-30)).toContain(`"verdict":"${verdict}"`);
          }
          return { octets: line.length, steps };
        });
        expectLinear(measured, STEPS);
      }
    }
  });
});
