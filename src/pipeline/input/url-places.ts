import type { Buffer } from 'node:buffer';
import { formatFieldPath } from '../../base/arguments.js';
import { BACKSLASH, CLOSE_BRACE, OPEN_BRACE, QUOTE } from '../../base/ascii.js';
import { NOTATIONS, type RecordFormat } from '../../kernel/query-settings.js';
import type { ParquetFile } from '../../parquet/parquet-file.js';
import { fieldsOfRow, firstLines, isUrl, RowScanner, rowsFormat } from './columns.js';
import { sniffFormat } from './formats.js';
import type { OpenInput } from './open.js';
import { byteOrderMarkBytes } from './raw-input.js';
import { describeUrlDocument } from './url-documents.js';

/*
 * Finds out, from the first records of an input, where it holds URLs: after a run that found none,
 * or whose hosts are all unknown. Nothing here decides how an input is read.
 */

/** Number of records that are looked at. */
const MOST_RECORDS = 64;
/** Nesting of a JSON object that is looked at. */
const MOST_DEPTH = 8;
/** Columns of Parquet that are looked at: each needs a page to be read. */
const MOST_COLUMNS = 64;

/** The first values of an input, by the name of their member or column. */
export interface SampledInput {
  /** What has a name: nothing in text. */
  readonly unit: 'member' | 'column' | undefined;
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Paths of members that hold lists with a URL, as keys. */
  readonly lists: readonly (readonly string[])[];
  /** The format that reads the input, if its records are not of the format in which it was read. */
  readonly otherFormat: RecordFormat | undefined;
  /** What the input is if it is no list at all: see `describeUrlDocument`. */
  readonly document: string | undefined;
}

/** The values of text, which has no names. */
export const WHOLE_LINE = '';

/** Reads the first values of an input that is still open. */
export async function sampleInput(input: OpenInput): Promise<SampledInput> {
  const values = new Map<string, string[]>();
  const add = (name: string, value: string): void => {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else if (known.length < MOST_RECORDS) known.push(value);
  };
  const lists = new Map<string, readonly string[]>();
  const addList = (path: readonly string[]) => lists.set(formatFieldPath(path), path);
  const { format, beginning } = input;
  let otherFormat: SampledInput['otherFormat'];
  switch (format) {
    case 'json':
    case 'ndjson':
    case 'cdxj':
      for (const object of objectsIn(beginning)) addMembers(object, [], add, addList);
      otherFormat = formatBeside(format, beginning);
      break;
    case 'warc':
      for (const object of objectsIn(beginning)) addMembers(object, [], add, addList);
      break;
    case 'csv':
    case 'tsv':
      addRows(input, NOTATIONS[format].charCodeAt(0), add);
      break;
    case 'cdx':
      addIndexLines(input, add);
      otherFormat = formatBeside(format, beginning);
      break;
    case 'parquet':
      if (input.kind === 'stream' && input.parquet !== undefined) {
        await addColumns(input.parquet, add);
      }
      break;
    case 'log':
      break;
    case 'text': {
      const lines = firstLines(beginning, true);
      for (const line of lines) add(WHOLE_LINE, line);
      const isObjects = lines.length > 0 && lines.every((line) => line.startsWith('{'));
      otherFormat = isObjects ? 'ndjson' : formatBeside(format, beginning);
    }
  }
  const unit =
    format === 'text' || format === 'log'
      ? undefined
      : format.endsWith('json') || format === 'cdxj'
        ? 'member'
        : 'column';
  const document = describeUrlDocument(beginning);
  return { unit, values, lists: [...lists.values()], otherFormat, document };
}

/** The format in which `--input auto` reads an input, if that is another one. */
function formatBeside(format: RecordFormat, beginning: Buffer): RecordFormat | undefined {
  const sniffed = sniffFormat(beginning);
  const found =
    sniffed === 'text' ? (rowsFormat(beginning, true, 'text')?.format ?? 'text') : sniffed;
  // JSON is read whether its objects have lines of their own or not.
  return found === format || (found === 'ndjson' && format === 'json') ? undefined : found;
}

/** The name of the member or column with most URLs, if most of its values are URLs. */
export function placeOfUrls({ values }: SampledInput): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const [name, ofName] of values) {
    const urls = ofName.filter(isUrl).length;
    if (2 * urls <= ofName.length || urls <= most) continue;
    best = name;
    most = urls;
  }
  return best;
}

/** The first JSON objects that are whole, whatever stands between them. */
function* objectsIn(head: Buffer): Iterable<unknown> {
  let found = 0;
  let at = head.indexOf(OPEN_BRACE);
  while (at >= 0 && found < MOST_RECORDS) {
    const end = endOfObject(head, at);
    if (end === undefined) return;
    try {
      yield JSON.parse(head.toString('utf8', at, end));
      found++;
    } catch {
      // A broken record, which may have been invalid for that reason.
    }
    at = head.indexOf(OPEN_BRACE, end);
  }
}

/** Offset after the object that begins at `start`; `undefined` if it does not end. */
function endOfObject(head: Buffer, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < head.length; at++) {
    const byte = head[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE) depth++;
    else if (byte === CLOSE_BRACE && --depth === 0) return at + 1;
  }
  return undefined;
}

/**
 * Adds the strings of an object, by their paths as --url-field takes them.
 *
 * @param addList called for each list that holds a URL
 */
function addMembers(
  value: unknown,
  path: readonly string[],
  add: (name: string, value: string) => void,
  addList: (path: readonly string[]) => void = () => {},
): void {
  if (typeof value === 'string' && path.length > 0) add(formatFieldPath(path), value);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (value.some((each) => typeof each === 'string' && isUrl(each))) addList(path);
    return;
  }
  if (path.length === MOST_DEPTH) return;
  for (const [key, member] of Object.entries(value)) {
    addMembers(member, [...path, key], add, addList);
  }
}

/** Adds the fields of the first rows, by the names in the header or else by their numbers. */
function addRows(
  input: OpenInput,
  delimiter: number,
  add: (name: string, value: string) => void,
): void {
  const { beginning } = input;
  const header = input.kind === 'stream' ? input.header : undefined;
  const names = header === undefined ? [] : fieldsOfRow(header, delimiter);
  let at = header === undefined ? byteOrderMarkBytes(beginning) : beginning.indexOf(header);
  if (at < 0) return;
  at += header?.length ?? 0;
  for (let row = 0; row < MOST_RECORDS && at < beginning.length; row++) {
    const end = new RowScanner(delimiter).scan(beginning, at) ?? beginning.length;
    for (const [index, field] of fieldsOfRow(beginning.subarray(at, end), delimiter).entries()) {
      const name = names[index]?.trim() ?? '';
      add(name === '' ? String(index + 1) : name, field);
    }
    at = end;
  }
}

/** Adds the fields of the first lines of an index, by the letters of its header or by numbers. */
function addIndexLines(input: OpenInput, add: (name: string, value: string) => void): void {
  const { header, rowFields } = input.kind === 'stream' ? input : {};
  const names = header === undefined ? [] : firstFields(header)[0]?.slice(1);
  const lines = firstFields(input.beginning).slice(header === undefined ? 0 : 1);
  for (const fields of lines.filter(({ length }) => length === rowFields)) {
    for (const [index, field] of fields.entries()) add(names?.[index] ?? String(index + 1), field);
  }
}

/** The fields of the first lines of an index, without the delimiter before a header. */
function firstFields(lines: Buffer): string[][] {
  return firstLines(lines, true).map((line) => line.split(' '));
}

/** Adds the first values of all columns of text. */
async function addColumns(
  file: ParquetFile,
  add: (name: string, value: string) => void,
): Promise<void> {
  const { isText } = await import('../../parquet/columns.js');
  const { urlLines } = await import('./parquet-urls.js');
  for (const leaf of file.footer.leaves.filter(isText).slice(0, MOST_COLUMNS)) {
    for await (const lines of urlLines(file, leaf)) {
      const first = lines.toString('utf8').split('\n', MOST_RECORDS);
      for (const line of first) if (line !== '') addMembers(JSON.parse(line), [], add);
      break;
    }
  }
}
