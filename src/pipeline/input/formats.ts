import { COMMA, LF, OPEN_BRACE, QUOTE } from '../../ascii.js';
import { compressionOf } from '../../files/compressions.js';
import { RowScanner } from './csv/row-scanner.js';
import type { Format, InputFormat, Recognition, RefusedFormat } from './format.js';
import { columns, rowsFormat } from './formats/columns.js';
import { json } from './formats/json.js';
import { type NamedRows, namedRows } from './formats/named-rows.js';
import { ndjson } from './formats/ndjson.js';
import { parquet } from './formats/parquet.js';
import { csv, tsv } from './formats/rows.js';
import { text } from './formats/text.js';
import { unsupported } from './formats/unsupported.js';
import { needsMoreBytes, startOfContent } from './head.js';

/*
 * An input is opened by its first bytes. open.ts undoes the compression that they show
 * (files/compressions.ts), and refuses an input that one of REFUSED_FORMATS describes. The first of
 * FORMATS that recognises the bytes turns the rest into lines.
 */

/**
 * The formats that are read, in the order in which they are tried. To add a format, write a file of
 * formats/ and add it here, before any format that would also recognise its first bytes.
 */
export const FORMATS: readonly Format[] = [parquet, json, ndjson, csv, tsv, text];

const COMMAS =
  'each line is read as one URL, although its commas may separate columns. ' +
  'If they do, use --input csv --url-field 1; if not, --input text leaves this warning out';

/** The formats that are recognised only to refuse them with advice. */
export const REFUSED_FORMATS: readonly RefusedFormat[] = [unsupported, columns];

/** The format of a name. */
export function formatNamed(name: InputFormat): Format {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format === undefined) throw new Error(`no input format ${name}`);
  return format;
}

/** The format of an input; `undefined` if later bytes can change the answer. */
export function recogniseFormat(head: Uint8Array): InputFormat | undefined {
  return needsMoreBytes(head) ? undefined : firstFormat(head);
}

function firstFormat(head: Uint8Array): InputFormat | undefined {
  for (const { name, recognise } of FORMATS) {
    const isOfFormat = recognise(head);
    if (isOfFormat === undefined) return undefined;
    if (isOfFormat) return name;
  }
  return undefined;
}

/**
 * The format that `--input auto` chooses if only `head` is known. If `head` does not decide, an
 * object on a line longer than the head counts as NDJSON.
 */
export function sniffFormat(head: Uint8Array): InputFormat {
  return firstFormat(head) ?? (head.includes(OPEN_BRACE) ? 'ndjson' : 'text');
}

/**
 * The format of the input if `--input auto` finds rows in it.
 *
 * @param named the format that the name of the input implies
 * @param isTold whether the user has said which column holds the URL, or whether there is a header
 */
export function sniffRows(
  recognition: Recognition,
  named: 'csv' | 'tsv' | undefined,
  isTold: boolean,
): NamedRows {
  if (named !== undefined) return namedRows(named, recognition, isTold);
  const { head, isWhole, format } = recognition;
  const rows = rowsFormat(head, isWhole, format);
  return rows?.isDoubtful === true ? { doubt: COMMAS } : { format: rows?.format };
}

/**
 * Whether `head` is enough to open the input: more bytes would change nothing.
 *
 * @param isNamed whether the name of the input implies a format of rows
 */
export function isEnough(head: Uint8Array, asked: InputFormat | 'auto', isNamed: boolean): boolean {
  if (needsMoreBytes(head)) return false;
  if (asked !== 'auto' || compressionOf(head) !== undefined) return true;
  if (isNamed) return hasLine(head);
  const recognised = recogniseFormat(head);
  // The first lines show whether text is columns: the lines of one read, and at least one line.
  // JSON that begins with a string may be a row with quotes.
  return recognised === 'text' || head[startOfContent(head)] === QUOTE
    ? hasLine(head)
    : recognised !== undefined;
}

/** Whether the first line with content has ended. One that begins with a quote may be a row. */
function hasLine(head: Uint8Array): boolean {
  const start = startOfContent(head);
  return head[start] === QUOTE
    ? new RowScanner(COMMA).scan(head, start) !== undefined
    : head.includes(LF, start);
}

/** Explains why an input is refused, and what to type instead; `undefined` if it is accepted. */
export function describeRefusal(
  recognition: Recognition,
  asked: InputFormat | 'auto',
): string | undefined {
  for (const refused of REFUSED_FORMATS) {
    if (!refused.always && asked !== 'auto') continue;
    const description = refused.describe(recognition, asked);
    if (description !== undefined) return description;
  }
  return undefined;
}
