/** Which WARC files, lists of them, and files of captures a path names. */

import { closeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { printable } from '../base/control-characters.js';
import { RobotsFilterError } from '../base/errors.js';
import type { HashKey } from '../compile/byte-store.js';
import { COMPRESSION_ENDINGS } from '../files/compression.js';
import { linesOf, splitBlocks } from '../files/lines.js';
import { openToRead } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import type { TemporaryCopies } from '../files/temporary.js';
import { CAPTURE_FILE_ENDING, isCaptureFile } from './capture-files.js';
import { displayName, type FilePath } from './file.js';
import { hasEnding } from './item.js';
import type { Piped } from './piped.js';
import { readText } from './record-files.js';

/** The name endings of WARC files. */
export const ARCHIVE_ENDINGS = COMPRESSION_ENDINGS.map((ending) => `.warc${ending}`);

/** The name endings of lists of WARC files, such as Common Crawl's robotstxt.paths. */
export const ARCHIVE_LIST_ENDINGS = COMPRESSION_ENDINGS.map((ending) => `.paths${ending}`);

/** Whether a name is that of a WARC file (ISO 28500), or of a file of captures. */
export function isArchiveName(name: string): boolean {
  return ARCHIVE_ENDINGS.some((ending) => hasEnding(name, ending)) || isCaptureFile(name);
}

/** A WARC file, or a file with a capture on each line. */
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
  /** Deletes the copies of pipes. Call it when the files will not be read again. */
  release(): void;
}

/** A WARC file to be read by any thread. */
export interface ArchivePart extends ArchiveFile {
  readonly kind: 'captures';
  /** Length of the file before it was first read, in bytes; 0 if unknown. */
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

/**
 * Copies a pipe of captures to a temporary file, because the files of an archive are read by
 * several threads, and more than once.
 *
 * @throws RobotsFilterError `input` if the pipe cannot be read to its end, `output` if it cannot be
 *   copied
 */
export async function copyArchive(piped: Piped, copies: TemporaryCopies): Promise<ArchiveFile> {
  const { kind, name, source, chunks } = piped;
  const path = await copies.newPath();
  await copies.write(path, chunks).catch((cause: unknown) => {
    if (cause instanceof RobotsFilterError) throw cause;
    const message = `${name}: reading failed: ${describeSystemError(cause)}. Send it again.`;
    throw new RobotsFilterError('input', message, { cause });
  });
  const ending = kind === 'captures' && !isCaptureFile(source) ? CAPTURE_FILE_ENDING : '';
  const file = { path, displayPath: printable(name), source: `${source}${ending}` };
  return { ...file, boundary: undefined, isNamed: true };
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
