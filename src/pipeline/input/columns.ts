/**
 * Lists in columns (CSV, TSV, a log) that came in place of a list of URLs. Read as text, each row
 * would be taken for one URL and get a verdict for a path that nobody asks for.
 *
 * A URL may hold commas, semicolons and even spaces, and a site may have one in each of its URLs.
 * So a list is refused only on evidence that no list of URLs gives: see `isListOf`. What is not
 * refused is read as it always was.
 */

import { byteOrderMarkOctets, recogniseFormat } from './format.js';

/** Lines that are looked at. */
const MAX_LINES = 64;
/**
 * Longer lines are no rows that a reader would know by sight; the time to look at one is bounded.
 */
const MAX_LINE_LENGTH = 4096;
/** Lines and sites from which a delimiter in each line is no accident. */
const FEW = 3;
/** Rows of one site, on average, beyond which a list is taken for one of few sites. */
const ROWS_OF_A_SITE = 6;
/**
 * Share of the lines that must be rows: a real list in columns has a comment or a broken row here
 * and there.
 */
const MOST = 0.9;

const NAMES: ReadonlySet<string> = new Set(
  'url,urls,uri,link,links,href,loc,location,address,website,web site,homepage,page,page url,source url,target url,final url,original url'.split(
    ',',
  ),
);
/** Statuses of HTTP that a crawler's log has; other numbers of three digits are numbers. */
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
  /** The command that cuts the first column out, and another one. */
  readonly first: string;
  readonly other: string;
}

const DELIMITERS: readonly Delimiter[] = [
  { character: '\t', name: 'tabs', first: 'cut -f1', other: 'cut -fN' },
  { character: ',', name: 'commas', first: 'cut -d, -f1', other: 'cut -d, -fN' },
  { character: ';', name: 'semicolons', first: "cut -d';' -f1", other: "cut -d';' -fN" },
  { character: ' ', name: 'spaces', first: "awk '{print $1}'", other: "awk '{print $N}'" },
];
/** Those of them that no JSON has between strings. */
const QUOTED = DELIMITERS.filter(({ character }) => character === ',' || character === ';');

const QUOTE = 0x22;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;

/**
 * Says of an input that it is a list in columns, and what to do; `undefined` if it may be a list of
 * URLs.
 *
 * @param head the first octets; a last line that has not ended is not looked at, unless `isWhole`
 */
export function describeColumns(head: Uint8Array, isWhole: boolean): string | undefined {
  const format = recogniseFormat(head);
  if (format === 'json' && !isQuotedRow(head)) return undefined;
  if (format === 'ndjson') return undefined;
  const lines = linesOf(head, isWhole);
  for (const delimiter of format === 'json' ? QUOTED : DELIMITERS) {
    const rows = lines.map((line) => fieldsOf(line, delimiter.character));
    const column = urlColumn(lines, rows, delimiter.character);
    if (column !== undefined) return describe(delimiter, column, isQuoted(rows));
  }
  return undefined;
}

/**
 * Whether a string and a comma or semicolon begin the input: as JSON a comma stands within arrays
 * and objects alone.
 */
function isQuotedRow(head: Uint8Array): boolean {
  let at = byteOrderMarkOctets(head);
  while (isBlank(head[at])) at++;
  if (head[at] !== QUOTE) return false;
  for (at++; at < head.length && head[at] !== QUOTE; at++) if (head[at] === BACKSLASH) at++;
  at++;
  while (isBlank(head[at])) at++;
  return head[at] === COMMA || head[at] === SEMICOLON;
}

function isBlank(octet: number | undefined): boolean {
  return octet === 0x20 || octet === 0x09 || octet === 0x0a || octet === 0x0d;
}

function describe({ name, first, other }: Delimiter, column: number, quoted: boolean): string {
  const command = column === 0 ? first : other.replace('N', String(column + 1));
  const remedy = quoted
    ? `Cut the column of URLs out with a program that reads quoted fields, such as: csvcut -c ${column + 1} FILE | robots-filter …`
    : `Cut the URLs out: ${command} FILE | robots-filter …`;
  const override =
    name === 'tabs' || quoted ? '' : ' If each line is one URL all the same, say --input text.';
  return `looks like columns separated by ${name}, not like one URL a line. ${remedy}${override}`;
}

/**
 * The first lines that are not blank, decoded octet by octet, without the white space around them.
 */
function linesOf(head: Uint8Array, isWhole: boolean): string[] {
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

/**
 * The fields of a line; one in quotes may hold the delimiter. Of several spaces in a row the first
 * parts, the others count for nothing.
 */
function fieldsOf(line: string, delimiter: string): string[] {
  const fields: string[] = [];
  let start = 0;
  while (start <= line.length) {
    let end = line.indexOf(delimiter, start);
    if (line.charAt(start) === '"') {
      const quote = line.indexOf('"', start + 1);
      if (quote >= 0) end = line.indexOf(delimiter, quote + 1);
    }
    // `&amp;` in a URL that was copied from HTML is no delimiter.
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
  const ampersand = line.lastIndexOf('&', end);
  return ampersand >= start && end - ampersand <= 8;
}

function isQuoted(rows: readonly (readonly string[])[]): boolean {
  return rows.some((fields) => fields.some((field) => field.trim().startsWith('"')));
}

/** A field without its quotes and the white space around it. */
function bare(field: string | undefined): string {
  const text = field?.trim() ?? '';
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function isUrl(field: string | undefined): boolean {
  const text = bare(field).slice(0, 8).toLowerCase();
  return text.startsWith('http://') || text.startsWith('https://') || text.startsWith('ftp://');
}

/**
 * The column of a list in columns that has the URLs, from 0; `undefined` if it may be a list of
 * URLs.
 */
function urlColumn(
  lines: readonly string[],
  rows: readonly (readonly string[])[],
  delimiter: string,
): number | undefined {
  const [head, ...others] = rows;
  if (head === undefined) return undefined;
  const hasHeader = !head.some(isUrl);
  const body = hasHeader ? others : rows;
  const column = firstUrlColumn(body);
  if (column === undefined) return undefined;
  const found = body.filter((fields) => fields.length > 1 && isUrl(fields[column]));
  if (found.length < MOST * body.length) return undefined;
  const named =
    hasHeader &&
    head.length > 1 &&
    NAMES.has(bare(head[column]).toLowerCase().replaceAll('_', ' '));
  if (named) return column;
  if (column > 0) return found.length > 1 ? column : undefined;
  if (delimiter === '\t') return found.length > 1 ? column : undefined;
  const quoted = found.filter(([field]) => field?.startsWith('"')).length;
  if (quoted >= MOST * found.length) return column;
  return isListOf(found, lines) ? column : undefined;
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
 * Whether rows that begin with a URL and have the delimiter further on are no URLs as a whole.
 * Three of them at least, each with as many columns, and what follows the URL looks like cells; and
 *
 * - they are of three sites or more: the URLs of one site may all have a comma, those of any have
 *   not; or
 * - what stands before the delimiter is the end of a URL: `/`, `.html`, `.pdf`; or
 * - one of the columns is the status of an answer, in five rows or more; or
 * - one of the columns is a URL again.
 */
function isListOf(rows: readonly (readonly string[])[], lines: readonly string[]): boolean {
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
  if (sites >= FEW && sites >= rows.length / ROWS_OF_A_SITE) return true;
  if (inMost(([url]) => endsAsUrl(url ?? ''))) return true;
  for (let column = 1; column < width; column++) {
    if (inMost((fields) => isUrl(fields[column]))) return true;
    if (rows.length >= 5 && inMost((fields) => STATUSES.has(bare(fields[column])))) return true;
  }
  return false;
}

/** Whether a field looks like a value, and not like the rest of a path or query. */
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
 * A query may hold any text, a title with commas and spaces too: links to share a page have that on
 * many sites.
 */
function hasNoQuery(url: string): boolean {
  return !url.includes('?');
}

/**
 * What a site goes by: the name before the last label of its host, so that a site in many countries
 * is one.
 */
function siteOf(url: string): string {
  const text = bare(url);
  const start = text.indexOf('://') + 3;
  let end = start;
  while (end < text.length && !['/', '?', '#', ':'].includes(text.charAt(end))) end++;
  return text.slice(start, end).toLowerCase().split('.').at(-2) ?? '';
}
