import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import { Names } from '../../src/protocol/agent.js';
import { LineCursor } from '../../src/protocol/lines.js';
import { parseRobots, placeRules } from '../../src/protocol/parse.js';
import type { Group, RobotsFile } from '../../src/protocol/robots-file.js';
import {
  GREATEST_PARSING_LIMIT,
  LEAST_PARSING_LIMIT,
  PROFILES,
  type Profile,
} from '../../src/protocol/verdict.js';
import { hostileFile } from '../hostile/file.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { anyText } from '../random/text.js';

/** A body whose bytes are the character codes of the string. */
function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

function parse(text: string, profile: Profile = 'rfc9309'): RobotsFile {
  return parseRobots(bytes(text), { profile });
}

/** One line for each group, easy to compare: `3 a,b: 4+/x 5-/y`. */
function outline(file: RobotsFile): string[] {
  return file.groups.map((group) =>
    [
      `${group.line} ${group.productTokens.join(',')}:`,
      ...group.rules.map(
        ({ allow, pattern, line }) =>
          `${line}${allow ? '+' : '-'}${Buffer.from(pattern).toString('latin1')}`,
      ),
    ].join(' '),
  );
}

function codes(file: RobotsFile): string[] {
  return file.warnings.map(({ code, line }) => `${line} ${code}`);
}

const BOTH = ['rfc9309', 'google'] as const;

describe.each(PROFILES)('RFC 9309 2.1, groups, in %s', (profile) => {
  test('a run of user-agent lines and the rules after it are one group', () => {
    const file = parse('user-agent: a\nuser-agent: b\ndisallow: /x\nallow: /y\n', profile);
    expect(outline(file)).toEqual(['1 a,b: 3-/x 4+/y']);
  });

  test('a user-agent line after a rule starts another group', () => {
    const file = parse('user-agent: a\ndisallow: /x\nuser-agent: b\nallow: /y\n', profile);
    expect(outline(file)).toEqual(['1 a: 2-/x', '3 b: 4+/y']);
  });

  test('groups of the same product token stay separate; the parser does not merge them (2.2.1)', () => {
    const file = parse('user-agent: a\ndisallow: /x\nuser-agent: A\ndisallow: /y\n', profile);
    expect(outline(file)).toEqual(['1 a: 2-/x', '3 a: 4-/y']);
  });

  test('the last group may have no rules (2.2)', () => {
    expect(outline(parse('user-agent: a\ndisallow: /\nuser-agent: b', profile))).toEqual([
      '1 a: 2-/',
      '3 b:',
    ]);
  });

  test('an empty or malformed rule is kept, and ends the run of user-agent lines', () => {
    for (const rule of ['disallow:', 'allow:', 'disallow: x', 'allow: x']) {
      const file = parse(`user-agent: a\n${rule}\nuser-agent: b\ndisallow: /y\n`, profile);
      expect(file.groups.map((group) => group.productTokens)).toEqual([['a'], ['b']]);
      expect(file.groups[0]?.rules).toHaveLength(1);
    }
  });

  test('rules before any group are ignored (2.2.1)', () => {
    const file = parse('disallow: /x\nallow: /y\nuser-agent: a\ndisallow: /z\n', profile);
    expect(outline(file)).toEqual(['3 a: 4-/z']);
    expect(codes(file)).toEqual(['1 rule-before-group', '2 rule-before-group']);
  });

  test('an empty body has no groups, rules or records', () => {
    expect(parse('', profile)).toEqual({
      groups: [],
      sitemaps: [],
      crawlDelays: [],
      records: [],
      warnings: [],
      ignoredBytes: 0,
      overBudget: false,
    });
  });
});

describe.each(PROFILES)('RFC 9309 2.2, lines, in %s', (profile) => {
  test('CR, LF and CRLF each end one line, LFCR ends two', () => {
    const text =
      'user-agent: a\rdisallow: /2\ndisallow: /3\r\ndisallow: /4\n\rdisallow: /6\r\r\ndisallow: /8';
    expect(outline(parse(text, profile))).toEqual(['1 a: 2-/2 3-/3 4-/4 6-/6 8-/8']);
  });

  test('a comment ends the record, with or without white space before it', () => {
    const text = '#c\nuser-agent: a#c\ndisallow: /x # c\ndisallow: # all\n # disallow: /y\n';
    const file = parse(text, profile);
    expect(outline(file)).toEqual(['2 a: 3-/x 4-']);
    expect(file.warnings).toEqual([]);
  });

  test('white space is allowed anywhere around key, colon and value', () => {
    const file = parse(' \tuser-agent \t:\t a \t\n\tdisallow\t:\t/x y\t\n', profile);
    expect(outline(file)).toEqual(['1 a: 2-/x y']);
  });

  test('keys are case-insensitive; patterns are kept as written', () => {
    expect(outline(parse('USER-AGENT: a\nDisAllow: /X%2f\nALLOW: /y\n', profile))).toEqual([
      '1 a: 2-/X%2f 3+/y',
    ]);
  });

  test('only the first colon separates key and value', () => {
    expect(outline(parse('user-agent: a\ndisallow: /x:y\n', profile))).toEqual(['1 a: 2-/x:y']);
  });

  test('a line with a colon and no key is not a record', () => {
    const file = parse('user-agent: a\n: /x\n  :\ndisallow: /y\n', profile);
    expect(outline(file)).toEqual(['1 a: 4-/y']);
    expect(codes(file)).toEqual(['2 unknown-record', '3 unknown-record']);
  });
});

describe.each(PROFILES)('RFC 9309 2.2.1, product tokens, in %s', (profile) => {
  test('tokens are in lower case and in the order of the lines, including duplicates', () => {
    const file = parse('user-agent: Foo_Bar-X\nuser-agent: *\nuser-agent: FOO_bar-x\n', profile);
    expect(file.groups[0]?.productTokens).toEqual(['foo_bar-x', '*', 'foo_bar-x']);
  });

  test.each([
    ['foo/1.2', 'foo'],
    ['foo*', 'foo'],
    ['foo bar', 'foo'],
    ['Foo\u00e9', 'foo'],
    ['foo1', 'foo'],
    ['-_-', '-_-'],
  ])('of the value %j the token is %j', (value, token) => {
    const file = parse(`user-agent: ${value}\ndisallow: /`, profile);
    expect(file.groups[0]?.productTokens).toEqual([token]);
  });

  test.each(['*', '* x', '*\tx', '*  '])('the value %j means all crawlers', (value) => {
    expect(parse(`user-agent: ${value}\n`, profile).groups[0]?.productTokens).toEqual(['*']);
  });

  test('a line with no usable token starts a group without any crawler', () => {
    for (const value of ['007', '*foo', '**', '', '/', '\u00e9']) {
      const text = `user-agent: a\ndisallow: /x\nuser-agent: ${value}\ndisallow: /y\n`;
      const file = parse(text, profile);
      expect(file.groups.map(({ productTokens }) => productTokens)).toEqual([
        ['a'],
        profile === 'google' ? [''] : [],
      ]);
      expect(file.groups[1]?.rules).toHaveLength(1);
      expect(codes(file)).toContain('3 no-product-token');
    }
  });
});

describe.each(PROFILES)('RFC 9309 2.2.4, other records, in %s', (profile) => {
  test('other records end neither a run of user-agent lines nor a group', () => {
    for (const other of ['sitemap: https://h/s', 'crawl-delay: 5', 'host: h', 'x-y: z', 'noise']) {
      const lines = ['user-agent: a', other, 'user-agent: b', other, 'disallow: /x', other];
      const file = parse([...lines, 'allow: /y'].join('\n'), profile);
      expect(outline(file)).toEqual(['1 a,b: 5-/x 7+/y']);
    }
  });

  test('`records` has all of them in order, `sitemaps` only the sitemap lines', () => {
    const text =
      'Sitemap: https://h/1#x\nuser-agent: a\nHost: h\nCrawl-delay: 3\nsitemap : https://h/2\ndisallow: /\n';
    const file = parse(text, profile);
    const first = { key: 'sitemap', value: 'https://h/1', line: 1 };
    const second = { key: 'sitemap', value: 'https://h/2', line: 5 };
    expect(file.sitemaps).toEqual([first, second]);
    expect(file.records).toEqual([
      first,
      { key: 'host', value: 'h', line: 3 },
      { key: 'crawl-delay', value: '3', line: 4 },
      second,
    ]);
    expect(codes(file)).toEqual([]);
  });

  test('a key that is read is not unknown', () => {
    const read = [
      'License: https://h/l',
      'HOST: h',
      'Noindex: /x',
      'Clean-param: a /b',
      'host : h',
    ];
    const rates = ['Request-rate: 1/5', 'Visit-time: 0400-0845', 'Crawl-delay: 1'];
    const uses = ['Content-Usage: train-ai=n', 'Content-Signal: a=no', 'content-signals: a=no'];
    const unknown = ['Licence: x', 'Hosts: x', 'content-signal-s: a=no'];
    const file = parse(
      ['user-agent: a', ...read, ...rates, ...uses, ...unknown].join('\n'),
      profile,
    );
    expect(codes(file)).toEqual(['13 unknown-record', '14 unknown-record', '15 unknown-record']);
  });

  test('values are read as UTF-8; other bytes become U+FFFD', () => {
    const file = parse('host: b\u00c3\u00bccher\nx: \u00ff\n', profile);
    expect(file.records.map(({ value }) => value)).toEqual(['bücher', '\ufffd']);
  });

  test('a crawl-delay is for the user-agent lines since the last one of its group', () => {
    const text =
      'crawl-delay: 1\nuser-agent: a\ncrawl-delay: 2\nuser-agent: b\ndisallow: /\ncrawl-delay: 3\ncrawl-delay: 4\nuser-agent: c\nuser-agent: d\ncrawl-delay: 5';
    expect(
      parse(text, profile).crawlDelays.map(({ productTokens, seconds }) => [
        productTokens,
        seconds,
      ]),
    ).toEqual([
      [[], 1],
      [['a'], 2],
      [['b'], 3],
      [['b'], 4],
      [['c', 'd'], 5],
    ]);
  });

  test.each([
    ['10', 10],
    ['0', 0],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['5.', 5],
    ['007', 7],
    ['', undefined],
    ['.', undefined],
    ['-1', undefined],
    ['+1', undefined],
    ['1,5', undefined],
    ['1.2.3', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['Infinity', undefined],
    ['10 s', undefined],
    ['9'.repeat(400), undefined],
    ['\u0661', undefined],
  ])('the crawl-delay %j is %j seconds', (value, seconds) => {
    const body = Buffer.from(`crawl-delay: ${value}`);
    expect(parseRobots(body, { profile }).crawlDelays).toEqual([
      { productTokens: [], seconds, value, line: 1 },
    ]);
  });

  test('an unknown key is quoted in its warning, escaped and truncated', () => {
    const { warnings } = parse(`\u001b[31m\u009b${'k'.repeat(100)}: v`, profile);
    const warning = warnings.find(({ code }) => code === 'unknown-record');
    expect(warning?.message).toContain(`"?[31m?${'k'.repeat(34)}…"`);
  });
});

describe.each(['rfc9309', 'draft-koster-rep-00'] as const)(
  'RFC 9309 2.2, lines that %s does not accept',
  (profile) => {
    test.each([
      'disallowed',
      'dissallow',
      'user agent',
      'useragent',
      'user-agents',
      'allo',
      'dis allow',
    ])('the key %j is that of an other record', (key) => {
      const file = parse(`user-agent: a\n${key}: /x\n`, profile);
      expect(outline(file)).toEqual(['1 a:']);
      expect(file.records).toEqual([{ key, value: '/x', line: 2 }]);
      expect(codes(file)).toEqual(['2 unknown-record']);
    });

    test('a line without a colon is not a record', () => {
      const file = parse('user-agent a\nuser-agent: b\ndisallow /x\nnoise\n', profile);
      expect(outline(file)).toEqual(['2 b:']);
      expect(file.records).toEqual([]);
      expect(codes(file)).toEqual(['1 missing-colon', '3 missing-colon', '4 missing-colon']);
    });

    test('VT and FF are not white space', () => {
      const file = parse(
        'user-agent: a\n\vdisallow: /x\ndisallow: \f/y\nuser-agent: *\vx\n',
        profile,
      );
      expect(outline(file)).toEqual(['1 a: 3-\f/y', '4 :']);
    });

    test('a line with a NUL anywhere is void: no rule, no user-agent line, no record', () => {
      const text =
        'user-agent: a\ndisallow: /x\0y\n\0disallow: /\ndisallow: / # \0\nuser-agent: b\0\nsitemap: \0\ndisallow: /z\n';
      const file = parse(text, profile);
      expect(outline(file)).toEqual(['1 a: 7-/z']);
      expect(file.records).toEqual([]);
      expect(codes(file)).toEqual([2, 3, 4, 5, 6].map((line) => `${line} nul`));
    });

    test('a line may be as long as the body', () => {
      const path = `/${'a'.repeat(400_000)}`;
      expect(outline(parse(`user-agent: a\ndisallow: ${path}\n`, profile))).toEqual([
        `1 a: 2-${path}`,
      ]);
    });
  },
);

describe('google/robotstxt, its lines and keys (spec notes 2, points 1 to 6)', () => {
  const google = (text: string) => parse(text, 'google');

  test.each(['\u00ef\u00bb\u00bf', '\u00ef\u00bb', '\u00ef'])(
    '1: the byte order mark %j is skipped, whole or partial',
    (mark) => {
      const file = google(`${mark}user-agent: a\ndisallow: /\n`);
      expect(outline(file)).toEqual(['1 a: 2-/']);
      expect(file.warnings).toEqual([]);
    },
  );

  test.each(['\u00bb\u00bf', '\u00ef\u00bb\u00bf\u00ef', '\u00ef\u0011\u00bf', '\u00ff\u00fe'])(
    '1: %j is skipped in part only, and the rest makes the key unknown',
    (mark) => {
      expect(outline(google(`${mark}user-agent: a\ndisallow: /\n`))).toEqual([]);
    },
  );

  test('1: UTF-16 is not decoded', () => {
    const body = Buffer.from('\ufeffuser-agent: a\ndisallow: /\n', 'utf16le');
    expect(parseRobots(body, { profile: 'google' }).groups).toEqual([]);
  });

  test('1: there is no size limit', () => {
    const body = bytes(`${'#\n'.repeat(300_000)}user-agent: a\ndisallow: /x\n`);
    const file = parseRobots(body, { profile: 'google', maxBytes: LEAST_PARSING_LIMIT });
    expect(outline(file)).toEqual(['300001 a: 300002-/x']);
    expect(file.ignoredBytes).toBe(0);
  });

  test.each([16_662, 16_663, 16_664, 16_665])(
    '2: a line of %i bytes is truncated to 16,663',
    (length) => {
      const line = 'disallow: /'.padEnd(length, 'x');
      const file = google(`user-agent: a\n${line}\ndisallow: /y\n`);
      const pattern = line.slice(0, 16_663).slice('disallow: '.length);
      expect(outline(file)).toEqual([`1 a: 2-${pattern} 3-/y`]);
      expect(codes(file)).toEqual(length > 16_663 ? ['2 line-truncated'] : []);
    },
  );

  test('2: leading white space counts towards the limit; a comment does not', () => {
    expect(outline(google(`user-agent: a\n${' '.repeat(16_663)}disallow: /\n`))).toEqual(['1 a:']);
    const file = google(`user-agent: a\ndisallow: /x#${'c'.repeat(20_000)}\n`);
    expect(outline(file)).toEqual(['1 a: 2-/x']);
    expect(file.warnings).toEqual([]);
  });

  test('3: a line is truncated at its first NUL, then at its first #', () => {
    const file = google(
      'user-agent: a\ndisallow: /x\0y#z\ndisallow: /v#\0\n\0disallow: /\ndisallow\0: /\n',
    );
    expect(outline(file)).toEqual(['1 a: 2-/x 3-/v']);
    expect(codes(file)).toEqual(['2 nul', '4 nul', '5 nul', '5 missing-colon']);
  });

  test('3: VT and FF are white space', () => {
    const file = google('\v\fuser-agent\v:\fa\v\ndisallow:\v/x\f\nuser-agent: *\vx\n');
    expect(outline(file)).toEqual(['1 a: 2-/x', '3 *:']);
  });

  test('3: without a colon, a space or tab separates two words, not three', () => {
    const file = google('user-agent a\ndisallow \t /x\nallow /y z\nallow\nallow\v/v\nallow \v/w\n');
    expect(outline(file)).toEqual(['1 a: 2-/x 6+/w']);
    expect(codes(file)).toEqual(['3 missing-colon', '4 missing-colon', '5 missing-colon']);
  });

  test('3: a colon anywhere takes precedence over white space', () => {
    expect(outline(google('user-agent: a\ndisallow /a:b\n'))).toEqual(['1 a: 2-b']);
  });

  test.each([
    'user-agent',
    'useragent',
    'user agent',
    'user-agents',
    'UserAgentX',
    'User Agent foo',
  ])('4: %j is a user-agent key', (key) => {
    expect(outline(google(`${key}: a\ndisallow: /\n`))).toEqual(['1 a: 2-/']);
  });

  test.each([
    'disallow',
    'dissallow',
    'dissalow',
    'disalow',
    'diasllow',
    'disallaw',
    'disallowed',
    'DISALLOW x',
  ])('4: %j is a disallow key', (key) => {
    expect(outline(google(`user-agent: a\n${key}: /\n`))).toEqual(['1 a: 2-/']);
  });

  test.each(['user_agent', 'user  agent', 'usr-agent', 'disallo', 'dis-allow', 'alow', 'xallow'])(
    '4: %j is not a key',
    (key) => {
      const file = google(`${key}: a\n`);
      expect(file.groups).toEqual([]);
      expect(file.records).toEqual([{ key, value: 'a', line: 1 }]);
    },
  );

  test('4: sitemap keys match by prefix too', () => {
    const file = google('Sitemaps: https://h/1\nsite-map: https://h/2\nSite map: x\n');
    expect(file.sitemaps.map(({ key }) => key)).toEqual(['sitemaps', 'site-map']);
  });
});

describe('byte order marks and encodings (RFC 9309 2.2.2, bridging)', () => {
  test('rfc9309 drops a whole UTF-8 byte order mark, but not a part of one and not a second one', () => {
    expect(outline(parse('\u00ef\u00bb\u00bfuser-agent: a\ndisallow: /\n'))).toEqual(['1 a: 2-/']);
    for (const mark of ['\u00ef', '\u00ef\u00bb', '\u00ef\u00bb\u00bf\u00ef\u00bb\u00bf']) {
      expect(outline(parse(`${mark}user-agent: a\ndisallow: /\n`))).toEqual([]);
    }
  });

  test.each(['le', 'be'])('UTF-16%s with a byte order mark is decoded', (order) => {
    const body = Buffer.from('\ufeffuser-agent: a\r\ndisallow: /é€💩\r\nhost: ü\r\n', 'utf16le');
    const file = parseRobots(order === 'le' ? body : body.swap16());
    expect(file.groups[0]?.rules[0]?.pattern).toEqual(new Uint8Array(Buffer.from('/é€💩')));
    expect(file.records).toEqual([{ key: 'host', value: 'ü', line: 3 }]);
    expect(codes(file)).toEqual(['0 utf-16']);
  });

  test('UTF-16 without a byte order mark is read as lines with NULs', () => {
    const file = parseRobots(Buffer.from('user-agent: a\ndisallow: /\n', 'utf16le'));
    expect(file.groups).toEqual([]);
    expect(file.warnings.every(({ code }) => code === 'nul')).toBe(true);
  });

  test('broken UTF-16 yields U+FFFD: lone surrogates and half a unit', () => {
    const units = [0xfeff, ...Array.from('user-agent: a\ndisallow: /', (c) => c.charCodeAt(0))];
    const body = Buffer.alloc((units.length + 3) * 2 + 1, 0x41);
    for (const [at, unit] of [...units, 0xdc00, 0x61, 0xd800].entries())
      body.writeUInt16LE(unit, at * 2);
    const pattern = parseRobots(body).groups[0]?.rules[0]?.pattern ?? [];
    // A lone first half and half a unit after it are one error, as for TextDecoder.
    expect(Buffer.from(pattern).toString('utf8')).toBe('/\ufffda\ufffd');
    expect(new TextDecoder('utf-16le').decode(body)).toMatch(/\/\ufffda\ufffd$/);
  });

  test('UTF-16 gives the same result as the same text in UTF-8', () => {
    const piece = fc.oneof(
      fc.constantFrom('user-agent: ', 'disallow: /', 'host: ', '#', 'é', '💩', '\n', '\r\n', '\r'),
      fc.constantFrom('\nuser-agent: ', '\rallow: /', 'foo', '*', ':'),
      anyText(),
    );
    let groups = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40, size: 'max' }), fc.boolean(), (pieces, big) => {
        const text = pieces.join('');
        const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
        const decoded = parseRobots(big ? utf16.swap16() : utf16);
        const plain = parseRobots(Buffer.from(`\ufeff${text}`));
        expect(outline(decoded)).toEqual(outline(plain));
        expect(decoded.records).toEqual(plain.records);
        groups += decoded.groups.length;
      }),
      { seed: 9309, numRuns: cases(30) },
    );
    expect(groups).toBeGreaterThan(20);
  });

  test.each(BOTH)(
    'bytes that are not UTF-8 are kept, with a warning for each line, in %s',
    (profile) => {
      const file = parse(
        'user-agent: a\ndisallow: /\u00e9\ndisallow: /\u00c3\u00a9\n# \u00e9\nhost: \u00ff\n',
        profile,
      );
      expect(outline(file)).toEqual(['1 a: 2-/\u00e9 3-/\u00c3\u00a9']);
      expect(codes(file).filter((code) => code.endsWith('utf-8'))).toEqual([
        '2 not-utf-8',
        '5 not-utf-8',
      ]);
    },
  );
});

describe('HTML served as robots.txt', () => {
  test.each([
    '<!doctype html>',
    ' \r\n\t<!DOCTYPE html>',
    '<html>',
    '<HEAD>',
    '<?xml version="1.0"?>',
    '<!-- x -->',
  ])('%j gets one warning', (start) => {
    for (const profile of PROFILES) {
      const file = parse(`${start}\n<a href="https://h/">\nnoise\n: x`, profile);
      expect(codes(file)).toEqual(['0 html']);
    }
  });

  test('HTML changes no verdict: the rules in it count', () => {
    const file = parse('<pre>\nuser-agent: a\ndisallow: x\n</pre>\n');
    expect(outline(file)).toEqual(['2 a: 3-x']);
    expect(codes(file)).toEqual(['0 html', '3 malformed-pattern']);
  });

  test.each(['< a', '<', 'x <html>', '<3'])('%j is not HTML', (start) => {
    expect(codes(parse(start))).not.toContain('0 html');
  });
});

describe('RFC 9309 2.5, the parsing limit', () => {
  /** A body whose line `disallow: /last` ends at `end`, followed by `rest`. */
  function bodyWithLastLineEndingAt(end: number, rest: string): Uint8Array {
    const head = 'user-agent: a\n#';
    const last = '\ndisallow: /last';
    return bytes(`${head}${'c'.repeat(end - head.length - last.length)}${last}${rest}`);
  }

  test('the default is 512,000 bytes (500 KiB), and a lower limit is refused', () => {
    expect(LEAST_PARSING_LIMIT).toBe(500 * 1024);
    for (const maxBytes of [
      LEAST_PARSING_LIMIT - 1,
      0,
      -1,
      Number.NaN,
      600_000.5,
      GREATEST_PARSING_LIMIT + 1,
      Infinity,
    ]) {
      for (const profile of PROFILES) {
        const attempt = () => parseRobots(bytes(''), { maxBytes, profile });
        expect(attempt).toThrow(RobotsFilterError);
        expect(attempt).toThrow(expect.objectContaining({ code: 'usage' }));
      }
    }
    expect(() => parseRobots(bytes(''), { maxBytes: GREATEST_PARSING_LIMIT })).not.toThrow();
  });

  test('an unknown profile is refused', () => {
    for (const profile of ['rfc9308', 'toString', '__proto__']) {
      const attempt = () => parseRobots(bytes(''), { profile: profile as Profile });
      expect(attempt).toThrow(expect.objectContaining({ code: 'usage' }));
    }
  });

  test('a body of exactly the limit is parsed whole', () => {
    const file = parseRobots(bodyWithLastLineEndingAt(LEAST_PARSING_LIMIT, ''));
    expect(outline(file)).toEqual(['1 a: 3-/last']);
    expect(file.ignoredBytes).toBe(0);
    expect(file.warnings).toEqual([]);
  });

  test.each(['\n', '\r', '\r\n'])(
    'a line that ends at the limit is whole, whatever its line end: %j',
    (end) => {
      const rest = `${end}disallow: /beyond\n`;
      const file = parseRobots(bodyWithLastLineEndingAt(LEAST_PARSING_LIMIT, rest));
      expect(outline(file)).toEqual(['1 a: 3-/last']);
      expect(file.ignoredBytes).toBe(rest.length);
      expect(codes(file)).toEqual(['0 beyond-limit']);
      expect(file.warnings[0]?.message).toContain(String(rest.length));
    },
  );

  test('the line that the limit truncates is dropped', () => {
    const file = parseRobots(
      bodyWithLastLineEndingAt(LEAST_PARSING_LIMIT + 1, '\ndisallow: /beyond\n'),
    );
    expect(outline(file)).toEqual(['1 a:']);
    expect(codes(file)).toEqual(['0 beyond-limit']);
  });

  test('a line end within the limit keeps the line before it', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const body = bodyWithLastLineEndingAt(
        LEAST_PARSING_LIMIT - end.length,
        `${end}disallow: /beyond\n`,
      );
      expect(outline(parseRobots(body))).toEqual(['1 a: 3-/last']);
    }
  });

  test('a body of one line longer than the limit has no rules', () => {
    const file = parseRobots(bytes(`user-agent: ${'a'.repeat(LEAST_PARSING_LIMIT)}`));
    expect(file.groups).toEqual([]);
    expect(file.ignoredBytes).toBe(12);
  });

  test('a higher limit reads more', () => {
    const body = bodyWithLastLineEndingAt(600_000, '\n');
    expect(outline(parseRobots(body))).toEqual(['1 a:']);
    expect(outline(parseRobots(body, { maxBytes: 600_000 }))).toEqual(['1 a: 3-/last']);
  });

  test.each(['le', 'be'])('the limit counts the bytes of UTF-16%s as received', (order) => {
    const encode = (text: string) => {
      const body = Buffer.from(`\ufeff${text}`, 'utf16le');
      return order === 'le' ? body : body.swap16();
    };
    const lines = `user-agent: a\n#${'c'.repeat(300_000)}\ndisallow: /x\n`;
    expect(parseRobots(encode(lines)).ignoredBytes).toBe(
      (lines.length + 1) * 2 - LEAST_PARSING_LIMIT,
    );
    expect(outline(parseRobots(encode(lines)))).toEqual(['1 a:']);
    const units = LEAST_PARSING_LIMIT / 2 - 1;
    const head = 'user-agent: a\n#';
    const last = '\ndisallow: /last';
    const fitting = `${head}${'c'.repeat(units - head.length - last.length)}${last}`;
    expect(outline(parseRobots(encode(`${fitting}\nallow: /\n`)))).toEqual(['1 a: 3-/last']);
    expect(outline(parseRobots(encode(`${fitting}x\nallow: /\n`)))).toEqual(['1 a:']);
    // One byte of U+0A41 is that of a line end, but the character is not a line end.
    expect(outline(parseRobots(encode(`${fitting}\u0a0a\n`)))).toEqual(['1 a:']);
  });

  test('an odd limit does not split a unit of UTF-16', () => {
    const head = 'user-agent: a\n#';
    const last = '\ndisallow: /last';
    const producer = 'c'.repeat(300_000 - 1 - head.length - last.length);
    const body = Buffer.from(`\ufeff${head}${producer}${last}\nallow: /\n`, 'utf16le');
    for (const maxBytes of [600_000, 600_001]) {
      expect(outline(parseRobots(body, { maxBytes }))).toEqual(['1 a: 3-/last']);
    }
    expect(outline(parseRobots(body, { maxBytes: 599_999 }))).toEqual(['1 a:']);
  });
});

describe('warnings', () => {
  test('up to 100 are listed', () => {
    const file = parse('noise\n'.repeat(100));
    expect(file.warnings).toHaveLength(100);
    expect(file.warnings[99]?.message).toBe(file.warnings[0]?.message);
  });

  test('beyond 100 the last warning counts the rest', () => {
    const file = parse('noise\n'.repeat(1234));
    expect(file.warnings).toHaveLength(100);
    expect(file.warnings[99]).toMatchObject({ code: 'missing-colon', line: 100 });
    expect(file.warnings[99]?.message).toContain('1134');
  });

  test('warnings about the whole file are always listed', () => {
    const file = parse(`<html>\n${'disallow: /\n'.repeat(50_000)}`);
    expect(codes(file).slice(0, 3)).toEqual(['0 html', '0 beyond-limit', '2 rule-before-group']);
  });

  test('a pattern that starts with neither / nor * is malformed (2.2.2); an empty pattern is not', () => {
    const file = parse(
      'user-agent: a\ndisallow: x\nallow: $\ndisallow:\ndisallow: *.gif$\nallow: /\n',
    );
    expect(codes(file)).toEqual(['2 malformed-pattern', '3 malformed-pattern']);
  });
});

/** Pieces of lines that reach most branches of either grammar. */
const PIECES = [
  'user-agent',
  'User Agent',
  'disallow',
  'Disallowed',
  'allow',
  'sitemap',
  'crawl-delay',
  'host',
  ':',
  ': ',
  ' : ',
  ' ',
  '\t',
  '\v',
  '\f',
  '\0',
  '#',
  '*',
  '* x',
  'foo',
  'Bar-Baz',
  '007',
  '/a',
  '/*.gif$',
  '/\u00e9',
  '/\u00c3\u00a9',
  '%2F',
  '\u00ef\u00bb\u00bf',
  '<html>',
  '12.5',
  '=',
];
const LINES = [
  'user-agent: foo',
  'User-Agent: *',
  'user-agent: Bar-Baz/2',
  'disallow: /a',
  'Allow:/b*',
  'disallow:',
  'noise',
  '',
  'sitemap: https://h/s',
  'crawl-delay: 1',
];
const KEYS = [
  'user-agent',
  'User Agent',
  'disallow',
  'Disallowed',
  ' allow',
  'allow\v',
  'host',
  'sitemap',
];
const SEPARATORS = [':', ': ', ' : ', ' ', '\t', '\f', ':\v', ' \v', ''];
const VALUES = [
  '*',
  '* x',
  '*\v',
  'foo',
  'Bar-Baz/1',
  '007',
  '/a',
  '/*.gif$',
  '/b c',
  '/\u00e9',
  '/x:y',
  'x',
  '',
];
const TAILS = ['', '', ' ', '#', ' # x', '\0', '\v', ' \0#', '#\0'];
const line = fc.oneof(
  fc.constantFrom(...LINES),
  fc
    .tuple(...[KEYS, SEPARATORS, VALUES, TAILS].map((pieces) => fc.constantFrom(...pieces)))
    .map((parts) => parts.join('')),
  fc
    .array(fc.constantFrom(...PIECES), { maxLength: 6, size: 'max' })
    .map((pieces) => pieces.join('')),
);
const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
const bodies = fc
  .array(fc.tuple(line, lineEnd), { minLength: 15, maxLength: 40, size: 'max' })
  .map((lines) => lines.flat().join(''));

/**
 * RFC 9309 section 2.2 and the spec notes, implemented with strings and regular expressions, as
 * literally as possible.
 */
function naiveOutline(body: string, google: boolean): string[] {
  const space = google ? '[ \\t\\v\\f]' : '[ \\t]';
  const trim = (text: string) =>
    text.replace(new RegExp(`^${space}+`), '').replace(new RegExp(`${space}+$`), '');
  const groups: { line: number; tokens: string[]; rules: string[] }[] = [];
  const text = body.replace(
    google ? /^(\u00ef\u00bb\u00bf|\u00ef\u00bb|\u00ef)/ : /^\u00ef\u00bb\u00bf/,
    '',
  );
  for (const [index, whole] of text.split(/\r\n|\r|\n/).entries()) {
    if (!google && whole.includes('\0')) continue;
    const cut = google ? whole.slice(0, 16_663).replace(/\0.*$/s, '') : whole;
    const record = trim(cut.replace(/#.*$/s, ''));
    const parts =
      /^([^:]*):(.*)$/s.exec(record) ?? (google ? /^([^ \t]+)[ \t]+([^ \t]+)$/.exec(record) : null);
    if (parts === null) continue;
    const key = trim(parts[1] ?? '').toLowerCase();
    const value = trim(parts[2] ?? '');
    const is = (...keys: string[]) =>
      keys.some((k) => (google ? key.startsWith(k) : key === keys[0]));
    const last = groups.at(-1);
    if (is('user-agent', 'useragent', 'user agent')) {
      const group =
        last !== undefined && last.rules.length === 0
          ? last
          : { line: index + 1, tokens: [], rules: [] };
      if (group !== last) groups.push(group);
      const star = new RegExp(`^\\*(${space}|$)`).test(value);
      const token = star ? '*' : (/^[A-Za-z_-]*/.exec(value)?.[0] ?? '').toLowerCase();
      if (google || token !== '') group.tokens.push(token);
    } else if (is('allow')) {
      last?.rules.push(`${index + 1}+${value}`);
    } else if (is('disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw')) {
      last?.rules.push(`${index + 1}-${value}`);
    }
  }
  return groups.map((group) =>
    [`${group.line} ${group.tokens.join(',')}:`, ...group.rules].join(' '),
  );
}

describe.each(BOTH)('properties, in %s', (profile) => {
  test('groups, rules and line numbers agree with a naive parser', () => {
    let rules = 0;
    fc.assert(
      fc.property(bodies, (body) => {
        const lines = outline(parse(body, profile));
        expect(lines).toEqual(naiveOutline(body, profile === 'google'));
        rules += lines.join(' ').split('/').length - 1;
      }),
      { seed: 9309, numRuns: cases(1000) },
    );
    expect(rules).toBeGreaterThan(1000);
  });

  test('random bytes never throw, and yield at most 100 warnings', () => {
    const byte = fc.oneof(
      fc.nat(255),
      fc.constantFrom(0, 9, 10, 11, 13, 32, 35, 42, 58, 0xef, 0xbb, 0xbf, 0xff, 0xfe),
    );
    let warned = 0;
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 600, size: 'max' }), (array) => {
        const file = parseRobots(Uint8Array.from(array), { profile });
        expect(file.warnings.length).toBeLessThanOrEqual(100);
        warned += file.warnings.length;
      }),
      { seed: 9309, numRuns: cases(250) },
    );
    expect(warned).toBeGreaterThan(400);
  });

  test('patterns are views into the memory of the body, at the line that they name', () => {
    let rules = 0;
    fc.assert(
      fc.property(bodies, fc.nat(9), fc.boolean(), (text, offset, asBuffer) => {
        const memory = new Uint8Array(text.length + offset + 5).fill(0x2f);
        memory.set(bytes(text), offset);
        const body = asBuffer
          ? Buffer.from(memory.buffer, offset, text.length)
          : memory.subarray(offset, offset + text.length);
        for (const group of parseRobots(body, { profile }).groups) {
          for (const { pattern, line: number } of group.rules) {
            const start = pattern.byteOffset - body.byteOffset;
            expect(pattern.constructor).toBe(Uint8Array);
            expect(pattern.buffer).toBe(memory.buffer);
            expect(start).toBeGreaterThanOrEqual(0);
            expect(start + pattern.length).toBeLessThanOrEqual(body.length);
            expect(text.slice(0, start).split(/\r\n|\r|\n/)).toHaveLength(number);
            rules++;
          }
        }
      }),
      { seed: 9309, numRuns: cases(250) },
    );
    expect(rules).toBeGreaterThan(500);
  });

  test('CR, LF and CRLF give the same result for every line', () => {
    let rules = 0;
    fc.assert(
      fc.property(fc.array(line, { minLength: 10, maxLength: 30, size: 'max' }), (lines) => {
        const [lf, cr, crlf] = ['\n', '\r', '\r\n'].map((end) => parse(lines.join(end), profile));
        expect(cr).toEqual(lf);
        expect(crlf).toEqual(lf);
        rules += lf?.groups.flatMap((group) => group.rules).length ?? 0;
      }),
      { seed: 9309, numRuns: cases(200) },
    );
    expect(rules).toBeGreaterThan(200);
  });

  test('a body in shared memory gives the same result', () => {
    const body = bytes('user-agent: a\ndisallow: /\u00e9\nsitemap: https://h/\u00c3\u00a9\n');
    const shared = new Uint8Array(new SharedArrayBuffer(body.length));
    shared.set(body);
    const file = parseRobots(shared, { profile });
    expect(outline(file)).toEqual(['1 a: 2-/\u00e9']);
    expect(file.sitemaps).toEqual(parseRobots(body, { profile }).sitemaps);
    expect(codes(file)).toEqual(['2 not-utf-8']);
  });
});

describe('growth', () => {
  /** How often the cursor reads a byte in a walk over all lines of a body. */
  function reads(text: string, lineBytes: number): number {
    let count = 0;
    const counted = new Proxy(bytes(text), {
      get(target, property) {
        if (typeof property === 'string' && property >= '0' && property <= '9~') count++;
        return Reflect.get(target, property, target);
      },
    });
    const cursor = new LineCursor(counted, 0, text.length, lineBytes);
    while (cursor.advance());
    return count;
  }

  test.each([
    ['one line', 'a'.repeat(20_000)],
    ['one comment', '#'.repeat(20_000)],
    ['colons', ':'.repeat(20_000)],
    ['NULs', '\0'.repeat(20_000)],
    ['LF', '\n'.repeat(20_000)],
    ['CR', '\r'.repeat(20_000)],
    ['CRLF', '\r\n'.repeat(10_000)],
    ['short lines', 'a:#\0\r\n'.repeat(3000)],
  ])('no byte of a body is read more than three times: %s', (_name, text) => {
    for (const lineBytes of [Number.POSITIVE_INFINITY, 16_663, 1]) {
      const count = reads(text, lineBytes);
      expect(count).toBeGreaterThanOrEqual(text.length);
      expect(count).toBeLessThanOrEqual(3 * text.length);
    }
  });

  // A parser with any quadratic part would exceed the timeout on these bodies.
  const timeout = 15_000;
  const many = 50_000;
  test.each([
    ['user-agent lines in one group', 'user-agent: a\n'.repeat(many), 1, many, 0],
    ['groups', 'user-agent: a\ndisallow:/\n'.repeat(many), many, many, many],
    ['rules in one group', `user-agent: a\n${'allow:/\n'.repeat(many)}`, 1, 1, many],
    [
      'crawl-delays in a group of many tokens',
      'user-agent:a\ncrawl-delay:1\n'.repeat(many),
      1,
      many,
      0,
    ],
  ])('many %s', { timeout }, (_name, text, groups, tokens, rules) => {
    for (const profile of BOTH) {
      const file = parseRobots(bytes(text), { profile, maxBytes: GREATEST_PARSING_LIMIT });
      expect(file.groups).toHaveLength(groups);
      expect(file.groups.reduce((sum, group) => sum + group.productTokens.length, 0)).toBe(tokens);
      expect(file.groups.reduce((sum, group) => sum + group.rules.length, 0)).toBe(rules);
      expect(file.warnings.length).toBeLessThanOrEqual(100);
    }
  });

  test('one line as long as the body', { timeout }, () => {
    for (const piece of ['a', ' ', ':', '#', '\0', '\u00e9', '\v', '=:', '*']) {
      for (const prefix of [
        '',
        'disallow ',
        'user-agent: ',
        'user-agent: a\ndisallow: /',
        'host: ',
      ]) {
        for (const profile of BOTH) {
          const body = bytes(prefix + piece.repeat(50_000 / piece.length));
          const file = parseRobots(body, { profile });
          expect(file.groups.length).toBeLessThanOrEqual(1);
        }
      }
    }
  });
});

test('the groups of some product tokens are those of the whole file', () => {
  let left = 0;
  let right = 0;
  for (let seed = 0; seed < 600; seed++) {
    const profile = PROFILES[seed % 3] as Profile;
    const random = new Random(seed);
    const { robots } = hostileFile(random, profile, { urls: 1, chains: 1 });
    const whole = parse(robots, profile);
    const named = [...new Set(whole.groups.flatMap(({ productTokens }) => productTokens))];
    const wanted = named.filter(() => random.between(0, 2) === 0);
    const expected = whole.groups.flatMap((group): Pick<Group, 'productTokens' | 'rules'>[] => {
      const productTokens = group.productTokens.filter((token) => wanted.includes(token));
      return productTokens.length === 0 ? [] : [{ productTokens, rules: group.rules }];
    });
    const parts = { tokens: new Names(wanted), records: false, warnings: 'none' } as const;
    const file = placeRules(bytes(robots), { profile }, parts);
    const groups = file.groups.map(({ productTokens, firstRule, rulesEnd }) => ({
      productTokens,
      rules: file.rules.slice(firstRule, rulesEnd),
    }));
    expect(groups).toEqual(expected);
    expect([file.records, file.sitemaps, file.crawlDelays, file.warnings].flat()).toEqual([]);
    left += expected.length;
    right += whole.groups.length - expected.length;
  }
  expect(Math.min(left, right)).toBeGreaterThan(200);
});
