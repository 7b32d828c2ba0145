/** WARC files, lists of them, and files of captures, as sources of robots.txt files. */

import { isUtf8 } from 'node:buffer';
import { closeSync, read as readInPool } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { printable } from '../base/control-characters.js';
import { RobotsFilterError } from '../base/errors.js';
import type { HashKey } from '../compile/byte-store.js';
import { COMPRESSION_ENDINGS, COMPRESSIONS, compressionOf, gzip } from '../files/compression.js';
import { isBlankLine, linesOf, splitBlocks } from '../files/lines.js';
import { startsWith } from '../files/magic.js';
import { FileEnd, openToRead } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { ARC_MAGIC, describeUnsupported } from '../files/unsupported-formats.js';
import { UnsupportedZstdError } from '../files/zstd/frames.js';
import { parseAuthority } from '../protocol/authority.js';
import { type ArchiveCompression, readArchive, readRecordAt } from '../warc/archive.js';
import { type CaptureHandler, CaptureReader } from '../warc/capture-reader.js';
import { UrlFilter } from '../warc/capture-store.js';
import { type Capture, type CaptureOutcome, captureUrl } from '../warc/captures.js';
import { ArcFileError, type ByteSource, beginsRecord } from '../warc/records.js';
import type { CacheOptions, WarningEvent } from './entry.js';
import { close, displayName, type FilePath, openFile, type Skip } from './file.js';
import { hasEnding, NO_FILE, skipEvent } from './item.js';
import { decodeBase64, parseObject } from './record.js';
import { readText } from './record-files.js';

/** Maximum length in bytes of a body that is read if there is no parsing limit. */
const LONGEST_BODY = 64 * 1024 * 1024;

/**
 * Number of captures of other URLs in one file whose places are noted. Further captures go into a
 * filter.
 */
const MOST_PLACES = 1024;

/** Number of damaged places of one file that are named. Further ones are counted. */
const MOST_NAMED = 20;

/** Bytes of a file by which its compression is recognised. */
const HEAD_BYTES = 16;

/** The name endings of WARC files. */
export const ARCHIVE_ENDINGS = COMPRESSION_ENDINGS.map((ending) => `.warc${ending}`);

/** The name endings of lists of WARC files, such as Common Crawl's robotstxt.paths. */
export const ARCHIVE_LIST_ENDINGS = COMPRESSION_ENDINGS.map((ending) => `.paths${ending}`);

/** Whether a name is that of a WARC file (ISO 28500), or of a file of captures. */
export function isArchiveName(name: string): boolean {
  return ARCHIVE_ENDINGS.some((ending) => hasEnding(name, ending)) || isCaptureFile(name);
}

/** A WARC file of captures. */
export interface ArchiveFile {
  readonly path: FilePath;
  /** The path for messages. */
  readonly displayPath: string;
  /** The beginning of the sources of its entries: `FILE.warc.gz`. */
  readonly source: string;
  /** The real path of the directory that links may not leave; `undefined` if they may. */
  readonly boundary: Uint8Array | undefined;
  /** Whether the user named the file. Such a file must be readable; any other is skipped. */
  readonly isNamed: boolean;
}

/** WARC files that are read as one archive: redirects lead from one file to another. */
export interface Archive {
  readonly kind: 'archive';
  readonly files: readonly ArchiveFile[];
}

/** A WARC file to be read by any thread. */
export interface ArchivePart extends ArchiveFile {
  readonly kind: 'captures';
  /** Length of the file in bytes; 0 if unknown. */
  readonly length: number;
  /** The number of the file in its archive. */
  readonly file: number;
  /** URLs whose captures are wanted; `undefined` for the URLs of robots.txt files. */
  readonly targets: readonly string[] | undefined;
  /** Where captures of the targets lie, ascending; `undefined` if they may lie anywhere. */
  readonly offsets: readonly number[] | undefined;
  /** Memory of the UrlFilter; `undefined` to note all captures that are left out. */
  readonly filter: SharedArrayBuffer | undefined;
  /** Key of the UrlFilter. */
  readonly key: HashKey;
}

/** A capture was found. */
export interface CaptureEvent {
  readonly kind: 'capture';
  readonly capture: Capture;
}

/** A capture of a URL other than robots.txt was left out. */
export interface LeftOutEvent {
  readonly kind: 'left-out';
  readonly url: string;
  /** Where its record lies in the file, in bytes; NaN if it cannot be read alone. */
  readonly offset: number;
}

/** What is found in an archive. */
export type ArchiveEvent = CaptureEvent | LeftOutEvent | WarningEvent;

/** The warning for something in an archive. */
function warningEvent(
  { displayPath }: ArchiveFile,
  code: 'damaged-record' | 'broken-response',
  message: string,
  place: { readonly offset?: number; readonly count?: number },
): WarningEvent {
  return { kind: 'warning', warning: { code, path: displayPath, message, ...place } };
}

/**
 * Passes on the captures of a WARC file, and its damaged places.
 *
 * @throws RobotsFilterError `input` if the file cannot be read to its end
 */
export async function readArchivePart(
  part: ArchivePart,
  { maxBodyBytes, asOf = Number.POSITIVE_INFINITY }: CacheOptions,
  onEvent: (event: ArchiveEvent) => void,
): Promise<void> {
  const opened = await openFile(part.path, { boundary: part.boundary, concurrent: true });
  if (opened.kind !== 'file') {
    const skip =
      opened.kind === 'skip' ? opened : ({ code: 'not-a-file', message: NO_FILE } as const);
    refuse(part, skip, onEvent);
    return;
  }
  if (isCaptureFile(part.source)) {
    try {
      await readCaptureFile(opened.descriptor, part.displayPath, { maxBodyBytes, asOf }, onEvent);
    } finally {
      close(opened.descriptor);
    }
    return;
  }
  const filter = part.filter && new UrlFilter(part.key, part.filter);
  const events = new ArchiveEvents(part, onEvent);
  let places = 0;
  const reader = new CaptureReader(
    {
      asOf,
      maxBodyBytes: Math.min(maxBodyBytes, LONGEST_BODY),
      targets: new Set(part.targets),
      robots: part.targets === undefined,
      onLeftOut: (url, offset) => {
        if (part.targets !== undefined) return;
        if (filter === undefined) onEvent({ kind: 'left-out', url, offset: offset ?? Number.NaN });
        else if (offset !== undefined && places < MOST_PLACES) {
          places++;
          onEvent({ kind: 'left-out', url, offset });
        } else filter.add(Buffer.from(url));
      },
    },
    events,
  );
  let compression: ArchiveCompression = 'none';
  try {
    const source = new DescriptorSource(opened.descriptor);
    compression = await compressionOfFile(source, part.displayPath);
    if (part.offsets === undefined) {
      await readArchive(source, compression, reader);
    } else {
      for (const offset of part.offsets) await readRecordAt(source, compression, offset, reader);
    }
  } catch (cause) {
    // The fault of what takes the events, such as an output that is full.
    if (cause instanceof RobotsFilterError) throw cause;
    if (cause instanceof UnsupportedZstdError) {
      const message = `The zstd data is not supported: ${cause.message}. ${cause.remedy}.`;
      refuse(part, { code: 'compressed', message }, onEvent);
      return;
    }
    if (cause instanceof ArcFileError) {
      const description = describeUnsupported(Uint8Array.from(ARC_MAGIC), compression) ?? '';
      const message = part.isNamed ? description : `The file ${description} Skipped.`;
      refuse(part, { code: 'not-text', message }, onEvent);
      return;
    }
    throw new RobotsFilterError(
      'input',
      `${part.displayPath}: reading failed: ${describeSystemError(cause)}. Copy the file again, or leave it out.`,
      { cause },
    );
  } finally {
    close(opened.descriptor);
  }
  events.summarise();
}

/**
 * Leaves out a file that cannot be used, with a warning.
 *
 * @throws RobotsFilterError `input` if the user named the file
 */
function refuse(
  { displayPath, isNamed }: ArchivePart,
  skip: Pick<Skip, 'code' | 'message'>,
  onEvent: (event: WarningEvent) => void,
): void {
  if (isNamed) throw new RobotsFilterError('input', `${displayPath}: ${skip.message}`);
  onEvent(skipEvent(displayPath, skip));
}

/** The events of a file. Damaged places are named up to a limit, and then counted. */
class ArchiveEvents implements CaptureHandler {
  readonly #part: ArchivePart;
  readonly #onEvent: (event: CaptureEvent | WarningEvent) => void;
  #named = 0;
  #damaged = 0;
  #broken = 0;

  constructor(part: ArchivePart, onEvent: (event: CaptureEvent | WarningEvent) => void) {
    this.#part = part;
    this.#onEvent = onEvent;
  }

  capture(capture: Capture): void {
    this.#onEvent({ kind: 'capture', capture });
  }

  damage(offset: number, reason: string): void {
    // The first reading of the file has named the damaged place.
    if (this.#part.targets !== undefined) return;
    if (this.#named === MOST_NAMED) {
      this.#damaged++;
      return;
    }
    this.#named++;
    const message = `Damaged: ${reason}; skipped.`;
    this.#onEvent(warningEvent(this.#part, 'damaged-record', message, { offset }));
  }

  broken(offset: number, url: string, reason: string): void {
    if (this.#named === MOST_NAMED) {
      this.#broken++;
      return;
    }
    this.#named++;
    const message = `The response of ${url} ${reason}, so it counts as unreachable.`;
    this.#onEvent(warningEvent(this.#part, 'broken-response', message, { offset }));
  }

  /** Reports the number of damaged places that were not named. */
  summarise(): void {
    if (this.#damaged > 0) {
      const message = 'Further damage in this file; skipped.';
      this.#onEvent(warningEvent(this.#part, 'damaged-record', message, { count: this.#damaged }));
    }
    if (this.#broken > 0) {
      const message = 'Further broken responses in this file count as unreachable.';
      this.#onEvent(warningEvent(this.#part, 'broken-response', message, { count: this.#broken }));
    }
  }
}

/** The bytes of an open regular file. */
class DescriptorSource implements ByteSource {
  readonly length: number;
  readonly #descriptor: number;
  readonly #end: FileEnd;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.#end = new FileEnd(descriptor);
    this.length = this.#end.size;
  }

  async read(offset: number, buffer: Buffer): Promise<number> {
    const bytes = await new Promise<number>((resolve, reject) => {
      readInPool(this.#descriptor, buffer, 0, buffer.length, offset, (error, count) => {
        if (error) reject(error);
        else resolve(count);
      });
    });
    // An archive may refer to offsets beyond its end.
    if (offset < this.length || bytes > 0) this.#end.check(offset, bytes);
    return bytes;
  }
}

/** The compression of a file, by its first bytes; by its name if those are damaged. */
async function compressionOfFile(source: ByteSource, name: string): Promise<ArchiveCompression> {
  const head = Buffer.alloc(HEAD_BYTES);
  const bytes = await source.read(0, head);
  const named = COMPRESSIONS.find(({ ending }) => hasEnding(name, `.warc${ending}`));
  const isPlain = beginsRecord(head, 0) || startsWith(head, ARC_MAGIC);
  const compression = compressionOf(head.subarray(0, bytes)) ?? (isPlain ? undefined : named);
  if (compression === undefined) return 'none';
  return compression === gzip ? 'gzip' : 'zstd';
}

/** Maximum length of a path in a list, in bytes. */
const LONGEST_PATH = 16 * 1024;

/** Whether a name is the name of a list of WARC files. */
export function isArchiveList(name: string): boolean {
  return ARCHIVE_LIST_ENDINGS.some((ending) => hasEnding(name, ending));
}

/**
 * The WARC files that a path names: the file itself, or the files of a list. `undefined` if the
 * path is of another kind, or cannot be examined.
 *
 * @throws RobotsFilterError `input` if a list cannot be read, or names a missing file
 */
export async function archiveFilesOf(path: string): Promise<ArchiveFile[] | undefined> {
  const status = await stat(path).catch(() => undefined);
  if (status?.isFile() !== true) return undefined;
  if (isArchiveName(path)) {
    const source = displayName(Buffer.from(basename(path)).toString('latin1'));
    return [{ path, displayPath: path, source, boundary: undefined, isNamed: true }];
  }
  return isArchiveList(path) ? readList(path) : undefined;
}

async function readList(list: string): Promise<ArchiveFile[]> {
  const file = await openToRead(list).catch((cause: unknown) => {
    throw new RobotsFilterError('input', `${list}: cannot be read: ${describeSystemError(cause)}`, {
      cause,
    });
  });
  const files: ArchiveFile[] = [];
  try {
    for await (const block of splitBlocks(readText(file, list), LONGEST_PATH)) {
      for (const { number, bytes } of linesOf(block, LONGEST_PATH)) {
        const name = bytes?.toString('utf8').trim() ?? '';
        if (bytes !== undefined && name === '') continue;
        const path = await locate(list, number, name);
        const source = displayName(Buffer.from(name).toString('latin1'));
        files.push({
          path,
          displayPath: printable(path),
          source,
          boundary: undefined,
          isNamed: true,
        });
      }
    }
  } finally {
    closeSync(file);
  }
  return files;
}

/**
 * Finds a file of a list: at its path below the directory of the list, or else by its name alone in
 * that directory, because downloads often drop the directories.
 */
async function locate(list: string, line: number, name: string): Promise<string> {
  const directory = dirname(list);
  const candidates = name.startsWith('/')
    ? [name]
    : [join(directory, name), join(directory, basename(name))];
  for (const path of candidates) {
    const status = await stat(path).catch(() => undefined);
    if (status?.isFile() === true) return path;
  }
  throw new RobotsFilterError(
    'input',
    `${list}:${line}: ${printable(name)} is not there. Download it below ${directory}, or remove the line.`,
  );
}

/** Maximum length of a line, in bytes: the longest body in base64, and its other members. */
const LONGEST_LINE = 128 * 1024 * 1024;

/** The name endings of files of captures. */
const CAPTURE_FILE_ENDINGS = COMPRESSION_ENDINGS.map((ending) => `.captures.ndjson${ending}`);

/** Whether a name is that of a file of captures, which `robots-filter captures` wrote. */
export function isCaptureFile(name: string): boolean {
  return CAPTURE_FILE_ENDINGS.some((ending) => hasEnding(name, ending));
}

/**
 * Passes on the captures of a file of captures.
 *
 * @param path the path for messages
 * @throws RobotsFilterError `input` if the file cannot be read to its end
 */
async function readCaptureFile(
  descriptor: number,
  path: string,
  { asOf = Number.POSITIVE_INFINITY, maxBodyBytes }: CacheOptions,
  onEvent: (event: { kind: 'capture'; capture: Capture } | WarningEvent) => void,
): Promise<void> {
  const warn = (line: number, reason: string): void => {
    const message = `${reason}; skipped.`;
    onEvent({ kind: 'warning', warning: { code: 'bad-record', path, line, message } });
  };
  for await (const block of splitBlocks(readText(descriptor, path), LONGEST_LINE)) {
    for (const { number, bytes } of linesOf(block, LONGEST_LINE)) {
      if (bytes === undefined) {
        warn(number, 'The line is longer than 128 MiB');
        continue;
      }
      if (isBlankLine(bytes)) continue;
      const capture = parseCaptureLine(bytes);
      if (typeof capture === 'string') warn(number, capture);
      else if (capture !== undefined && Math.floor(capture.date) <= asOf) {
        onEvent({ kind: 'capture', capture: shortened(capture, maxBodyBytes) });
      }
    }
  }
}

/** The capture with as much of its body as counts, and one byte more if the body is longer. */
function shortened(capture: Capture, maxBodyBytes: number): Capture {
  const { outcome } = capture;
  if (outcome.kind !== 'body' || outcome.body.length <= maxBodyBytes) return capture;
  const body = outcome.body.subarray(0, maxBodyBytes + 1);
  return { ...capture, outcome: { ...outcome, body } };
}

/*
 * Captures as lines of JSON, which `robots-filter captures` writes and a compilation reads, perhaps
 * on another machine. docs/sources.md describes the members.
 */

/** The members of a line. */
type Members = Readonly<Record<string, unknown>>;

/**
 * The line of a capture, without a line end.
 *
 * @param source the file that holds the capture
 * @param file the number of the file among those that were named
 */
export function captureLine(capture: Capture, source: string, file: number): string {
  const { url, offset, date, payloadDigest, outcome } = capture;
  const digest = payloadDigest === '' ? {} : { payload_digest: payloadDigest };
  return JSON.stringify({
    ...placeMembers(url, source, file),
    offset,
    date,
    ...digest,
    ...outcomeMembers(outcome),
  });
}

/** The line of a capture of which only the URL was read. */
export function leftOutLine(url: string, source: string, file: number): string {
  return JSON.stringify({ ...placeMembers(url, source, file), outcome: 'left-out' });
}

function placeMembers(url: string, source: string, file: number): Members {
  const host = parseAuthority(url)?.host;
  return { file, source, url, ...(host === undefined ? {} : { host }) };
}

function outcomeMembers(outcome: CaptureOutcome): Members {
  switch (outcome.kind) {
    case 'body': {
      const { body } = outcome;
      const robots = isUtf8(body)
        ? { robots: body.toString('utf8') }
        : { robots_base64: body.toString('base64') };
      return { outcome: 'body', ...robots };
    }
    case 'redirect':
      return { outcome: 'redirect', target: outcome.target };
    case 'revisit': {
      const { refersTo, refersToDate, isUnmodified } = outcome;
      return {
        outcome: 'revisit',
        unmodified: isUnmodified,
        ...(refersTo === '' ? {} : { refers_to: refersTo }),
        ...(Number.isNaN(refersToDate) ? {} : { refers_to_date: refersToDate }),
      };
    }
    default:
      return { outcome: outcome.kind };
  }
}

/**
 * Reads a line as a capture; `undefined` for a capture that was left out, and a string, the reason,
 * if the line is no capture.
 */
export function parseCaptureLine(line: Buffer): Capture | string | undefined {
  const members = parseObject(line);
  if (typeof members === 'string') return members;
  const { url, source, offset, date, payload_digest: payloadDigest = '' } = members;
  if (members.outcome === 'left-out') return undefined;
  if (!isUrl(url)) return '"url" is not a canonical http, https or ftp URL';
  if (typeof source !== 'string' || source === '') return '"source" is not the name of a file';
  if (!isWhole(offset) || offset < 0) return '"offset" is not a number of bytes';
  if (!isDate(date)) return '"date" is not in milliseconds since 1970';
  if (typeof payloadDigest !== 'string') return '"payload_digest" is not a string';
  const outcome = outcomeOf(members);
  return typeof outcome === 'string'
    ? outcome
    : { url, source, offset, date, payloadDigest, outcome };
}

function outcomeOf(members: Members): CaptureOutcome | string {
  const kind = members.outcome;
  switch (kind) {
    case 'body': {
      const body = bodyOf(members);
      return typeof body === 'string' ? body : { kind, body, isCut: false };
    }
    case 'redirect': {
      const { target } = members;
      return isUrl(target) ? { kind, target } : '"target" is not a canonical URL';
    }
    case 'revisit': {
      const { refers_to: refersTo = '', refers_to_date: date = Number.NaN, unmodified } = members;
      if (refersTo !== '' && !isUrl(refersTo)) return '"refers_to" is not a canonical URL';
      if (!Number.isNaN(date) && !isDate(date)) return '"refers_to_date" is not a date';
      if (typeof unmodified !== 'boolean') return '"unmodified" is neither true nor false';
      return { kind, refersTo, refersToDate: date as number, isUnmodified: unmodified };
    }
    case 'unavailable':
    case 'unreachable':
      return { kind };
    default:
      return '"outcome" is unknown';
  }
}

function bodyOf({ robots, robots_base64: base64 }: Members): Buffer | string {
  if (typeof robots === 'string') return Buffer.from(robots, 'utf8');
  const decoded = typeof base64 === 'string' ? decodeBase64(base64) : undefined;
  return decoded ?? 'There is no "robots" or "robots_base64"';
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && captureUrl(value)?.href === value;
}

/** The greatest distance of a date from 1970, in milliseconds (ECMA-262, Time Values). */
const MOST_MILLISECONDS = 8.64e15;

function isDate(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MOST_MILLISECONDS;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
