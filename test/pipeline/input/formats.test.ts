import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compressionOf } from '../../../src/files/compression.js';
import { describeUnsupported, unsupportedBody } from '../../../src/files/unsupported-formats.js';
import {
  FORMATS,
  formatNamed,
  isEnough,
  recogniseFormat,
  sniffFormat,
} from '../../../src/pipeline/input/formats.js';
import {
  byteOrderMarkBytes,
  HEAD_BYTES,
  needsMoreBytes,
} from '../../../src/pipeline/input/raw-input.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const MARK = '\xef\xbb\xbf';

describe('--input auto: the format by the first bytes', () => {
  const cases: [head: string, format: string, note: string][] = [
    ['', 'text', 'nothing'],
    [' \t\r\n', 'text', 'white space only'],
    ['https://example.com/\n', 'text', 'a URL'],
    ['#[{"', 'text', 'anything else'],
    ['\0', 'text', 'a NUL'],
    ['{"url":"https://example.com/"}\n', 'ndjson', 'an object on its line'],
    ['{"url":"https://example.com/"} \t\r\n{', 'ndjson', 'white space after it'],
    ['{"url":"https://example.com/"}', 'ndjson', 'no line end'],
    ['\n\n  {"a":1}\n', 'ndjson', 'empty lines and indentation before it'],
    [`${MARK}{"a":1}\n`, 'ndjson', 'a byte order mark before it'],
    ['{"a":"}\\"{[","b":[{}]}\n', 'ndjson', 'brackets and quotes in strings'],
    ['{"a":1} trailing\n', 'ndjson', 'one bad record in a file of lines'],
    ['{"a":1},\n{"a":2}\n', 'ndjson', 'bad records in a file of lines'],
    ['{"a":"unterminated\n{"a":2}\n', 'ndjson', 'a first line cut within a string'],
    ['{"a":"unterminated\\\n{"a":2}\n', 'ndjson', 'a first line cut after a backslash'],
    [`{"a":"${'x'.repeat(HEAD_BYTES)}`, 'ndjson', 'a first line longer than the head'],
    ['{\n  "a": 1\n}\n', 'json', 'a pretty-printed object'],
    ['{"a":1,\n"b":2}', 'json', 'an object over two lines'],
    ['{"a":1}{"a":2}\n', 'json', 'two objects on a line'],
    ['{"a":1} "b"\n', 'json', 'an object and a string on a line'],
    ['{} []', 'json', 'an object and an array on a line'],
    ['[', 'json', 'an array'],
    [`${MARK} \n["a"]`, 'json', 'an array after a byte order mark and white space'],
    ['"https://example.com/"\n', 'json', 'a string'],
    ['com,example)/ 20240101000000 {"url": "https://example.com/"}\n', 'cdxj', 'CDXJ'],
    [' CDX N b a m s k r M S V g\n', 'cdx', 'the header of an index'],
    [`${MARK} CDX a\r\n`, 'cdx', 'a header of one column'],
    ['CDX N b a\n', 'cdx', 'a header without the first delimiter'],
    ['\tCDX\tN\ta\n', 'cdx', 'a header with tabs'],
    [' CDX Nb a\n', 'text', 'a word that is no letter'],
    ['https://example.com/ CDX N b a\n', 'text', 'a URL before a header'],
    ['com,a)/ 20240101000000 http://a.com/ text/html 200 A 7\n', 'cdx', 'seven columns'],
    ['com,a)/ 20240101000000 dns:a.com', 'cdx', 'three columns, not whole'],
    ['http://a.com/ 20240101000000 http://b.com/ b c d e f\n', 'text', 'a URL as key'],
    ['com,a)/ 20240101000000 note: http://a.com/\n', 'text', 'a colon that ends no scheme'],
    ['com,a)/ 20240101 http://a.com/ text/html 200 A 7\n', 'text', 'another time'],
    ['com,a)/ 20240101000000 - text/html 200 A 7\n', 'text', 'no URL'],
    [' 20240101000000 http://a.com/ text/html 200 A 7 8\n', 'text', 'no key'],
    ['WARC/1.1\r\nWARC-Type: warcinfo\r\n', 'warc', 'a WARC file'],
    ['WARC/x.1\r\n', 'text', 'a version that is none'],
    ['com,example)/ 20240101000000 text\n', 'text', 'a key and a time without an object'],
    ['com,example)/{ 2024', 'text', 'a key cut within its time'],
  ];
  it.each(cases)('%j is %s: %s', (head, format) => {
    expect(sniffFormat(bytes(head))).toBe(format);
  });

  it('finds each listed format by its name', () => {
    expect(FORMATS.map(({ name }) => formatNamed(name).name)).toEqual([
      'parquet',
      'warc',
      'json',
      'ndjson',
      'cdx',
      'cdxj',
      'log',
      'csv',
      'tsv',
      'text',
    ]);
  });

  it('decides only what more bytes cannot change', () => {
    let certain = 0;
    for (const [text] of cases) {
      const head = bytes(text.slice(0, 200));
      for (let cut = 0; cut <= head.length; cut++) {
        const format = recogniseFormat(head.subarray(0, cut));
        if (format === undefined) continue;
        certain++;
        expect(recogniseFormat(head), `${text} cut at ${cut}`).toBe(format);
      }
    }
    expect(certain).toBeGreaterThan(100);
  });

  it('waits for the rest of a byte order mark, white space or the first line', () => {
    for (const head of ['', '\xef', '\xef\xbb', MARK, ' ', '{', '{"a":1', '{"a":1}', '{"a":1} ']) {
      expect(recogniseFormat(bytes(head)), head).toBeUndefined();
    }
  });
});

describe('the bytes that open an input', () => {
  it.each([
    ['https://example.com/', '\n'],
    ['\n\nurl,title', '\n'],
    ['"url","title"', '\n'],
    [`${MARK}\n"url","a\n\n""b"`, '\n'],
    ['"https://example.com/?q=\\"a,b\\""', '\n'],
    ['{"a":1}', '\n{'],
  ])('are those of the first line: %j', (line, end) => {
    for (let length = 0; length <= line.length; length++) {
      const head = bytes(line.slice(0, length));
      expect(isEnough(head, 'auto', false), `${length} bytes`).toBe(false);
    }
    expect(isEnough(bytes(line + end), 'auto', false)).toBe(true);
  });
});

describe('compression and encoding by the first bytes', () => {
  it('knows gzip (RFC 1952, section 2.3.1)', () => {
    expect(compressionOf(gzipSync('x'))?.name).toBe('gzip');
    expect(compressionOf(bytes('\x1f\x8b'))?.name).toBe('gzip');
    expect(compressionOf(bytes('\x1f'))).toBeUndefined();
    expect(compressionOf(bytes('https'))).toBeUndefined();
    expect(compressionOf(bytes(''))).toBeUndefined();
  });

  it('asks for more bytes', () => {
    for (const head of ['', '\x1f', '\xef', '\xef\xbb']) {
      expect(needsMoreBytes(bytes(head))).toBe(true);
    }
    for (const head of ['h', '\x1f\x8b', '\x1fx', MARK, '\xefx']) {
      expect(needsMoreBytes(bytes(head))).toBe(false);
    }
  });

  it('knows a byte order mark', () => {
    expect(byteOrderMarkBytes(bytes(`${MARK}x`))).toBe(3);
    expect(byteOrderMarkBytes(bytes(`x${MARK}`))).toBe(0);
    expect(byteOrderMarkBytes(bytes('\xef\xbb'))).toBe(0);
  });

  it('names data that must be converted first', () => {
    expect(describeUnsupported(bytes('\x28\xb5\x2f\xfd\x04'))).toContain('is zstd data;');
    expect(describeUnsupported(bytes('\xff\xfeh\0'))).toContain('is UTF-16 text;');
    expect(describeUnsupported(bytes('https://example.com/'))).toBeUndefined();
    expect(describeUnsupported(bytes(''))).toBeUndefined();
  });

  it.each([
    ['a WARC file', 'WARC/1.1\r\nWARC-Type: warcinfo\r\n'],
    ['a Parquet file', 'PAR1\x15\x04'],
    ['an ARC file', 'filedesc://a.arc 0.0.0.0 20100101000000 text/plain 76\n'],
    ['an Arrow file', 'ARROW1\0\0'],
    ['a Feather file', 'FEA1\0'],
    ['an ORC file', 'ORC\x0a\x0b'],
    ['an Avro file', 'Obj\x01\x04'],
    ['an SQLite database', 'SQLite format 3\0'],
    ['a PDF document', '%PDF-1.7\n'],
    ['a tar archive', `robots.txt${'\0'.repeat(247)}ustar\x0000`],
    ['a tar archive', `robots.txt${'\0'.repeat(247)}ustar  \0root`],
  ])('names %s, and says what to do, on one line', (name, content) => {
    for (const compression of [undefined, 'gzip']) {
      const message = describeUnsupported(bytes(content), compression) ?? '';
      expect(message.startsWith(`is ${name}`)).toBe(true);
      expect(message).toMatch(
        /Convert it to|Its URLs are read|Send it through|Write it to a separate/,
      );
      expect(message).not.toContain('\n');
    }
    // As a robots.txt, a PDF document is text without rules.
    const asBody = name === 'a PDF document' ? undefined : name;
    expect(unsupportedBody(bytes(content))?.name).toBe(asBody);
    // Two bytes decide nothing.
    expect(describeUnsupported(bytes(content.slice(0, 2)))).toBeUndefined();
  });

  it.each(['ustard\n', 'ustar', 'ustar \n', 'ustar  \n'])(
    'does not take text for a tar archive: %j',
    (word) => {
      const text = bytes(`Disallow: /${'a'.repeat(246)}${word}`);
      expect(describeUnsupported(text)).toBeUndefined();
      expect(unsupportedBody(text)).toBeUndefined();
    },
  );

  it('waits for the rest of the magic bytes and no longer', () => {
    for (const beginning of ['P', 'PAR', 'WARC/1', '\x28\xb5', 'SQLite format']) {
      expect(needsMoreBytes(bytes(beginning)), beginning).toBe(true);
    }
    for (const beginning of ['h', 'Pa', 'WARC\n', '{', 'http']) {
      expect(needsMoreBytes(bytes(beginning)), beginning).toBe(false);
    }
  });

  it('recognises compressed data, and compressed data that was decoded as text', () => {
    const text = 'User-agent: *\nDisallow: /\n';
    expect(unsupportedBody(deflateSync(text))?.name).toBe('zlib data');
    expect(unsupportedBody(Buffer.from(gzipSync(text).toString('utf8')))).toEqual({
      magic: [0x1f, 0xef, 0xbf, 0xbd, 0x08],
      name: 'gzip data that was decoded as UTF-8',
    });
    expect(unsupportedBody(bytes('x^ is text'))).toBeUndefined();
  });
});
