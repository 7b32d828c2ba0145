/**
 * One record of a file of robots.txt files: its members, their types, and what makes it unusable.
 */

import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, constants, inflateRawSync, inflateSync } from 'node:zlib';
import {
  BACKSLASH,
  CLOSE_BRACE,
  COLON,
  COMMA,
  DELETE,
  DIGIT_0,
  OPEN_BRACE,
  QUOTE,
  SPACE,
} from '../base/ascii.js';
import { isDigit, isWhiteSpace } from '../base/characters.js';
import { isObject } from '../base/maps.js';
import { findMagic } from '../files/magic.js';
import { MISDECODED, unsupportedBody } from '../files/unsupported-formats.js';
import { isZlib } from '../http/body.js';
import { decodeJsonString } from '../kernel/scanners.js';
import { fitsTable, timeOf } from '../kernel/times.js';
import {
  type Authority,
  afterAuthority,
  agree,
  formatAuthority,
  parseAuthority,
  ROBOTS_PATH,
} from '../protocol/authority.js';
import { isBinary } from '../protocol/encoding.js';
import { hasRules } from '../protocol/verdict.js';
import {
  bodyLimit,
  type CacheOptions,
  type CacheWarningCode,
  type EntryEvent,
  type WarningEvent,
} from './entry.js';
import type { Skip } from './file.js';

/**
 * A robots.txt as a JSON object with these members:
 *
 *     "host" or "url"                "host" is a host, HOST:PORT, or the URL of its root or of its
 *                                    robots.txt; "url" the URL of its robots.txt. With both, they
 *                                    must name the same authority
 *     "robots" or "robots_base64"    the body: text, to be encoded in UTF-8; or base64 of any bytes
 *                                    (RFC 4648 section 4, padding optional), which wins
 *     "status"                       the status code, optional: a number, or text such as "503" or
 *                                    "503.0"; unless it is 2xx, the body may be missing. 206 is
 *                                    unreachable: rules may be missing. Other crawlers call it
 *                                    "status_code" or "fetch_status"; two names must agree
 *     "fetched"                      when it was fetched, optional: see kernel/times.ts. Other
 *                                    crawlers call it "fetch_time". A value that is no time, two
 *                                    times, and a time that no table holds take the date away, not
 *                                    the record: "fetch_time" may be a duration
 *
 * A "url" that is not the URL of a robots.txt makes the record bad, whatever else it holds. A crawl
 * log lists pages, and their status and "robots" (such as "noindex") belong to the page.
 *
 * A member that is null counts as missing. Other members are ignored.
 */
interface CacheRecord {
  readonly authority: Authority;
  /** The next record overwrites the body. */
  readonly body: Uint8Array;
  readonly status: number | undefined;
  /** When it was fetched, in milliseconds since 1970. */
  readonly date: number | undefined;
  /** Why its members give no date, for a reader that needs one. */
  readonly undated: string | undefined;
  readonly notice: Notice | undefined;
}

/** The reason why a line is not a record. */
interface BadRecord {
  readonly code: CacheWarningCode;
  readonly message: string;
}

/**
 * Maximum number of bytes outside strings in a record. For each value in text such as `[[[[` or
 * `[1,1,1`, JSON.parse takes some 40 bytes of memory, and a line may have 64 MiB of such text.
 */
const MOST_BYTES_OUTSIDE_STRINGS = 1024 * 1024;

/** Maximum number of characters of a bad value that a message quotes. */
const QUOTED_LENGTH = 80;

function bad(reason: string): BadRecord {
  return { code: 'bad-record', message: `${reason}; skipped.` };
}

/**
 * The status code that a value is; `undefined` for anything else. Servers send codes beyond 599,
 * which RFC 9110 section 15 does not define.
 *
 * The same code is a number in one data set, a text in another, and "503.0" where a column of whole
 * numbers with a null became floats.
 */
export function statusOf(value: unknown): number | undefined {
  const number = typeof value === 'string' ? wholeNumberIn(value) : value;
  const isStatus =
    typeof number === 'number' && Number.isInteger(number) && number >= 100 && number <= 999;
  return isStatus ? number : undefined;
}

/** The names of the status code, in a record as in a column. */
export const STATUS_NAMES = ['status', 'status_code', 'fetch_status'] as const;

/**
 * The status code of a record, or why the record is bad. Without "status_code", a crawler's 503
 * would count as a success.
 */
function statusIn(members: Members): number | undefined | BadRecord {
  let first: (typeof STATUS_NAMES)[number] | undefined;
  let status: number | undefined;
  for (const name of STATUS_NAMES) {
    const value = members[name];
    if (isMissing(value)) continue;
    const code = statusOf(value);
    if (code === undefined) {
      return bad(`"${name}" is ${shown(value)}, not a status code from 100 to 999`);
    }
    if (first !== undefined && code !== status) {
      return bad(`"${first}" is ${status}, but "${name}" is ${code}`);
    }
    first ??= name;
    status = code;
  }
  return status;
}

/** The names of the time of the fetch, in a record as in a column. */
export const DATE_NAMES = ['fetched', 'fetch_time'] as const;

/**
 * The time of the fetch in milliseconds since 1970, or why there is none. A member that is no time
 * gives way to one that is.
 */
function dateIn(members: Members): Pick<CacheRecord, 'date' | 'undated'> {
  const stated = (name: (typeof DATE_NAMES)[number]): string =>
    `"${name}" is ${shown(members[name])}`;
  let date: number | undefined;
  let reason: string | undefined;
  for (const name of DATE_NAMES) {
    const value = members[name];
    if (isMissing(value)) continue;
    const time = timeOf(value);
    if (time === undefined) {
      reason ??= `${stated(name)}, not a time such as 2025-03-10T12:00:00Z`;
    } else if (!fitsTable(time)) {
      reason ??= `${stated(name)}, outside 1970-01-01 to 2106-02-07, the times that tables hold`;
    } else if (date !== undefined && time !== date) {
      return { date: undefined, undated: DATE_NAMES.map(stated).join(', but ') };
    } else {
      date = time;
    }
  }
  return { date, undated: date === undefined ? reason : undefined };
}

/** The number in a text of digits, after which only a dot and zeros may stand. */
function wholeNumberIn(text: string): number {
  const [digits = '', zeros = '0', ...rest] = text.split('.', 3);
  const isWhole =
    rest.length === 0 &&
    digits.length > 0 &&
    zeros.length > 0 &&
    [...digits].every((character) => character >= '0' && character <= '9') &&
    [...zeros].every((character) => character === '0');
  return isWhole ? Number(digits) : Number.NaN;
}

/** The number of bytes outside strings, including the quotation marks. Linear. */
function bytesOutsideStrings(json: Buffer): number {
  let outside = 0;
  let at = 0;
  while (at < json.length) {
    outside++;
    if (json[at++] !== QUOTE) continue;
    for (;;) {
      const quote = json.indexOf(QUOTE, at);
      if (quote < 0) return outside;
      let backslashes = 0;
      while (quote - backslashes > at && json[quote - backslashes - 1] === BACKSLASH) backslashes++;
      at = quote + 1;
      if (backslashes % 2 === 0) break;
    }
    outside++;
  }
  return outside;
}

/** A bad value for a message. */
function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'object' ? 'an object or an array' : String(value);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text);
}

function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/**
 * Decodes base64; `undefined` if the text is not canonical. Node's decoder skips unknown
 * characters, so the result is encoded again and compared.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const padded = bytes.toString('base64');
  const unpadded = padded.slice(0, Math.ceil((bytes.length * 4) / 3));
  return text === padded || text === unpadded ? bytes : undefined;
}

/** Parses the members of a record; returns a string, the reason, if the line holds none. */
function parseMembers(line: Buffer): Members | string {
  return refusalOf(line) ?? plainMembers(line) ?? parseJson(line);
}

/** Parses the object of a line; returns a string, the reason, if the line holds none. */
export function parseObject(line: Buffer): Readonly<Record<string, unknown>> | string {
  return refusalOf(line) ?? parseJson(line);
}

/** Why a line is not parsed; `undefined` if it may be. */
function refusalOf(line: Buffer): string | undefined {
  if (!isUtf8(line)) {
    return 'The line is not UTF-8 (a body in another encoding belongs in "robots_base64")';
  }
  const isLong = line.length > MOST_BYTES_OUTSIDE_STRINGS;
  return isLong && bytesOutsideStrings(line) > MOST_BYTES_OUTSIDE_STRINGS
    ? 'The line holds more than 1 MiB outside strings'
    : undefined;
}

function parseJson(line: Buffer): Readonly<Record<string, unknown>> | string {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch (error) {
    return `The line is not JSON (${error instanceof Error ? error.message : String(error)})`;
  }
  return isObject(value) ? value : 'The line is not a JSON object';
}

/** Decodes the body of a record; returns a string if the record is bad, with the reason. */
function bodyOf(
  { robots, robots_base64: base64 }: Members,
  status: number | undefined,
): Uint8Array | string {
  if (!isMissing(base64)) {
    if (typeof base64 !== 'string') return '"robots_base64" is not a string';
    return decodeBase64(base64) ?? '"robots_base64" is not base64';
  }
  if (!isMissing(robots)) {
    if (typeof robots === 'string') return Buffer.from(robots, 'utf8');
    return robots instanceof Uint8Array ? robots : '"robots" is not a string';
  }
  if (status === undefined) return 'There is no "robots", "robots_base64" or "status"';
  if (hasRules(status)) return '"status" is a success, but there is no "robots" or "robots_base64"';
  return Buffer.alloc(0);
}

/** Reads the authority that a record names, or why the record is bad. */
function authorityOf(members: Members): Authority | BadRecord {
  const { host, url } = members;
  if (isMissing(host)) {
    if (isMissing(url)) return bad('There is no "host" or "url"');
    return namedBy('url', url, [ROBOTS_PATH]);
  }
  const authority = namedBy('host', host, ['', '/', ROBOTS_PATH]);
  if ('code' in authority || isMissing(url)) return authority;
  const other = namedBy('url', url, [ROBOTS_PATH]);
  if ('code' in other || agree(authority, other)) return 'code' in other ? other : authority;
  return bad(`"host" is ${quoted(String(host))}, but "url" names another: ${quoted(String(url))}`);
}

/** The authority that a member names, as a host or as a URL with one of the paths. */
function namedBy(
  key: 'host' | 'url',
  name: unknown,
  paths: readonly string[],
): Authority | BadRecord {
  if (typeof name !== 'string') return bad(`"${key}" is not a string`);
  const authority = parseAuthority(name);
  if (authority === undefined) {
    const kind = key === 'host' ? 'a host' : 'an http, https or ftp URL';
    const message = `"${key}" is ${quoted(name)}, not ${kind}; skipped.`;
    return { code: 'not-a-host', message };
  }
  if (authority.port === 0) {
    const message = `"${key}" is ${quoted(name)}, and nothing can be fetched from port 0; skipped.`;
    return { code: 'not-a-host', message };
  }
  if (paths.includes(afterAuthority(name))) return authority;
  return bad(`"${key}" is ${quoted(name)}, not the URL of a robots.txt`);
}

/** Reads a line as a record. At most `maxBodyBytes + 1` bytes of the body are kept. */
export function parseRecord(line: Buffer, maxBodyBytes: number): CacheRecord | BadRecord {
  const members = parseMembers(line);
  return typeof members === 'string' ? bad(members) : recordOf(members, maxBodyBytes);
}

/** Makes a record from members. At most `maxBodyBytes + 1` bytes of the body are kept. */
export function recordOf(members: Members, maxBodyBytes: number): CacheRecord | BadRecord {
  const authority = authorityOf(members);
  if ('code' in authority) return authority;

  const status = statusIn(members);
  if (typeof status === 'object') return status;
  const body = bodyOf(members, status);
  if (typeof body === 'string') return bad(body);
  // The body of an error response does not count.
  const notice = hasRules(status) ? examineBody(body, authority) : undefined;
  if (notice?.kind === 'skip') return notice;
  const limit = bodyLimit(maxBodyBytes);
  return {
    authority,
    body: body.length > limit ? body.subarray(0, limit) : body,
    status,
    ...dateIn(members),
    notice,
  };
}

/**
 * The events of a record.
 *
 * @param path the path of its file, for messages
 * @param source the beginning of the entry's source
 * @param line the number of the record in its file, from 1
 * @param needsDate whether a record whose members give no date gets a warning
 */
export function* recordEvents(
  record: CacheRecord | BadRecord,
  path: string,
  source: string,
  line: number,
  needsDate: CacheOptions['needsDates'] = false,
): Generator<EntryEvent | WarningEvent> {
  const warned = 'code' in record ? record : record.notice;
  if (warned !== undefined) {
    const { code, message } = warned;
    yield { kind: 'warning', warning: { code, path, line, message } };
  }
  if ('code' in record) return;
  const { authority, body, status, date, undated } = record;
  if (needsDate && undated !== undefined) {
    const message = `${undated}; left out, because --history needs a date.`;
    yield { kind: 'warning', warning: { code: 'bad-date', path, line, message } };
  }
  yield { kind: 'entry', entry: { authority, body, source: `${source}:${line}`, status, date } };
}

/** The members of a record that are read, as JSON.parse reads them. A body may already be bytes. */
interface Members {
  readonly host?: unknown;
  readonly url?: unknown;
  readonly robots?: unknown;
  readonly robots_base64?: unknown;
  readonly status?: unknown;
  readonly status_code?: unknown;
  readonly fetch_status?: unknown;
  readonly fetched?: unknown;
  readonly fetch_time?: unknown;
}

/** Maximum number of digits, all of which a number holds; longer numbers go to JSON.parse. */
const MAX_DIGITS = 15;

/**
 * Reads the members of a plain record: an object of strings and whole numbers on a line of UTF-8,
 * with no white space but a space after a colon or comma, and no escapes outside the body.
 * `undefined` for any other record, which JSON.parse must read.
 *
 * The next call overwrites the bytes of the body.
 */
export function plainMembers(line: Buffer): Members | undefined {
  const members: { -readonly [Name in keyof Members]: Members[Name] } = {};
  if (line[0] !== OPEN_BRACE) return undefined;
  for (let at = 1; ; ) {
    const keyEnd = plainStringEnd(line, at);
    if (keyEnd === undefined || line[keyEnd] !== COLON) return undefined;
    const key = line.toString('latin1', at + 1, keyEnd - 1);
    const start = line[keyEnd + 1] === SPACE ? keyEnd + 2 : keyEnd + 1;
    let value: string | number | Uint8Array;
    let end: number | undefined;
    if (line[start] !== QUOTE) {
      end = digitsEnd(line, start);
      if (end === undefined) return undefined;
      value = Number(line.toString('latin1', start, end));
    } else if (key === 'robots') {
      const body = decodeJsonString(line, start);
      if (body === undefined) return undefined;
      value = body.bytes;
      end = body.end;
    } else {
      end = plainStringEnd(line, start);
      if (end === undefined) return undefined;
      value = line.toString('latin1', start + 1, end - 1);
    }
    switch (key) {
      case 'host':
      case 'url':
      case 'robots':
      case 'robots_base64':
      case 'status':
      case 'status_code':
      case 'fetch_status':
      case 'fetched':
      case 'fetch_time':
        members[key] = value;
    }
    if (line[end] === CLOSE_BRACE) return end + 1 === line.length ? members : undefined;
    if (line[end] !== COMMA) return undefined;
    at = line[end + 1] === SPACE ? end + 2 : end + 1;
  }
}

/** Offset after the string that begins at `start`; `undefined` unless it is plain ASCII. */
function plainStringEnd(line: Buffer, start: number): number | undefined {
  if (line[start] !== QUOTE) return undefined;
  for (let at = start + 1; at < line.length; at++) {
    const byte = line[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte < SPACE || byte === BACKSLASH || byte >= DELETE) return undefined;
  }
  return undefined;
}

/** Offset after the whole number that begins at `start`; `undefined` if there is none. */
function digitsEnd(line: Buffer, start: number): number | undefined {
  let end = start;
  while (end < line.length && isDigit(line[end])) end++;
  if (end === start || end - start > MAX_DIGITS) return undefined;
  return line[start] === DIGIT_0 && end - start > 1 ? undefined : end;
}

/** Something about a body that counts all the same. */
export interface Notice {
  readonly kind: 'notice';
  readonly code: CacheWarningCode;
  readonly message: string;
}

/** Bytes of a binary body in which rules are looked for. */
const EXAMINED_BYTES = 16 * 1024;

/** White space before magic bytes, at most. Templates print some before what they send. */
const MOST_WHITE_SPACE = 16;

/** Bytes to which those are decoded, at most. */
const MOST_DECODED = 1024 * 1024;

/** The key that begins every group: a body without it has no rules. */
const KEY = 'user-agent';
/** The same in two and four bytes a letter, whatever their order. */
const WIDE_KEYS = [1, 3].map((zeros) => [...KEY].join('\0'.repeat(zeros)));

/**
 * Examines the body of a robots.txt. Whatever was served counts, even an icon, which has no rules
 * and so allows everything (RFC 9309 sections 2.3.1.1 and 2.3.1.5). Then binary data gets a notice.
 * But a body is skipped if it is recognisably compressed or of another format: read as text, it
 * would allow what its rules deny.
 *
 * @param authority the authority of the robots.txt, for the message
 * @param isStored whether it is the body that a fetch stored. If such a body is still compressed
 *   after its declared content codings were undone, its bytes count as they are (RFC 9309 section
 *   2.2)
 */
export function examineBody(
  body: Uint8Array,
  authority: Authority,
  isStored = (): boolean => false,
): Skip | Notice | undefined {
  const format = unsupportedBody(body);
  if (format === undefined && !isBinary(body)) return undefined;
  if (isStored()) return undefined;
  const host = formatAuthority(authority);
  const found: HiddenFormat | undefined = format ?? hiddenFormat(body);
  if (found === undefined) {
    const message = `The body is binary data. Crawlers read it as text: unless a line of it is a rule, every URL of ${host} is allowed. If the site has other rules, download it again.`;
    return { kind: 'notice', code: 'binary', message };
  }
  const unknown = `Until then URLs of ${host} are unknown, unless another file has its robots.txt.`;
  const { name, command, advice, isText } = found;
  if (advice !== undefined) {
    const message = `The file is ${name}, not a robots.txt; skipped. Take it out of the directory. URLs of ${host} are unknown, unless another file has its robots.txt.`;
    return { kind: 'skip', code: 'not-text', message };
  }
  const remedy = command === undefined ? 'Download it again.' : `Decompress it (${command}).`;
  const message = isText
    ? `The body is ${name}; skipped. Save it as UTF-8. ${unknown}`
    : `The body is ${name}, not text; skipped. ${remedy} ${unknown}`;
  return { kind: 'skip', code: 'compressed', message };
}

/** A format that hides rules. */
interface HiddenFormat {
  readonly name: string;
  readonly command?: string;
  readonly advice?: string;
  /** Whether it is text in another encoding. */
  readonly isText?: boolean;
}

/** The format of binary data that hides rules, however it was stored; `undefined` if none does. */
function hiddenFormat(body: Uint8Array): HiddenFormat | undefined {
  let start = 0;
  while (start < MOST_WHITE_SPACE && isWhiteSpace(body[start])) start++;
  const rest = body.subarray(start);
  const format = unsupportedBody(rest) ?? findMagic(MISDECODED, rest);
  if (format !== undefined) return format;
  const head = Buffer.from(body.subarray(0, EXAMINED_BYTES));
  const text = head.toString('latin1').toLowerCase();
  if (WIDE_KEYS.some((key) => text.includes(key))) {
    return { name: 'UTF-16 or UTF-32 text without its byte order mark', isText: true };
  }
  // Neither of the two has magic bytes. The head may be cut off anywhere.
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
  const inflate = isZlib(head[0]) ? inflateSync : inflateRawSync;
  const maxOutputLength = MOST_DECODED;
  if (holdsRules(() => inflate(head, { finishFlush: Z_SYNC_FLUSH, maxOutputLength }))) {
    return { name: 'deflate data' };
  }
  const brotli = { finishFlush: BROTLI_OPERATION_FLUSH, maxOutputLength };
  return holdsRules(() => brotliDecompressSync(head, brotli))
    ? { name: 'brotli data', command: 'brotli -dc' }
    : undefined;
}

/** Whether data can be decoded, and holds rules then. */
function holdsRules(decode: () => Buffer): boolean {
  try {
    return decode().toString('latin1').toLowerCase().includes(KEY);
  } catch {
    return false;
  }
}
