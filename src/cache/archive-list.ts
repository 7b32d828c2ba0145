import { closeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { printable } from '../control-characters.js';
import { RobotsFilterError } from '../errors.js';
import { linesOf, splitBlocks } from '../files/lines.js';
import { openToRead } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { ARCHIVE_LIST_ENDINGS, type ArchiveFile, isArchiveName } from './archive-file.js';
import { displayName } from './file-name.js';
import { hasEnding } from './layout.js';
import { readText } from './ndjson-file.js';

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
