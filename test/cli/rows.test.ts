import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { type OpenInputOptions, openInput } from '../../src/pipeline/input/open.js';
import { rawFrame } from '../files/zstd-frames.js';
import { Random } from '../random/random.js';
import { lines, test, type Workplace, workplace } from './command-line.js';

const RF = '$rf --robots-dir robots';
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** A row that was made from its fields, so its verdict is known without reading it. */
interface Row {
  /** One character for each byte, without the line end. */
  readonly text: string;
  readonly lineEnd: string;
  /** Fields that it lacks. Default 0. */
  readonly missing?: number;
  readonly verdict: 'allow' | 'deny' | 'unknown' | 'invalid';
}

/** Bytes within which the first row must end. */
const FIRST_ROW_BYTES = 1024 * 1024;

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** A field in quotes if it needs them, and at times if it does not. */
function field(random: Random, text: string, delimiter: string): string {
  const needsQuotes = text.startsWith('"') || [delimiter, '\n', '\r'].some((c) => text.includes(c));
  return needsQuotes || random.chance(0.25) ? quoted(text) : text;
}

const PIECES = [
  'a',
  'some words',
  ',',
  '"',
  '\n',
  '\r\n',
  '\t',
  ';',
  '\x01',
  '\x02',
  '\xff',
  'é',
  '',
];

const freeText = (random: Random): string => random.run(PIECES, 0, 4);

const URLS: readonly (readonly [string, Row['verdict']])[] = [
  ['https://example.com/private/x', 'deny'],
  ['https://example.com/fine', 'allow'],
  ['https://example.com/pri\nvate/x', 'deny'],
  ['https://example.com/a"b,c\td', 'allow'],
  ['HTTPS://example.com/%70rivate/"', 'deny'],
  ['https://new.example/', 'unknown'],
  ['mailto:a@example.com', 'invalid'],
  ['', 'invalid'],
];

function drawRow(random: Random, delimiter: string): Row {
  const lineEnd = random.chance(0.3) ? '\r\n' : '\n';
  // Not empty: an empty line is no row.
  const first = field(random, `${random.between(0, 9)}${freeText(random)}`, delimiter);
  const marked = random.chance(0.1) ? `\x01${first.startsWith('"') ? '' : first}` : first;
  if (random.chance(0.08)) return { text: marked, lineEnd, missing: 2, verdict: 'invalid' };
  const [url, verdict] = random.pick(URLS);
  const rest = field(random, freeText(random), delimiter);
  const text = [marked, field(random, url, delimiter), rest].join(delimiter);
  return { text, lineEnd, verdict };
}

function rowsOfLength(bytes: number, kind: number): Row {
  const url = 'https://example.com/private/x';
  const room = bytes - `1,${url},""`.length;
  const filling = kind === 0 ? 'x'.repeat(room) : kind === 1 ? '\n'.repeat(room) : '"'.repeat(room);
  return { text: `1,${url},"${filling}"`, lineEnd: '\n', verdict: 'deny' };
}

const HEADER = 'id,url,"no\nte"\r\n';

/** Checks the output of rows, all or two of the ways to ask for it. */
async function check(
  place: Workplace,
  rows: readonly Row[],
  delimiter: string,
  command: string,
  modes: 'all' | 'two' = 'all',
) {
  const header = HEADER.replaceAll(',', delimiter);
  const input = header + rows.map(({ text, lineEnd }) => text + lineEnd).join('');
  place.write('rows', latin1(input));
  const format = delimiter === ',' ? 'csv' : 'tsv';
  const run = async (options: string) => {
    const ended = await place.shell(
      `${command.replace('$OPTIONS', `--input ${format} -q ${options}`)}`,
    );
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    return ended.stdout.toString('latin1');
  };
  const annotated = rows.map(
    ({ text, lineEnd, missing = 0, verdict }) =>
      text + delimiter.repeat(missing + 1) + verdict + lineEnd,
  );
  const expected = `id${delimiter}url${delimiter}"no\nte"${delimiter}verdict\r\n${annotated.join('')}`;
  expect((await run('')) === expected).toBe(true);
  const passed = async (option: string, verdict: Row['verdict']) => {
    const kept = rows.filter((row) => row.verdict === verdict);
    const records = kept.map(({ text, lineEnd }) => text + lineEnd).join('');
    expect((await run(option)) === header + records, option).toBe(true);
  };
  await passed('--denied', 'deny');
  if (modes === 'two') return;
  await passed('--allowed', 'allow');
  const words = rows.map(({ verdict }) => `${verdict}\n`).join('');
  expect((await run('--format verdicts')) === words).toBe(true);
  const mask = rows.map(({ verdict }) => `{"allowed":${verdict === 'allow'}}\n`).join('');
  expect((await run('--format mask-ndjson')) === mask).toBe(true);
}

describe('rows', () => {
  test.each([
    [',', 1],
    ['\t', 2],
  ])(
    'of random fields keep their bytes and order: delimiter %j, %i threads',
    async (delimiter, threads) => {
      const place = workplace();
      const random = new Random(threads);
      const drawn = Array.from({ length: 3000 }, () => drawRow(random, delimiter));
      const verdicts = new Set(drawn.map(({ verdict }) => verdict));
      expect(verdicts.size).toBe(4);
      expect(drawn.filter(({ text }) => text.includes('\n')).length).toBeGreaterThan(500);
      await check(place, drawn, delimiter, `${RF} $OPTIONS --threads ${threads} rows`);
    },
  );

  test('as long as a batch, and a byte shorter or longer, change no row beside them', async ({
    place,
  }) => {
    const random = new Random(7);
    const rows: Row[] = [];
    for (const bytes of [65_536, 65_537, 2 ** 20, 2 ** 21 - 1, 2 ** 21, 2 ** 21 + 1]) {
      // Beside a batch of a pipe one kind is enough: three would be as long as six batches.
      const kinds = Math.abs(bytes - 2 ** 21) === 1 ? [bytes & 1] : [0, 1, 2];
      for (const kind of kinds) {
        const length = kind === 2 ? bytes & ~1 : bytes;
        rows.push(rowsOfLength(length, kind), drawRow(random, ','), drawRow(random, ','));
      }
    }
    await check(place, rows, ',', `cat rows | ${RF} $OPTIONS --threads 2 | cat`, 'two');
  });

  test('of --max-line-bytes are judged; one byte more is invalid, and the next row is not', async ({
    place,
  }) => {
    for (const kind of [0, 1]) {
      for (const bytes of [2000, 300_000]) {
        const fits = rowsOfLength(bytes, kind);
        const tooLong = rowsOfLength(bytes + 1, kind);
        const next = '2,https://example.com/,\n';
        place.write('rows', `${fits.text}\n${tooLong.text}\n${next}`);
        const { code, text } = await place.shell(
          `${RF} --input csv --no-header --url-field 2 --format verdicts --max-line-bytes ${bytes} rows`,
        );
        expect({ code, text }).toEqual({ code: 0, text: 'deny\ninvalid\nallow\n' });
        const annotated = await place.shell(
          `${RF} --input csv --no-header --url-field 2 -q --max-line-bytes ${bytes} rows`,
        );
        expect(annotated.text.endsWith(`",,,invalid\n2,https://example.com/,,allow\n`)).toBe(true);
      }
    }
  });

  test('without an end, or without the column, are invalid, and messages have their lines', async ({
    place,
  }) => {
    place.write(
      'rows.csv',
      'url,note\nhttps://example.com/,"a\n\n\nb"\n\nhttps://example.com/,\n,x\nhttps://example.com/private/,\nhttps://example.com/,"open\nmore,',
    );
    const { code, text, stderr } = await place.shell(`${RF} --input csv rows.csv`);
    expect(code).toBe(0);
    expect(text).toBe(
      'url,note,verdict\nhttps://example.com/,"a\n\n\nb",allow\nhttps://example.com/,,allow\n,x,invalid\n' +
        'https://example.com/private/,,deny\n"https://example.com/,""open\nmore,",,invalid\n',
    );
    expect(lines(stderr)).toEqual([
      expect.stringContaining('rows.csv, line 8: no URL'),
      expect.stringContaining('rows.csv, line 10: no URL'),
    ]);
    const strict = await place.shell(`${RF} --input csv --strict rows.csv`);
    expect(strict).toMatchObject({ code: 2, stderr: expect.stringContaining('line 8: no URL') });
  });

  test('are recognised by their content, compressed or not', async ({ place }) => {
    const input = '\ufeffid,link\n1,https://example.com/private/\n2,https://example.com/\n';
    const expected =
      'id,link,verdict\n1,https://example.com/private/,deny\n2,https://example.com/,allow\n';
    place.write('a', input);
    place.write('b', gzipSync(input));
    for (const name of ['a', 'b']) {
      expect((await place.shell(`${RF} ${name}`)).text).toBe(expected);
      expect((await place.shell(`cat ${name} | ${RF}`)).text).toBe(expected);
    }
    const [allowed, denied] = ['https://example.com/', 'https://example.com/private/'];
    for (const delimiter of [',', '\t']) {
      const row = `${allowed}${delimiter}${denied}`;
      place.write('d', `referer${delimiter}url\n${row}\n`);
      expect((await place.shell(`${RF} d`)).text).toBe(
        `referer${delimiter}url${delimiter}verdict\n${row}${delimiter}deny\n`,
      );
    }
    place.write('c', 'https://example.com/\t1\nhttps://example.com/private/\t2\n');
    const unnamed = await place.shell(`${RF} c`);
    expect([unnamed.code, unnamed.text]).toEqual([2, '']);
    expect(unnamed.stderr).toContain(
      'c: there is no header that names the column of the URLs. The columns are: 1 https://example.com/, 2 1. Give the number of the column: --url-field 1',
    );
    expect((await place.shell(`${RF} --url-field 1 c`)).text).toBe(
      'https://example.com/\t1\tallow\nhttps://example.com/private/\t2\tdeny\n',
    );
    expect((await place.shell(`${RF} a a`)).text).toBe(expected + expected.slice(16));
    expect(await place.shell(`${RF} --url-field 2 a c`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('c: has another header than the first input'),
    });
  });

  test('have the URL where --url-field says, by name or number', async ({ place }) => {
    place.write('a.csv', 'from,to\nhttps://example.com/,https://example.com/private/\n');
    const verdictsOf = async (options: string) =>
      (await place.shell(`${RF} --input csv --format verdicts -q ${options} a.csv`)).text;
    expect(await verdictsOf('--url-field to')).toBe('deny\n');
    expect(await verdictsOf('--url-field from')).toBe('allow\n');
    expect(await verdictsOf('--url-field 2')).toBe('deny\n');
    expect(await verdictsOf('--url-field 1 --no-header')).toBe('invalid\nallow\n');
    for (const [options, message] of [
      ['', 'a.csv: it is not clear which column holds the URLs. The columns are: from, to.'],
      ['--url-field too', 'there is no column called too. The columns are: from, to'],
      ['--url-field 3', 'there is no column 3'],
      ['--no-header --url-field to', 'There is no header: give the number'],
    ]) {
      const { code, stderr } = await place.shell(`${RF} --input csv ${options} a.csv`);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message ?? '') });
    }
  });

  test('have two quotes for one in quoted fields only', async ({ place }) => {
    place.write('robots/quotes.example', 'User-agent: *\nDisallow: /*""\n');
    const url = 'https://quotes.example/';
    const fields = [`${url}""`, `"${url}"""`, `"${url}"""""`, `${url}"`];
    place.write('a.csv', `${fields.join('\n')}\n`);
    const { text } = await place.shell(`${RF} --input csv --no-header --format verdicts a.csv`);
    expect(text).toBe('deny\nallow\ndeny\nallow\n');
  });

  test('get a column for each agent, and explanations in quotes', async ({ place }) => {
    place.write('a.csv', 'url\nhttps://example.com/private/\n');
    expect((await place.shell(`${RF} --input csv -a GPTBot,CCBot a.csv`)).text).toBe(
      'url,verdict_GPTBot,verdict_CCBot\nhttps://example.com/private/,deny,allow\n',
    );
    expect((await place.shell(`${RF} --input csv --explain a.csv`)).text).toBe(
      'url,verdict,verdict_reason,verdict_line,verdict_rule,verdict_agent,verdict_source\n' +
        'https://example.com/private/,deny,rule,2,"Disallow: /private/","*","example.com"\n',
    );
    place.write(
      'robots/q"uote.ndjson',
      '{"host":"b.example","robots":"User-agent: *\\nDisallow: /\\"x\\"y\\n"}\n',
    );
    place.write('b.csv', 'url\nhttps://b.example/%22x%22y\n');
    expect((await place.shell(`${RF} --input csv --explain --verdict-field v b.csv`)).text).toBe(
      'url,v,v_reason,v_line,v_rule,v_agent,v_source\n' +
        'https://b.example/%22x%22y,deny,rule,2,"Disallow: /\\""x\\""y","*","q\\""uote.ndjson:1"\n',
    );
    place.write('c.csv', 'url,verdict\nhttps://example.com/,old\n');
    expect(await place.shell(`${RF} --input csv c.csv`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has a column called verdict'),
    });
    expect((await place.shell(`${RF} --input csv --verdict-field new c.csv`)).text).toBe(
      'url,verdict,new\nhttps://example.com/,old,allow\n',
    );
  });
});

describe('--format', () => {
  test('writes a line for each line of text and NDJSON, with several inputs and agents', async ({
    place,
  }) => {
    place.write('a.txt', 'https://example.com/\n\nnone\r\nhttps://example.com/private/');
    place.write(
      'b.ndjson',
      '{"url":"https://example.com/"}\nnone\n\n{"url":"https://example.com/cc/"}\n',
    );
    const run = async (options: string) =>
      (await place.shell(`${RF} -q ${options} a.txt b.ndjson`)).text;
    expect(await run('--format verdicts -a GPTBot,CCBot')).toBe(
      'deny,allow\n\ninvalid,invalid\ndeny,allow\ndeny,allow\ninvalid,invalid\n\ndeny,deny\n',
    );
    expect(await run('--format mask-ndjson -a CCBot')).toBe(
      '{"allowed":true}\n\n{"allowed":false}\n{"allowed":true}\n{"allowed":true}\n{"allowed":false}\n\n{"allowed":false}\n',
    );
    const { code, stderr } = await place.shell(`${RF} --format verdicts --allowed a.txt`);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--format') });
  });
});

describe('a carriage return', () => {
  test('outside quotes makes the row invalid, and nothing beside it', async ({ place }) => {
    const good = 'https://example.com/private/';
    const rows: [string, string][] = [
      [`${good},x\n`, 'deny'],
      [`${good},x\r\n`, 'deny'],
      [`${good},"a\rb"\n`, 'deny'],
      [`${good},a\rhttps://example.com/,b\n`, 'invalid'],
      [`${good}\r,a\n`, 'invalid'],
      [`${good},"a"\rb\n`, 'invalid'],
      [`"${good}","a\n""b",\rb\r\n`, 'invalid'],
      [`${good},"a\r\r\n"\n`, 'deny'],
      [`${good},x\r`, 'deny'],
    ];
    place.write('list.csv', `url,note\n${rows.map(([row]) => row).join('')}`);
    const run = (options: string) => place.shell(`${RF} --input csv ${options} list.csv`);
    const words = rows.map(([, verdict]) => `${verdict}\n`).join('');
    const { text, stderr } = await run('--format verdicts');
    expect(text).toBe(words);
    expect(lines(stderr)[0]).toContain('line 5: a carriage return within the line');
    const denied = await run('-q --denied');
    const expected = rows.filter(([, verdict]) => verdict === 'deny').map(([row]) => row);
    expect(denied.text).toBe(`url,note\n${expected.join('')}\n`);
  });

  test('before the line end is outside quotes, too; at the end of the input it ends the row', async ({
    place,
  }) => {
    const rows = 'url,x\nhttps://example.com/private/x,b\r\r\n\r\r\n\r\n"\r",\x01\r\r\n';
    place.write('list.csv', `${rows}https://example.com/private/x,b\r`);
    const { text } = await place.shell(`${RF} list.csv`);
    expect(text.split('\n')).toEqual([
      'url,x,verdict',
      '"https://example.com/private/x,b\r",,invalid\r',
      '"\r",,invalid\r',
      '"""\r"",\x01\r",,invalid\r',
      'https://example.com/private/x,b,deny\r',
      '',
    ]);
    place.write('list.csv', '\r');
    expect((await place.shell(`${RF} list.csv`)).text).toBe('');
  });

  test('lines above the header are refused, and two columns of one name', async ({ place }) => {
    const rows = 'https://example.com/private/,3\nhttps://example.com/a,5\n';
    const below = `Landing Page,url\n3,https://example.com/\n`;
    for (const [content, message] of [
      [`# ----\n# All Data\n\n${below}`, 'a comment or title, and the header is on line 4.'],
      [`"A title\nof two lines"\n${below}`, 'tail -n +3 FILE | robots-filter --input csv'],
      [`\n\nTitle\n${rows}`, 'the header is on line 4.'],
      ['# made by hand\nURL\nhttps://example.com/\n', 'the header is on line 2.'],
      [`\ufeffsep=,\n${below}`, 'an instruction to Excel, and the header is on line 2.'],
      ['url,url\nhttps://example.com/,x\n', 'the columns 1 and 2 are both called url.'],
      ['n,URL,Url\n1,x,y\n', 'the columns 2 and 3 are both called URL.'],
    ]) {
      place.write('list.csv', content ?? '');
      const { code, text, stderr } = await place.shell(`${RF} list.csv`);
      expect({ code, text }, content).toEqual({ code: 2, text: '' });
      expect(stderr).toContain(message);
    }
    place.write('list.csv', 'a,b,a\nx,y,https://example.com/private/\n');
    const named = await place.shell(`${RF} --url-field a list.csv`);
    expect(named.stderr).toContain('both called a. Say which one holds the URLs by its number');
    const third = await place.shell(`${RF} --format verdicts --url-field 3 list.csv`);
    expect(third.text).toBe('deny\n');
    // Lists of one column, whose URLs may hold commas.
    for (const header of ['url', 'Address of a page']) {
      place.write('list.csv', `${header}\nhttps://example.com/private/\nhttps://a.example/x,y\n`);
      const { code, text } = await place.shell(`${RF} -q --format verdicts list.csv`);
      expect({ code, text }).toEqual({ code: 0, text: 'deny\ninvalid\n' });
    }
  });

  test('in a header is refused; as its line end it is not', async ({ place }) => {
    place.write('mac.csv', 'url,note\rhttps://example.com/private/,x\r');
    expect(await place.shell(`${RF} --input csv --header mac.csv`)).toMatchObject({
      code: 2,
      text: '',
      stderr: expect.stringContaining('the header has a carriage return in it'),
    });
    place.write('quoted.csv', 'url,"no\r""te"\r\nhttps://example.com/private/,x\r\n');
    expect((await place.shell(`${RF} --input csv quoted.csv`)).text).toBe(
      'url,"no\r""te",verdict\r\nhttps://example.com/private/,x,deny\r\n',
    );
  });
});

describe('headers', () => {
  test('may follow empty lines, which count as lines', async ({ place }) => {
    place.write('list.csv', '\n\r\nurl,note\n\nmailto:x,y\nhttps://example.com/private/,x\n');
    const { text, stderr } = await place.shell(`${RF} --input csv list.csv`);
    expect(text).toBe(
      'url,note,verdict\nmailto:x,y,invalid\nhttps://example.com/private/,x,deny\n',
    );
    expect(stderr).toContain('list.csv, line 5: not an http');
  });

  test('of several inputs may differ in their line ends, and lack one; empty inputs have none', async ({
    place,
  }) => {
    place.write('empty.csv', '\n');
    place.write('header.csv', 'url,note');
    place.write('unix.csv', 'url,note\nhttps://example.com/,x');
    place.write('windows.csv', 'url,note\r\nhttps://example.com/private/,x\r\n');
    const run = async (options: string) =>
      (await place.shell(`${RF} --input csv -q ${options} *.csv`)).text;
    expect(await run('')).toBe(
      'url,note,verdict\nhttps://example.com/,x,allow\nhttps://example.com/private/,x,deny\r\n',
    );
    expect(await run('--denied')).toBe('url,note\nhttps://example.com/private/,x\r\n');
    expect(await run('--allowed')).toBe('url,note\nhttps://example.com/,x\n');
    const { code, text } = await place.shell(`${RF} --input csv empty.csv`);
    expect({ code, text }).toEqual({ code: 0, text: '' });
  });
});

describe('a quote that is not closed', () => {
  test('is refused in a header, and invalid in a record', async ({ place }) => {
    place.write('list.csv', 'url,"title\nhttps://example.com/private/x,1\n');
    const refused = await place.shell(`${RF} --strict list.csv`);
    expect({ code: refused.code, text: refused.text }).toEqual({ code: 2, text: '' });
    expect(refused.stderr).toContain('list.csv: a quote in the header is not closed');
    // The name of the column stands behind the quote, or nowhere.
    place.write('other.csv', 'id,"link\n1,https://example.com/\n');
    for (const options of ['', '--url-field link']) {
      const { code, stderr } = await place.shell(`${RF} ${options} other.csv`);
      expect(code).toBe(2);
      expect(stderr).toContain('other.csv: a quote in the header is not closed');
    }
    const judged = await place.shell(`${RF} --no-header --url-field 1 list.csv`);
    expect(judged.text).toBe('"url,""title\nhttps://example.com/private/x,1\n",,invalid\n');
  });
});

describe('--stats', () => {
  test('counts the bytes of rows and JSON as they came', async ({ place }) => {
    const rows = `url,x\n${`https://example.com/private/x,"${'\n'.repeat(9)}"\r\n`.repeat(200)}`;
    place.write('list.csv', rows);
    place.write('list.csv.gz', gzipSync(rows));
    place.write(
      'list.json',
      '[ {"url":   "https://example.com/fine"},\n\n "https://new.example/" ]\n',
    );
    for (const [file, bytes] of [
      ['list.csv', rows.length],
      ['list.csv list.csv.gz', 2 * rows.length],
      ['list.json', 68],
    ]) {
      const { stderr } = await place.shell(`${RF} --stats=json ${file} > rows`);
      expect(JSON.parse(stderr)).toMatchObject({ complete: true, bytes });
    }
  });
});

describe('a first row', () => {
  const rest = 'x,https://example.com/private/a\n';
  /** A header of so many bytes, its line end included. */
  const headerOf = (bytes: number): string => `${'n'.repeat(bytes - ',url\n'.length)},url\n`;

  test.each([-1, 0])('may have as many bytes as are looked at, and %i', async (more) => {
    const header = headerOf(FIRST_ROW_BYTES + more);
    for (const args of [['list.csv'], []]) {
      const place = workplace();
      place.write('list.csv', header + rest);
      const command = ['--robots-dir', 'robots', '--input', 'csv', '-q', ...args];
      const { code, text } = await place.run(command, args.length === 0 ? header + rest : '');
      expect(code).toBe(0);
      expect(text === `${header.trimEnd()},verdict\n${rest.trimEnd()},deny\n`).toBe(true);
    }
  });

  test.each([1, 1000, 65_536])('is refused if it has %i bytes more', async (more) => {
    const place = workplace();
    place.write('list.csv', headerOf(FIRST_ROW_BYTES + more) + rest);
    for (const command of ['list.csv', '- < list.csv', '- < <(cat list.csv)']) {
      const { code, text, stderr } = await place.shell(`${RF} --input csv ${command}`);
      expect({ code, text }, command).toEqual({ code: 2, text: '' });
      expect(stderr).toContain('the first row does not end within 1 MiB');
    }
  });

  test('may be of any form if --no-header and --url-field say the column', async ({ place }) => {
    const long = `https://example.com/private/x,${'n'.repeat(2 * FIRST_ROW_BYTES)}`;
    place.write('list.csv', `${long}\n`);
    const { text } = await place.shell(`${RF} --no-header --url-field 1 list.csv`);
    expect(text === `${long},deny\n`).toBe(true);
    place.write('list.csv', 'a\nb,c,https://example.com/fine\n');
    const short = await place.shell(`${RF} --no-header --url-field 3 list.csv`);
    expect(short.text).toBe('a,,,invalid\nb,c,https://example.com/fine,allow\n');
    const zero = await place.shell(`${RF} --no-header --url-field 0 list.csv`);
    expect(zero.code).toBe(2);
  });
});

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
