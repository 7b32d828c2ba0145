import { stat } from 'node:fs/promises';
import { isArchiveName } from '../../cache/archive-file.js';
import { archiveFilesOf, isArchiveList } from '../../cache/archive-list.js';
import {
  type Archive,
  type CacheContent,
  type CacheEntry,
  cacheParts,
  type Nested,
  nestedParts,
  PartReader,
} from '../../cache/cache.js';
import type { WarningEvent } from '../../cache/entry.js';
import { recordFileOf } from '../../cache/record-files.js';
import { RobotsFilterError } from '../../errors.js';
import { inputName, STANDARD_INPUT } from '../../files/standard-input.js';
import { accessResultOf } from '../../protocol/access.js';
import { type Authority, formatAuthority } from '../../protocol/authority.js';
import { MIN_BYTES } from '../../protocol/parsing-limits.js';
import type { CacheWarnings } from '../report/cache-warnings.js';
import type { LintedFile } from '../report/lint/finding-writer.js';
import { usageError } from '../usage-error.js';
import { eachCaptured } from './lint-archives.js';
import { readRobotsFile } from './robots-file.js';

/** A robots.txt to lint. */
export interface LintSource {
  readonly file: LintedFile;
  /** The body, until the next source. */
  readonly body: Uint8Array;
  readonly authority: Authority | undefined;
  /** The path of a file that may be changed. */
  readonly path: string | undefined;
}

/** How robots.txt files are read. */
export interface LintReading {
  /** Whether links that lead out of a directory are followed. */
  readonly followLinks: boolean;
  /** The time up to which captures count, in milliseconds since 1970; all if undefined. */
  readonly asOf: number | undefined;
  readonly warnings: CacheWarnings;
}

/** Receives each robots.txt; returns false to end. */
export type SourceHandler = (source: LintSource) => boolean;

/** Bytes by which a list of URLs is recognised. */
const URLS_START = 4096;

/** Ends the reading of a part when nobody wants more. */
class Stopped extends Error {}

/**
 * Passes on each robots.txt of a path: of a directory, a file of records, an archive, or the path
 * itself. Holds one part of a directory at a time.
 *
 * @returns false if `onSource` ended it
 * @throws RobotsFilterError `input` if the path cannot be read, `usage` if it has no captures for
 *   `asOf`
 */
export async function eachSource(
  path: string,
  reading: LintReading,
  onSource: SourceHandler,
): Promise<boolean> {
  const kind = await kindOf(path);
  if (reading.asOf !== undefined && (kind === 'file' || kind === 'records')) {
    throw usageError(
      `--as-of chooses among captures of WARC files, and ${inputName(path)} has none. Leave --as-of out`,
    );
  }
  if (kind === 'file') {
    const body = await readRobotsFile(path, 'lint');
    refuseUrls(path, body);
    const file = { path: inputName(path), record: undefined, authority: undefined };
    const named = path === STANDARD_INPUT ? undefined : path;
    return onSource({ file, body, authority: undefined, path: named });
  }
  const files = await archiveFilesOf(path);
  const parts =
    files === undefined
      ? cacheParts(path, reading.followLinks)
      : [{ kind: 'archive', files } as const];
  try {
    await readParts(parts, path, reading, onSource);
    return true;
  } catch (error) {
    if (error instanceof Stopped) return false;
    throw error;
  }
}

/** What a path is; `file` is a robots.txt. */
export async function kindOf(path: string): Promise<'file' | 'directory' | 'records' | 'archive'> {
  if (path === STANDARD_INPUT) return 'file';
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) return 'file'; // Reading the file gives the error.
  if (status.isDirectory()) return 'directory';
  if (!status.isFile()) return 'file';
  if (isArchiveName(path) || isArchiveList(path)) return 'archive';
  return recordFileOf(path) === undefined ? 'file' : 'records';
}

/** @throws RobotsFilterError `input` for a list of URLs, which is no robots.txt */
function refuseUrls(path: string, body: Uint8Array): void {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, URLS_START));
  const lines = start.toString('latin1').trim().split('\n');
  if (start.length < body.length) lines.pop();
  const isUrl = (line: string): boolean =>
    line.startsWith('http://') || line.startsWith('https://');
  if (lines.length === 0 || !lines.every(isUrl)) return;
  const name = inputName(path);
  throw new RobotsFilterError(
    'input',
    `${name}: is a list of URLs, and lint does not fetch. Type: robots-filter fetch --robots-dir robots ${name}, then: robots-filter lint robots --urls ${name}`,
  );
}

async function readParts(
  parts: AsyncIterable<CacheContent | WarningEvent> | Iterable<Archive>,
  path: string,
  reading: LintReading,
  onSource: SourceHandler,
): Promise<void> {
  const { asOf, warnings } = reading;
  const reader = new PartReader({ maxBodyBytes: MIN_BYTES, asOf });
  for await (const part of parts) {
    if (part.kind === 'warning') {
      warnings.add(part.warning);
      continue;
    }
    if (part.kind === 'archive') {
      await eachCaptured(part, reader, warnings, ({ authority, body, path: archive, offset }) => {
        const file = { path: archive, record: offset, authority: formatAuthority(authority) };
        if (!onSource({ file, body, authority, path: undefined })) throw new Stopped();
      });
      continue;
    }
    const nested: Nested[] = [];
    await reader.read(part, (event) => {
      if (event.kind === 'warning') warnings.add(event.warning);
      else if (event.kind === 'entry') {
        if (!isSuccessful(event.entry)) return;
        if (!onSource(sourceOf(event.entry, path, part.kind === 'names'))) {
          throw new Stopped();
        }
      } else if (event.kind === 'records' || event.kind === 'scheme') nested.push(event);
    });
    if (part.kind !== 'names') continue;
    for (const each of nested) {
      await readParts(nestedParts(each, part), path, reading, onSource);
    }
  }
}

/** Whether the body is that of a robots.txt, not of an error. */
function isSuccessful({ status, fetched }: CacheEntry): boolean {
  return (fetched?.access ?? accessResultOf(status)) === 'successful';
}

/** @param isFile whether the entry is a file of a directory, or else a record */
function sourceOf(
  { authority, body, source }: CacheEntry,
  path: string,
  isFile: boolean,
): LintSource {
  const stem = path.endsWith('/') ? path.slice(0, -1) : path;
  const name = formatAuthority(authority);
  if (isFile) {
    const file = { path: `${stem}/${source}`, record: undefined, authority: name };
    return { file, body, authority, path: undefined };
  }
  const colon = source.lastIndexOf(':');
  const record = Number(source.slice(colon + 1));
  return { file: { path: stem, record, authority: name }, body, authority, path: undefined };
}
