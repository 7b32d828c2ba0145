import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalHost,
  formatAuthority,
  parseAuthority,
  parseFileName,
} from '../../src/protocol/authority.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { anyText } from '../random/text.js';

/**
 * The host that Node reads in a URL. Not by URL.canParse: in Node 20, once optimised, it rejects
 * hosts such as `ü`.
 */
function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

describe('canonicalHost, WHATWG URL host parsing', () => {
  test.each([
    ['EXAMPLE.com', 'example.com'],
    ['example.com.', 'example.com'],
    ['example.com..', 'example.com..'],
    ['my_host', 'my_host'],
    ['-a-.b', '-a-.b'],
    ['.a', '.a'],
    ['a--b.c', 'a--b.c'],
    ['3com.a1', '3com.a1'],
    ['a.1b', 'a.1b'],
    ['0x7f.a', '0x7f.a'],
    ['%65xample%2Ecom', 'example.com'],
    ['b\u00fccher.de', 'xn--bcher-kva.de'],
    ['B\u00dcCHER.de', 'xn--bcher-kva.de'],
    ['b%C3%BCcher.de', 'xn--bcher-kva.de'],
    ['xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['XN--BCHER-KVA.de', 'xn--bcher-kva.de'],
    ['bu\u0308cher.de', 'xn--bcher-kva.de'],
    ['fa\u00df.de', 'xn--fa-hia.de'],
    ['a\u3002b', 'a.b'],
    ['\uff45xample.com', 'example.com'],
    ['a\u00adb', 'ab'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['1.2.3', '1.2.0.3'],
    ['\uff11\uff12\uff17.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['[2001:DB8::0:1]', '[2001:db8::1]'],
    ['[::127.0.0.1]', '[::7f00:1]'],
  ])('%j is %j', (host, canonical) => {
    expect(canonicalHost(host)).toBe(canonical);
    expect(canonicalHost(new Uint8Array(Buffer.from(host)))).toBe(canonical);
  });

  test.each([
    ...['', ' ', 'a b', ' a', 'a ', 'a\t', '\ta', 'a\nb', 'a\rb', 'a\0', 'a\x7f', '\x1fa'],
    ...[
      'a/b',
      'a\\b',
      'a?b',
      'a#b',
      'a@b',
      '@a',
      'u:p@a',
      'a:80',
      'a:',
      ':80',
      '::1',
      '/',
      '#',
      'a<b',
      'a|b',
      'a^b',
    ],
    ...['%', '%zz', 'a%2Fb', 'a%3A80', 'a%40b', 'a%00', 'a%20b', 'a%09b', 'a%25b', '%E9', '%FF.de'],
    ...[
      '[',
      ']',
      '[]',
      '[::1',
      '::1]',
      '[::1]:80',
      '[::1]a',
      'a[::1]',
      '[a]',
      '[::1]]',
      '[[::1]]',
      '[::1][::1]',
      '[::1]:80]',
      '[::1]@[::1]',
    ],
    ...['[::1%25eth0]', '[1.2.3.4]', '[::1/x]', '[::1]@[::1]', '[:::1]', '[1:2]'],
    ...['xn--\u00fc', '\ufffd', '\ud800', '\u00ad', '\u2100', '\uff0f', '\uff05\uff14\uff11'],
    ...['256.1.1.1', '1.2.3.4.5', '0x100000000', '09', 'a.09', 'a.0x1', '1..2'],
  ])('%j is no host', (host) => {
    expect(canonicalHost(host)).toBeUndefined();
    expect(canonicalHost(new Uint8Array(Buffer.from(host)))).toBeUndefined();
  });

  // The standard now allows A-labels that are not Punycode; Node 24 follows it, Node 20 does not.
  test.each(['xn--', 'xn--a', 'xn--a.com'])(
    '%j means the same as in the URL of this version of Node',
    (host) => {
      expect(canonicalHost(host)).toBe(readUrl(`http://${host}/`)?.hostname);
    },
  );

  test('bytes that are not UTF-8 are not a host', () => {
    for (const bytes of [[0xff], [0x61, 0xe9], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xae]]) {
      expect(canonicalHost(Uint8Array.from(bytes))).toBeUndefined();
    }
  });

  test('bytes are read from a view of a larger memory', () => {
    const memory = new Uint8Array(Buffer.from('xxExample.COMyy'));
    expect(canonicalHost(memory.subarray(2, 13))).toBe('example.com');
  });

  test('at most 255 bytes in canonical form, without a trailing dot', () => {
    const host = `${'a.'.repeat(127)}a`;
    expect(host).toHaveLength(255);
    expect(canonicalHost(host)).toBe(host);
    expect(canonicalHost(`${host}.`)).toBe(host);
    expect(canonicalHost(`${host}b`)).toBeUndefined();
  });

  test('agrees with new URL on names of letters, digits, dots and hyphens', () => {
    const random = new Random(2);
    let kept = 0;
    let refused = 0;
    for (let round = 0; round < cases(10_000); round++) {
      const host = random.run(['a', 'x', 'xn', 'f', '-', '.', '.', '0', '1', '7'], 1, 7);
      const canonical = canonicalHost(host);
      if (canonical === host) kept++;
      if (canonical === undefined) refused++;
      const read = readUrl(`http://${host}/`)?.hostname;
      const isDotted = read?.endsWith('.') === true && read !== '.' && !read.endsWith('..');
      const trimmed = isDotted ? read.slice(0, -1) : read;
      expect(canonical, host).toBe(trimmed === '' ? undefined : trimmed);
    }
    expect(kept).toBeGreaterThan(2_500);
    expect(refused).toBeGreaterThan(500);
  });

  test('at most 2,048 bytes as given', () => {
    const escaped = '%61'.repeat(255);
    expect(canonicalHost(escaped)).toBe('a'.repeat(255));
    const ignored = '\u00ad'.repeat(1023);
    expect(canonicalHost(`${ignored}ab`)).toBe('ab');
    expect(canonicalHost(`${ignored}abc`)).toBeUndefined();
    expect(canonicalHost(Buffer.from(`${ignored}abc`))).toBeUndefined();
    expect(canonicalHost('a'.repeat(10_000_000))).toBeUndefined();
    expect(canonicalHost('\u4e00'.repeat(10_000_000))).toBeUndefined();
  });

  test('agrees with new URL on every host that a URL may have', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'a',
        'B',
        'xn--',
        'xn--bcher-kva',
        '-',
        '_',
        '.',
        '\u3002',
        '0',
        '1',
        '255',
        '0x',
        '08',
        'z9',
      ),
      fc.constantFrom(
        '\u00fc',
        '\u00df',
        '\u0130',
        '\u200d',
        '\u00ad',
        '\uff0e',
        '\u2100',
        '\ud83d\udca9',
        '\ufffd',
        '\u05d0',
      ),
      fc.constantFrom(
        '%41',
        '%2e',
        '%2F',
        '%C3%BC',
        '%',
        '!',
        '$',
        '&',
        "'",
        '(',
        '*',
        '+',
        ',',
        ';',
        '=',
        '~',
        '`',
        '{',
        '"',
        '<',
        '^',
        '|',
      ),
      fc.constantFrom('[::1]', '[', ']', 'f'),
    );
    let valid = 0;
    let invalid = 0;
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6, size: 'max' }), (pieces) => {
        const host = pieces.join('');
        const url = readUrl(`http://${host}/`)?.hostname ?? '';
        const isDotted = url.endsWith('.') && url !== '.' && !url.endsWith('..');
        const expected = isDotted ? url.slice(0, -1) : url;
        expect(canonicalHost(host) ?? '').toBe(expected);
        if (expected === '') invalid++;
        else valid++;
      }),
      { seed: 9309, numRuns: cases(2000) },
    );
    expect(valid).toBeGreaterThan(300);
    expect(invalid).toBeGreaterThan(300);
  });

  test('no byte of a host ends the host of a URL, and nothing throws', () => {
    const hostile = fc.array(
      fc.oneof(
        fc.constantFrom(
          'a',
          '.',
          ':',
          '/',
          '\\',
          '@',
          '?',
          '#',
          '[',
          ']',
          '%',
          '\t',
          '\n',
          ' ',
          '80',
          '//',
          'u:p@',
        ),
        anyText(3),
      ),
      { maxLength: 8, size: 'max' },
    );
    let refused = 0;
    fc.assert(
      fc.property(hostile, (pieces) => {
        const host = pieces.join('');
        const canonical = canonicalHost(host);
        if (canonical === undefined) {
          refused++;
          return;
        }
        const url = new URL(`http://${host}`);
        expect([canonical, `${canonical}.`]).toContain(url.hostname);
        expect(`${url.username}${url.password}${url.port}${url.search}${url.hash}`).toBe('');
        expect(url.pathname).toBe('/');
      }),
      { seed: 9309, numRuns: cases(1200) },
    );
    expect(refused).toBeGreaterThan(1000);
    expect(refused).toBeLessThan(2990);
  });
});

describe('parseAuthority', () => {
  const of = (scheme: string | undefined, host: string, port: number | undefined) => ({
    scheme,
    host,
    port,
  });

  test.each([
    ['example.com', of(undefined, 'example.com', undefined)],
    ['EXAMPLE.com.', of(undefined, 'example.com', undefined)],
    ['b\u00fccher.de', of(undefined, 'xn--bcher-kva.de', undefined)],
    ['README', of(undefined, 'readme', undefined)],
    ['my_host', of(undefined, 'my_host', undefined)],
    ["a&b~c!$'+;=", of(undefined, "a&b~c!$'+;=", undefined)],
    ['127.1', of(undefined, '127.0.0.1', undefined)],
    ['[::1]', of(undefined, '[::1]', undefined)],
  ])('the name %j is a host', (text, authority) => {
    expect(parseAuthority(text)).toEqual(authority);
  });

  test.each([
    ['example.com:8080', of(undefined, 'example.com', 8080)],
    ['example.com:80', of(undefined, 'example.com', 80)],
    ['example.com:0', of(undefined, 'example.com', 0)],
    ['example.com:00443', of(undefined, 'example.com', 443)],
    ['example.com:65535', of(undefined, 'example.com', 65535)],
    ['[::1]:8080', of(undefined, '[::1]', 8080)],
    ['my_host_80:81', of(undefined, 'my_host_80', 81)],
    ['example.com:', of(undefined, 'example.com', undefined)],
    ['[::1]:', of(undefined, '[::1]', undefined)],
  ])('the name %j is a host and a port, as given', (text, authority) => {
    expect(parseAuthority(text)).toEqual(authority);
    expect(parseFileName(text)).toEqual(authority);
  });

  test.each([
    ['example.com_8080', of(undefined, 'example.com', 8080)],
    ['example.com_443', of(undefined, 'example.com', 443)],
    ['example.com_65535', of(undefined, 'example.com', 65535)],
    ['my_2024', of(undefined, 'my', 2024)],
    ['my_host_80', of(undefined, 'my_host', 80)],
    ['robots.txt_80', of(undefined, 'robots.txt', 80)],
  ])('the name %j is a host and a port for a file, and else a host', (text, authority) => {
    expect(parseFileName(text)).toEqual(authority);
    expect(parseAuthority(text)).toEqual(of(undefined, text, undefined));
  });

  test('an IPv6 address has a port after an underscore only in the name of a file', () => {
    expect(parseFileName('[::1]_8080')).toEqual(of(undefined, '[::1]', 8080));
    expect(parseAuthority('[::1]_8080')).toBeUndefined();
  });

  test.each([
    'example.com_65536',
    'example.com_123456',
    'example.com_000080',
    'example.com_',
    'example.com_8a',
    '_80',
    '._80',
    'a_-1',
  ])('what follows the last _ of %j is no port', (text) => {
    const authority = parseFileName(text);
    if (text.startsWith('.')) expect(authority).toBeUndefined();
    else expect(authority).toEqual(of(undefined, text, undefined));
  });

  test.each([
    ['http://example.com', of('http', 'example.com', undefined)],
    ['http://example.com:80', of('http', 'example.com', undefined)],
    ['https://example.com:443/', of('https', 'example.com', undefined)],
    ['ftp://example.com:21/robots.txt', of('ftp', 'example.com', undefined)],
    ['https://example.com:80', of('https', 'example.com', 80)],
    ['http://example.com:443', of('http', 'example.com', 443)],
    ['http://example.com:', of('http', 'example.com', undefined)],
    ['https://example.com/robots.txt', of('https', 'example.com', undefined)],
    ['https://example.com/any/path?q=http://other#f', of('https', 'example.com', undefined)],
    ['https://example.com?q', of('https', 'example.com', undefined)],
    ['https://example.com#f', of('https', 'example.com', undefined)],
    ['https://example.com\\path', of('https', 'example.com', undefined)],
    ['https://example.com/a@b:c', of('https', 'example.com', undefined)],
    ['HTTP://EXAMPLE.com', of('http', 'example.com', undefined)],
    ['http://my_host_80/', of('http', 'my_host_80', undefined)],
    ['http://ex%61mple.com/', of('http', 'example.com', undefined)],
    ['http://[::0:1]:8080/x', of('http', '[::1]', 8080)],
    ['http://robots.txt/', of('http', 'robots.txt', undefined)],
  ])('the URL %j has an authority', (text, authority) => {
    expect(parseAuthority(text)).toEqual(authority);
  });

  test.each([
    ...[
      '',
      '.',
      '..',
      '.git',
      '.example.com',
      ' ',
      'a b',
      'robots.txt',
      'ROBOTS.TXT',
      'robots.txt:80',
      'a/b',
      '-/-',
    ],
    ...['a%41', 'a,b', 'a(1)', 'a{b', 'a\n', 'a\0', 'a*', '::1', '[::1', '[::1]x', '[x]', ':80'],
    ...[
      'a:65536',
      'a:-1',
      'a:+1',
      'a:8x',
      'a:80:80',
      'a:8 0',
      'a:\u0661',
      'u@a',
      'u:p@a',
      '1.2.3.4.5',
      '\ufffd',
    ],
    ...[
      'mailto://a',
      'ws://a',
      'file:///a',
      '://a',
      'http:/a',
      'http:a',
      'http://',
      'http:///a',
      'https://?',
      ' http://a',
    ],
    ...[
      'http://u@a',
      'http://u:p@a',
      'http://@a',
      'http://u:80@a/',
      'http://a:65536',
      'http://a:b',
      'http://a b',
      'http://a^b',
    ],
    'x http://a',
  ])('%j has none', (text) => {
    expect(parseAuthority(text)).toBeUndefined();
  });

  test('a long text is read in linear time', () => {
    const long = 'a'.repeat(5_000_000);
    expect(parseAuthority(long)).toBeUndefined();
    expect(parseAuthority(`http://${long}`)).toBeUndefined();
    expect(parseAuthority('a:'.repeat(2_000_000))).toBeUndefined();
    expect(parseAuthority('_1'.repeat(2_000_000))).toBeUndefined();
    expect(parseAuthority(`a:${'0'.repeat(5_000_000)}`)?.port).toBe(0);
    expect(parseAuthority(`http://a/${long}`)?.host).toBe('a');
  });

  test('agrees with new URL on texts with a scheme, except for user information and odd hosts', () => {
    const text = fc
      .tuple(
        fc.constantFrom('http', 'https', 'ftp', 'HTTPS'),
        fc.constantFrom(
          'a',
          'Example.COM',
          'a_b',
          'b\u00fccher.de',
          '127.1',
          '[::0:1]',
          'xn--a',
          'a b',
          '%41',
        ),
        fc.constantFrom('', ':', ':80', ':443', ':21', ':8080', ':080', ':65535', ':65536', ':x'),
        fc.constantFrom('', '/', '/robots.txt', '?x', '#x', '/a:1@b', '\\x'),
      )
      .map(([scheme, host, port, rest]) => `${scheme}://${host}${port}${rest}`);
    let valid = 0;
    fc.assert(
      fc.property(text, (url) => {
        const authority = parseAuthority(url);
        const read = readUrl(url);
        if (read === undefined) {
          expect(authority).toBeUndefined();
          return;
        }
        const { protocol, hostname, port } = read;
        expect(authority).toEqual(
          of(protocol.slice(0, -1), hostname, port === '' ? undefined : Number(port)),
        );
        valid++;
      }),
      { seed: 9309, numRuns: cases(500) },
    );
    expect(valid).toBeGreaterThan(300);
  });
});

describe('formatAuthority', () => {
  test.each([
    ['https', 'example.com', 8443, 'https://example.com:8443'],
    ['http', 'example.com', undefined, 'http://example.com'],
    [undefined, 'example.com', undefined, 'example.com'],
    [undefined, 'example.com', 0, 'example.com:0'],
    ['ftp', '[::1]', 2121, 'ftp://[::1]:2121'],
  ] as const)('%j, %j, %j is %j', (scheme, host, port, text) => {
    expect(formatAuthority({ scheme, host, port })).toBe(text);
    expect(parseAuthority(text)).toEqual({ scheme, host, port });
  });
});
