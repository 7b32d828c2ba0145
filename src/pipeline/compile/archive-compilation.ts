/**
 * Reads archives as often as redirects need, and adds to a table what warc/capture-set.ts finds for
 * each authority.
 */

import { statSync } from 'node:fs';
import { printable } from '../../base/control-characters.js';
import { secondsOf } from '../../compile/compiled-robots.js';
import type { PartMerger } from '../../compile/part-merger.js';
import type { TableContents } from '../../compile/table-contents.js';
import { BODY_UNAVAILABLE, BODY_UNKNOWN, BODY_UNREACHABLE } from '../../compile/table-part.js';
import { FOLLOWED_REDIRECTS } from '../../http/url.js';
import { parseAuthority } from '../../protocol/authority.js';
import { withoutTruncatedLine } from '../../protocol/parse.js';
import type { Archive, ArchivePart, CacheEvent, PartReader } from '../../sources/cache.js';
import { isCaptureFile } from '../../sources/capture-files.js';
import type { CacheWarning, CacheWarningCode } from '../../sources/entry.js';
import { type FilePath, systemPath } from '../../sources/file.js';
import { type CaptureFinding, CaptureSet } from '../../warc/capture-set.js';
import { type CapturePlace, UrlFilter } from '../../warc/capture-store.js';
import {
  type Capture,
  CaptureList,
  type PackedCaptures,
  type UnpackedCapture,
} from '../../warc/captures.js';

/**
 * Number of warnings of each kind that are given in full. The others are counted by one more
 * warning.
 */
const MOST_NAMED = 20;

/** Number of authorities that are added before other work may be done. */
const AT_A_TIME = 4096;

const SHORTENED = 'robots.txt files change too often; their oldest versions are skipped.';

/** What receives the entries of an archive. */
export type ArchiveTarget = Pick<TableContents, 'key' | 'addEntry'> & {
  /** Whether the robots.txt with this URL is wanted. Default: all are. */
  readonly takes?: (url: string) => boolean;
};

/** How an archive is compiled. */
export interface ArchiveCompilationOptions {
  /**
   * Whether each authority gets an entry for each time at which another robots.txt came into force,
   * ascending. Default: only for what is in force at the end.
   */
  readonly history?: boolean;
}

/** Takes a body of a capture; returns its number. */
type AddBody = (body: Uint8Array, url: string) => number;

/** Notes what an archive holds: a capture, or that one was left out. */
export function noteCapture(captures: CaptureList, event: CacheEvent, addBody: AddBody): void {
  if (event.kind === 'left-out') captures.pushLeftOut(event.url, event.offset);
  else if (event.kind === 'capture') captures.push(event.capture, numberOf(event.capture, addBody));
}

/**
 * Turns the captures of an archive into entries of a table: finds which capture answers for which
 * authority.
 *
 * All files are read for captures of robots.txt files, and for captures of the URLs that those
 * redirect to. Such captures are found if they come later in the same file. If a redirect leads or
 * a revisit refers to a URL whose captures were left out, those captures are read where they lie.
 * If a file had too many captures to note their places, all files are read a second time for such
 * URLs.
 */
export class ArchiveCompilation {
  readonly #files: Archive['files'];
  /** The sources of all files, and of those that are only named in files of captures. */
  readonly #sources: string[];
  /** The numbers of the files that are only named, by their sources. */
  readonly #named = new Map<string, number>();
  /** For each of `sources` the number of the file in which it was first named. */
  readonly #namedIn: number[];
  readonly #contents: ArchiveTarget;
  readonly #onWarning: (warning: CacheWarning) => void;
  readonly #captures: CaptureSet;
  readonly #filter: UrlFilter;
  /** Lengths of the files before they are first read, in bytes. */
  readonly #lengths: readonly number[];
  /** URLs of targets whose captures are all known. */
  readonly #complete = new Set<string>();

  constructor(
    { files }: Archive,
    contents: ArchiveTarget,
    onWarning: (warning: CacheWarning) => void,
    { history = false }: ArchiveCompilationOptions = {},
  ) {
    this.#files = files;
    this.#sources = files.map(({ source }) => source);
    this.#namedIn = [...files.keys()];
    this.#lengths = files.map(({ path }) => lengthOf(path));
    this.#contents = contents;
    this.#onWarning = onWarning;
    this.#captures = new CaptureSet(
      contents.key,
      BODY_UNAVAILABLE,
      (file) => this.#namedIn[file] as number,
      { history },
    );
    this.#filter = new UrlFilter(contents.key);
  }

  /**
   * Reads the files one after another, and adds the results of the captures to the table.
   *
   * @param onPart is awaited after each reading of a file
   */
  async compile(
    reader: PartReader,
    addBody: AddBody,
    onPart: (part: ArchivePart) => Promise<void> | void,
    signal?: AbortSignal,
  ): Promise<void> {
    for (const parts of this.readings()) {
      for (const part of parts) {
        signal?.throwIfAborted();
        const captures = new CaptureList();
        // An error of the receiver of warnings would pass for one of the file.
        const warnings: CacheWarning[] = [];
        try {
          await reader.read(part, (event) => {
            if (event.kind === 'warning') warnings.push(event.warning);
            else noteCapture(captures, event, addBody);
          });
        } finally {
          for (const warning of warnings) this.#onWarning(warning);
        }
        this.add(captures.take(), part, { body: (number) => number });
        await onPart(part);
      }
    }
    await this.bind(signal);
  }

  /**
   * Yields the files to be read, and then those to be read again, until everything is known. Add
   * the captures of all yielded files before the next step.
   */
  *readings(): Generator<ArchivePart[]> {
    yield this.#parts(undefined);
    for (let followed = 0; followed < FOLLOWED_REDIRECTS; followed++) {
      const parts = this.#partsOfTargets();
      if (parts.length === 0) return;
      yield parts;
    }
  }

  /** The files that may hold captures of targets which are not known yet. */
  #partsOfTargets(): ArchivePart[] {
    const targets = this.#captures.targets().filter((url) => !this.#complete.has(url));
    for (const url of targets) this.#complete.add(url);
    const unknown = targets.filter((url) => this.#filter.has(Buffer.from(url)));
    if (unknown.length > 0) return this.#parts(targets);
    const places = this.#captures.leftOut(targets);
    return this.#parts(targets).flatMap((part) => {
      const offsets = places.get(part.file);
      return offsets === undefined ? [] : [{ ...part, offsets }];
    });
  }

  #parts(targets: readonly string[] | undefined): ArchivePart[] {
    const { key } = this.#contents;
    const filter = this.#filter.memory;
    return this.#files.flatMap((file, number): ArchivePart[] => {
      // The first reading of a file of captures has given all of them.
      if (targets !== undefined && isCaptureFile(file.source)) return [];
      const length = this.#lengths[number] as number;
      const places = { targets, offsets: undefined, filter, key };
      return [{ ...file, ...places, kind: 'captures', length, file: number }];
    });
  }

  /** Adds the captures of a part, whose bodies the merger has received. */
  add(
    captures: PackedCaptures,
    { file, offsets }: ArchivePart,
    merger: Pick<PartMerger, 'body'>,
  ): void {
    const fileOf = ({ source }: UnpackedCapture): number =>
      source.length === 0 ? file : this.#numberOf(Buffer.from(source).toString('utf8'), file);
    const bodyOf = (body: number): number => merger.body(body);
    this.#captures.add(captures, fileOf, bodyOf, offsets !== undefined);
  }

  /** The number of a file that a file of captures names, for the number of that file. */
  #numberOf(source: string, namedIn: number): number {
    const known = this.#named.get(source);
    if (known !== undefined) return known;
    const number = this.#sources.push(source) - 1;
    this.#namedIn.push(namedIn);
    this.#named.set(source, number);
    return number;
  }

  /** Adds the results of the captures to the table. */
  async bind(signal: AbortSignal | undefined): Promise<void> {
    this.#warnOfLostRevisits();
    let count = 0;
    let missing = 0;
    // The findings of a URL come one after another: the last ones with a warning and an entry.
    let warned: string | undefined;
    let added: string | undefined;
    for (const finding of this.#captures.findings()) {
      if (this.#contents.takes?.(finding.url) === false) continue;
      const { url } = finding;
      if (finding.kind === 'body') {
        this.#addEntry(finding);
        added = url;
      } else {
        if (url !== warned && missing++ < MOST_NAMED) this.#warnOfMissing(finding);
        warned = url;
        // In a history, the robots.txt that was in force before is not any more.
        if (url === added) this.#addEntry({ ...finding, body: BODY_UNKNOWN });
      }
      if (++count % AT_A_TIME === 0) {
        await new Promise(setImmediate);
        signal?.throwIfAborted();
      }
    }
    const message = 'robots.txt files redirect to URLs that were not captured; skipped.';
    this.#warnOfRest('no-target', missing, `Further ${message}`);
    this.#warnOfCount('too-many-versions', this.#captures.shortened, SHORTENED);
  }

  #addEntry({ url, body, bodyBytes, file, offset, since, again }: CaptureFinding): void {
    const authority = parseAuthority(url);
    // The host may be too long for a table, or not a host name.
    if (authority === undefined || authority.port === 0) return;
    let second = -1;
    for (const { file: of, offset: at, date } of [{ file, offset, date: since }, ...again]) {
      if (secondsOf(date) === second) continue;
      second = secondsOf(date);
      const source = `${this.#sources[of]}:${at}`;
      this.#contents.addEntry(authority, { body, bodyBytes, source, date });
    }
  }

  #warnOfLostRevisits(): void {
    let lost = 0;
    for (const place of this.#captures.lostRevisits()) {
      if (lost++ < MOST_NAMED) {
        const message =
          'The capture that this revisit refers to is missing, or was made later; skipped.';
        this.#warn('no-payload', place, message);
      }
    }
    this.#warnOfRest('no-payload', lost, 'Further revisits of missing captures; skipped.');
  }

  #warnOfMissing(finding: CaptureFinding): void {
    const { url, target } = finding;
    const message = `${url} redirects to ${target}, which was not captured; skipped.`;
    this.#warn('no-target', finding, message);
  }

  #warnOfRest(code: CacheWarningCode, total: number, message: string): void {
    this.#warnOfCount(code, Math.max(0, total - MOST_NAMED), message);
  }

  #warnOfCount(code: CacheWarningCode, count: number, message: string): void {
    const path = this.#files[0]?.displayPath ?? '';
    if (count > 0) this.#onWarning({ code, path, message, count });
  }

  #warn(code: CacheWarningCode, { file, offset }: CapturePlace, message: string): void {
    const path = this.#files[file]?.displayPath ?? printable(this.#sources[file] ?? '');
    this.#onWarning({ code, path, message, offset });
  }
}

/** Length of a file in bytes; 0 if the file is missing. Reading the file later gives the error. */
function lengthOf(path: FilePath): number {
  return statSync(systemPath(path), { throwIfNoEntry: false })?.size ?? 0;
}

/** The number of the body or of the access result of a capture; NaN if it has neither. */
function numberOf({ outcome, url }: Capture, addBody: AddBody): number {
  switch (outcome.kind) {
    case 'body':
      return addBody(outcome.isCut ? withoutTruncatedLine(outcome.body) : outcome.body, url);
    case 'unavailable':
      return BODY_UNAVAILABLE;
    case 'unreachable':
      return BODY_UNREACHABLE;
    default:
      return Number.NaN;
  }
}
