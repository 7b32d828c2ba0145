/**
 * Reads the captures of a WARC file, or of a file of captures. The first reading names the damaged
 * places and says which captures it left out; later readings look for the targets of redirects.
 */

import { RobotsFilterError } from '../base/errors.js';
import { truncationError } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { ARC_MAGIC, describeUnsupported } from '../files/unsupported-formats.js';
import { UnsupportedZstdError } from '../files/zstd/frames.js';
import {
  type ArchiveCompression,
  compressionOfArchive,
  readArchive,
  readRecordAt,
} from '../warc/archive.js';
import { type CaptureHandler, CaptureReader } from '../warc/capture-reader.js';
import { UrlFilter } from '../warc/capture-store.js';
import type { Capture } from '../warc/captures.js';
import { ArcFileError, type ByteSource } from '../warc/records.js';
import type { ArchiveFile, ArchivePart } from './archives.js';
import { isCaptureFile, readCaptureFile } from './capture-files.js';
import type { CacheOptions, WarningEvent } from './entry.js';
import { close, DescriptorSource, openFile, type Skip } from './file.js';
import { NO_FILE, skipEvent } from './item.js';

/**
 * Number of captures of other URLs in one file whose places are noted. Further captures go into a
 * filter.
 */
const MOST_PLACES = 1024;

/** Number of damaged places of one file that are named. Further ones are counted. */
const MOST_NAMED = 20;

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
  { maxBodyBytes, asOf = Number.POSITIVE_INFINITY, profile = 'rfc9309' }: CacheOptions,
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
      const options = { maxBodyBytes, asOf, profile };
      await readCaptureFile(opened.descriptor, part.displayPath, options, onEvent);
    } finally {
      close(opened.descriptor);
    }
    return;
  }
  try {
    const source = new DescriptorSource(opened.descriptor);
    await readArchiveSource(source, part, { maxBodyBytes, asOf, profile }, onEvent);
  } finally {
    close(opened.descriptor);
  }
}

/**
 * Passes on the captures of a WARC file, as `readArchivePart` does.
 *
 * @param source the bytes of the file
 * @throws RobotsFilterError `input` if the file cannot be read to its end
 */
export async function readArchiveSource(
  source: ByteSource,
  part: ArchivePart,
  { maxBodyBytes, asOf = Number.POSITIVE_INFINITY, profile = 'rfc9309' }: CacheOptions,
  onEvent: (event: ArchiveEvent) => void,
): Promise<void> {
  const filter = part.filter && new UrlFilter(part.key, part.filter);
  const events = new ArchiveEvents(part, onEvent);
  let places = 0;
  const reader = new CaptureReader(
    {
      asOf,
      profile,
      maxBodyBytes,
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
    // Else what was lost since an earlier reading would pass for URLs that were never captured.
    if (source.length < part.length) throw truncationError(part.length);
    compression = await compressionOfArchive(source, part.displayPath);
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
