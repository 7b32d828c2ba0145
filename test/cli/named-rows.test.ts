import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { type OpenInputOptions, openInput } from '../../src/pipeline/input/open.js';
import { rawFrame } from '../files/zstd-frames.js';
import { lines, test, type Workplace } from './command-line.js';

const RF = '$rf --robots-dir robots';
const ALLOWED = 'https://example.com/';
const DENIED = 'https://example.com/private/x';

test('a file of one column has its header and quotes, compressed or not', async ({ place }) => {
  const rows = `\ufeffurl\r\n"${DENIED}"\r\n${ALLOWED}\n"https://example.com/a,""b"""`;
  place.write('list.csv', rows);
  place.write('LIST.CSV.gz', gzipSync(rows));
  place.write('list.tsv.zst', rawFrame(rows));
  const annotated = (delimiter: string) =>
    `url${delimiter}verdict\r\n"${DENIED}"${delimiter}deny\r\n${ALLOWED}${delimiter}allow\n"https://example.com/a,""b"""${delimiter}allow\n`;
  for (const [name, delimiter] of [
    ['list.csv', ','],
    ['LIST.CSV.gz', ','],
    ['list.tsv.zst', '\t'],
  ] as const) {
    const { code, text, stderr } = await place.run(['--robots-dir', 'robots', name]);
    expect({ code, text, stderr }).toEqual({ code: 0, text: annotated(delimiter), stderr: '' });
  }
  const denied = await place.shell(`${RF} -q --denied list.csv`);
  expect(denied.text).toBe(`url\r\n"${DENIED}"\r\n`);
  // What has no name is text, as before.
  place.write('plain.csv', `url\n${DENIED}\n`);
  const piped = 'invalid\turl\ndeny\thttps://example.com/private/x\n';
  expect((await place.shell(`cat plain.csv | ${RF} -q`)).text).toBe(piped);
  expect((await place.shell(`${RF} -q < plain.csv`)).text).toBe(piped);
  expect((await place.shell(`${RF} -q --input text plain.csv`)).text).toBe(piped);
});

test('a row with a second field is invalid, also if the column was named', async ({ place }) => {
  place.write('a.csv', `url\n${DENIED}\n${DENIED},x\n"${DENIED}",x\n"https://example.com/a,b"\n`);
  const run = (options: string) => place.shell(`${RF} --format verdicts ${options} a.csv`);
  const { text, stderr } = await run('');
  expect(text).toBe('deny\ninvalid\ninvalid\nallow\n');
  expect(lines(stderr)[0]).toContain('a.csv, line 3: ');
  expect(lines(stderr)[0]).toContain('more fields than the first row');
  expect((await run('--input csv')).text).toBe(text);
  expect((await run('--url-field 1')).text).toBe(text);
});

/** The format that a file of this name and content is read as, or why it is refused. */
async function formatOf(
  place: Workplace,
  name: string,
  content: string | Uint8Array,
  options: OpenInputOptions = {},
): Promise<string> {
  const path = join(place.path, name);
  writeFileSync(path, content);
  try {
    const input = await openInput(path, options);
    await input.close();
    return input.format;
  } catch (error) {
    return String(error);
  }
}

test('the content counts more than the name, and doubt is refused', async ({ place }) => {
  const noComma = 'is CSV by its name, but its first line has';
  for (const [name, content, expected] of [
    ['a.csv', '', 'csv'],
    ['a.csv', 'url', 'csv'],
    ['a.csv', `${ALLOWED}\n${DENIED}\n`, 'csv'],
    ['a.csv', `"url"\n"${ALLOWED}"\n`, 'csv'],
    ['a.csv', 'url,note\n', 'csv'],
    [
      'a.csv',
      `"${ALLOWED}",17\n`,
      `1 ${ALLOWED}, 2 17. Give the number of the column: --url-field 1`,
    ],
    ['a.csv', `${ALLOWED}a.pdf,17\n`, 'one URL with a comma'],
    ['a.csv', `url,note\n${ALLOWED},"a\tb"\n${DENIED},"c\td"\n`, 'csv'],
    ['a.csv', `url\tnote\n${ALLOWED}\t1\n${DENIED}\t2\n`, 'tsv'],
    ['a.csv', `${ALLOWED}a.pdf\t17\n`, `${noComma} tabs and no comma`],
    ['a.csv', `site;clicks\n${ALLOWED};1\n`, `${noComma} semicolons and no comma`],
    ['a.csv', `url;clicks\n${ALLOWED};1\n${DENIED};1\n`, 'looks like columns separated by semi'],
    ['a.csv', `site|clicks\n${ALLOWED}|1\n`, `${noComma} bars and no comma`],
    ['a.csv', `{"url":"${ALLOWED}"}\n`, 'ndjson'],
    ['a.csv', `[{"url":"${ALLOWED}"}]\n`, 'json'],
    ['a.csv', Buffer.from('PK\x03\x04xxxx'), 'zip'],
    ['a.csv', Buffer.from('\xff\xfeu\0r\0l\0', 'latin1'), 'UTF-16'],
    ['a.tsv', `${ALLOWED}a.pdf\t17\n`, 'there is no header that names the column of the URLs'],
    ['a.tsv', `${ALLOWED}a,b\n`, 'is TSV by its name, but its first line has commas and no tab'],
    ['a.tsv', `id,url\n1,${ALLOWED}\n2,${ALLOWED}\n`, 'csv'],
    ['a.tsv', `url\tnote, long\n${ALLOWED}\tx\n`, 'tsv'],
    ['csv', 'url\n', 'text'],
    ['a.csv.txt', 'url\n', 'text'],
  ] as const) {
    expect(await formatOf(place, name, content), `${name}: ${content}`).toContain(expected);
  }
  const row = `${ALLOWED}a.pdf,17\n`;
  expect(await formatOf(place, 'a.csv', row, { column: '1' })).toBe('csv');
  for (const told of [{ header: false }, { format: 'csv' as const }]) {
    expect(await formatOf(place, 'a.csv', row, told)).toContain('--url-field 1');
  }
  expect(await formatOf(place, 'a.csv', `${ALLOWED},17\n`, { format: 'text' })).toBe('text');
});
