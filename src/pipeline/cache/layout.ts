import {
  type Authority,
  DEFAULT_PORTS,
  parseAuthority,
  type Scheme,
} from '../../protocol/authority.js';

/*
 * The layouts of a directory, all of which may be mixed in one:
 *
 *     HOST                     example.com
 *     HOST.txt                 example.com.txt
 *     HOST-robots.txt          example.com-robots.txt
 *     HOST/robots.txt          example.com/robots.txt
 *     SCHEME/…                 https/example.com/robots.txt; any of the above below http, https or ftp
 *     *.ndjson, *.ndjson.gz    records of many hosts, at the top only
 *
 * HOST is a host, HOST:PORT or HOST_PORT.
 */

/** The file that a directory of a host holds (RFC 9309 section 2.3). */
export const ROBOTS_TXT = 'robots.txt';

/** What a fetch leaves beside a robots.txt; not read as one. */
const FETCH_RECORD = 'robots.json';

const SUFFIXES = ['-robots.txt', '.txt'];

/** What no file or directory is expected to say anything about: hidden names and the records of fetches. */
export function isPassedOver(name: string): boolean {
  return name.startsWith('.') || name === FETCH_RECORD;
}

export function isRecordsName(name: string): boolean {
  return name.endsWith('.ndjson') || name.endsWith('.ndjson.gz');
}

/** The scheme that a directory of this name stands for. */
export function schemeOfName(name: string): Scheme | undefined {
  return name === 'http' || name === 'https' || name === 'ftp' ? name : undefined;
}

/** The authority that a file's name tells; `undefined` where it is none. */
export function authorityOfFile(name: string, scheme: Scheme | undefined): Authority | undefined {
  // By its name a robots.txt, but nothing says whose; it is not that of a host "robots".
  if (name === ROBOTS_TXT) return undefined;
  const suffix = SUFFIXES.find((ending) => name.endsWith(ending)) ?? '';
  return authorityOfName(name.slice(0, name.length - suffix.length), scheme);
}

/** The authority that the name of a host's directory tells; `undefined` where it is none. */
export function authorityOfName(name: string, scheme: Scheme | undefined): Authority | undefined {
  const authority = parseAuthority(name);
  if (authority === undefined || scheme === undefined) return authority;
  const { host, port } = authority;
  return { scheme, host, port: port === DEFAULT_PORTS[scheme] ? undefined : port };
}
