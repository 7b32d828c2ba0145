/** Names in a cache: which file holds which robots.txt, and what of a directory is ignored. */

import { createHash } from 'node:crypto';
import { opendir } from 'node:fs/promises';
import {
  type Authority,
  DEFAULT_PORTS,
  parseFileName,
  type Scheme,
} from '../protocol/authority.js';
import { withoutTruncatedLine } from '../protocol/parse.js';
import type {
  CacheEntry,
  CacheOptions,
  CacheWarning,
  CacheWarningCode,
  WarningEvent,
} from './entry.js';
import { type Copy, FETCH_STATE_FILE, type FetchState } from './fetch-state.js';
import {
  type FileAccess,
  type FileBody,
  type FilePath,
  type LongBody,
  type Skip,
  systemPath,
} from './file.js';
import { examineBody, type Notice } from './record.js';

/**
 * Maximum length in bytes of bodies that are read several at a time; longer ones are read singly.
 */
export const SHORT_BODY = 64 * 1024;

/** The message for a directory with the name of a file. */
export const NO_FILE = 'A directory, not a file; skipped.';

/** The message for a file that vanished before it was opened. */
export const VANISHED = 'It vanished while the directory was read; skipped.';

/** Settings for reading items. */
export interface ReadContext {
  readonly access: FileAccess;
  readonly options: CacheOptions;
}

/** An entry without its body. */
export interface PendingEntry {
  readonly entry: Omit<CacheEntry, 'body'>;
  /** The body that a fetch stored; `undefined` if none is known. */
  readonly stored?: StoredBody | undefined;
  /** Length of the body that a fetch stored and truncated, in bytes; `undefined` if it is whole. */
  readonly truncatedAt?: number | undefined;
  /** The state beside the body, for a table with histories. */
  readonly past?: Past;
}

/** The body that a fetch stored. */
interface StoredBody {
  /** `undefined` in a state that was written by hand. */
  readonly success: FetchState['lastSuccess'];
  /** Bytes of a body that are read. */
  readonly limit: number;
}

/** What a history takes from a directory with the state of a fetch. */
export interface Past {
  readonly state: FetchState;
  /** The beginning of the sources of its entries: `https/example.com/`. */
  readonly prefix: string;
  /** Bytes of a body that are read. */
  readonly limit: number;
}

/** Something skipped with a warning. */
interface SkippedItem {
  readonly kind: 'skipped';
  /** The path for messages. */
  readonly displayPath: string;
  readonly skip: Skip;
}

/** A robots.txt that is too long to be read together with others. */
export interface LongItem {
  readonly kind: 'long';
  readonly path: FilePath;
  readonly displayPath: string;
  readonly pending: PendingEntry;
  /** What counts if the robots.txt is unusable. */
  readonly instead?: EntryItem;
}

/** A file of records. */
export interface RecordFileItem {
  readonly kind: 'records';
  readonly path: FilePath;
  readonly displayPath: string;
  /** The beginning of the sources of its entries: `FILE.ndjson`. */
  readonly source: string;
}

/** An item that has its own parts: a file of records, or the directory of a scheme or a date. */
export type Nested = RecordFileItem | { readonly kind: 'place'; readonly place: Place };

/** A robots.txt that has been read. */
export interface EntryItem {
  readonly kind: 'entry';
  readonly entry: CacheEntry;
  /** The path for messages. */
  readonly displayPath?: string;
  /** What is to be said about the body. */
  readonly notice?: Notice;
  /** With histories: the state beside the body, and whether the body is the one that it means. */
  readonly past?: Past & { readonly copy: Copy };
}

/** The directory of a host, and what it has itself; the versions that it keeps are not read yet. */
export interface HostItem {
  readonly kind: 'host';
  readonly directory: HostDirectory;
  readonly item: HostContent;
}

/** What a directory has of its host. */
export type HostContent = EntryItem | LongItem | { readonly kind: 'ignored' } | SkippedItem;

/** A directory that is named for a host, or one in it that holds a version. */
export interface HostDirectory {
  readonly path: FilePath;
  /** The path for messages. */
  readonly displayPath: string;
  readonly authority: Authority;
  /** The beginning of the sources of its entries: `https/example.com/`. */
  readonly prefix: string;
  /** The date of its place, or in its name. */
  readonly date: number | undefined;
}

/** The meaning of a name in a robots directory. */
export type Item = HostContent | HostItem | Nested;

/** The item for something that is skipped. */
export function skipped(displayPath: string, code: CacheWarningCode, message: string): SkippedItem {
  return { kind: 'skipped', displayPath, skip: { kind: 'skip', code, message } };
}

/** The item for the result of `readFileBody`. */
export function itemOf(
  result: FileBody | LongBody | Skip,
  path: FilePath,
  displayPath: string,
  pending: PendingEntry,
): EntryItem | LongItem | SkippedItem {
  switch (result.kind) {
    case 'body':
      return itemOfBody(result, displayPath, pending);
    case 'long':
      return { kind: 'long', path, displayPath, pending };
    case 'skip':
      return { kind: 'skipped', displayPath, skip: result };
  }
}

/** The item for a body: an entry, unless the body is unusable. */
export function itemOfBody(
  { bytes: body, written }: FileBody,
  displayPath: string,
  pending: PendingEntry,
): EntryItem | SkippedItem {
  const found = examineBody(body, pending.entry.authority, () => isStored(body, pending.stored));
  if (found?.kind === 'skip') return { kind: 'skipped', displayPath, skip: found };
  // A shorter file has been edited by hand, and counts as it is.
  const { entry, truncatedAt, past } = pending;
  const isTruncated = truncatedAt !== undefined && body.length >= truncatedAt;
  const notice = found ?? (isTruncated ? truncated(truncatedAt) : undefined);
  return {
    kind: 'entry',
    entry: { ...entry, body: isTruncated ? withoutTruncatedLine(body) : body },
    ...(notice === undefined ? {} : { displayPath, notice }),
    ...(past === undefined
      ? {}
      : { past: { ...past, copy: copyOf(body, entry.date ?? written, past) } }),
  };
}

/** What is to be said about a body of which a fetch has kept this many bytes. */
function truncated(bytes: number): Notice {
  const message = `The fetch kept only ${bytes} bytes of this robots.txt, and more would be read: rules may be missing. Fetch it again with the same --profile and --max-robots-bytes.`;
  return { kind: 'notice', code: 'truncated', message };
}

/** Whether a body is the one that a fetch stored. Of a longer one only the beginning was read. */
function isStored(body: Uint8Array, stored: StoredBody | undefined): boolean {
  if (stored?.success === undefined) return false;
  const { bytes, sha256 } = stored.success;
  return body.length >= stored.limit
    ? bytes >= stored.limit
    : createHash('sha256').update(body).digest('hex') === sha256;
}

/**
 * Whether a body is the one that a fetch stored. A state that was written by hand has no digest.
 *
 * @param since when it was written
 */
function copyOf(body: Uint8Array, since: number, { state: { lastSuccess }, limit }: Past): Copy {
  const isIntact = lastSuccess === undefined || isStored(body, { success: lastSuccess, limit });
  return isIntact ? { kind: 'intact' } : { kind: 'edited', since };
}

/** Number of names that are requested from the system in one call. */
const LISTING_BUFFER = 1024;

const NO_BYTES =
  'this runtime lists no names as bytes (Bun does not). Run it under Node, or give a file of records';

/**
 * A directory whose names are hosts: the robots directory, or the directory of a scheme or a date
 * in it.
 */
export interface Place {
  /** The path for reading. */
  readonly path: FilePath;
  /** The path for messages. */
  readonly displayPath: string;
  /** The beginning of the sources of its entries: empty at the top, or `https/`. */
  readonly prefix: string;
  /** The scheme for which it is named, or a directory around it. */
  readonly scheme: Scheme | undefined;
  /** The date for which it is named, or a directory around it, in milliseconds since 1970. */
  readonly date?: number | undefined;
}

/** The path of a name in a directory. */
export function join(directory: FilePath, name: string): FilePath {
  if (typeof directory === 'string') return `${directory}/${name}`;
  return Buffer.concat([directory, Buffer.from(`/${name}`)]);
}

/** An entry of `opendir` with the encoding `buffer`, which Node's types lack. */
interface BufferDirent {
  /** Bun 1.4 leaves it out. */
  readonly name: Buffer | undefined;
  isDirectory(): boolean;
}

/**
 * Lists the byte names in a directory, sorted (sources/file.ts). The names of directories end in a
 * slash, so that the paths below them are in the same order.
 */
export async function byteNamesIn(path: FilePath): Promise<string[]> {
  const directory = await opendir(systemPath(path), {
    encoding: 'buffer' as BufferEncoding,
    bufferSize: LISTING_BUFFER,
  });
  const names: string[] = [];
  for await (const entry of directory as unknown as AsyncIterable<BufferDirent>) {
    if (entry.name === undefined) throw new Error(NO_BYTES);
    const name = entry.name.toString('latin1');
    names.push(entry.isDirectory() ? `${name}/` : name);
  }
  return names.sort();
}

/** Names in a directory, to be read by `DirectoryReader` on any thread. */
export interface PlaceNames {
  readonly kind: 'names';
  /** The names, in the form of `byteNamesIn`. */
  readonly names: readonly string[];
  readonly place: Place;
  readonly access: FileAccess;
}

/** Number of names per part. */
const PART_NAMES = 256;

/** Splits the names of a directory, in the form of `byteNamesIn`, into parts. */
export function* splitNames(
  names: readonly string[],
  place: Place,
  access: FileAccess,
): Generator<PlaceNames> {
  for (let start = 0; start < names.length; start += PART_NAMES) {
    yield { kind: 'names', names: names.slice(start, start + PART_NAMES), place, access };
  }
}

/*
 * The layouts of a robots directory, which may be mixed. docs/sources.md has their precedence.
 *
 *     HOST                     example.com
 *     HOST.txt                 example.com.txt
 *     HOST-robots.txt          example.com-robots.txt
 *     HOST.robots.txt          example.com.robots.txt
 *     HOST/robots.txt          example.com/robots.txt
 *     SCHEME/…                 https/example.com/robots.txt; any of the above in http, https or ftp
 *     DATE/…                   2024-05-01/example.com; any of the above, if dates are needed
 *     *.ndjson, *.ndjson.gz    robots.txt files of many hosts, at the top only: record-files.ts
 *
 * HOST is a host, HOST:PORT or HOST_PORT. In the brackets of an IPv6 address, `-` may stand for
 * `:`, which some file systems do not allow: [2001-db8--1]_8080. A robots.json beside
 * HOST/robots.txt has the finding of the last fetch: fetch-state.ts. HOST/history/TIME/ has both as
 * they were before; only tables with histories are made of those.
 */

/** The name of the file in the directory of a host (RFC 9309 section 2.3). */
export const ROBOTS_TXT = 'robots.txt';

/** The directory of a host's earlier versions: see fetch/store.ts. */
export const HISTORY = 'history';

/** Maximum length of a name that file systems allow, in bytes. */
const MAX_NAME_BYTES = 255;

const SUFFIXES = ['-robots.txt', '.robots.txt', '.txt'];

/** Whether a name has an ending, in lower case or capitals. Endings are ASCII. */
export function hasEnding(name: string, ending: string): boolean {
  return name.slice(-ending.length).toLowerCase() === ending;
}

/** Whether a name is ignored without a warning: hidden files, and robots.json. */
export function isIgnored(name: string): boolean {
  return name.startsWith('.') || name === FETCH_STATE_FILE;
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

/** The warning for something that is skipped, or is worth a look. */
export function skipEvent(
  path: string,
  { code, message }: Pick<CacheWarning, 'code' | 'message'>,
): WarningEvent {
  return { kind: 'warning', warning: { code, path, message } };
}
