import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { lines, workplace } from './command-line.js';

const FILTER = ['--robots-dir', 'robots'];

describe('inputs', () => {
  test('several files, and standard input as -, are read in order; each has its own format', async () => {
    const place = workplace();
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

  test('gzip is known by its first octets, in a file and in a pipe', async () => {
    const place = workplace();
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

  test('files, pipes and redirections give the same octets, whatever the threads', async () => {
    const place = workplace();
    const input = Array.from({ length: 60_000 }, (_, index) =>
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

  test('--input settles the format', async () => {
    const place = workplace();
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
  test('one that is missing is found out before anything is written', async () => {
    const place = workplace();
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

  test('another compression', async () => {
    const place = workplace();
    place.write('urls.zst', Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0));
    const { code, stderr } = await place.run([...FILTER, 'urls.zst']);
    expect(code).toBe(2);
    expect(stderr).toContain('zstd -dc');
  });

  test('gzip that is cut off: what came before is filtered, the exit code tells', async () => {
    const place = workplace();
    const whole = gzipSync('https://example.com/private/\n'.repeat(100_000));
    place.write('urls.gz', whole.subarray(0, whole.length / 2));
    const { code, text, stderr } = await place.run([...FILTER, 'urls.gz']);
    expect(code).toBe(2);
    expect(stderr).toContain('urls.gz: the gzip data is damaged or cut off');
    expect(lines(text).every((line) => line === 'deny\thttps://example.com/private/')).toBe(true);
  });

  test('the file that is also the output', async () => {
    const place = workplace();
    place.write('urls.txt', 'https://example.com/\n');
    const { code, stderr } = await place.shell('$rf --robots-dir robots urls.txt >> urls.txt');
    expect(code).toBe(2);
    expect(stderr).toContain('urls.txt is also the output');
    expect(place.read('urls.txt')).toBe('https://example.com/\n');
  });
});
