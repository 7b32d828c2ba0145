import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { readRows, SHOWN } from '../../oracle/records.js';
import { Authorities } from '../../src/fetch/authorities.js';
import { openInput } from '../../src/pipeline/input/open.js';
import { rawFrame } from '../files/zstd-frames.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { lines, test, workplace } from './command-line.js';

const RF = '$rf --robots-dir robots';
const ALLOWED = 'https://example.com/fine';
const DENIED = 'https://example.com/private/x';

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** A row that was made from its fields. */
interface DrawnRow {
  readonly text: string;
  readonly lineEnd: string;
  /** The row as a reader of the output sees it, without added columns. */
  readonly read: readonly string[];
  readonly kind: 'short' | 'equal' | 'long' | 'carriage return';
  readonly verdict: 'allow' | 'deny' | 'unknown' | 'invalid';
}

const URLS = [
  [ALLOWED, 'allow'],
  [DENIED, 'deny'],
  ['https://example.com/private/"a",b\tc', 'deny'],
  ['https://example.com/a\nb', 'allow'],
  ['https://new.example/', 'unknown'],
  ['mailto:a@example.com', 'invalid'],
] as const;
const PIECES = ['a', ' ', ',', '"', '\n', '\r\n', '\t', '\x01', '\x02', 'x'.repeat(70)];

/** Draws a row whose URL is in the second of `width` columns. */
function drawRow(random: Random, width: number, delimiter: string): DrawnRow {
  const longer = random.pick([0, 0, 1, 2, 70]);
  const count = random.chance(0.5) ? random.between(1, width) : width + longer;
  const [url, verdict] = random.pick(URLS);
  const fields = Array.from({ length: count }, (_, at) =>
    at === 1 ? url : `${at === 0 ? 'n' : ''}${random.run(PIECES, 0, 3)}`,
  );
  const texts = fields.map((field) => {
    const isPlain = !field.startsWith('"') && !/[\n\r]/.test(field) && !field.includes(delimiter);
    // An independent reader may refuse quotes in a field without quotes around it.
    return isPlain && !field.includes('"') && random.chance(0.7) ? field : quoted(field);
  });
  const lineEnd = random.chance(0.3) ? '\r\n' : '\n';
  const text = texts.join(delimiter);
  const missing = (fewer: number): string[] => Array.from({ length: fewer }, () => '');
  if (random.chance(0.05)) {
    const split = `${text}${delimiter}\rb`;
    const read = [split, ...missing(width - 1)];
    return { text: split, lineEnd, read, kind: 'carriage return', verdict: 'invalid' };
  }
  if (count > width) {
    return { text, lineEnd, read: [text, ...missing(width - 1)], kind: 'long', verdict: 'invalid' };
  }
  return {
    text,
    lineEnd,
    read: [...fields, ...missing(width - count)],
    kind: count < width ? 'short' : 'equal',
    verdict: count < 2 ? 'invalid' : verdict,
  };
}

/** The fields of an output whose rows end in LF or CRLF. */
function readOutput(text: string, drawn: readonly DrawnRow[], delimiter: string): string[][] {
  // Each row is read alone, since the naive reader takes LF alone as a line end.
  const rows: string[][] = [];
  let rest = text;
  for (const { lineEnd } of drawn) {
    const end = endOfRow(rest);
    expect(rest.slice(0, end).endsWith('\r')).toBe(lineEnd === '\r\n');
    const row = lineEnd === '\r\n' ? rest.slice(0, end - 1) : rest.slice(0, end);
    rows.push(...readRows(`${row}\n`, delimiter));
    rest = rest.slice(end + 1);
  }
  expect(rest).toBe('');
  return rows;
}

/** Offset of the newline that ends a row: the number of quotes before it is even. */
function endOfRow(text: string): number {
  let isOpen = false;
  let at = 0;
  for (; at < text.length && (isOpen || text[at] !== '\n'); at++) {
    if (text[at] === '"') isOpen = !isOpen;
  }
  return at;
}

describe('every row has as many fields as the first one, and the columns that are added', () => {
  test.each([
    [',', 'csv', 1],
    ['\t', 'tsv', 2],
  ])('delimiter %j', async (delimiter, format, seed) => {
    const random = new Random(seed);
    const place = workplace();
    const kinds = new Map<DrawnRow['kind'], number>();
    for (let input = 0; input < cases(3); input++) {
      const width = random.pick([2, 3, 4, 9, 40]);
      const drawn = Array.from({ length: 250 }, () => drawRow(random, width, delimiter));
      for (const { kind } of drawn) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const names = Array.from({ length: width }, (_, at) => (at === 1 ? 'url' : `c${at}`));
      const header = `${names.join(delimiter)}\n`;
      const rows = drawn.map(({ text, lineEnd }) => text + lineEnd).join('');
      place.write('list', header + rows);
      place.write('list.gz', gzipSync(header + rows));
      place.write('list.zst', rawFrame(header + rows));
      const source = random.pick(['list', 'list.gz', 'list.zst', '< list', '< <(cat list)']);
      const run = async (options: string): Promise<string> => {
        const { code, stdout, stderr } = await place.shell(
          `${RF} --input ${format} -q ${options} ${source}`,
        );
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        return stdout.toString();
      };
      const read = async (options: string, added: readonly string[]): Promise<string[][]> => {
        const output = await run(options);
        const first = [...names, ...added].join(delimiter);
        expect(output.slice(0, first.length + 1)).toBe(`${first}\n`);
        return readOutput(output.slice(first.length + 1), drawn, delimiter);
      };
      expect(await read('', ['verdict'])).toEqual(
        drawn.map(({ read: fields, verdict }) => [...fields, verdict]),
      );
      const two = await read('-a A,B --verdict-field v', ['v_A', 'v_B']);
      expect(two).toEqual(drawn.map(({ read: fields, verdict }) => [...fields, verdict, verdict]));
      const endings = ['', '_reason', '_line', '_rule', '_agent', '_source'];
      const explained = await read(
        '--explain --unknown deny',
        endings.map((ending) => `verdict${ending}`),
      );
      explained.forEach((fields, index) => {
        const { read: own, verdict } = drawn[index] as DrawnRow;
        expect(fields.length).toBe(width + 6);
        expect(fields.slice(0, width)).toEqual(own);
        expect(fields[width]).toBe(verdict === 'unknown' ? 'deny' : verdict);
      });
      for (const [option, wanted] of [
        ['--allowed', 'allow'],
        ['--denied', 'deny'],
      ]) {
        const kept = drawn.filter(({ verdict }) => verdict === wanted);
        const bytes = kept.map(({ text, lineEnd }) => text + lineEnd).join('');
        expect(await run(option as string)).toBe(header + bytes);
      }
      const words = drawn.map(({ verdict }) => `${verdict}\n`).join('');
      expect(await run('--format verdicts')).toBe(words);
      const shards = await place.shell(`$rf shard --of 8 --input ${format} -q ${source}`);
      const sharded = shards.stdout.toString();
      const ofShards = readOutput(sharded.slice(sharded.indexOf('\n') + 1), drawn, delimiter);
      ofShards.forEach((fields, index) => {
        const { read: own, verdict } = drawn[index] as DrawnRow;
        expect(fields.slice(0, -1)).toEqual(own);
        expect(fields.at(-1)).toMatch(verdict === 'invalid' ? /^$/ : /^[0-7]$/);
      });
    }
    for (const kind of ['short', 'equal', 'long', 'carriage return'] as const) {
      expect(kinds.get(kind), kind).toBeGreaterThan(20);
    }
  });
});

describe('the first row', () => {
  const verdictsOf = (text: string, width: number): (string | undefined)[] =>
    readRows(text, ',').map((fields) => {
      expect(fields.length).toBe(width + 1);
      return fields.at(-1);
    });

  test('counts without a header, where the number of the column is given; in each input', async ({
    place,
  }) => {
    place.write('a.csv', `\n${DENIED},1\n${ALLOWED}\n${ALLOWED},1,allow\n${ALLOWED},\n`);
    place.write('b.csv', `${DENIED},1,2\n${ALLOWED}\n${ALLOWED},1,2,3\n`);
    const expected = `${DENIED},1,deny\n${ALLOWED},,allow\n"${ALLOWED},1,allow",,invalid\n${ALLOWED},,allow\n`;
    for (const options of ['--no-header --url-field 1', '--url-field 1']) {
      const { text } = await place.shell(`${RF} --input csv -q ${options} a.csv`);
      expect(text, options).toBe(expected);
      const both = await place.shell(`${RF} --input csv -q ${options} a.csv b.csv`);
      expect(both.text).toBe(
        `${expected}${DENIED},1,2,deny\n${ALLOWED},,,allow\n"${ALLOWED},1,2,3",,,invalid\n`,
      );
    }
  });

  test('may have 10,000 fields above many rows of one', async ({ place }) => {
    const width = 10_000;
    const header = `url${',x'.repeat(width - 1)}\n`;
    const urls = Array.from({ length: 3000 }, (_, at) => (at % 3 === 0 ? DENIED : ALLOWED));
    const long = `a${',b'.repeat(width)}`;
    place.write('list.csv', `${header}${urls.join('\n')}\n${long}\n"open`);
    const padding = ','.repeat(width - 1);
    for (const options of ['--threads 1', '--threads 2']) {
      const { code, text } = await place.shell(`${RF} -q --input csv ${options} list.csv`);
      expect(code).toBe(0);
      const rows = text.slice(text.indexOf('\n') + 1).split('\n');
      const expected = [
        ...urls.map((url) => `${url}${padding},${url === DENIED ? 'deny' : 'allow'}`),
        `"${long}"${padding},invalid`,
        `"""open"${padding},invalid`,
        '',
      ];
      expect(rows.length).toBe(expected.length);
      expect(rows.findIndex((row, at) => row !== expected[at])).toBe(-1);
    }
  });

  test('of 16 MiB or with more than 1,048,576 fields is refused', async ({ place }) => {
    const run = () => place.shell(`${RF} --input csv --no-header --url-field 1 list.csv`);
    place.write('list.csv', `${ALLOWED}${','.repeat(2 ** 20)}\n`);
    expect(await run()).toMatchObject({
      code: 2,
      text: '',
      stderr: expect.stringContaining('the first row has 1048577 fields'),
    });
    place.write('list.csv', `${ALLOWED},"${'x'.repeat(2 ** 24)}"\n`);
    expect(await run()).toMatchObject({
      code: 2,
      text: '',
      stderr: expect.stringContaining('the first row does not end within 16 MiB'),
    });
    place.write('list.csv', `${ALLOWED}${','.repeat(2 ** 20 - 1)}\n${DENIED}\n`);
    const { code, text } = await run();
    expect(code).toBe(0);
    expect(
      text === `${ALLOWED}${','.repeat(2 ** 20)}allow\n${DENIED}${','.repeat(2 ** 20)}deny\n`,
    ).toBe(true);
  });

  test('ends a strict run at the first row with more fields, and the message says what to do', async ({
    place,
  }) => {
    place.write('list.csv', `url,x\n${ALLOWED}\n${DENIED},1,allow\n${ALLOWED},1\n`);
    const strict = await place.shell(`${RF} --strict --threads 1 list.csv`);
    expect(strict.code).toBe(2);
    expect(strict.text).toBe(`url,x,verdict\n${ALLOWED},,allow\n`);
    expect(strict.stderr).toContain('list.csv, line 3: ');
    const { text, stderr } = await place.shell(`${RF} list.csv`);
    expect(verdictsOf(text, 2)).toEqual(['verdict', 'allow', 'invalid', 'allow']);
    expect(lines(stderr)[0]).toContain('more fields than the first row');
    expect(lines(stderr)[0]).toContain('Put quotes around a field that holds the delimiter');
  });

  test('counts for rows with quotes within fields, at all places of blocks of 64 bytes', async ({
    place,
  }) => {
    const rows: string[] = [];
    const expected: string[] = [];
    for (let fill = 1; fill < 140; fill++) {
      const x = 'x'.repeat(fill);
      for (const [row, fields] of [
        [`${ALLOWED},${x}"a,b`, 3],
        [`${ALLOWED},"${x},""",b`, 3],
        [`${ALLOWED},"${x}"a"b,c"`, 3],
        [`${ALLOWED},"${x},"a"b,c"`, 3],
        [`${ALLOWED},${x}"a,"b,c"`, 3],
        [`${ALLOWED},${x},`, 3],
        [`${ALLOWED},"${x}"",",b,`, 4],
        [`${ALLOWED},${x}",b,"c"`, 4],
        [`"${ALLOWED}","${x},,,"`, 2],
      ] as const) {
        rows.push(row);
        const isLong = fields > 3;
        const shown = isLong ? quoted(row) : row;
        const padding = ','.repeat(3 - (isLong ? 1 : fields));
        expected.push(`${shown}${padding},${isLong ? 'invalid' : 'allow'}`);
      }
    }
    place.write('list.csv', `url,b,c\n${rows.join('\n')}\n`);
    const { text } = await place.shell(`${RF} -q --input csv list.csv`);
    expect(text.split('\n').slice(1, -1)).toEqual(expected);
  });

  test('comes whole in quotes, however long, if it has more fields than the header', async ({
    place,
  }) => {
    const long = `${ALLOWED},${'"'.repeat(2 * SHOWN)},${'x"y'.repeat(100_000)}`;
    place.write('list.csv', `url,x\n${long}\n${DENIED},\n`);
    for (const source of ['list.csv', '< list.csv', '< <(cat list.csv)']) {
      const { text } = await place.shell(`${RF} -q --input csv ${source}`);
      expect(text === `url,x,verdict\n${quoted(long)},,invalid\n${DENIED},,deny\n`).toBe(true);
    }
  });
});

test('a list to fetch has the URLs that the filter finds', async ({ place }) => {
  const rows = [
    ['https://a.example/,1,2', 'invalid'],
    ['https://b.example/', 'allow'],
    ['"https://c.example/"x', 'invalid'],
    ['https://d.example/\rhttps://e.example/,x', 'invalid'],
    ['"https://f.exa\nmple/",1', 'allow'],
    [`https://g.example/${'g'.repeat(982)}`, 'allow'],
    [`https://h.example/${'h'.repeat(983)}`, 'invalid'],
    [`"https://i.example/\n${'i'.repeat(979)}"`, 'allow'],
    [`"https://j.example/\n${'j'.repeat(980)}"`, 'invalid'],
    ['not-a-url,x', 'invalid'],
  ] as const;
  const format = '--format verdicts --unknown allow --max-line-bytes 1000';
  for (const lineEnd of ['\n', '\r\n']) {
    const lines = ['url,x', ...rows.map(([row]) => row), ''];
    place.write('list.csv', lines.join(lineEnd));
    const { text } = await place.shell(`${RF} -q --input csv ${format} list.csv`);
    expect(text.trimEnd().split('\n')).toEqual(rows.map(([, verdict]) => verdict));
    const input = await openInput(join(place.path, 'list.csv'), { format: 'csv' });
    const authorities = new Authorities({ urlField: ['url'], maxLineBytes: 1000 });
    await authorities.addInput(input, new AbortController().signal);
    await input.close();
    const { records, invalid } = authorities;
    expect({ records, invalid }).toEqual({ records: rows.length, invalid: 6 });
    expect([...authorities].map(({ host }) => host[0]).join('')).toBe('bfgi');
  }
});

test('several lists to fetch may have their URLs in other columns', async ({ place }) => {
  const authorities = new Authorities({ urlField: ['url'], maxLineBytes: 1000 });
  for (const list of [
    'url,x\nhttps://a.example/,1\n',
    'id,n,url\n1,2,https://b.example/\n',
    'url\nhttps://c.example/\nhttps://d.example/,1\n',
    'x,url\n1,https://e.example/\n',
  ]) {
    place.write('list.csv', list);
    const input = await openInput(join(place.path, 'list.csv'), { format: 'csv' });
    await authorities.addInput(input);
    await input.close();
  }
  expect([...authorities].map(({ host }) => host[0]).join('')).toBe('abce');
  expect(authorities.invalid).toBe(1);
});

test('a list to fetch has the lines that the filter finds, however they end', async ({ place }) => {
  const options = { urlField: ['url'], maxLineBytes: 200 };
  for (const format of ['text', 'ndjson', 'csv', 'tsv', 'cdx', 'cdxj'] as const) {
    for (const lineEnd of ['\n', '\r\n']) {
      const lines = LINES[format].map((line, index) => line.replace('#', 'p'.repeat(index)));
      const lengths = lines.map((line) => line.length);
      const longest = lengths[1] ?? 0;
      place.write('list', `${[...HEADERS[format], ...lines].join(lineEnd)}${lineEnd}`);
      const input = await openInput(join(place.path, 'list'), { format });
      const authorities = new Authorities({ ...options, maxLineBytes: longest });
      await authorities.addInput(input);
      await input.close();
      const { records, invalid } = authorities;
      expect({ format, records, invalid }).toEqual({ format, records: 3, invalid: 1 });
      const asked = `--input ${format} --max-line-bytes ${longest} --format verdicts --unknown allow`;
      const { text } = await place.shell(`${RF} -q ${asked} list`);
      expect(text).toBe('allow\nallow\ninvalid\n');
    }
  }
});

/** Three records of each format, each one byte longer than the one before: see `#`. */
const LINES = {
  text: ['a', 'b', 'c'].map((host) => `https://${host}.example/#`),
  ndjson: ['a', 'b', 'c'].map((host) => `{"url":"https://${host}.example/#"}`),
  csv: ['a', 'b', 'c'].map((host) => `https://${host}.example/#,x`),
  tsv: ['a', 'b', 'c'].map((host) => `https://${host}.example/#\tx`),
  cdx: ['a', 'b', 'c'].map(
    (host) => `example,${host})/ 20260101000000 https://${host}.example/# x 200`,
  ),
  cdxj: ['a', 'b', 'c'].map(
    (host) => `example,${host})/ 20260101000000 {"url":"https://${host}.example/#"}`,
  ),
};

const HEADERS = {
  text: [],
  ndjson: [],
  csv: ['url,x'],
  tsv: ['url\tx'],
  cdx: [' CDX N b a m s'],
  cdxj: [],
};
