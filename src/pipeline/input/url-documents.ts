/**
 * Recognises documents that hold URLs but are no list with one URL per line: sitemaps, web pages,
 * crawl logs, results of the Wayback Machine, ARC files, lists with NUL. Each gets the command that
 * makes a list of its URLs.
 * `test/cli/url-documents.test.ts` runs every command.
 */

import { isDigits, isLetter } from '../../base/characters.js';
import { COMPRESSIONS } from '../../files/compression.js';
import { startsWith } from '../../files/magic.js';
import { ARC_ADVICE, ARC_MAGIC } from '../../files/unsupported-formats.js';
import { firstLines, isUrl } from './columns.js';

/** A document, in the words of a message. */
interface UrlDocument {
  /** What the document is: `a sitemap`. */
  readonly name: string;
  /** The command that reads the document and writes its URLs, one on each line. */
  readonly command: string;
  /** What else may be the case, as a sentence. */
  readonly otherwise?: string;
}

/** Number of bytes in which the root of XML is looked for, after comments and style sheets. */
const PROLOGUE = 4096;

/** The tags of images and videos within the page of a sitemap are of namespaces of their own. */
const LOCATIONS =
  "python3 -c \"import xml.etree.ElementTree as E; [print(e.text.strip()) for _, e in E.iterparse(open(0, 'rb')) if e.tag.endswith('loc') and 'sitemap-' not in e.tag and e.text]\"";

/** `urljoin` ends the command at a link such as `http://[x`, so it gets paths alone. */
const ANCHORS =
  "python3 -c \"from html.parser import HTMLParser; from urllib.parse import urljoin; p = HTMLParser(); p.handle_starttag = lambda tag, all: [print(u) for k, v in all if (tag, k) == ('a', 'href') and v for w in [''.join(v.split('\\n')).strip()] for u in [w if w.lower().startswith(('http:', 'https:')) else 'https:' + w if w.startswith('//') else '' if ':' in w.split('/')[0] else urljoin('https://BASE/', w)] if u]; p.feed(open(0, errors='replace').read())\"";

const SITEMAP: UrlDocument = { name: 'a sitemap', command: LOCATIONS };

const XML: UrlDocument = {
  name: 'XML',
  command: LOCATIONS,
  otherwise: 'The command is for sitemaps; other XML has its URLs elsewhere.',
};

const PAGE: UrlDocument = {
  name: 'a web page (HTML)',
  command: ANCHORS,
  otherwise: 'Or was an error page stored in place of a list? Then download the list again.',
};

const ARC: UrlDocument = {
  name: 'an ARC file',
  // A record begins with URL, address, time of 14 digits, type and length.
  command:
    "LC_ALL=C grep -aE '^(https?|ftp)://[^ ]+ [^ ]+ [0-9]{14} ([^ ]+ )+[0-9]+$' | cut -d ' ' -f 1",
  otherwise: `For its captures of robots.txt files: ${ARC_ADVICE}`,
};

const HERITRIX: UrlDocument = {
  name: "Heritrix's crawl.log",
  command: "awk '$4 ~ /^(https?|ftp):/ { print $4 }'",
};

const NUL_DELIMITED: UrlDocument = {
  name: 'a list with NUL after each URL',
  command: "tr '\\0' '\\n'",
};

/** A JSON array of rows, as the CDX servers of archives write it. */
function rowsOfJson(column: number, hasHeader: boolean): UrlDocument {
  const rows = `json.load(sys.stdin)${hasHeader ? '[1:]' : ''}`;
  return {
    name: 'a JSON array of rows, as the Wayback Machine writes it',
    // After the rows, a server may write an empty row and a row of the key that asks for more.
    command: `python3 -c "import json, sys; [print(row[${column}]) for row in ${rows} if row[${column}:]]"`,
  };
}

/**
 * Describes an input that is such a document, with the command to type; `undefined` if the input is
 * none.
 *
 * @param head the first bytes, uncompressed
 * @param compression the name of the compression that was undone to get `head`
 */
export function describeUrlDocument(head: Uint8Array, compression?: string): string | undefined {
  const found = documentOf(head);
  if (found === undefined) return undefined;
  const { name, command, otherwise } = found;
  const source = sourceOf(compression);
  const more = otherwise === undefined ? '' : ` ${otherwise}`;
  return `is ${name}, not one URL per line. Cut the URLs out: ${source} | ${command} | robots-filter …${more}`;
}

/** The command that writes a file, decompressed: `cat FILE`. */
export function sourceOf(compression: string | undefined): string {
  const outer = COMPRESSIONS.find(({ name }) => name === compression);
  return outer === undefined ? 'cat FILE' : `${outer.command} FILE`;
}

function documentOf(head: Uint8Array): UrlDocument | undefined {
  if (startsWith(head, ARC_MAGIC)) return ARC;
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, PROLOGUE));
  const text = bytes.toString('latin1');
  const start = text.startsWith('\xef\xbb\xbf') ? text.slice(3).trimStart() : text.trimStart();
  if (start.startsWith('<')) return markup(start.toLowerCase());
  if (start.startsWith('[')) return jsonRows(start);
  // To the URL Standard NUL is a character of the path, and the whole list one URL.
  const [first = '', second] = text.split('\0', 2);
  if (second !== undefined && isUrl(first) && !first.includes('\n')) {
    if (second.trim() === '' || isUrl(second)) return NUL_DELIMITED;
  }
  const [line = ''] = firstLines(bytes, true);
  return isLineOfHeritrix(line) ? HERITRIX : undefined;
}

/** @param start the first characters, in lower case */
function markup(start: string): UrlDocument | undefined {
  if (start.includes('<urlset') || start.includes('<sitemapindex')) return SITEMAP;
  if (start.startsWith('<!doctype html') || start.includes('<html')) return PAGE;
  return start.startsWith('<?xml') ? XML : undefined;
}

/** A JSON array that begins with an array of strings: with a URL, or the name of its column. */
function jsonRows(start: string): UrlDocument | undefined {
  const inner = start.slice(1).trimStart();
  const end = inner.indexOf(']');
  if (!inner.startsWith('[') || end < 0) return undefined;
  let first: unknown;
  try {
    first = JSON.parse(inner.slice(0, end + 1));
  } catch {
    return undefined; // A string with a bracket, or no JSON at all.
  }
  const fields = Array.isArray(first) ? first.map(String) : [];
  const url = fields.findIndex(isUrl);
  if (url >= 0) return rowsOfJson(url, false);
  const named = fields.findIndex((name) => name === 'original' || name === 'url');
  return named < 0 ? undefined : rowsOfJson(named, true);
}

/** Length of `2024-05-01T12:00:00.123Z` without the fraction of the second. */
const SECOND_LENGTH = 'YYYY-MM-DDThh:mm:ss'.length;

/** Whether a line begins with a time, a status, a length or `-`, and a URI, between spaces. */
function isLineOfHeritrix(line: string): boolean {
  const [time = '', status = '', length = '', uri = ''] = line
    .split(' ')
    .filter((field) => field !== '');
  const isTime = time[4] === '-' && time[10] === 'T' && time[13] === ':' && time.endsWith('Z');
  if (!isTime || time.length <= SECOND_LENGTH) return false;
  const digits = status.startsWith('-') ? status.slice(1) : status;
  const isAnswer = isDigits(digits) && (length === '-' || isDigits(length));
  return isAnswer && isLetter(uri.charCodeAt(0)) && uri.includes(':');
}
