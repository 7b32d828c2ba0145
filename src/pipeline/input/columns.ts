/**
 * Tells rows of CSV or TSV from lists of URLs, and finds the column of the URLs; where rows and
 * their fields end.
 */

import { BACKSLASH, COMMA, CR, LF, QUOTE, SEMICOLON, SPACE } from '../../base/ascii.js';
import type { RecordFormat } from '../../kernel/query-settings.js';
import { byteOrderMarkBytes, isJsonSpace } from './raw-input.js';

/*
 * Recognises lists in columns (CSV, TSV, a log) in place of a list of URLs. Read as text, each row
 * would be one URL, and get the verdict of a path that nobody requests.
 *
 * A URL may contain commas, semicolons and even spaces, and every URL of a site may. Only a header,
 * quotes, a tab, or a URL after the delimiter prove that lines are rows. URLs and then short cells
 * are a guess (`areRows`): commas then cause a warning, semicolons and spaces a refusal.
 */

/** Maximum number of fields of a row. The output of each batch has room for as many empty ones. */
export const MOST_FIELDS = 1024 * 1024;

/** Maximum number of lines that are examined. */
const MAX_LINES = 64;
/** Maximum number of characters of a line that are examined. */
const MAX_LINE_LENGTH = 4096;
/** Minimum number of lines, and of sites, for which a delimiter on each line is evidence. */
const FEW = 3;
/** Average rows per site beyond which a list counts as a list of few sites. */
const MAX_ROWS_PER_SITE = 6;
/** Characters of the longest entity of HTML that is looked for, without its semicolon. */
const LONGEST_ENTITY = 8;
/** The beginnings of URLs that can have a robots.txt. */
const SCHEMES: readonly string[] = ['http:', 'https:', 'ftp:'];
/** Share of the lines that must be rows: real lists have a comment or a broken row. */
const MOST = 0.9;

const NAMES: ReadonlySet<string> = new Set(
  'url,urls,uri,link,links,href,loc,location,address,website,web site,homepage,page,page url,source url,target url,final url,original url'.split(
    ',',
  ),
);
/** HTTP status codes that crawler logs contain. Other three-digit numbers are plain numbers. */
const STATUSES: ReadonlySet<string> = new Set(
  '200,201,202,203,204,206,300,301,302,303,304,307,308,400,401,402,403,404,405,406,408,409,410,429,451,500,501,502,503,504,520,521,522,523,524'.split(
    ',',
  ),
);
const MIME_TYPES: ReadonlySet<string> = new Set(
  'text,application,image,audio,video,font,multipart,message,model'.split(','),
);
const ENDINGS: readonly string[] =
  '.html,.htm,.php,.pdf,.aspx,.asp,.jsp,.txt,.xml,.json,.jpg,.jpeg,.png,.gif'.split(',');

interface Delimiter {
  readonly character: '\t' | ',' | ';' | ' ';
  readonly name: string;
  /** The command that extracts the first column. */
  readonly first: string;
  /** The command that extracts column N. */
  readonly other: string;
}

const DELIMITERS: readonly Delimiter[] = [
  { character: '\t', name: 'tabs', first: 'cut -f1', other: 'cut -fN' },
  { character: ',', name: 'commas', first: 'cut -d, -f1', other: 'cut -d, -fN' },
  { character: ';', name: 'semicolons', first: "cut -d';' -f1", other: "cut -d';' -fN" },
  { character: ' ', name: 'spaces', first: "awk '{print $1}'", other: "awk '{print $N}'" },
];
/** The delimiters after a string at the start of an input that show that the input is not JSON. */
const QUOTED = DELIMITERS.filter(({ character }) => character === ',' || character === ';');

/**
 * Describes an input that is a list in columns, with the command that extracts the URLs;
 * `undefined` if the input may be a list of URLs.
 *
 * @param head the first bytes; a last line without a line end counts only if `isWhole`
 * @param format what the head looks like apart from columns
 */
export function describeColumns(
  head: Uint8Array,
  isWhole: boolean,
  format: RecordFormat | undefined,
): string | undefined {
  const found = findColumns(head, isWhole, format);
  if (found === undefined || isDoubtful(found)) return undefined;
  return describe(found.delimiter, found.column, found.quoted);
}

/**
 * As `describeColumns`, for a list that cannot be read in another format. Lines that may also be
 * URLs, and lines with tabs, are no columns: each line is looked at later.
 *
 * @param source the command that writes the list
 */
export function describeColumnsOfList(
  head: Uint8Array,
  format: RecordFormat | undefined,
  source: string,
): string | undefined {
  const found = findColumns(head, false, format);
  if (found === undefined || found.isGuess || found.delimiter.character === '\t') return undefined;
  const { delimiter, column } = found;
  const [first = ''] = firstLines(head, false);
  const hasHeader = !fieldsOf(first, delimiter.character).some((field) => isUrl(bare(field)));
  const command = cutOfRows(delimiter.character, column, hasHeader);
  return `${columnsBy(delimiter)}. Cut the URLs out: ${source} | ${command}`;
}

/** The command that extracts a column, from 0. Any row may have quotes, so cut would not do. */
function cutOfRows(delimiter: string, column: number, hasHeader: boolean): string {
  if (delimiter === ' ') return `awk '${hasHeader ? 'NR > 1 ' : ''}{print $${column + 1}}'`;
  const rows = `csv.reader(sys.stdin${delimiter === ',' ? '' : `, delimiter='${delimiter}'`})`;
  const header = hasHeader ? 'next(rows); ' : '';
  return `python3 -c "import csv, sys; rows = ${rows}; ${header}[print(row[${column}]) for row in rows if row[${column}:]]"`;
}

/** The format that reads the columns of an input. */
interface RowsFormat {
  readonly format: 'csv' | 'tsv';
  /** Whether the rows may also be URLs with commas. */
  readonly isDoubtful: boolean;
}

/** The format that reads the columns of an input; `undefined` if no format does. */
export function rowsFormat(
  head: Uint8Array,
  isWhole: boolean,
  format: RecordFormat | undefined,
): RowsFormat | undefined {
  const found = findColumns(head, isWhole, format);
  const character = found?.delimiter.character;
  if (found === undefined || (character !== ',' && character !== '\t')) return undefined;
  return { format: character === ',' ? 'csv' : 'tsv', isDoubtful: isDoubtful(found) };
}

/** Whether text with such columns is read as URLs, because its commas may belong to them. */
function isDoubtful({ delimiter, isGuess }: FoundColumns): boolean {
  return isGuess && delimiter.character === ',';
}

/** Formats whose first bytes leave no doubt. */
const RECOGNISED: readonly RecordFormat[] = ['ndjson', 'cdx', 'cdxj', 'warc'];

/** Whether a column of this name usually holds URLs. */
export function isUrlColumnName(name: string): boolean {
  return NAMES.has(bare(name).toLowerCase().replaceAll('_', ' '));
}

interface UrlColumn {
  /** Number of the column, from 0. */
  readonly column: number;
  /** Whether a list of URLs may look the same. */
  readonly isGuess: boolean;
}

interface FoundColumns extends UrlColumn {
  readonly delimiter: Delimiter;
  readonly quoted: boolean;
}

function findColumns(
  head: Uint8Array,
  isWhole: boolean,
  format: RecordFormat | undefined,
): FoundColumns | undefined {
  if (format === 'json' && !isQuotedRow(head)) return undefined;
  if (format !== undefined && RECOGNISED.includes(format)) return undefined;
  const delimiters = format === 'json' ? QUOTED : DELIMITERS;
  const lines = firstLines(head, isWhole);
  const found = columnsOf(delimiters, () => lines);
  if (found !== undefined || !head.includes(QUOTE)) return found;
  // Rows whose quoted fields hold newlines.
  return columnsOf(delimiters, ({ character }) => firstRows(head, isWhole, character));
}

/** @param linesFor the first rows as lines, if a delimiter stands between their fields */
function columnsOf(
  delimiters: readonly Delimiter[],
  linesFor: (delimiter: Delimiter) => readonly string[],
): FoundColumns | undefined {
  for (const delimiter of delimiters) {
    const lines = linesFor(delimiter);
    const rows = lines.map((line) => fieldsOf(line, delimiter.character));
    const found = urlColumn(lines, rows, delimiter.character);
    if (found !== undefined) return { ...found, delimiter, quoted: isQuoted(rows) };
  }
  return undefined;
}

/** Whether the input begins with a string and a comma or semicolon, which no JSON does. */
function isQuotedRow(head: Uint8Array): boolean {
  let at = byteOrderMarkBytes(head);
  while (isJsonSpace(head[at])) at++;
  if (head[at] !== QUOTE) return false;
  for (at++; at < head.length && head[at] !== QUOTE; at++) if (head[at] === BACKSLASH) at++;
  at++;
  while (isJsonSpace(head[at])) at++;
  return head[at] === COMMA || head[at] === SEMICOLON;
}

/** The command that extracts a column, from 0. */
function cut({ first, other }: Delimiter, column: number): string {
  return column === 0 ? first : other.replace('N', String(column + 1));
}

function columnsBy({ name }: Delimiter): string {
  return `looks like columns separated by ${name}, not like one URL per line`;
}

function describe(delimiter: Delimiter, column: number, quoted: boolean): string {
  const { character, name } = delimiter;
  const format = character === ',' ? 'csv' : character === '\t' ? 'tsv' : undefined;
  const converted =
    format === undefined
      ? `Convert it to CSV: csvformat -d '${character}' FILE | robots-filter --input csv …`
      : `Use --input ${format}.`;
  const remedy = quoted
    ? converted
    : `Cut the URLs out: ${cut(delimiter, column)} FILE | robots-filter …`;
  const override =
    name === 'tabs' || quoted ? '' : ' If each line is one URL after all, use --input text.';
  return `${columnsBy(delimiter)}. ${remedy}${override}`;
}

/** The first lines that are not blank, as Latin-1, without the white space around them. */
export function firstLines(head: Uint8Array, isWhole: boolean): string[] {
  const lines: string[] = [];
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  let start = text.startsWith('\xef\xbb\xbf') ? 3 : 0;
  while (start < text.length && lines.length < MAX_LINES) {
    const newline = text.indexOf('\n', start);
    if (newline < 0 && !isWhole) break;
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, Math.min(end, start + MAX_LINE_LENGTH)).trim();
    if (line !== '') lines.push(line);
    start = end + 1;
  }
  return lines;
}

/** As `firstLines`, of rows: a quoted field may hold newlines. */
function firstRows(head: Uint8Array, isWhole: boolean, delimiter: string): string[] {
  const rows: string[] = [];
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  let start = byteOrderMarkBytes(head);
  while (start < bytes.length && rows.length < MAX_LINES) {
    const scanner = new RowScanner(delimiter.charCodeAt(0));
    const end = scanner.scan(bytes, start);
    if (end === undefined && !isWhole) break;
    const row = bytes.toString('latin1', start, end).trim();
    if (row !== '') rows.push(row);
    start = end ?? bytes.length;
  }
  return rows;
}

/** The fields of a line. A quoted field may contain the delimiter. Several spaces count as one. */
export function fieldsOf(line: string, delimiter: string): string[] {
  const fields: string[] = [];
  let start = 0;
  while (start <= line.length) {
    let end = line.indexOf(delimiter, start);
    if (line.charAt(start) === '"') {
      let quote = line.indexOf('"', start + 1);
      while (quote >= 0 && line.charAt(quote + 1) === '"') quote = line.indexOf('"', quote + 2);
      if (quote >= 0) end = line.indexOf(delimiter, quote + 1);
    }
    // `&amp;` in a URL copied from HTML is not a delimiter.
    while (delimiter === ';' && end > 0 && endsEntity(line, start, end)) {
      end = line.indexOf(delimiter, end + 1);
    }
    if (end < 0) end = line.length;
    const field = line.slice(start, end);
    if (delimiter !== ' ' || field !== '') fields.push(field);
    start = end + 1;
  }
  return fields;
}

function endsEntity(line: string, start: number, end: number): boolean {
  return line.slice(Math.max(start, end - LONGEST_ENTITY), end).includes('&');
}

function isQuoted(rows: readonly (readonly string[])[]): boolean {
  return rows.some((fields) => fields.some((field) => field.trim().startsWith('"')));
}

/** A field without its quotes and the white space around it. */
function bare(field: string | undefined): string {
  const text = field?.trim() ?? '';
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

/** Whether a field begins as a URL does. */
export function isUrl(field: string | undefined): boolean {
  const text = bare(field).slice(0, 8).toLowerCase();
  return text.startsWith('http://') || text.startsWith('https://') || text.startsWith('ftp://');
}

/** Whether the URL Standard may read a field as a URL; unlike `isUrl` also `http:\\host`. */
function mayBeUrl(field: string | undefined): boolean {
  const text = field ?? '';
  let at = 0;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++;
  const start = text.slice(at, at + 'https:'.length).toLowerCase();
  return SCHEMES.some((scheme) => start.startsWith(scheme));
}

/** The column of URLs in a list of columns; `undefined` if nothing suggests columns. */
function urlColumn(
  lines: readonly string[],
  rows: readonly (readonly string[])[],
  delimiter: string,
): UrlColumn | undefined {
  const sure = (column: number): UrlColumn => ({ column, isGuess: false });
  const [head, ...others] = rows;
  if (head === undefined) return undefined;
  const hasHeader = !head.some(isUrl);
  const body = hasHeader ? others : rows;
  const inColumn = (column: number) =>
    body.filter((fields) => fields.length > 1 && isUrl(fields[column]));
  const holdsUrls = (column: number): boolean =>
    body.length > 0 && inColumn(column).length >= MOST * body.length;
  if (hasHeader && head.length > 1) {
    // The named column need not be the first one with URLs: see `referer,url`. A slow pipe may not
    // have brought more than the header.
    const isAlone = body.length === 0 && (delimiter === ',' || delimiter === '\t');
    const named = head.findIndex(
      (name, index) => isUrlColumnName(name) && (isAlone || holdsUrls(index)),
    );
    if (named >= 0) return sure(named);
  }
  const column = firstUrlColumn(body);
  if (column === undefined || !holdsUrls(column)) return undefined;
  const found = inColumn(column);
  if (column > 0) {
    const mayBeUrls = delimiter === ',' && found.some(([field]) => mayBeUrl(field));
    return found.length > 1 && !mayBeUrls ? sure(column) : undefined;
  }
  if (delimiter === '\t') return found.length > 1 ? sure(column) : undefined;
  const quoted = found.filter(([field]) => field?.startsWith('"')).length;
  if (quoted >= MOST * found.length) return sure(column);
  return areRows(found, lines) ? { column, isGuess: true } : undefined;
}

/** The column in which most rows have their first URL. */
function firstUrlColumn(rows: readonly (readonly string[])[]): number | undefined {
  const counts = new Map<number, number>();
  for (const fields of rows) {
    const column = fields.findIndex(isUrl);
    if (column >= 0) counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  let best: number | undefined;
  for (const [column, count] of counts) {
    if (best === undefined || count > (counts.get(best) ?? 0)) best = column;
  }
  return best;
}

/**
 * Whether lines look like rows, although a list of URLs may look the same. The lines begin with a
 * URL and contain the delimiter later. There must be at least three lines with equally many
 * columns, and the columns after the URL must look like cells. In addition, one of these must hold:
 *
 * - The lines are of three sites or more, because all URLs of one site may well contain a comma.
 * - The text before the delimiter ends as URLs do: `/`, `.html`, `.pdf`.
 * - A column holds HTTP status codes, in five rows or more.
 * - Another column holds URLs.
 */
function areRows(rows: readonly (readonly string[])[], lines: readonly string[]): boolean {
  if (rows.length < FEW || lines.length < FEW) return false;
  const width = rows[0]?.length ?? 0;
  const inMost = (holds: (fields: readonly string[]) => boolean): boolean =>
    rows.filter(holds).length >= MOST * rows.length;
  if (!inMost((fields) => fields.length === width)) return false;
  if (!inMost((fields) => fields.slice(1).every(isCell))) return false;
  const sites = new Set(
    rows
      .map(([url]) => url ?? '')
      .filter(hasNoQuery)
      .map(siteOf),
  ).size;
  if (sites >= FEW && sites >= rows.length / MAX_ROWS_PER_SITE) return true;
  if (inMost(([url]) => endsAsUrl(url ?? ''))) return true;
  for (let column = 1; column < width; column++) {
    if (inMost((fields) => isUrl(fields[column]))) return true;
    if (rows.length >= 5 && inMost((fields) => STATUSES.has(bare(fields[column])))) return true;
  }
  return false;
}

/** Whether a field looks like a value, not like the rest of a path or query. */
function isCell(field: string): boolean {
  const text = bare(field);
  if (text === '' || text !== field.trim() || text.includes(' ') || isUrl(text)) return true;
  const slash = text.indexOf('/');
  if (slash >= 0) {
    return MIME_TYPES.has(text.slice(0, slash)) && !text.includes('/', slash + 1);
  }
  const lower = text.toLowerCase();
  if (ENDINGS.some((ending) => lower.endsWith(ending)) || text.startsWith('_')) return false;
  return !['=', '&', '%', '?', '#'].some((mark) => text.includes(mark));
}

function endsAsUrl(field: string): boolean {
  const text = bare(field).toLowerCase();
  const path = text.indexOf('/', text.indexOf('://') + 3);
  return path >= 0 && (text.endsWith('/') || ENDINGS.some((ending) => text.endsWith(ending)));
}

/**
 * Whether a URL has no query. A query may contain any text: share links hold titles with commas and
 * spaces.
 */
function hasNoQuery(url: string): boolean {
  return !url.includes('?');
}

/** The label of a host before the last one, so that a site in many countries counts once. */
function siteOf(url: string): string {
  const text = bare(url);
  const start = text.indexOf('://') + 3;
  let end = start;
  while (end < text.length && !['/', '?', '#', ':'].includes(text.charAt(end))) end++;
  return text.slice(start, end).toLowerCase().split('.').at(-2) ?? '';
}

// The places at which a row may continue.
const FIELD_START = 0;
const OUTSIDE_QUOTES = 1;
const IN_QUOTES = 2;
/**
 * After a quote within a quoted field. The quote is the field's end, or the first of two quotes.
 */
const AFTER_QUOTE = 3;

/**
 * Finds where rows end (RFC 4180): at a newline outside quoted fields. Only a quote at the start of
 * a field opens a quoted field; text after its closing quote belongs to the field.
 */
export class RowScanner {
  readonly #delimiter: number;
  #place: number = FIELD_START;
  /** Number of newlines within the row so far. */
  newlines = 0;

  constructor(delimiter: number) {
    this.#delimiter = delimiter;
  }

  /** Whether the row so far ends within a quoted field. */
  get isQuoted(): boolean {
    return this.#place === IN_QUOTES;
  }

  /** Begins the next row. */
  begin(): void {
    this.#place = FIELD_START;
    this.newlines = 0;
  }

  /**
   * Continues with the row; returns the offset after it, or `undefined` if the row does not end in
   * `bytes`.
   */
  scan(bytes: Uint8Array, start: number): number | undefined {
    const delimiter = this.#delimiter;
    const end = bytes.length;
    let place = this.#place;
    let at = start;
    while (at < end) {
      if (place === IN_QUOTES) {
        let byte = bytes[at];
        while (byte !== QUOTE && at < end) {
          if (byte === LF) this.newlines++;
          byte = bytes[++at];
        }
        if (at === end) break;
        at++;
        place = AFTER_QUOTE;
        continue;
      }
      const byte = bytes[at++];
      if (byte === delimiter) {
        place = FIELD_START;
      } else if (byte === LF) {
        return at;
      } else if (byte === QUOTE && place !== OUTSIDE_QUOTES) {
        place = IN_QUOTES;
      } else {
        place = OUTSIDE_QUOTES;
        while (at < end && bytes[at] !== delimiter && bytes[at] !== LF) at++;
      }
    }
    this.#place = place;
    return undefined;
  }
}

/** The fields of a row, without quotes around them. */
export function fieldsOfRow(row: Buffer, delimiter: number): string[] {
  const end = endOfFields(row);
  const fields: string[] = [];
  for (let at = 0; at <= end; ) {
    const parts: Buffer[] = [];
    let from = at;
    if (row[at] === QUOTE) {
      from = ++at;
      while (at < end && (row[at] !== QUOTE || row[at + 1] === QUOTE)) {
        if (row[at] === QUOTE) {
          parts.push(row.subarray(from, at));
          from = ++at;
        }
        at++;
      }
      parts.push(row.subarray(from, Math.min(at, end)));
      from = ++at;
    }
    let next = from <= end ? row.indexOf(delimiter, from) : -1;
    if (next < 0 || next > end) next = end;
    if (from < next) parts.push(row.subarray(from, next));
    fields.push(Buffer.concat(parts).toString());
    at = Math.max(next, from - 1) + 1;
  }
  return fields;
}

/** Offset at which the last field of a row ends: before the line end. The input's end is a LF. */
export function endOfFields(row: Buffer): number {
  const end = row.at(-1) === LF ? row.length - 1 : row.length;
  return row[end - 1] === CR ? end - 1 : end;
}
