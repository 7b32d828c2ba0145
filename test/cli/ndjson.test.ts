import { describe, expect } from 'vitest';
import { lines, test, workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots'];

describe('NDJSON: the same object with one more member', () => {
  const RECORDS: readonly (readonly [came: string, goes: string])[] = [
    [
      '{"url":"https://example.com/private/"}',
      '{"url":"https://example.com/private/","verdict":"deny"}',
    ],
    [
      ' { "n" : 1 , "url" : "https:\\/\\/example.com\\/a" }  ',
      ' { "n" : 1 , "url" : "https:\\/\\/example.com\\/a" ,"verdict":"allow"}  ',
    ],
    [
      '{"url":"https://example.com/\\u0070rivate/"}',
      '{"url":"https://example.com/\\u0070rivate/","verdict":"deny"}',
    ],
    [
      '{"url":"https://example.com/private/","url":"https://example.com/b"}',
      '{"url":"https://example.com/private/","url":"https://example.com/b","verdict":"allow"}',
    ],
    [
      '{"a":{"url":"https://example.com/private/"},"url":"https://example.com/"}',
      '{"a":{"url":"https://example.com/private/"},"url":"https://example.com/","verdict":"allow"}',
    ],
    ['{"url":"https://example.com/a"}\r', '{"url":"https://example.com/a","verdict":"allow"}\r'],
    ['{"url":"http://other.example/"}', '{"url":"http://other.example/","verdict":"unknown"}'],
    ['{}', '{"verdict":"invalid"}'],
    ['{"url":7}', '{"url":7,"verdict":"invalid"}'],
    ['{"url":"x"}', '{"url":"x","verdict":"invalid"}'],
  ];

  test('the bytes of the object are unchanged, whatever they are', async () => {
    const input = RECORDS.map(([came]) => `${came}\n`).join('');
    const { code, text } = await workplace().run(FILTER, input);
    expect(code).toBe(0);
    expect(lines(text)).toEqual(RECORDS.map(([, goes]) => goes));
  });

  test('a last line without newline is a record; empty lines are skipped', async () => {
    const { text } = await workplace().run(
      FILTER,
      '{"url":"https://example.com/"}\n\n  \n{"url":"https://example.com/private/"}',
    );
    expect(text).toBe(
      '{"url":"https://example.com/","verdict":"allow"}\n{"url":"https://example.com/private/","verdict":"deny"}\n',
    );
  });

  test('--allowed and --denied pass objects unchanged', async ({ place }) => {
    const allowed = ' {"n":1, "url" : "https://example.com/" } \n';
    const denied = '{"url":"https://example.com/private/","x":[1,{"y":null}]}\n';
    const input = `${allowed}${denied}{"n":1}\n`;
    expect((await place.run([...FILTER, '--allowed'], input)).text).toBe(allowed);
    expect((await place.run([...FILTER, '--denied'], input)).text).toBe(denied);
  });

  test('several agents get an object of verdicts', async () => {
    const { text } = await workplace().run(
      [...FILTER, '-a', 'GPTBot,CCBot'],
      '{"url":"https://example.com/a"}\n{"url":"x"}\n',
    );
    expect(text).toBe(
      '{"url":"https://example.com/a","verdicts":{"GPTBot":"deny","CCBot":"allow"}}\n' +
        '{"url":"x","verdicts":{"GPTBot":"invalid","CCBot":"invalid"}}\n',
    );
  });

  test('--explain adds the reason and the rule', async () => {
    const { text } = await workplace().run(
      [...FILTER, '--explain'],
      '{"url":"https://example.com/private/"}\n{"url":"https://example.com/"}\n{"url":"https://www.example.org/a.gif"}\n',
    );
    expect(text).toBe(
      '{"url":"https://example.com/private/","verdict":"deny","reason":"rule","rule":{"line":2,"text":"Disallow: /private/","agent":"*","source":"example.com"}}\n' +
        '{"url":"https://example.com/","verdict":"allow","reason":"no-rule"}\n' +
        '{"url":"https://www.example.org/a.gif","verdict":"deny","reason":"rule","rule":{"line":2,"text":"Disallow: /*.gif$","agent":"*","source":"www.example.org/robots.txt"}}\n',
    );
  });

  test('--explain with several agents adds an object for each agent', async () => {
    const { text } = await workplace().run(
      [...FILTER, '--explain', '-a', 'GPTBot,CCBot'],
      '{"url":"https://example.com/a"}\n',
    );
    expect(JSON.parse(text)).toEqual({
      url: 'https://example.com/a',
      verdicts: { GPTBot: 'deny', CCBot: 'allow' },
      reasons: { GPTBot: 'rule', CCBot: 'no-rule' },
      rules: { GPTBot: { line: 6, text: 'Disallow: /', agent: 'GPTBot', source: 'example.com' } },
    });
  });

  test('the text of rules and sources is escaped', async ({ place }) => {
    place.write('robots/odd.example', 'user-agent: *\ndisallow: /"\\\u001b[31m\n');
    const { text } = await place.run(
      [...FILTER, '--explain'],
      '{"url":"https://odd.example/%22%5C%1B[31m"}\n',
    );
    expect(JSON.parse(text)).toMatchObject({
      verdict: 'deny',
      rule: { text: 'Disallow: /"\\\u001b[31m' },
    });
    expect(text).not.toContain('\u001b');
  });
});

describe('--url-field and --verdict-field', () => {
  test('a dot in a name descends into an object', async () => {
    const { text } = await workplace().run(
      [...FILTER, '--url-field', 'request.target.uri'],
      '{"url":"https://example.com/","request":{"target":{"uri":"https://example.com/private/"}}}\n' +
        '{"request.target.uri":"https://example.com/private/"}\n',
    );
    expect(lines(text).map((line) => JSON.parse(line).verdict)).toEqual(['deny', 'invalid']);
  });

  test('the added member has the given name, escaped', async () => {
    const { text } = await workplace().run(
      [...FILTER, '--url-field', 'u', '--verdict-field', 'may "we"?'],
      '{"u":"https://example.com/private/"}\n',
    );
    expect(text).toBe('{"u":"https://example.com/private/","may \\"we\\"?":"deny"}\n');
  });
});

describe('JSON', () => {
  const array =
    '[\n  {"url": "https://example.com/private/", "n": [1, 2]},\n  "https://example.com/a",\n  {"n": {}}\n]\n';

  test('an array comes out as NDJSON, without white space', async () => {
    const { code, text } = await workplace().run(FILTER, array);
    expect(code).toBe(0);
    const records = lines(text).map((line) => JSON.parse(line));
    expect(records).toEqual([
      { url: 'https://example.com/private/', n: [1, 2], verdict: 'deny' },
      { url: 'https://example.com/a', verdict: 'allow' },
      { n: {}, verdict: 'invalid' },
    ]);
    expect(lines(text)[0]).toBe(
      '{"url":"https://example.com/private/","n":[1,2],"verdict":"deny"}',
    );
  });

  test('a string becomes an object with the URL field', async () => {
    const { text } = await workplace().run(
      [...FILTER, '--url-field', 'request.url'],
      '["https://example.com/private/"]',
    );
    expect(text).toBe('{"request":{"url":"https://example.com/private/"},"verdict":"deny"}\n');
    const flat = await workplace().run(
      [...FILTER, '--url-field', '"request.url"'],
      '["https://example.com/private/"]',
    );
    expect(flat.text).toBe('{"request.url":"https://example.com/private/","verdict":"deny"}\n');
  });

  test('a name in quotes keeps its dots, in NDJSON, JSON and rows', async ({ place }) => {
    const both = (indent?: number) =>
      JSON.stringify(
        {
          'request.url': 'https://example.com/private/',
          request: { url: 'https://example.com/a', 'a"b.c': 'x' },
        },
        undefined,
        indent,
      );
    place.write('both.ndjson', `${both()}\n`);
    place.write('both.json', `[${both(2)}]`);
    place.write('rows.csv', 'id,request.url\n1,https://example.com/private/\n');
    place.write('rows.tsv', 'id\trequest.url\n1\thttps://example.com/private/\n');
    for (const [field, name, verdict] of [
      ['request.url', 'both.ndjson', 'allow'],
      ['request.url', 'both.json', 'allow'],
      ['"request.url"', 'both.ndjson', 'deny'],
      ['"request.url"', 'both.json', 'deny'],
      ['"request"."url"', 'both.json', 'allow'],
      ['request."a\\"b.c"', 'both.ndjson', 'invalid'],
      ['request.url', 'rows.csv', 'deny'],
      ['"request.url"', 'rows.csv', 'deny'],
      ['"request.url"', 'rows.tsv', 'deny'],
    ] as const) {
      const { text } = await place.run([
        ...FILTER,
        '--url-field',
        field,
        '--format',
        'verdicts',
        name,
      ]);
      expect(text, `${field} ${name}`).toBe(`${verdict}\n`);
    }
    for (const wrong of ['', '.', 'a.', '"a', '"a"b', '"a".']) {
      const { code, stderr } = await place.run([...FILTER, '--url-field', wrong], '{}');
      expect(code).toBe(2);
      expect(stderr).toContain(`A name with dots of its own is quoted: '"request.url"'`);
    }
  });

  test('concatenated and pretty-printed objects; --explain', async () => {
    const { text } = await workplace().run(
      [...FILTER, '--explain'],
      '{\n "url": "https://example.com/private/"\n}{"url":"https://example.com/"}',
    );
    expect(lines(text).map((line) => JSON.parse(line).reason)).toEqual(['rule', 'no-rule']);
  });

  test('--allowed writes records without the array around them', async ({ place }) => {
    const { text } = await place.run([...FILTER, '--allowed'], array);
    expect(text).toBe('{"url":"https://example.com/a"}\n');
    const again = await place.run([...FILTER, '--allowed', '--input', 'ndjson'], text);
    expect(again.text).toBe(text);
  });

  test('a truncated array is an error that names the place', async () => {
    const { code, text, stderr } = await workplace().run(
      FILTER,
      '[{"url":"https://example.com/"},\n{"url":',
    );
    expect(code).toBe(2);
    expect(text).toBe('{"url":"https://example.com/","verdict":"allow"}\n');
    expect(stderr).toContain('standard input: byte 40 (line 2): the input ends within record 2');
  });
});
