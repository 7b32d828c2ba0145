/** What arguments of commands name: tables and caches, one robots.txt, lists of hosts and URLs. */

import { Buffer, isUtf8 } from 'node:buffer';
import { closeSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { LF } from '../../base/ascii.js';
import { printable } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { compressionOf } from '../../files/compression.js';
import { readLines } from '../../files/lines.js';
import {
  inputName,
  isTerminal,
  openToRead,
  readWhole,
  STANDARD_INPUT,
} from '../../files/openings.js';
import { describeSystemError, errorCode, unreadable } from '../../files/system-error.js';
import { describeUnsupported, unsupportedBody } from '../../files/unsupported-formats.js';
import { isTable } from '../../judge/read-table.js';
import { describeOtherList } from '../../pipeline/input/formats.js';
import { openRawPath } from '../../pipeline/input/raw-input.js';
import {
  type Authority,
  authorityOfUrl,
  DEFAULT_PORTS,
  formatAuthority,
  parseAuthority,
  type Scheme,
} from '../../protocol/authority.js';
import { parseRobots } from '../../protocol/parse.js';
import { ARCHIVE_LIST_ENDINGS, isArchiveName } from '../../sources/archives.js';
import { describeArc, LONGEST_BODY, readChunks } from '../../sources/file.js';
import { readText, recordFileOf } from '../../sources/record-files.js';
import { Diagnostics, shellWords, usageError } from '../console.js';

/** What a path is: a cache of robots.txt files, a table, or one robots.txt. */
export type PathKind = 'cache' | 'table' | 'robots.txt';

/**
 * What a path is, by its name and its first bytes.
 *
 * @throws RobotsFilterError `input` if it cannot be read, or is an ARC file
 */
export async function kindOfPath(path: string): Promise<PathKind> {
  try {
    const status = await stat(path);
    if (isTable(path)) return 'table';
    if (!status.isFile() || isCacheName(path)) return 'cache';
    const file = await open(path);
    try {
      const arc = await describeArc(readChunks(file.fd));
      if (arc !== undefined) throw new RobotsFilterError('input', `${path}: ${arc}`);
    } finally {
      await file.close();
    }
    return 'robots.txt';
  } catch (cause) {
    throw cause instanceof RobotsFilterError ? cause : unreadable(path, cause);
  }
}

/** Whether a file of this name holds robots.txt files of several hosts. */
export function isCacheName(path: string): boolean {
  if (recordFileOf(path) !== undefined || isArchiveName(path)) return true;
  return ARCHIVE_LIST_ENDINGS.some((ending) => path.toLowerCase().endsWith(ending));
}

/** Where robots.txt files come from, by the options that name them. */
interface SourceNames {
  readonly robotsDir?: readonly string[];
  readonly table?: string;
}

/**
 * The options of a command whose arguments name robots.txt files: they take the place of
 * `--robots-dir`, and a table that of `--table`.
 *
 * @throws RobotsFilterError `usage` if both arguments and options name some, and for a table beside
 *   others; `input` if a path cannot be read
 */
export async function withPaths<Options extends SourceNames>(
  command: string,
  paths: readonly string[],
  options: Options,
): Promise<Options> {
  if (paths.length === 0) return options;
  const { robotsDir = [], table } = options;
  const named = table === undefined ? robotsDir : [...robotsDir, table];
  if (named.length > 0) throw namedTwice(command, named, paths);
  const kinds = await Promise.all(paths.map(kindOfArgument));
  const at = kinds.indexOf('table');
  if (at < 0) return { ...options, robotsDir: paths };
  if (paths.length === 1) return { ...options, table: paths[0] };
  throw usageError(
    `${printable(paths[at] ?? '')} is a table, and ${command} reads one table, or other files. To join them, type: ${shellWords(['robots-filter', 'compile', ...paths, '-o', 'all.table'])}`,
  );
}

/**
 * The error for robots.txt files that options and arguments name.
 *
 * @param named the values of the options
 */
export function namedTwice(
  command: string,
  named: readonly string[],
  paths: readonly string[],
): RobotsFilterError {
  const all = shellWords(['robots-filter', command, ...named, ...paths]);
  return usageError(
    `the option names the robots.txt files ${printable(named.join(' '))}, and the arguments name ${printable(paths.join(' '))}. Leave one out, or type: ${all}`,
  );
}

/** What an argument names; `-` is a robots.txt on standard input. */
export async function kindOfArgument(path: string): Promise<PathKind> {
  return path === STANDARD_INPUT ? 'robots.txt' : kindOfPath(path);
}

/** How each command that reads one robots.txt is called, after its name. */
const ARGUMENTS = {
  audit: '- -a AGENT',
  check: '- -a AGENT URL...',
  diff: '- NEW',
  inspect: '-',
  lint: '-',
  records: '-',
} as const;

const SPELLING = 'Check the spelling and the working directory.';

/** Advice if there is no file of that name. */
const MISSING = {
  audit: SPELLING,
  check: 'The robots.txt comes first, then the URLs.',
  diff: SPELLING,
  inspect: SPELLING,
  lint: SPELLING,
  records: SPELLING,
};

/**
 * Reads a robots.txt from a file or standard input. Says so if everything is allowed because it is
 * empty or has no group: that is what else comes in by mistake, and looks like any other answer.
 *
 * @throws RobotsFilterError `input` if the file cannot be read, is an ARC file, or, but for `lint`,
 *   is compressed or data
 */
export async function readRobotsFile(
  file: string,
  command: keyof typeof ARGUMENTS,
  diagnostics = new Diagnostics(false),
): Promise<Uint8Array> {
  const body = await bytesOf(file, command, diagnostics);
  async function* chunks(): AsyncGenerator<Buffer> {
    if (body.length > 0) yield body;
  }
  const arc = await describeArc(chunks());
  const name = inputName(file);
  if (arc !== undefined) throw new RobotsFilterError('input', `${name}: ${arc}`);
  // A finding of its own.
  if (command === 'lint') return body;
  const unsupported = unsupportedBody(body);
  if (unsupported !== undefined) {
    const { name: what, command: unpack } = unsupported;
    const advice =
      unpack === undefined
        ? 'Download it again.'
        : `Type: ${unpack} < FILE | robots-filter ${command} ${ARGUMENTS[command]}`;
    throw new RobotsFilterError('input', `${name}: is ${what}, not text. ${advice}`);
  }
  if (body.length === 0 && command !== 'records') {
    const cause = file === STANDARD_INPUT ? '. If a download failed, its command says why' : '';
    diagnostics.note(`warning: ${name} is empty, so everything is allowed${cause}`);
  } else if (SAYS_NO_GROUP.includes(command) && parseRobots(body).groups.length === 0) {
    diagnostics.note(
      `warning: ${name} has no group, so everything is allowed. Is it a robots.txt? Type: robots-filter lint ${shellWords([file])}`,
    );
  }
  return body;
}

/** The others report lines that are no records, or only records of the whole file. */
const SAYS_NO_GROUP: readonly string[] = ['audit', 'diff', 'inspect'];

async function bytesOf(
  file: string,
  command: keyof typeof ARGUMENTS,
  diagnostics: Diagnostics,
): Promise<Buffer> {
  if (file === STANDARD_INPUT) {
    if (isTerminal(0))
      diagnostics.note('reading a robots.txt from standard input; press Ctrl-D to end');
    const { chunks } = await openRawPath(file);
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of chunks.stream() as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > LONGEST_BODY) throw tooLong(inputName(file));
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
  let body: Buffer | undefined;
  try {
    body = await readWhole(file, LONGEST_BODY);
  } catch (cause) {
    const remedy = remedyFor(file, command, cause);
    throw new RobotsFilterError('input', `${file}: ${remedy}`, { cause });
  }
  if (body === undefined) throw tooLong(file);
  return body;
}

function tooLong(name: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: longer than 1 GiB. Name a robots.txt.`);
}

function remedyFor(file: string, command: keyof typeof ARGUMENTS, cause: unknown): string {
  if (file.startsWith('http://') || file.startsWith('https://')) {
    return `${command} does not fetch. Type: curl -s ${file} | robots-filter ${command} ${ARGUMENTS[command]}`;
  }
  switch (errorCode(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `no such file. ${MISSING[command]}`;
    case 'EISDIR':
      return 'is a directory. Name the robots.txt in it.';
    default:
      return `cannot be read (${describeSystemError(cause)}). Make it readable, or pipe it in and name it -.`;
  }
}

// ---- Lists of hosts and URLs

/** What to do if a list is damaged or cannot be read. */
const REMEDY = 'Copy the file again';

/** Maximum bytes of a line. */
const MOST_BYTES = 1 << 20;

/** Says that a list has no lines: nothing comes out, which looks like any other answer. */
export function noteEmptyList(path: string, what: string, diagnostics: Diagnostics): void {
  diagnostics.note(`warning: ${inputName(path)} names no ${what}`);
}

/** A line of a list that is not blank. */
interface ListLine {
  /** Number of the line, from 1. */
  readonly number: number;
  /** The text without white space around it. */
  readonly text: string;
}

/**
 * The lines of a list of hosts or URLs, one on each line. A file may be compressed. Blank lines do
 * not count.
 *
 * @param path `-` is standard input
 * @param refusalOf why a list that begins so is no list, and what to type; default: it may be one
 * @throws RobotsFilterError `input` if the list cannot be read, or a line is too long
 */
export async function* listLines(
  path: string,
  refusalOf: (head: Buffer, compression?: string) => string | undefined = () => undefined,
): AsyncGenerator<ListLine> {
  const name = inputName(path);
  const isStandardInput = path === STANDARD_INPUT;
  const decoder = new TextDecoder();
  try {
    const file = isStandardInput ? undefined : await openToRead(path);
    try {
      let compression: string | undefined;
      const readFile = (descriptor: number) => {
        const stored = lookedAt(readChunks(descriptor), (head) => {
          compression = compressionOf(head)?.name;
        });
        return readText(stored, path, REMEDY);
      };
      const looked = lookedAt(file === undefined ? process.stdin : readFile(file), (head) => {
        const refusal = describeStart(head) ?? refusalOf(head, compression);
        if (refusal !== undefined) throw wrong(name, refusal);
      });
      for await (const { number, bytes } of readLines(looked, MOST_BYTES)) {
        if (bytes === undefined) {
          throw wrong(name, `line ${number} is longer than ${MOST_BYTES} bytes. Leave it out`);
        }
        const text = (isUtf8(bytes) ? decoder.decode(bytes) : escaped(bytes)).trim();
        if (text !== '') yield { number, text };
      }
    } finally {
      if (file !== undefined) closeSync(file);
    }
  } catch (cause) {
    if (cause instanceof RobotsFilterError) throw cause;
    throw unreadable(name, cause);
  }
}

/** Number of bytes after which a look does not wait for the end of the first line. */
const MOST_LOOKED_AT = 1 << 16;

/**
 * Passes chunks on, after a look at the first ones, which may throw. A pipe may bring less than the
 * first line at a time, which would not tell what the list is.
 */
async function* lookedAt(
  chunks: AsyncIterable<Buffer>,
  look: (head: Buffer) => void,
): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (!head.includes(LF) && head.length < MOST_LOOKED_AT) continue;
    look(head);
    yield head;
    head = undefined;
  }
  if (head === undefined || head.length === 0) return;
  look(head);
  yield head;
}

/** Why a list of hosts or URLs cannot be read, by its first bytes. */
function describeStart(head: Uint8Array): string | undefined {
  if (compressionOf(head) !== undefined) {
    return 'is compressed. Name the file itself, or decompress it';
  }
  return describeUnsupported(head);
}

/**
 * A line that is not UTF-8, with an escape for each byte beyond ASCII. RFC 9309 section 2.2.2
 * compares such bytes as their escapes; a decoder would replace them, and another URL be judged.
 */
function escaped(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`,
  ).join('');
}

function wrong(name: string, what: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: ${what}`);
}

/**
 * The URLs of a list with one on each line.
 *
 * @param path `-` is standard input
 * @throws RobotsFilterError `input` if the list cannot be read or is of another format
 */
export async function* urlsOf(path: string): AsyncGenerator<string> {
  for await (const { number, text } of listLines(path, describeOtherList)) {
    if (text.includes('\t') || text.includes('\r')) {
      // The URL Standard drops both, and would join two columns or lines to one URL.
      const [what, remedy] = text.includes('\t')
        ? ['a tab', 'If the URL is the first column, type: cut -f1 FILE']
        : ['a carriage return', "Type: tr '\\r' '\\n' < FILE"];
      throw wrong(
        inputName(path),
        `line ${number} has ${what} in it, so more than one URL. ${remedy}`,
      );
    }
    yield text;
  }
}

/** The authority of a host, HOST:PORT, or a URL in any form that the filter reads. */
export function askedAuthority(text: string): Authority | undefined {
  return parseAuthority(text) ?? urlAuthority(text);
}

/**
 * The authority of a URL in a list. `undefined` for several columns: the URL Standard drops tabs,
 * which would join `https://a.example` and the next column.
 */
function urlAuthority(text: string): Authority | undefined {
  return text.includes('\t') || text.includes('\r') ? parseAuthority(text) : authorityOfUrl(text);
}

/**
 * Reads hosts, one on each line: a host, HOST:PORT or a URL. Blank lines do not count.
 *
 * @param path `-` is standard input
 * @throws RobotsFilterError `input` if the file cannot be read, `usage` for a line that is no host
 */
export async function readHosts(path: string): Promise<ReadonlyMap<string, Authority>> {
  const asked = new Map<string, Authority>();
  for await (const { number, text } of listLines(path)) {
    const authority = askedAuthority(text);
    if (authority === undefined) {
      throw usageError(
        `${path}:${number}: ${JSON.stringify(text.slice(0, 200))} is not a host. Use a host (example.com), HOST:PORT or a URL on each line`,
      );
    }
    asked.set(formatAuthority(authority), authority);
  }
  return asked;
}

const ASSUMED_SCHEMES: readonly Scheme[] = ['http', 'https'];

/** The authorities of a list of URLs. */
export class ListedHosts {
  /** For each host, scheme and port, whether a robots.txt of it was found. */
  readonly #found = new Map<string, boolean>();

  /**
   * Reads a list with one URL on each line, in any form that the filter reads, or one host. Lines
   * without a host do not count.
   *
   * @param path `-` is standard input
   * @throws RobotsFilterError `input`
   */
  static async read(path: string): Promise<ListedHosts> {
    const hosts = new ListedHosts();
    for await (const url of urlsOf(path)) {
      const { scheme, host = '', port } = urlAuthority(url) ?? parseAuthority(url) ?? {};
      if (host === '') continue;
      for (const each of scheme === undefined ? ASSUMED_SCHEMES : [scheme]) {
        hosts.#found.set(keyOf(each, host, port), false);
      }
    }
    return hosts;
  }

  /** Whether the list has a URL of an authority. */
  has({ scheme, host, port }: Authority): boolean {
    let isListed = false;
    for (const each of scheme === undefined ? ASSUMED_SCHEMES : [scheme]) {
      const key = keyOf(each, host, port);
      if (!this.#found.has(key)) continue;
      this.#found.set(key, true);
      isListed = true;
    }
    return isListed;
  }

  get count(): number {
    return this.#found.size;
  }

  /** How many authorities were never asked for. */
  get missing(): number {
    let missing = 0;
    for (const found of this.#found.values()) if (!found) missing++;
    return missing;
  }
}

function keyOf(scheme: Scheme, host: string, port: number | undefined): string {
  return `${scheme} ${port ?? DEFAULT_PORTS[scheme]} ${host}`;
}
