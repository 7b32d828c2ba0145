import {
  type Authority,
  DEFAULT_PORTS,
  parseFileName,
  type Scheme,
} from '../../protocol/authority.js';
import { FETCH_RECORD } from './fetch-record.js';

/*
 * The layouts of a directory, all of which may be mixed in one:
 *
 *     HOST                     example.com
 *     HOST.txt                 example.com.txt
 *     HOST-robots.txt          example.com-robots.txt
 *     HOST.robots.txt          example.com.robots.txt
 *     HOST/robots.txt          example.com/robots.txt
 *     SCHEME/…                 https/example.com/robots.txt; any of the above below http, https or
 *                              ftp
 *     *.ndjson, *.ndjson.gz    records of many hosts, at the top only; also *.jsonl, *.jsonl.gz
 *
 * HOST is a host, HOST:PORT or HOST_PORT. In the brackets of an IPv6 address `-` stands for `:`,
 * which not every file system takes: [2001-db8--1]_8080. Beside HOST/robots.txt there may be a
 * robots.json: see fetch-record.ts.
 */

/** The file that a directory of a host holds (RFC 9309 section 2.3). */
export const ROBOTS_TXT = 'robots.txt';

/** What file systems allow. */
const MAX_NAME_OCTETS = 255;

const SUFFIXES = ['-robots.txt', '.robots.txt', '.txt'];

const RECORDS_ENDINGS = ['.ndjson', '.jsonl', '.ndjson.gz', '.jsonl.gz'];

/**
 * Whether a name ends so, in capitals or not: `EXAMPLE.COM.TXT` is a file of a host, too. Endings
 * are ASCII.
 */
function hasEnding(name: string, ending: string): boolean {
  return name.slice(-ending.length).toLowerCase() === ending;
}

/**
 * What no file or directory is expected to say anything about: hidden names and the records of
 * fetches.
 */
export function isPassedOver(name: string): boolean {
  return name.startsWith('.') || name === FETCH_RECORD;
}

export function isRecordsName(name: string): boolean {
  return RECORDS_ENDINGS.some((ending) => hasEnding(name, ending));
}

/** The scheme that a directory of this name stands for. */
export function schemeOfName(name: string): Scheme | undefined {
  return name === 'http' || name === 'https' || name === 'ftp' ? name : undefined;
}

/** The authority that a file's name tells; `undefined` where it is none. */
export function authorityOfFile(name: string, scheme: Scheme | undefined): Authority | undefined {
  // By its name a robots.txt, but nothing says whose; it is not that of a host "robots".
  if (name.toLowerCase() === ROBOTS_TXT) return undefined;
  const suffix = SUFFIXES.find((ending) => hasEnding(name, ending)) ?? '';
  return authorityOfName(name.slice(0, name.length - suffix.length), scheme);
}

/** The authority that the name of a host's directory tells; `undefined` where it is none. */
export function authorityOfName(name: string, scheme: Scheme | undefined): Authority | undefined {
  const authority = parseFileName(withColons(name));
  if (authority === undefined || scheme === undefined) return authority;
  const { host, port } = authority;
  return { scheme, host, port: port === DEFAULT_PORTS[scheme] ? undefined : port };
}

/** The name with the colons of an IPv6 address. No other host begins with a bracket. */
function withColons(name: string): string {
  const end = name.indexOf(']');
  if (!name.startsWith('[') || end < 0) return name;
  return name.slice(0, end).replaceAll('-', ':') + name.slice(end);
}

/**
 * The name of the directory of an authority, below that of its scheme: `HOST`, or `HOST_PORT`. It
 * is read back as this authority by `authorityOfName`, so no two authorities have the same, and
 * none leads out of the directory.
 *
 * `undefined` for what no name can tell: a host that begins with a dot, or a name of more than 255
 * octets.
 */
export function nameOfAuthority({
  scheme,
  host,
  port,
}: Authority & { readonly scheme: Scheme }): string | undefined {
  const safeHost = host.startsWith('[') ? host.replaceAll(':', '-') : host;
  // A host may itself end as if in a port, or be called robots.txt: then the default port is told,
  // too.
  const names =
    port === undefined
      ? [safeHost, `${safeHost}_${DEFAULT_PORTS[scheme]}`]
      : [`${safeHost}_${port}`];
  return names.find((name) => {
    if (name.length > MAX_NAME_OCTETS || name.includes('/') || isPassedOver(name)) return false;
    const back = authorityOfName(name, scheme);
    return back !== undefined && back.host === host && back.port === port;
  });
}
