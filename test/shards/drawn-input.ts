import type { RecordFormat } from '../../src/kernel/query-settings.js';
import type { Random } from '../random/random.js';

/** Records of a drawn input that a division could get wrong. */
export const SPECIAL = [
  'blank',
  'no record',
  'no URL',
  'invalid URL',
  'many lines',
  'carriage return',
  'size of a batch',
  'longer than a batch',
  'too long',
  'no final newline',
] as const;
export type Special = (typeof SPECIAL)[number];

/** Lengths that matter to a run. */
export interface Lengths {
  readonly batchBytes: number;
  readonly maxLineBytes: number;
}

/**
 * Draws an input of some format.
 *
 * @param urls of which its records have most
 * @param count counts the special records
 */
export function drawnInput(
  random: Random,
  format: RecordFormat,
  urls: readonly string[],
  { batchBytes, maxLineBytes }: Lengths,
  count: (special: Special) => void,
): Buffer {
  const lineEnd = format === 'json' ? '' : random.pick(['\n', '\n', '\r\n']);
  if (lineEnd === '\r\n') count('carriage return');
  const make = MAKERS[format] ?? (() => '');
  let text = HEADERS[format] === undefined ? '' : `${HEADERS[format]}${lineEnd}`;
  const records = random.between(0, 60);
  for (let at = 0; at < records; at++) {
    const url = random.pick(urls);
    const kind = random.number();
    let record: string;
    if (kind < 0.05) {
      record = format === 'csv' || format === 'tsv' ? '' : random.pick(['', ' ', '\t']);
      count('blank');
    } else if (kind < 0.12) {
      record = NO_RECORD[format] ?? 'not a URL';
      count(format === 'text' ? 'invalid URL' : 'no record');
    } else if (kind < 0.17) {
      record = make(random, 'not a URL', 0);
      count('invalid URL');
    } else if (kind < 0.2 && format !== 'text') {
      record = make(random, undefined, 0);
      count('no URL');
    } else if (kind < 0.27) {
      const size = random.pick([batchBytes, batchBytes, maxLineBytes, 3 * batchBytes]);
      const exact = size + random.between(-2, 2);
      record = make(random, url, 0);
      record = make(random, url, Math.max(0, exact - record.length - lineEnd.length));
      if (record.length > maxLineBytes) count('too long');
      else if (record.length + lineEnd.length > batchBytes) count('longer than a batch');
      else if (record.length + lineEnd.length === batchBytes) count('size of a batch');
    } else {
      record = make(random, url, random.chance(0.1) ? random.between(1, 300) : 0);
    }
    if (record.includes('\n')) count('many lines');
    text += record + lineEnd;
    if (format === 'json') text += random.pick(['\n', ' ', '\n\n']);
  }
  if (lineEnd !== '' && text.endsWith(lineEnd) && random.chance(0.4)) {
    text = text.slice(0, -lineEnd.length);
    count('no final newline');
  }
  return Buffer.from(text, 'latin1');
}

const HEADERS: Partial<Record<RecordFormat, string>> = { csv: 'id,url,note', tsv: 'id\turl\tnote' };

const NO_RECORD: Partial<Record<RecordFormat, string>> = {
  ndjson: '{"url":"https://a.example/"',
  json: '7',
  csv: '1',
  tsv: '1',
};

/** Makes a record with a URL, and so many more bytes. */
type Maker = (random: Random, url: string | undefined, more: number) => string;

const MAKERS: Partial<Record<RecordFormat, Maker>> = {
  text: (_, url = '', more) => url + (more === 0 ? '' : `/${'x'.repeat(more - 1)}`),
  ndjson: object,
  json: (random, url, more) =>
    url !== undefined && more === 0 && random.chance(0.3)
      ? JSON.stringify(url)
      : object(random, url, more),
  csv: (random, url = '', more) => row(random, url, more, ','),
  tsv: (random, url = '', more) => row(random, url, more, '\t'),
};

function object(random: Random, url: string | undefined, more: number): string {
  const id = random.between(1, 9);
  const value = url === undefined ? random.pick(['', '"u":1,']) : `"url":${JSON.stringify(url)},`;
  return `{"id":${id},${value}"more":"${'x'.repeat(more)}"}`;
}

function row(random: Random, url: string, more: number, delimiter: string): string {
  const note = random.pick(['', '"a\nb"', '"a""b"', 'x']);
  const quoted = /[\s",]/.test(url) ? `"${url.replaceAll('"', '""')}"` : url;
  return [random.between(1, 9), quoted, note + (note.endsWith('"') ? '' : 'y'.repeat(more))].join(
    delimiter,
  );
}
