import { describe, expect } from 'vitest';
import { lines, test, workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots'];

describe('invalid records are written in their places', () => {
  const input = [
    '{"url":"https://example.com/"}',
    'nonsense "quoted" \u0007',
    '',
    '[1]',
    '{"url":null}',
    '"https://example.com/"',
    '{"url":"https://example.com/private/"}',
    '',
  ].join('\n');

  test('a line that is not an object becomes a record with its number; empty lines count', async () => {
    const { code, text, stderr } = await workplace().run(FILTER, input);
    expect(code).toBe(0);
    expect(lines(text).map((line) => JSON.parse(line))).toEqual([
      { url: 'https://example.com/', verdict: 'allow' },
      { verdict: 'invalid', line: 2, input: 'nonsense "quoted" \u0007' },
      { verdict: 'invalid', line: 4, input: '[1]' },
      { url: null, verdict: 'invalid' },
      { verdict: 'invalid', line: 6, input: '"https://example.com/"' },
      { url: 'https://example.com/private/', verdict: 'deny' },
    ]);
    expect(lines(stderr)).toEqual([
      'robots-filter: standard input, line 2: not a JSON object',
      'robots-filter: standard input, line 4: not a JSON object',
      'robots-filter: standard input, line 5: no URL at the URL field (--url-field)',
      'robots-filter: standard input, line 6: not a JSON object',
    ]);
  });

  test('--explain adds the reason', async () => {
    const { text } = await workplace().run([...FILTER, '--explain'], input);
    expect(lines(text).map((line) => JSON.parse(line).reason)).toEqual([
      'no-rule',
      'no-object',
      'no-object',
      'no-url',
      'no-object',
      'rule',
    ]);
  });

  test('--quiet does not name them', async () => {
    const { code, stderr } = await workplace().run([...FILTER, '-q'], input);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('standard error names the first ten by file and line and counts the others', async ({
    place,
  }) => {
    place.write('a.txt', `https://example.com/\n${'bad\n'.repeat(4)}`);
    place.write('b.ndjson', `${'{}\n'.repeat(3)}\n${'{}\n'.repeat(9)}`);
    const { code, text, stderr } = await place.run([...FILTER, 'a.txt', 'b.ndjson']);
    expect(code).toBe(0);
    expect(lines(text)).toHaveLength(17);
    const named = [
      ...[2, 3, 4, 5].map((line) => `a.txt, line ${line}: not an http, https or ftp URL`),
      ...[1, 2, 3, 5, 6, 7].map(
        (line) => `b.ndjson, line ${line}: no URL at the URL field (--url-field)`,
      ),
      '16 invalid records in all; the first 10 are named above',
    ];
    expect(lines(stderr)).toEqual(named.map((each) => `robots-filter: ${each}`));
  });

  test('the content of invalid records cannot control a terminal', async ({ place }) => {
    place.write('\u001b[31mred.txt', 'bad\n');
    const { stderr } = await place.run([...FILTER, '\u001b[31mred.txt']);
    expect(lines(stderr)).toEqual([
      'robots-filter: \\x1b[31mred.txt, line 1: not an http, https or ftp URL',
      expect.stringContaining('the only record got no answer (0 unknown, 1 invalid)'),
    ]);
  });
});

describe('--strict', () => {
  test('stops at the first invalid record; the output ends before that record', async () => {
    const { code, text, stderr } = await workplace().run(
      [...FILTER, '--strict'],
      'https://example.com/\n\nhttps://example.com/private/\nbad\nhttps://example.com/\n',
    );
    expect(code).toBe(2);
    expect(text).toBe('allow\thttps://example.com/\ndeny\thttps://example.com/private/\n');
    expect(stderr).toBe(
      'robots-filter: standard input, line 4: not an http, https or ftp URL. Correct it, or run without --strict\n',
    );
  });

  test('checks every byte of an object', async () => {
    const record = '{"url":"https://example.com/","n":01}\n';
    const place = workplace();
    expect((await place.run(FILTER, record)).text).toContain('"verdict":"allow"');
    const { code, text, stderr } = await place.run([...FILTER, '--strict'], record);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('standard input, line 1: not well-formed JSON');
  });

  test('changes nothing if all records are valid', async () => {
    const { code, text, stderr } = await workplace().run(
      [...FILTER, '--strict'],
      'https://example.com/\nhttp://other.example/\n',
    );
    expect(code).toBe(0);
    expect(text).toBe('allow\thttps://example.com/\nunknown\thttp://other.example/\n');
    expect(stderr).toBe('');
  });
});

describe('--max-line-bytes', () => {
  test('a short line of text above the limit keeps its line end, after the columns', async () => {
    const url = `https://example.com/${'x'.repeat(200)}`;
    const args = [...FILTER, '--max-line-bytes', '100', '--explain', '-q'];
    const { text } = await workplace().run(args, `${url}\r\nhttps://example.com/a\r\n`);
    expect(text).toBe(
      `invalid\t${url}\tline-too-long\t\t\t\t\r\nallow\thttps://example.com/a\tno-rule\t\t\t\texample.com\r\n`,
    );
  });

  test('text: a longer line is invalid, and the next line is not affected', async () => {
    const long = `https://example.com/${'a'.repeat(2000)}`;
    const fits = `https://example.com/${'a'.repeat(180)}`;
    const { code, text, stderr } = await workplace().run(
      [...FILTER, '--max-line-bytes', '200', '--explain'],
      `${fits}\n${long}\nhttps://example.com/private/\n`,
    );
    expect(code).toBe(0);
    const records = lines(text).map((line) => line.split('\t'));
    expect(records.map(([verdict, , reason]) => [verdict, reason])).toEqual([
      ['allow', 'no-rule'],
      ['invalid', 'line-too-long'],
      ['deny', 'rule'],
    ]);
    expect(long.startsWith(records[1]?.[1] ?? '?')).toBe(true);
    expect(stderr).toContain('standard input, line 2: longer than --max-line-bytes');
  });

  test('NDJSON: a longer line becomes a record that describes it', async () => {
    const long = `{"url":"https://example.com/","x":"${'y'.repeat(2000)}"}`;
    const { text } = await workplace().run(
      [...FILTER, '--max-line-bytes', '100'],
      `{"url":"https://example.com/"}\n${long}\n{"url":"https://example.com/private/"}\n`,
    );
    expect(lines(text).map((line) => JSON.parse(line))).toEqual([
      { url: 'https://example.com/', verdict: 'allow' },
      { verdict: 'invalid', line: 2, input: long.slice(0, 1024) },
      { url: 'https://example.com/private/', verdict: 'deny' },
    ]);
  });

  test('lines that are longer than a batch are judged', async () => {
    const long = `https://example.com/private/${'a'.repeat(3 * 1024 * 1024)}`;
    const input = `https://example.com/\n${long}\nhttps://example.com/private/\n`;
    const { code, text } = await workplace().run(FILTER, input);
    expect(code).toBe(0);
    expect(
      text === `allow\thttps://example.com/\ndeny\t${long}\ndeny\thttps://example.com/private/\n`,
    ).toBe(true);
  });

  test('JSON: a longer record becomes a record with its first 1,024 bytes', async () => {
    const long = `{"x":"${'y'.repeat(2000)}",\n"url":"https://example.com/"}`;
    const { code, text, stderr } = await workplace().run(
      [...FILTER, '--max-line-bytes', '100', '--explain'],
      `[{"url":"https://example.com/"},${long},{"url":"https://example.com/private/"}]`,
    );
    expect(code).toBe(0);
    const [first, second, third] = lines(text).map((line) => JSON.parse(line));
    expect(second).toEqual({
      verdict: 'invalid',
      reason: 'line-too-long',
      record: 2,
      input: long.slice(0, 1024),
    });
    expect([first.verdict, third.verdict]).toEqual(['allow', 'deny']);
    expect(stderr).toBe('robots-filter: standard input, record 2: longer than --max-line-bytes\n');
  });
});

describe('JSON arrays and concatenated values', () => {
  const deep = `{"x":${'['.repeat(1_000)}${']'.repeat(1_000)},"url":"https://example.com/"}`;
  const input = `[\n\n{"url":"https://example.com/"},\n\n 5,\n${deep}, {"url":null},\n"https://example.com/private/"]`;
  const named = (tail: string) => `robots-filter: in.json, ${tail}`;

  test('invalid records are named by number, not by line, and the run continues', async ({
    place,
  }) => {
    place.write('in.json', input);
    for (const threads of [[], ['--threads', '2']]) {
      const { code, text, stderr } = await place.run([...FILTER, ...threads, 'in.json']);
      expect(code).toBe(0);
      expect(lines(text).map((line) => JSON.parse(line))).toEqual([
        { url: 'https://example.com/', verdict: 'allow' },
        { verdict: 'invalid', record: 2, input: '5' },
        { verdict: 'invalid', record: 3, input: deep.slice(0, 1024) },
        { url: null, verdict: 'invalid' },
        { url: 'https://example.com/private/', verdict: 'deny' },
      ]);
      expect(lines(stderr)).toEqual([
        named('record 2: not a JSON object'),
        named('record 3: brackets and braces nest more than 1,000 deep'),
        named('record 4: no URL at the URL field (--url-field)'),
      ]);
    }
  });

  test('--allowed and --denied leave invalid records out; the statistics count them', async ({
    place,
  }) => {
    const { text, stderr } = await place.run([...FILTER, '-q', '--denied', '--stats=json'], input);
    expect(text).toBe('{"url":"https://example.com/private/"}\n');
    const [{ verdicts, reasons }] = JSON.parse(stderr).agents;
    expect([verdicts.invalid, reasons['nested-too-deep'], reasons['no-object']]).toEqual([3, 1, 1]);
  });

  test('--strict stops at the first invalid record', async () => {
    const { code, text, stderr } = await workplace().run(
      [...FILTER, '--strict'],
      `["https://example.com/",${deep},"https://example.com/private/"]`,
    );
    expect({ code, text }).toEqual({
      code: 2,
      text: '{"url":"https://example.com/","verdict":"allow"}\n',
    });
    expect(stderr).toBe(
      'robots-filter: standard input, record 2: brackets and braces nest more than 1,000 deep. Correct it, or run without --strict\n',
    );
  });

  test('many rejected records, in pipes and gzip: none is lost, moved or invented', async ({
    place,
  }) => {
    const records = Array.from({ length: 20_000 }, (_, index) => {
      const url = `https://example.com/${index % 2 === 0 ? 'private/' : ''}${index}`;
      const filling = 'y'.repeat((index * 7919) % 240);
      return JSON.stringify({ filling, url });
    });
    place.write('in.json', `[${records.join(',\n')}]`);
    const expected = records.map((record, index) =>
      record.length > 200
        ? `{"verdict":"invalid","record":${index + 1},"input":${JSON.stringify(record)}}\n`
        : `${record.slice(0, -1)},"verdict":"${index % 2 === 0 ? 'deny' : 'allow'}"}\n`,
    );
    expect(expected.filter((line) => line.includes('"record"')).length).toBeGreaterThan(4000);
    for (const command of [
      '$rf --robots-dir robots -q --max-line-bytes 200 in.json',
      'cat in.json | $rf --robots-dir robots -q --max-line-bytes 200 | cat',
      'gzip < in.json | $rf --robots-dir robots -q --max-line-bytes 200 --threads 3 -o out; cat out',
    ]) {
      const { code, text, stderr } = await place.shell(command);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(text === expected.join(''), command).toBe(true);
    }
  });
});
