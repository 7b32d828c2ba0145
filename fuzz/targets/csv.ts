import { bytesOf, charactersOf } from '../../oracle/bytes.js';
import { isBlank, type Row, rowsOf, SHOWN } from '../../oracle/records.js';
import { COMMA, TAB } from '../../src/base/ascii.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { RowSplitter } from '../../src/pipeline/input/row-lines.js';
import type { Random } from '../../test/random/random.js';
import { checkConversions } from '../conversions.js';
import { agree } from '../fault.js';
import { GuardedKernel } from '../kernel/guarded-kernel.js';
import type { Target } from '../target.js';

/** The second rule shows whether two quotes became one. */
const RULES = 'user-agent: *\ndisallow: /deny\ndisallow: /*""\n';
const URLS = [
  'http://a.example/""',
  'https://a.example/deny',
  'http://a.example/',
  'HTTPS://A.example/%64eny"x',
  'x:',
];
const PIECES = ['"', '""', ',', '\t', '\n', '\r\n', '\r', '\x01', '\x02', '\xff', 'a', ' '];

/** Columns of URLs, and fields of a row; 0 for any number. */
const SHAPES = [
  [0, 0],
  [0, 1],
  [1, 2],
  [1, 70],
] as const;

export const target: Target = {
  name: 'csv',
  summary: 'rows of CSV and TSV, and lines of CDX, against a naive reader',
  maxBytes: 8000,
  seeds: [
    'https://a.example/deny,"a\n""b"\r\n"https://a.example/",x\n\n,\n"open,\n',
    '\x01https://a.example/deny\n\x02\n"\x01\n"\thttps://a.example/deny\n',
    '"http:\nh"\r',
    'http://a.example/"",http://a.example/""\n"http://a.example/""""","http://a.example/"""\n',
    '"https://a.exam\nple/""deny",x"y,"z"w\r',
    'k https://a.example/deny\n"k "\r\n\x01 https://a.example/"\n  \nhttps://a.example/ \r\n',
  ],
  dictionary: [...URLS, ...PIECES],
  generate: (random) => random.run([...URLS, ...PIECES, '\n', ','], 0, 60),
  piece: (random: Random) => random.pick([...URLS, ...PIECES]),
  check(build) {
    const kernel = new GuardedKernel(build);
    const builder = new TableBuilder();
    for (const scheme of ['http', 'https'] as const) {
      const authority = { scheme, host: 'a.example', port: scheme === 'http' ? 80 : 443 };
      builder.add(authority, bytesOf(RULES), { source: 's' });
    }
    const table = builder.build();
    return (input) => {
      kernel.load(table);
      checkRows(kernel, input, COMMA);
      checkRows(kernel, input, TAB);
      checkIndex(kernel, input);
    };
  },
};

function checkRows(kernel: GuardedKernel, input: Uint8Array, code: typeof COMMA | typeof TAB) {
  const lines = split(input, code, input.length);
  for (const size of [1, 2, 5, 64]) {
    agree(`lines of chunks of ${size}`, split(input, code, size), lines);
  }
  const delimiter = String.fromCharCode(code);
  const format = code === COMMA ? 'csv' : 'tsv';
  const rows = rowsOf(charactersOf(input), delimiter).filter(
    ({ text }) => text !== '' && text !== '\r',
  );
  for (const [column, rowFields] of SHAPES) {
    const asked = { format, column, rowFields } as const;
    const isBad = ({ isOpen, hasReturn, fields }: Row): boolean =>
      isOpen || hasReturn || (rowFields > 0 && fields.length > rowFields);
    const judged = kernel.ask({ format: 'text' });
    const verdicts = rows.map((row) => {
      const url = isBad(row) ? '' : (row.fields[column] ?? '');
      return url === '' ? 'invalid' : kernel.judge(judged, bytesOf(url)).verdict;
    });
    const bytes = bytesOf(lines);
    const annotated = kernel.run(kernel.ask({ ...asked, output: 'annotate' }), bytes).output;
    const expected = rows.map((row, index) => {
      const fields = isBad(row) ? 1 : row.fields.length;
      const padding = delimiter.repeat(Math.max(rowFields - fields, 0));
      return written(row, `${padding}${delimiter}${verdicts[index]}`, isBad(row));
    });
    agree('annotated rows', annotated, expected.join(''));
    const allowed = rows.filter((_row, index) => verdicts[index] === 'allow');
    const passed = kernel.run(kernel.ask({ ...asked, output: 'allowed' }), bytes).output;
    agree('allowed rows', passed, allowed.map((row) => written(row, '', false)).join(''));
    const words = kernel.run(kernel.ask({ ...asked, output: 'verdicts' }), bytes).output;
    agree('verdicts', words, verdicts.map((verdict) => `${verdict}\n`).join(''));
    const urls = rows.map((row) => {
      const { text, fields } = row;
      const url = isBad(row) ? '' : (fields[column] ?? '');
      if (url !== '') return url;
      return (text.endsWith('\r') ? text.slice(0, -1) : text).slice(0, SHOWN);
    });
    checkConversions(kernel, asked, bytes, urls);
  }
}

/** Lines of CDX: fields between spaces, and quotes are bytes like others. */
function checkIndex(kernel: GuardedKernel, input: Uint8Array): void {
  const characters = charactersOf(input);
  const ended = characters.split('\n');
  const last = ended.pop() ?? '';
  const lines = ended.map((line): [text: string, end: string] =>
    line.endsWith('\r') ? [line.slice(0, -1), '\r\n'] : [line, '\n'],
  );
  if (last !== '') lines.push([last, '\n']);
  const records = lines.filter(([text]) => !isBlank(text));
  for (const [column, rowFields] of SHAPES) {
    const asked = { format: 'cdx', column, rowFields } as const;
    const judged = kernel.ask({ format: 'text' });
    const urls = records.map(([text]) => {
      const fields = text.split(' ');
      const isBad = text.includes('\r') || (rowFields > 0 && fields.length !== rowFields);
      return isBad ? '' : (fields[column] ?? '');
    });
    const verdicts = urls.map((url) =>
      url === '' ? 'invalid' : kernel.judge(judged, bytesOf(url)).verdict,
    );
    const run = (output: 'annotate' | 'allowed' | 'verdicts', explain = false): string =>
      kernel.run(kernel.ask({ ...asked, output, explain }), input).output;
    const annotated = records.map(([text, end], at) => `${text} ${verdicts[at]}${end}`);
    agree('annotated lines', run('annotate'), annotated.join(''));
    const explained = run('annotate', true).split('\n').slice(0, -1);
    agree('explained lines', explained.length, records.length);
    explained.forEach((line, at) => {
      const added = line.slice((records[at]?.[0].length ?? 0) + 1).split(' ');
      agree('fields of an explanation', added.length, 6);
      agree('empty fields', added.includes(''), false);
    });
    const allowed = records.filter((_, at) => verdicts[at] === 'allow');
    agree('allowed lines', run('allowed'), allowed.map((each) => each.join('')).join(''));
    agree('verdicts', run('verdicts'), verdicts.map((verdict) => `${verdict}\n`).join(''));
    const shown = records.map(([text], at) => urls[at] || text.slice(0, SHOWN));
    checkConversions(kernel, asked, input, shown);
  }
}

function split(input: Uint8Array, delimiter: typeof COMMA | typeof TAB, size: number): string {
  let lines = '';
  const push = (piece: Buffer) => {
    lines += charactersOf(piece);
  };
  const splitter = new RowSplitter({ delimiter, maxRecordBytes: 1e6, linesBefore: 0 }, push);
  for (let at = 0; at < input.length; at += size) {
    splitter.split(Buffer.from(input.subarray(at, at + size)));
  }
  splitter.end();
  return lines;
}

/** A row as it comes out, in quotes if it is bad. */
function written({ text, isOpen }: Row, added: string, isBad: boolean): string {
  const hasReturn = text.endsWith('\r');
  const row = hasReturn ? text.slice(0, -1) : text;
  const begun = isOpen ? row.slice(0, SHOWN) : row;
  const shown = isBad ? `"${begun.replaceAll('"', '""')}"` : begun;
  return `${shown}${added}${hasReturn ? '\r' : ''}\n`;
}
