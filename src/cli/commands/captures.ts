import { stat } from 'node:fs/promises';
import { RobotsFilterError } from '../../base/errors.js';
import { drawKey } from '../../compile/byte-store.js';
import { inputName, kindName } from '../../files/openings.js';
import { unreadable } from '../../files/system-error.js';
import { partSettings } from '../../pipeline/compile/compile-cache.js';
import { withoutTruncatedLine } from '../../protocol/parse.js';
import { type ArchiveEvent, readArchivePart } from '../../sources/archive-reader.js';
import { type ArchiveFile, archiveFilesOf } from '../../sources/archives.js';
import { describeFile } from '../../sources/cache.js';
import { captureLine, leftOutLine } from '../../sources/capture-files.js';
import { type Capture, captureUrl } from '../../warc/captures.js';
import { Diagnostics, SUCCESS } from '../console.js';
import type { ProfileOptions } from '../options.js';
import { TextBatches } from '../report/rows.js';
import { listLines } from './arguments.js';
import { CacheWarnings, readingOf } from './compile-caches.js';

/** Options of `captures`. */
export interface CapturesOptions extends ProfileOptions {
  /** A time in milliseconds since 1970. */
  readonly asOf?: number;
  readonly targets?: string;
}

/**
 * `robots-filter captures`: prints the captures of robots.txt files in WARC files, as NDJSON.
 *
 * @param paths WARC files, and lists of them
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function captures(
  paths: readonly string[],
  options: CapturesOptions,
): Promise<number> {
  const files: ArchiveFile[] = [];
  for (const path of paths) files.push(...(await filesOf(path)));
  const targets = options.targets === undefined ? undefined : await urlsOf(options.targets);
  const { cache } = partSettings({ ...readingOf(options), onWarning: () => {} });
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const warnings = new CacheWarnings(diagnostics);
  let found = 0;
  const out = new TextBatches();
  const key = drawKey();
  for (const [file, archive] of files.entries()) {
    const { source } = archive;
    const handle = (event: ArchiveEvent): void => {
      if (event.kind === 'warning') {
        warnings.add(event.warning);
        return;
      }
      found++;
      if (event.kind === 'left-out') out.add(`${leftOutLine(event.url, source, file)}\n`);
      else {
        const { capture } = event;
        out.add(`${captureLine(whole(capture), capture.source ?? source, file)}\n`);
      }
    };
    const places = { length: 0, file, targets, offsets: undefined, filter: undefined, key };
    await readArchivePart({ ...archive, ...places, kind: 'captures' }, cache, handle);
    if (out.isClosed) break;
  }
  out.flush();
  warnings.summarise();
  // Many a file of a crawl has none, so this is no error.
  if (found === 0 && !out.isClosed) {
    diagnostics.note(`no captures of robots.txt files in ${paths.join(', ')}`);
  }
  return SUCCESS;
}

/** @throws RobotsFilterError `input` if the path names no WARC files */
async function filesOf(path: string): Promise<ArchiveFile[]> {
  const files = await archiveFilesOf(path);
  if (files !== undefined) return files;
  const status = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (!status.isFile() && !status.isDirectory()) {
    const what = `is ${kindName(status)}, and captures are read by their offsets`;
    throw new RobotsFilterError('input', `${path}: ${what}. Write it to a file and name that.`);
  }
  const description = await describeFile(path);
  if (description !== undefined) throw new RobotsFilterError('input', `${path}: ${description}`);
  throw new RobotsFilterError(
    'input',
    `${path}: not a WARC file. Name files that end in .warc, .warc.gz or .warc.zst, or a list of them that ends in .paths`,
  );
}

/**
 * The URLs of a list, in the form in which captures are compared.
 *
 * @throws RobotsFilterError `input` if the file cannot be read, or a line is no URL
 */
async function urlsOf(path: string): Promise<string[]> {
  const urls: string[] = [];
  for await (const { number, text } of listLines(path)) {
    const url = captureUrl(text);
    if (url === undefined) {
      throw new RobotsFilterError(
        'input',
        `${inputName(path)}, line ${number}: not an http, https or ftp URL. Write one URL in each line`,
      );
    }
    urls.push(url.href);
  }
  return urls;
}

/** The capture without half a line at the end of its body. */
function whole(capture: Capture): Capture {
  const { outcome } = capture;
  if (outcome.kind !== 'body' || !outcome.isCut) return capture;
  const { buffer, byteOffset, length } = withoutTruncatedLine(outcome.body);
  const body = Buffer.from(buffer, byteOffset, length);
  return { ...capture, outcome: { kind: 'body', body, isCut: false } };
}
