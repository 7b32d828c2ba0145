/** Each robots.txt that a directory, a file of records or an archive holds, one after another. */

import { stat } from 'node:fs/promises';
import { addTo } from '../../base/maps.js';
import { drawKey } from '../../compile/byte-store.js';
import { FIRST_BODY } from '../../compile/table-part.js';
import { STANDARD_INPUT } from '../../files/openings.js';
import type { Authority } from '../../protocol/authority.js';
import { withoutTruncatedLine } from '../../protocol/parse.js';
import { hasRules, LEAST_PARSING_LIMIT } from '../../protocol/verdict.js';
import { isArchiveList, isArchiveName } from '../../sources/archives.js';
import {
  type Archive,
  type ArchivePart,
  cacheContents,
  PartReader,
  type WalkedEntry,
  walk,
} from '../../sources/cache.js';
import type { CacheEntry, CacheWarning } from '../../sources/entry.js';
import { recordFileOf } from '../../sources/record-files.js';
import { ArchiveCompilation, type ArchiveTarget } from './archive-compilation.js';

/** A robots.txt, and where it is. */
export interface HeldRobots {
  /** The file of a directory, or the file with the record or capture. */
  readonly path: string;
  /** The number of a line with a record, or the offset of a capture. */
  readonly record: number | undefined;
  readonly authority: Authority;
  /** The body, until the next robots.txt. */
  readonly body: Uint8Array;
}

/** How robots.txt files are read. */
export interface RobotsReading {
  /** Whether links that lead out of a directory are followed. */
  readonly followLinks: boolean;
  /** The time up to which captures count, in milliseconds since 1970; all if undefined. */
  readonly asOf: number | undefined;
  readonly onWarning: (warning: CacheWarning) => void;
}

/** Ends the reading of captures when nobody wants more. */
class Stopped extends Error {}

/**
 * Passes on each robots.txt of a directory, a file of records or an archive. Holds one part of a
 * directory at a time.
 *
 * @param onRobots returns false to end
 * @returns false if `onRobots` ended it
 * @throws RobotsFilterError `input` if the path cannot be read
 */
export async function eachRobots(
  path: string,
  reading: RobotsReading,
  onRobots: (robots: HeldRobots) => boolean,
): Promise<boolean> {
  const { asOf, followLinks, onWarning } = reading;
  const reader = new PartReader({ maxBodyBytes: LEAST_PARSING_LIMIT, asOf });
  for await (const found of walk(cacheContents([path], followLinks), reader, 'after')) {
    if (found.kind === 'warning') onWarning(found.warning);
    else if (found.kind === 'archive') {
      try {
        if (!(await eachCaptured(found, reader, onWarning, onRobots))) return false;
      } finally {
        found.release();
      }
    } else if (isSuccessful(found.entry) && !onRobots(heldAt(found, path))) return false;
  }
  return true;
}

/** What holds robots.txt files at a path; `file` is one robots.txt. */
export async function kindOfHolder(
  path: string,
): Promise<'file' | 'directory' | 'records' | 'archive'> {
  if (path === STANDARD_INPUT) return 'file';
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) return 'file'; // Reading the file gives the error.
  if (status.isDirectory()) return 'directory';
  if (!status.isFile()) return 'file';
  if (isArchiveName(path) || isArchiveList(path)) return 'archive';
  return recordFileOf(path) === undefined ? 'file' : 'records';
}

/** Whether the body is that of a robots.txt, not of an error. */
function isSuccessful({ status, fetched }: CacheEntry): boolean {
  return fetched === undefined ? hasRules(status) : fetched.access === 'successful';
}

function heldAt({ entry, isFile }: WalkedEntry, path: string): HeldRobots {
  const { authority, body, source } = entry;
  const stem = path.endsWith('/') ? path.slice(0, -1) : path;
  if (isFile) return { path: `${stem}/${source}`, record: undefined, authority, body };
  const record = Number(source.slice(source.lastIndexOf(':') + 1));
  return { path: stem, record, authority, body };
}

/**
 * Passes on the robots.txt of each authority in an archive, as `--robots-dir` chooses it: the last
 * capture, redirects followed. The captures are read twice, first to choose, so no body is held.
 *
 * @returns false if `onRobots` ended it
 */
async function eachCaptured(
  archive: Archive,
  reader: PartReader,
  onWarning: RobotsReading['onWarning'],
  onRobots: (robots: HeldRobots) => boolean,
): Promise<boolean> {
  /** The authorities whose robots.txt is a body, by its number in the order of reading. */
  const authorities = new Map<number, Authority[]>();
  const target: ArchiveTarget = {
    key: drawKey(),
    addEntry(authority, { body }) {
      if (body < FIRST_BODY) return;
      addTo(authorities, body, authority);
    },
  };
  const compilation = new ArchiveCompilation(archive, target, onWarning);
  const parts: ArchivePart[] = [];
  let bodies = FIRST_BODY;
  await compilation.compile(
    reader,
    () => bodies++,
    (part) => {
      parts.push(part);
    },
  );
  let body = FIRST_BODY;
  const pass = (part: ArchivePart): Promise<void> =>
    reader.read(part, (event) => {
      if (event.kind !== 'capture' || event.capture.outcome.kind !== 'body') return;
      const { offset, outcome, source = part.displayPath } = event.capture;
      for (const authority of authorities.get(body++) ?? []) {
        const whole = outcome.isCut ? withoutTruncatedLine(outcome.body) : outcome.body;
        const robots = { path: source, record: offset, authority, body: whole };
        if (!onRobots(robots)) throw new Stopped();
      }
    });
  try {
    for (const part of parts) await pass(part);
    return true;
  } catch (error) {
    if (error instanceof Stopped) return false;
    throw error;
  }
}
