import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Workplace } from './command-line.js';

const place = new Workplace(false);

beforeAll(() => {
  place.write('robots/a.example', 'User-agent: *\nContent-Signal: search=yes\nDisallow: /x\n');
  place.write('allowed', 'https://a.example/\nhttps://a.example/y\n');
  place.write('mixed', 'https://a.example/\nhttps://a.example/x\n');
  place.write('denied', 'https://a.example/x\n');
  place.write('unknown', 'https://b.example/\n');
  place.write('invalid', 'https://a.example/\nno url\n');
  place.write('none', '');
  const data = ['https://a.example/x', 'https://a.example/x2'];
  const columnData = [{ name: 'url', data, type: 'STRING' as const }];
  place.write('denied.parquet', new Uint8Array(parquetWriteBuffer({ columnData })));
});

afterAll(() => place.remove());

describe('-e, the exit code by result', () => {
  test.each([
    ['', 'allowed', 0],
    ['', 'mixed', 1],
    ['', 'unknown', 1],
    ['', 'invalid', 1],
    ['', 'none', 1],
    ['--unknown allow', 'unknown', 0],
    ['-a *,GPTBot', 'allowed', 0],
    ['--allowed', 'mixed', 0],
    ['--allowed', 'denied', 1],
    ['--allowed', 'unknown', 1],
    ['--denied', 'mixed', 0],
    ['--denied', 'allowed', 1],
    ['--format verdicts', 'mixed', 1],
    ['--format mask-ndjson', 'allowed', 0],
    ['--stats-by agent', 'mixed', 1],
    ['--threads 2', 'mixed', 1],
    ['--allowed -o out.parquet', 'denied.parquet', 1],
    ['--denied -o out.parquet', 'denied.parquet', 0],
    ['--use search', 'allowed', 0],
    ['--use search --require-grant', 'allowed', 0],
    ['--use train', 'allowed', 0],
    ['--use train --require-grant', 'allowed', 1],
  ])('%s of %s: %i', async (options, input, code) => {
    const words = `-q -e --robots-dir robots ${options} ${input}`.split(' ').filter(Boolean);
    expect((await place.run(words)).code).toBe(code);
    // Without it, a run that was completed is a success.
    if (options.includes('--require-grant')) return;
    expect((await place.run(words.filter((word) => word !== '-e'))).code).toBe(0);
  });

  test('a reader that leaves ends it with success, and an error with 2', async () => {
    const many = 'https://a.example/x\n'.repeat(200_000);
    place.write('many', many);
    const line = '$rf -q -e --robots-dir robots many | head -n 1; echo $PIPESTATUS';
    const { text } = await place.shell(line);
    expect(text).toBe('deny\thttps://a.example/x\n0\n');
    expect((await place.run('-e --robots-dir nowhere allowed')).code).toBe(2);
  });
});
