import {
  type Authority,
  DEFAULT_PORTS,
  parseFileName,
  type Scheme,
} from '../protocol/authority.js';
import { FETCH_RECORD } from './fetch-record.js';

/*
 * The layouts of a robots directory, which may be mixed. docs/sources.md has their precedence.
 *
 *     HOST                     example.com
 *     HOST.txt                 example.com.txt
 *     HOST-robots.txt          example.com-robots.txt
 *     HOST.robots.txt          example.com.robots.txt
 *     HOST/robots.txt          example.com/robots.txt
 *     SCHEME/…                 https/example.com/robots.txt; any of the above in http, https or ftp
 *     *.ndjson, *.ndjson.gz    robots.txt files of many hosts, at the top only: record-files.ts
 *
 * HOST is a host, HOST:PORT or HOST_PORT. In the brackets of an IPv6 address, `-` may stand for
 * `:`, which some file systems do not allow: [2001-db8--1]_8080. A robots.json beside
 * HOST/robots.txt has the finding of the last fetch: fetch-record.ts.
 */

/** The name of the file in the directory of a host (RFC 9309 section 2.3). */
export const ROBOTS_TXT = 'robots.txt';

/** Maximum length of a name that file systems allow, in bytes. */
const MAX_NAME_BYTES = 255;

const SUFFIXES = ['-robots.txt', '.robots.txt', '.txt'];

/** Whether a name has an ending, in lower case or capitals. Endings are ASCII. */
export function hasEnding(name: string, ending: string): boolean {
  return name.slice(-ending.length).toLowerCase() === ending;
}

/** Whether a name is ignored without a warning: hidden files, and robots.json. */
export function isIgnored(name: string): boolean {
  return name.startsWith('.') || name === FETCH_RECORD;
}

/** The scheme that a directory is named for; `undefined` for other names. */
export function schemeOfName(name: string): Scheme | undefined {
  return name === 'http' || name === 'https' || name === 'ftp' ? name : undefined;
}

/** The authority that a file is named for; `undefined` for other names. */
export function authorityOfFile(name: string, scheme: Scheme | undefined): Authority | undefined {
  // The host of this robots.txt is not known; the host is not "robots".
  if (name.toLowerCase() === ROBOTS_TXT) return undefined;
  const suffix = SUFFIXES.find((ending) => hasEnding(name, ending)) ?? '';
  return authorityOfName(name.slice(0, name.length - suffix.length), scheme);
}

/** The authority that a directory is named for; `undefined` for other names. */
export function authorityOfName(name: string, scheme: Scheme | undefined): Authority | undefined {
  const authority = parseFileName(withColons(name));
  if (authority === undefined || scheme === undefined) return authority;
  const { host, port } = authority;
  return { scheme, host, port: port === DEFAULT_PORTS[scheme] ? undefined : port };
}

/** Replaces the `-` in the brackets of an IPv6 address. No other host begins with a bracket. */
function withColons(name: string): string {
  const end = name.indexOf(']');
  if (!name.startsWith('[') || end < 0) return name;
  return name.slice(0, end).replaceAll('-', ':') + name.slice(end);
}

/**
 * The name of an authority's directory: `HOST` or `HOST_PORT`. `authorityOfName` reads the name
 * back. So no two authorities share a name, and no name leads out of the store.
 *
 * `undefined` if no name stands for the authority: its host begins with a dot, or the name would be
 * longer than 255 bytes.
 */
export function nameOfAuthority({
  scheme,
  host,
  port,
}: Authority & { readonly scheme: Scheme }): string | undefined {
  const safeHost = host.startsWith('[') ? host.replaceAll(':', '-') : host;
  // A host may itself end like a port, or be called robots.txt. Then the default port is added.
  const names =
    port === undefined
      ? [safeHost, `${safeHost}_${DEFAULT_PORTS[scheme]}`]
      : [`${safeHost}_${port}`];
  return names.find((name) => {
    if (name.length > MAX_NAME_BYTES || name.includes('/') || isIgnored(name)) return false;
    const back = authorityOfName(name, scheme);
    return back !== undefined && back.host === host && back.port === port;
  });
}
