import { stat } from 'node:fs/promises';
import { printable } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { drawKey } from '../../compile/byte-store.js';
import { inputName, kindName } from '../../files/openings.js';
import { unreadable } from '../../files/system-error.js';
import { partSettings } from '../../pipeline/compile/compile-cache.js';
import { withoutTruncatedLine } from '../../protocol/parse.js';
import {
  type ArchiveEvent,
  readArchivePart,
  readArchiveSource,
} from '../../sources/archive-reader.js';
import { type ArchiveFile, archiveFilesOf } from '../../sources/archives.js';
import { describeFile } from '../../sources/cache.js';
import { captureLine, leftOutLine } from '../../sources/capture-files.js';
import { describeArc } from '../../sources/file.js';
import { isPiped, openPiped, type Piped, sequentialSource } from '../../sources/piped.js';
import { type Capture, captureUrl } from '../../warc/captures.js';
import { Diagnostics, SUCCESS } from '../console.js';
import type { ProfileOptions } from '../options.js';
import { TextBatches } from '../report/rows.js';
import { listLines } from './arguments.js';
import { CacheWarnings, readingOf } from './compile-caches.js';
import { refuseSecondStandardInput } from './inputs.js';

/** Options of `captures`. */
export interface CapturesOptions extends ProfileOptions {
  /** A time in milliseconds since 1970. */
  readonly asOf?: number;
  readonly targets?: string;
}

/**
 * `robots-filter captures`: prints the captures of robots.txt files in WARC files, as NDJSON.
 *
 * @param paths WARC files, lists of them, and pipes of WARC records
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function captures(
  paths: readonly string[],
  options: CapturesOptions,
): Promise<number> {
  refuseSecondStandardInput(paths);
  const files: (ArchiveFile | Pipe)[] = [];
  for (const path of paths) files.push(...(await filesOf(path)));
  const targets = options.targets === undefined ? undefined : await urlsOf(options.targets);
  const { cache } = partSettings({ ...readingOf(options), onWarning: () => {} });
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const warnings = new CacheWarnings(diagnostics);
  let found = 0;
  const out = new TextBatches();
  const key = drawKey();
  for (const [file, named] of files.entries()) {
    const piped = 'pipe' in named ? await openArchivePipe(named.pipe) : undefined;
    const archive = 'pipe' in named ? fileOf(named.pipe, piped) : named;
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
    const part = { ...archive, ...places, kind: 'captures' } as const;
    try {
      if (piped === undefined) await readArchivePart(part, cache, handle);
      else await readArchiveSource(sequentialSource(piped), part, cache, handle);
    } finally {
      piped?.close();
    }
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

/** A pipe, which is opened when its turn comes. */
interface Pipe {
  readonly pipe: string;
}

/** @throws RobotsFilterError `input` if the path names no WARC files */
async function filesOf(path: string): Promise<(ArchiveFile | Pipe)[]> {
  if (await isPiped(path)) return [{ pipe: path }];
  const files = await archiveFilesOf(path);
  if (files !== undefined) return files;
  const status = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
  if (!status.isFile() && !status.isDirectory()) {
    const what = `is ${kindName(status)}, and captures are those of files and pipes`;
    throw new RobotsFilterError('input', `${path}: ${what}. Write it to a file and name that.`);
  }
  const description = await describeFile(path);
  if (description !== undefined) throw new RobotsFilterError('input', `${path}: ${description}`);
  throw new RobotsFilterError(
    'input',
    `${path}: not a WARC file. Name files that end in .warc, .warc.gz or .warc.zst, or a list of them that ends in .paths`,
  );
}

/** @throws RobotsFilterError `input` if the pipe holds something else */
async function openArchivePipe(path: string): Promise<Piped> {
  const piped = await openPiped(path);
  if (piped.kind === 'archive') return piped;
  try {
    const arc = await describeArc(piped.chunks);
    const what = arc ?? 'not a WARC file. If a download failed, its command says why';
    throw new RobotsFilterError('input', `${piped.name}: ${what}`);
  } finally {
    piped.close();
  }
}

function fileOf(path: string, piped: Piped | undefined): ArchiveFile {
  const { name = path, source = path } = piped ?? {};
  return { path, displayPath: printable(name), source, boundary: undefined, isNamed: true };
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
