import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { lines, test, workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots'];

/** The least capacity of an unread pipe, on Linux and macOS. */
const PIPE_BYTES = 16_384;

describe('inputs', () => {
  test('several files, and standard input as -, are read in order, each in its own format', async ({
    place,
  }) => {
    place.write('one.txt', 'https://example.com/1');
    place.write('two.ndjson', '{"url":"https://example.com/private/2"}\n');
    place.write('three.json', '[{"url":"https://example.com/3"}]');
    place.write('empty', '');
    const { code, text } = await place.run(
      [...FILTER, 'one.txt', 'empty', '-', 'two.ndjson', 'three.json', 'one.txt'],
      'https://example.com/-\n',
    );
    expect(code).toBe(0);
    expect(text).toBe(
      'allow\thttps://example.com/1\n' +
        'allow\thttps://example.com/-\n' +
        '{"url":"https://example.com/private/2","verdict":"deny"}\n' +
        '{"url":"https://example.com/3","verdict":"allow"}\n' +
        'allow\thttps://example.com/1\n',
    );
  });

  test('standard input may be named once, be it a file or a pipe', async ({ place }) => {
    place.write('urls.txt', 'https://example.com/private/x\nhttps://example.com/a\n');
    const filter = '$rf --robots-dir robots --format verdicts';
    for (const command of [
      `${filter} - - < urls.txt`,
      `cat urls.txt | ${filter} - urls.txt -`,
      `${filter} - - < /dev/null`,
      '$rf shard --of 2 - - < urls.txt',
      '$rf fetch --robots-dir store --user-agent TestBot - - < urls.txt',
      '$rf lint - - < urls.txt',
    ]) {
      const { code, text, stderr } = await place.shell(command);
      expect({ command, code, text }).toEqual({ command, code: 2, text: '' });
      expect(stderr).toContain('standard input can be read only once, but - is named twice.');
    }
    // Another name of standard input gets nothing, or nothing is left for the first.
    for (const [words, name] of [
      ['$rf --robots-dir - /dev/stdin', '--robots-dir - reads'],
      ['$rf --robots-dir /dev/fd/0 -', '--robots-dir /dev/fd/0 reads'],
      ['$rf --robots-dir /dev/stdin', '--robots-dir /dev/stdin reads'],
      [`${filter} /dev/stdin -`, '/dev/stdin and - name it'],
      ['$rf check robots GPTBot - --urls /dev/stdin', '- and /dev/stdin name it'],
      ['$rf check /dev/stdin GPTBot -', 'both the robots.txt and the URLs'],
    ] as const) {
      const { code, text, stderr } = await place.shellAlone(`cat urls.txt | ${words}`);
      expect({ words, code, text }).toEqual({ words, code: 2, text: '' });
      expect(stderr).toContain(name);
    }
    // A file is read from where its descriptor stands.
    const rest = await place.shellAlone(`(read -r line; ${filter} - urls.txt) < urls.txt`);
    expect(rest).toMatchObject({ code: 0, text: 'allow\ndeny\nallow\n' });
  });

  test('gzip is recognised by its first bytes, in a file and in a pipe', async ({ place }) => {
    place.write('urls', gzipSync('https://example.com/private/\n{}\n'));
    place.write('records', gzipSync('{"url":"https://example.com/private/"}\n'));
    const { code, text } = await place.run([...FILTER, 'urls', 'records']);
    expect(code).toBe(0);
    expect(text).toBe(
      'deny\thttps://example.com/private/\ninvalid\t{}\n{"url":"https://example.com/private/","verdict":"deny"}\n',
    );
    const piped = await place.shell('cat urls | $rf --robots-dir robots -q | cat');
    expect(piped.text).toBe('deny\thttps://example.com/private/\ninvalid\t{}\n');
  });

  test('files, pipes and redirections give the same bytes, whatever the threads', async ({
    place,
  }) => {
    const input = Array.from({ length: 30_000 }, (_, index) =>
      index % 7 === 0
        ? `https://example.com/private/${index}`
        : `https://example.com/${'x'.repeat(index % 90)}`,
    ).join('\n');
    place.write('urls.txt', input);
    const expected = input
      .split('\n')
      .map((url) => `${url.includes('/private/') ? 'deny' : 'allow'}\t${url}\n`)
      .join('');
    for (const line of [
      '$rf --robots-dir robots urls.txt',
      '$rf --robots-dir robots --threads 1 < urls.txt',
      'cat urls.txt | $rf --robots-dir robots --threads 3 | cat',
      '$rf --robots-dir robots urls.txt > out; cat out',
      'cat urls.txt | $rf --robots-dir robots -o out; cat out',
    ]) {
      const { text, stderr } = await place.shell(line);
      expect(stderr).toBe('');
      expect(text === expected, line).toBe(true);
    }
  });

  test.each([
    ['text', 'https://example.com/private/\nno URL\nhttps://example.com/', ''],
    ['text', `https://example.com/${'x'.repeat(300_000)}\nhttps://example.com/private/\n`, ''],
    [
      'NDJSON',
      '{"url":"https://example.com/private/"}\n[]\n{"url":"https://unknown.example/"}\n',
      '',
    ],
    ['JSON', '[{"url":"https://example.com/private/"},"https://example.com/",1]', ''],
    ['gzip', 'https://example.com/private/\n', '| gzip'],
    ['nothing', '', ''],
  ])('a short pipe gives what threads give: %s', async (format, input, filter) => {
    const place = workplace();
    place.write('input', input);
    const rf = '$rf --robots-dir robots --stats=json';
    const commands = [
      `cat input ${filter} > one; ${rf} --threads 2 < one`,
      `cat input ${filter} > two; ${rf} < two`,
      // The input ends during the program's start, and much later.
      `cat input ${filter} | ${rf} | cat`,
      `(cat input ${filter}; sleep 0.5) | ${rf}`,
      // The pipe has been filled and closed when the program starts, if the pipe has enough room.
      ...(input.length < PIPE_BYTES
        ? ['<&3', '--threads 2 <&3 | cat'].map(
            (rest) => `exec 3< <(cat input ${filter}); wait $!; ${rf} ${rest}`,
          )
        : []),
    ];
    const outcomes = await Promise.all(
      commands.map(async (command) => {
        // One format meets the moments of a real start.
        const { code, text, stderr } = await (format === 'NDJSON'
          ? place.shellAlone(command)
          : place.shell(command));
        const said = lines(stderr);
        const { seconds, recordsPerSecond, bytesPerSecond, peakBytes, ...statistics } = JSON.parse(
          said.at(-1) ?? '',
        );
        expect(Object.keys(seconds).length).toBeGreaterThan(3);
        expect([recordsPerSecond, bytesPerSecond, peakBytes].every(Number.isFinite)).toBe(true);
        return { code, text, said: said.slice(0, -1), statistics };
      }),
    );
    const [first, ...others] = outcomes;
    expect(first?.code).toBe(0);
    expect(first?.statistics.records).toBe(input === '' ? 0 : first?.statistics.records || -1);
    for (const other of others) expect(other).toEqual(first);
  });

  test('each line of a slow pipe gets its verdict at once', async () => {
    const { text } = await workplace().shellAlone(
      `coproc $rf --robots-dir robots
       for url in private/1 2 private/3; do
         echo https://example.com/$url >&"\${COPROC[1]}"
         read -r -u "\${COPROC[0]}" -t 60 answer && echo "$answer"
       done`,
    );
    expect(text).toBe(
      'deny\thttps://example.com/private/1\nallow\thttps://example.com/2\ndeny\thttps://example.com/private/3\n',
    );
  });

  test.each([
    ['"url",', '"x"\r\n"https://example.com/private/","1"\r\n'],
    ['"url","a\n', 'b"\n"https://example.com/private/","1"\n'],
    ['\n"url', '","x"\n"https://example.com/private/","1"\n'],
    ['\nurl,', 'x\nhttps://example.com/private/,1\n'],
    ['"https://example.com/', 'private/"\n'],
    ['"https://example.com/"\n', '"https://example.com/private/"'],
  ])('an input comes out the same if its first line comes in parts: %j', async (first, rest) => {
    const place = workplace();
    place.write('first', first);
    place.write('rest', rest);
    const whole = await place.shell('cat first rest > all; $rf --robots-dir robots all');
    expect(whole.code).toBe(0);
    expect(whole.text).toContain('deny');
    // A pipe that ends late is read by threads. So plain and compressed pipes take turns.
    const [plain, packed] = [
      'cat first; sleep 0.3; cat rest',
      'gzip < first; sleep 0.3; gzip < rest',
    ];
    for (const filter of rest.includes('"1"') ? [plain] : [packed])
      expect(await place.shell(`(${filter}) | $rf --robots-dir robots`)).toEqual(whole);
  });

  test('--input overrides the detected format', async ({ place }) => {
    const object = '{"url":"https://example.com/"}\n';
    const asText = await place.run([...FILTER, '--input', 'text', '-q'], object);
    expect(asText.text).toBe(`invalid\t${object}`);
    const asJson = await place.run(
      [...FILTER, '--input', 'json'],
      `${object}"https://example.com/private/"`,
    );
    expect(lines(asJson.text).map((line) => JSON.parse(line).verdict)).toEqual(['allow', 'deny']);
    const asNdjson = await place.run(
      [...FILTER, '--input', 'ndjson', '-q'],
      '"https://example.com/"\n',
    );
    expect(JSON.parse(asNdjson.text)).toMatchObject({ verdict: 'invalid', line: 1 });
  });

  test('a byte order mark at the start is no part of the first record', async () => {
    const { text } = await workplace().run(FILTER, '\ufeffhttps://example.com/private/\n');
    expect(text).toBe('deny\thttps://example.com/private/\n');
  });
});

describe('inputs that cannot be read', () => {
  test('a missing file is an error before anything is written', async ({ place }) => {
    place.write('one.txt', 'https://example.com/\n');
    const { code, text, stderr } = await place.run([...FILTER, 'one.txt', 'two.txt']);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('two.txt: no such file');
  });

  test('a directory', async () => {
    const { code, stderr } = await workplace().run([...FILTER, 'robots']);
    expect(code).toBe(2);
    expect(stderr).toContain('robots: is a directory');
    expect(stderr).toContain('--robots-dir');
  });

  const MISSING = 'no such file. Check the spelling and the working directory.';
  const DIRECTORY = 'is a directory. Name a file in it.';
  test.each([
    ['records it', MISSING],
    ['diff robots it', MISSING],
    ['captures it', MISSING],
    ['lint it', MISSING],
    ['audit --robots-dir robots --hosts it', MISSING],
    ['diff robots robots --urls it', MISSING],
    ['lint --urls it robots', MISSING],
    ['audit --robots-dir robots --hosts it', DIRECTORY],
    ['diff robots robots --urls it', DIRECTORY],
    ['lint --urls it robots', DIRECTORY],
  ])('%s: %s', async (command, message) => {
    const place = workplace();
    if (message === DIRECTORY) place.write('it/urls.txt', 'https://example.com/\n');
    const { code, text, stderr } = await place.run(command.split(' '));
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toBe(`robots-filter: it: ${message}\n`);
  });

  test('a damaged list of hosts is not in a directory of robots.txt files', async ({ place }) => {
    place.write('hosts.gz', gzipSync('example.com\n').subarray(0, -4));
    const command = 'audit --robots-dir robots --hosts hosts.gz';
    const { code, stderr } = await place.run(command.split(' '));
    expect(code).toBe(2);
    expect(stderr).toContain('hosts.gz: the gzip data is damaged or truncated');
    expect(stderr).toContain('Copy the file again.');
  });

  test('a file that is also the output', async ({ place }) => {
    place.write('urls.txt', 'https://example.com/\n');
    const { code, stderr } = await place.shell('$rf --robots-dir robots urls.txt >> urls.txt');
    expect(code).toBe(2);
    expect(stderr).toContain('urls.txt is also the output');
    expect(place.read('urls.txt')).toBe('https://example.com/\n');
  });
});

describe('files of another format', () => {
  const PARQUET = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(200, 7), Buffer.from('PAR1')]);
  const WARC = 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.com/\r\n\r\n';

  const ALL_WAYS = [
    '$rf --robots-dir robots f',
    '$rf --robots-dir robots --input text f',
    '$rf --robots-dir robots < f',
    'cat f | $rf --robots-dir robots',
    // One byte at a time.
    '(for i in 1 2; do dd bs=1 count=1 2>/dev/null; sleep 0.05; done; cat) < f | $rf --robots-dir robots',
    '$rf --robots-dir robots f.gz',
    '$rf fetch --robots-dir store f.gz',
    '$rf compile --robots-dir f -o t',
    '$rf compile --robots-dir f.ndjson.gz -o t',
    '$rf compile --robots-dir <(cat f) -o t',
    '$rf check f A /',
  ];
  /** A WARC file begins like text, and is read unless it is called text. */
  const TEXT_WAYS = ALL_WAYS.slice(1, 2);

  // All formats are in one list: one format is tried in all ways, the others only for being listed.
  test.each([
    ['Parquet', PARQUET, 'Parquet', ALL_WAYS],
    ['WARC', WARC, 'is a WARC file', TEXT_WAYS],
    ['zip', Buffer.from('PK\x03\x04 and more\n'), 'is a zip archive', ALL_WAYS.slice(0, 1)],
    ['xz', Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), 'xz -dc', ALL_WAYS.slice(0, 1)],
  ])(
    'are refused from every source, with a message of one line: %s',
    async (_format, content, said, ways) => {
      const place = workplace();
      place.write('f', content);
      place.write('f.gz', gzipSync(content));
      place.write('f.ndjson.gz', gzipSync(content));
      for (const command of ways) {
        const { code, text, stderr } = await place.shell(command);
        expect({ code, text }, command).toEqual({ code: 2, text: '' });
        expect(lines(stderr), command).toHaveLength(1);
        expect(stderr, command).toContain(said);
      }
      expect(place.names()).not.toContain('t');
    },
  );

  test('are skipped in a directory of robots.txt files', async ({ place }) => {
    place.write('d/a.example', PARQUET);
    place.write('d/b.example/robots.txt', WARC);
    const urls = 'https://a.example/\nhttps://b.example/\n';
    const { code, text, stderr } = await place.run('--robots-dir d --allow-empty', urls);
    expect(code).toBe(0);
    expect(text).toBe('unknown\thttps://a.example/\nunknown\thttps://b.example/\n');
    expect(stderr.match(/skipped/g)).toHaveLength(2);
  });
});

describe('lists in columns', () => {
  const ROWS = 'url,status\nhttps://example.com/private/a.pdf,200\nhttps://example.com/b,404\n';
  const SEMICOLONS = ROWS.replaceAll(',', ';');
  const TSV = 'https://example.com/a.pdf\t17\nhttps://example.com/b.pdf\t18\n';

  test.each([
    '$rf --robots-dir robots list',
    'cat list | $rf --robots-dir robots | cat',
    '$rf --robots-dir robots --threads 2 < list',
    'gzip < list | $rf --robots-dir robots',
    '$rf --robots-dir robots list -o list',
    '$rf fetch --robots-dir cache list',
    'cat list | $rf --fetch --robots-dir cache',
  ])('are refused wherever they come from: %s', async (line) => {
    const place = workplace();
    place.write('list', SEMICOLONS);
    const { code, text, stderr } = await place.shell(`set -o pipefail; ${line}`);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('separated by semicolons');
    expect(place.read('list')).toBe(SEMICOLONS);
  });

  test.each([
    [
      SEMICOLONS,
      ['separated by semicolons', "cut -d';' -f1 FILE | robots-filter", 'use --input text'],
    ],
    [
      '"https://example.com/";"a"\n',
      ['separated by semicolons', "csvformat -d ';' FILE | robots-filter --input csv"],
    ],
  ])('are refused with what to type: %j', async (list, words) => {
    const place = workplace();
    place.write('list', list);
    const { code, text, stderr } = await place.run([...FILTER, 'list']);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    for (const word of words) expect(stderr).toContain(word);
  });

  test('--input text overrides the detection, but a tab still separates columns', async ({
    place,
  }) => {
    const args = [...FILTER, '--input', 'text', '-q'];
    expect((await place.run(args, ROWS)).text).toBe(
      'invalid\turl,status\ndeny\thttps://example.com/private/a.pdf,200\nallow\thttps://example.com/b,404\n',
    );
    expect((await place.run(args, TSV)).text).toBe(TSV.replaceAll('https', 'invalid\thttps'));
  });

  test.each(['https://example.com/private/%.php,v', 'https://site%.example/a/artykul,101'])(
    'are URLs if commas may belong to them, with a warning: %s',
    async (pattern) => {
      const place = workplace();
      const urls = ['1', '2', '3'].map((name) => pattern.replace('%', name));
      place.write('list', `${urls.join('\n')}\n`);
      const asText = await place.run([...FILTER, '--input', 'text', '--unknown', 'deny', 'list']);
      expect(asText).toMatchObject({ code: 0, stderr: '' });
      const { code, text, stderr } = await place.run([...FILTER, '--unknown', 'deny', 'list']);
      expect({ code, text }).toEqual({ code: 0, text: asText.text });
      expect(stderr).toContain('warning: list: each line is read as one URL');
      expect(stderr).toContain('use --input csv --url-field 1;');
      expect(lines(stderr)).toHaveLength(1);
      const unnamed = await place.run([...FILTER, '--input', 'csv', 'list']);
      expect([unnamed.code, unnamed.text]).toEqual([2, '']);
      expect(unnamed.stderr).toContain('Give the number of the column: --url-field 1');
      const asRows = await place.run([...FILTER, '--input', 'csv', '--url-field', '1', 'list']);
      expect(lines(asRows.text)[0]).toMatch(/,(deny|unknown)$/);
    },
  );

  test('is not detected if the URLs of one site all have a comma', async () => {
    const urls = Array.from({ length: 99 }, (_, index) => `https://example.com/news,${index}`);
    const { code, text } = await workplace().run(FILTER, `${urls.join('\n')}\n`);
    expect(code).toBe(0);
    expect(text).toBe(urls.map((url) => `allow\t${url}\n`).join(''));
  });
});
