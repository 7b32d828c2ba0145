import { isUtf8 } from 'node:buffer';
import { type Authority, afterAuthority, agree, parseAuthority } from '../../protocol/authority.js';
import { bodyLimit, type CacheWarningCode } from './entry.js';
import { refuseForeignBody } from './foreign-body.js';
import { type Members, plainMembers } from './plain-members.js';

/*
 * A record is a JSON object on a line (NDJSON):
 *
 *     "host" or "url"                whose it is: a host, HOST:PORT, or the root URL of it; or the
 *                                    URL of its robots.txt. With both, they must name the same
 *                                    authority
 *     "robots" or "robots_base64"    the body, as text that stands for its UTF-8 octets, or as
 *                                    base64 of any octets (RFC 4648 section 4, padding optional),
 *                                    which decides if both are there
 *     "status"                       the status code, optional; with one that is no success the
 *                                    body may be missing
 *
 * A "url" that is not that of a robots.txt makes the line no record, whatever else there is: a
 * crawler's log lists pages, and their status and "robots" (such as "noindex") are those of the
 * page.
 *
 * A member that is null counts as missing; other members are ignored.
 */
export interface CacheRecord {
  readonly authority: Authority;
  /** Overwritten by the next record. */
  readonly body: Uint8Array;
  readonly status: number | undefined;
}

/** Why a line is no record. */
export interface BadRecord {
  readonly code: CacheWarningCode;
  readonly message: string;
}

/**
 * JSON.parse needs some 40 octets for each value of a text such as `[[[[` or
 * `[1,1,1`, of which a 64 MiB line could be full. Values cost octets outside
 * of strings, and a record has few of those.
 */
const MOST_OCTETS_OUTSIDE_STRINGS = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Characters of a bad value that a message quotes. */
const QUOTED_LENGTH = 80;

function bad(reason: string): BadRecord {
  return { code: 'bad-record', message: `${reason}; left out.` };
}

/** Codes beyond 599 are not defined (RFC 9110 section 15) but sent. */
function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 999;
}

function isSuccess(status: unknown): boolean {
  return isStatus(status) && status >= 200 && status <= 299;
}

/** The path of a robots.txt (RFC 9309 section 2.3). */
const ROBOTS_PATH = '/robots.txt';

/**
 * Octets outside of strings, quotation marks counted as such. Linear: each octet is looked at twice
 * at most.
 */
function octetsOutsideStrings(json: Buffer): number {
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

function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text);
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/**
 * The octets of base64 text; `undefined` where it is not canonical: Node's decoder skips what it
 * does not know.
 */
function decodeBase64(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64');
  const padded = octets.toString('base64');
  const unpadded = padded.slice(0, Math.ceil((octets.length * 4) / 3));
  return text === padded || text === unpadded ? octets : undefined;
}

/** The object of a line, or why there is none. */
function parseObject(line: Buffer): Members | string {
  if (!isUtf8(line)) {
    return 'The line is not UTF-8 (a body in another encoding belongs in "robots_base64")';
  }
  if (
    line.length > MOST_OCTETS_OUTSIDE_STRINGS &&
    octetsOutsideStrings(line) > MOST_OCTETS_OUTSIDE_STRINGS
  ) {
    return 'The line holds more than 1 MiB outside of strings';
  }
  const members = plainMembers(line);
  if (members !== undefined) return members;
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch (error) {
    return `The line is no JSON (${error instanceof Error ? error.message : String(error)})`;
  }
  return isObject(value) ? value : 'The line is no JSON object';
}

/** The body of a record, or why there is none. */
function bodyOf({ robots, robots_base64: base64, status }: Members): Uint8Array | string {
  if (!isMissing(base64)) {
    if (typeof base64 !== 'string') return '"robots_base64" is no string';
    return decodeBase64(base64) ?? '"robots_base64" is no base64';
  }
  if (!isMissing(robots)) {
    if (typeof robots === 'string') return Buffer.from(robots, 'utf8');
    return robots instanceof Uint8Array ? robots : '"robots" is no string';
  }
  if (isMissing(status)) return 'There is no "robots", "robots_base64" or "status"';
  if (isSuccess(status))
    return 'There is a "status" of success, and no "robots" or "robots_base64"';
  return Buffer.alloc(0);
}

/** The authority that a record names, or why it names none. */
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
  return bad(`"host" is ${quoted(String(host))}, and "url" of another: ${quoted(String(url))}`);
}

/** The authority that a member names, as a host or as a URL with one of the paths. */
function namedBy(
  key: 'host' | 'url',
  name: unknown,
  paths: readonly string[],
): Authority | BadRecord {
  if (typeof name !== 'string') return bad(`"${key}" is no string`);
  const authority = parseAuthority(name);
  if (authority === undefined) {
    const kind = key === 'host' ? 'host' : 'http, https or ftp URL';
    return { code: 'not-a-host', message: `"${key}" is ${quoted(name)}, no ${kind}; left out.` };
  }
  if (authority.port === 0) {
    const message = `"${key}" is ${quoted(name)}, and nothing can be fetched from port 0; left out.`;
    return { code: 'not-a-host', message };
  }
  if (paths.includes(afterAuthority(name))) return authority;
  return bad(`"${key}" is ${quoted(name)}, not the URL of a robots.txt`);
}

/** Reads a line as a record, of whose body `maxBodyBytes + 1` octets are kept. */
export function parseRecord(line: Buffer, maxBodyBytes: number): CacheRecord | BadRecord {
  const members = parseObject(line);
  if (typeof members === 'string') return bad(members);

  const authority = authorityOf(members);
  if ('code' in authority) return authority;

  const { status } = members;
  if (!isMissing(status) && !isStatus(status)) {
    return bad('"status" is no status code from 100 to 999');
  }
  const body = bodyOf(members);
  if (typeof body === 'string') return bad(body);
  // Of an error the body does not count.
  if (isMissing(status) || isSuccess(status)) {
    const refusal = refuseForeignBody(body);
    if (refusal !== undefined) return refusal;
  }
  const limit = bodyLimit(maxBodyBytes);
  return {
    authority,
    body: body.length > limit ? body.subarray(0, limit) : body,
    status: status ?? undefined,
  };
}
