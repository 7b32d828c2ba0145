/** Reads the URLs of a WARC file as lines, and notes where the records lie. */

import { RobotsFilterError } from '../../base/errors.js';
import { describeSystemError } from '../../files/system-error.js';
import { ARC_MAGIC, describeUnsupported } from '../../files/unsupported-formats.js';
import { UnsupportedZstdError } from '../../files/zstd/frames.js';
import { headerText } from '../../http/url.js';
import { SequentialSource } from '../../sources/piped.js';
import { type ArchiveCompression, compressionOfArchive, readArchive } from '../../warc/archive.js';
import { hasControl } from '../../warc/captures.js';
import { isKnownType, type WarcHeader } from '../../warc/header.js';
import {
  ArcFileError,
  type ByteSource,
  type RecordHandler,
  type WarcRecord,
} from '../../warc/records.js';
import { ARCHIVE_TIME } from './cdx.js';
import type { ChunkSource, DamagedPlace } from './raw-input.js';

/** The types of records with what a URL gave: each is a record of the input. */
const CONTENT_TYPES: ReadonlySet<string> = new Set([
  'response',
  'revisit',
  'resource',
  'conversion',
]);

/** The types of records that speak of no URL if they name none. */
const TYPES_WITHOUT_URL: ReadonlySet<string> = new Set(['warcinfo', 'metadata']);

/** Number of damaged places of one file that are named. Further ones are counted. */
const MOST_NAMED = 20;

/** Number of lines that are kept for messages. */
const MOST_SAMPLED = 64;

/** A record, in the order of the file. */
export interface ArchivePlace {
  readonly start: number;
  /** `undefined` if the record shares its gzip member or zstd frame with others. */
  readonly end: number | undefined;
  /** Whether there is a line for the record. Without one, it is written whatever the verdicts. */
  readonly isJudged: boolean;
}

interface ArchiveUrlsOptions {
  /** The name of the input in messages, and in the lines if it is a path. */
  readonly name: string;
  readonly isPath: boolean;
  /**
   * Whether the records will be copied: then each record with a URL is a line, and `places` has all
   * records.
   */
  readonly copies: boolean;
  readonly onDamage: ((place: DamagedPlace) => void) | undefined;
}

/**
 * The URLs of a WARC file: a line of JSON for each record that is judged, and a line that is no
 * JSON, thus an invalid record, for each damaged place.
 */
export class ArchiveUrls implements RecordHandler, ChunkSource {
  readonly source: ByteSource;
  readonly ofAllTypes = true;
  readonly #options: ArchiveUrlsOptions;
  readonly #tail: string;
  readonly compression: ArchiveCompression;
  #lines: string[] = [];
  #places: ArchivePlace[] = [];
  #damaged = 0;
  #consumed = 0;
  readonly #beginning: string[] = [];
  #reading: Promise<void> | undefined;
  #isAbandoned = false;
  /** Takes the next chunk, or the error. */
  #consumer:
    | { readonly resolve: (chunk: Buffer | undefined) => void; readonly reject: (e: Error) => void }
    | undefined;
  /** Tells the reader of the file that there is a consumer, or will be none. */
  #wake: () => void = () => {};

  private constructor(
    source: ByteSource,
    compression: ArchiveCompression,
    options: ArchiveUrlsOptions,
  ) {
    this.source = source;
    this.compression = compression;
    this.#options = options;
    this.#tail = options.isPath ? `,"filename":${JSON.stringify(options.name)}}` : '}';
  }

  /** @throws RobotsFilterError `input` if the file cannot be read */
  static async open(source: ByteSource, options: ArchiveUrlsOptions): Promise<ArchiveUrls> {
    const { name } = options;
    const compression = await compressionOfArchive(source, name).catch((cause: unknown) => {
      throw cause instanceof RobotsFilterError ? cause : unreadable(name, cause);
    });
    return new ArchiveUrls(source, compression, options);
  }

  /** Whether the file can be read again at any place. */
  get isPositioned(): boolean {
    return !(this.source instanceof SequentialSource);
  }

  /** Number of bytes of the file that were read or passed over. */
  get consumed(): number {
    return this.#consumed;
  }

  /** The first lines so far, for messages about the hosts of the file. */
  get beginning(): Buffer {
    return Buffer.from(this.#beginning.join(''));
  }

  /** Takes the places of the records since the last call; none unless they will be copied. */
  takePlaces(): ArchivePlace[] {
    return this.#places.splice(0);
  }

  /** @throws RobotsFilterError `input` if the file cannot be read to its end */
  next(): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      this.#consumer = { resolve, reject };
      this.#reading ??= this.#read();
      this.#wake();
    });
  }

  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    this.#wake();
    await this.#reading;
  }

  wanted(header: WarcHeader, offset: number): number {
    const { type, uri, contentType } = header;
    const isContent = CONTENT_TYPES.has(type);
    if (!isKnownType(type) && contentType.startsWith('application/http')) {
      this.damage(offset, 'the WARC-Type is unknown');
      return 0;
    }
    if (!isContent && !this.#options.copies) return 0;
    if (uri === '' && isKnownType(type) && !TYPES_WITHOUT_URL.has(type)) {
      this.damage(offset, 'WARC-Target-URI is missing');
      return 0;
    }
    if (hasControl(uri)) {
      this.damage(offset, 'WARC-Target-URI is invalid');
      return 0;
    }
    // The header tells everything; of a record that is not wanted, the splitter passes nothing on.
    return 1;
  }

  take({ header, offset, end, isDoubtful }: WarcRecord): void {
    const { copies } = this.#options;
    // The damage after the record is named, and what is damaged is not copied.
    if (copies && isDoubtful) return;
    const { uri, type, date, dateText } = header;
    const isJudged = uri !== '';
    if (copies) this.#places.push({ start: offset, end, isJudged });
    if (!isJudged) return;
    const url = JSON.stringify(headerText(uri));
    const time = Number.isNaN(date) ? 'null' : JSON.stringify(dateText);
    const line = `{"url":${url},"${ARCHIVE_TIME}":${time},"type":${JSON.stringify(type)},"offset":${offset}${this.#tail}\n`;
    this.#lines.push(line);
    if (this.#beginning.length < MOST_SAMPLED) this.#beginning.push(line);
  }

  damage(offset: number, reason: string): void {
    const { onDamage, copies } = this.#options;
    if (copies) this.#places.push({ start: offset, end: offset, isJudged: true });
    this.#lines.push(`Damaged at byte ${offset}: ${reason}\n`);
    if (this.#damaged++ < MOST_NAMED) onDamage?.({ offset, reason });
  }

  settle(): Promise<void> | undefined {
    if (this.#isAbandoned) throw new Abandoned();
    return this.#lines.length === 0 ? undefined : this.#pass();
  }

  /** Passes on the lines, when somebody takes them. */
  async #pass(): Promise<void> {
    const chunk = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    (await this.#awaitConsumer())?.resolve(chunk);
  }

  async #awaitConsumer() {
    while (this.#consumer === undefined) {
      if (this.#isAbandoned) throw new Abandoned();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const consumer = this.#consumer;
    this.#consumer = undefined;
    return consumer;
  }

  async #read(): Promise<void> {
    let failure: Error | undefined;
    try {
      await readArchive(this.#counted(), this.compression, this);
      const further = this.#damaged - MOST_NAMED;
      if (further > 0) this.#options.onDamage?.({ further });
    } catch (cause) {
      failure = this.#explained(cause);
      // What was read before the failure counts.
      if (this.#lines.length > 0) await this.#pass().catch(() => {});
    }
    if (this.#isAbandoned) {
      this.#consumer?.resolve(undefined);
      return;
    }
    const consumer = await this.#awaitConsumer().catch(() => undefined);
    if (failure === undefined) consumer?.resolve(undefined);
    else consumer?.reject(failure);
  }

  /** The bytes of the file, which are counted as they are read. */
  #counted(): ByteSource {
    const { source } = this;
    return {
      length: source.length,
      read: async (offset, buffer) => {
        const bytes = await source.read(offset, buffer);
        this.#consumed = Math.max(this.#consumed, offset + bytes);
        return bytes;
      },
    };
  }

  #explained(cause: unknown): Error {
    const { name } = this.#options;
    if (cause instanceof RobotsFilterError || cause instanceof Abandoned) return cause;
    if (cause instanceof UnsupportedZstdError) {
      const message = `${name}: the zstd data is not supported: ${cause.message}. ${cause.remedy}.`;
      return new RobotsFilterError('input', message, { cause });
    }
    if (cause instanceof ArcFileError) {
      const compression = this.compression === 'none' ? undefined : this.compression;
      const what = describeUnsupported(Uint8Array.from(ARC_MAGIC), compression) ?? '';
      return new RobotsFilterError('input', `${name}: ${what}`, { cause });
    }
    return unreadable(name, cause);
  }
}

/** The error for a file that cannot be read to its end. */
export function unreadable(name: string, cause: unknown): RobotsFilterError {
  const message = `${name}: reading failed: ${describeSystemError(cause)}. Copy the file again, or leave it out.`;
  return new RobotsFilterError('input', message, { cause });
}

/**
 * Reads a part of a WARC file again.
 *
 * @throws RobotsFilterError `input` if the file cannot be read there
 */
export async function readAgain(
  { source }: ArchiveUrls,
  name: string,
  offset: number,
  buffer: Buffer,
): Promise<void> {
  for (let filled = 0; filled < buffer.length; ) {
    const bytes = await source
      .read(offset + filled, buffer.subarray(filled))
      .catch((cause: unknown) => {
        throw unreadable(name, cause);
      });
    if (bytes === 0) throw unreadable(name, new Error(`it ends before byte ${offset + filled}`));
    filled += bytes;
  }
}

/** Ends the reading of a file whose lines nobody wants any longer. */
class Abandoned extends Error {}
