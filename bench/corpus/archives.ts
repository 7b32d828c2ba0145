import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ArchiveOptions, CapturePlan } from './capture-plan.js';
import { type WarcFileSummary, warcFileName, writeWarcFile } from './warc-file.js';

/** What the files of an archive hold together. */
export interface ArchiveSummary {
  readonly options: ArchiveOptions;
  /** Bytes of the files. */
  readonly bytes: number;
  /** Bytes of their records. */
  readonly plainBytes: number;
  /** SHA-256 over the SHA-256 of each file's records. */
  readonly sha256: string;
}

/** Writes the files of an archive whose number is `first` plus a multiple of `step`. */
export function writeArchiveFiles(
  directory: string,
  options: ArchiveOptions,
  { first, step }: { readonly first: number; readonly step: number },
): WarcFileSummary[] {
  const plan = new CapturePlan(options);
  const files: WarcFileSummary[] = [];
  for (let file = first; file < options.files; file += step) {
    files.push(writeWarcFile(join(directory, warcFileName(file)), plan, file));
  }
  return files;
}

/**
 * Writes the list of the files, as Common Crawl's robotstxt.paths, and sums up.
 *
 * @param parts what `writeArchiveFiles` returned for each `first`, in order
 */
export function finishArchive(
  directory: string,
  options: ArchiveOptions,
  parts: readonly (readonly WarcFileSummary[])[],
): ArchiveSummary {
  const hash = createHash('sha256');
  const names: string[] = [];
  let bytes = 0;
  let plainBytes = 0;
  for (let file = 0; file < options.files; file++) {
    const summary = parts[file % parts.length]?.[Math.floor(file / parts.length)];
    if (summary === undefined) throw new RangeError(`file ${file} was not written`);
    names.push(`${warcFileName(file)}\n`);
    hash.update(summary.sha256);
    bytes += summary.bytes;
    plainBytes += summary.plainBytes;
  }
  writeFileSync(join(directory, 'robotstxt.paths'), names.join(''));
  const summary = { options, bytes, plainBytes, sha256: hash.digest('hex') };
  writeFileSync(join(directory, 'archive.json'), `${JSON.stringify(summary, null, 2)}\n`);
  return summary;
}
