import type { ByteSource } from './byte-source.js';
import { GzipReader } from './gzip-reader.js';
import { RecordSplitter } from './record-splitter.js';
import type { WarcHeader } from './warc-header.js';
import type { RecordHandler, WarcRecord } from './warc-record.js';

/** Bytes of a plain file that are read at a time. */
const CHUNK = 512 * 1024;

/** The compressions of a WARC file. Each record is usually a member or frame of its own. */
export type ArchiveCompression = 'none' | 'gzip' | 'zstd';

/**
 * Passes all records of a WARC file to a handler. Damage costs only the records that it hits.
 *
 * @throws UnsupportedZstdError if the file needs a zstd dictionary, or too large a window
 * @throws ArcFileError if the file is an ARC file
 * @throws Error if the system cannot read the file, or if the file was truncated in the meantime
 */
export async function readArchive(
  source: ByteSource,
  compression: ArchiveCompression,
  handler: RecordHandler,
): Promise<void> {
  await readFrom(source, compression, handler);
}

/**
 * Passes the record at an offset to a handler, where the first reading said that it can be read
 * alone.
 *
 * @throws Error if the system cannot read the file, or if the file was truncated in the meantime
 */
export async function readRecordAt(
  source: ByteSource,
  compression: ArchiveCompression,
  offset: number,
  handler: RecordHandler,
): Promise<void> {
  await readFrom(source, compression, new FirstRecord(offset, handler), { from: offset });
}

async function readFrom(
  source: ByteSource,
  compression: ArchiveCompression,
  handler: RecordHandler & { readonly isDone?: boolean },
  place?: { readonly from: number },
): Promise<void> {
  const isPlain = compression === 'none';
  const splitter = new RecordSplitter(handler, isPlain ? source.length : Number.POSITIVE_INFINITY);
  if (isPlain) {
    await readPlain(source, splitter, handler, place?.from);
  } else if (compression === 'gzip') {
    await new GzipReader(source, splitter, handler, place).read();
  } else {
    // Loads the decoder, only where it is needed.
    const { ZstdReader } = await import('./zstd-reader.js');
    await new ZstdReader(source, splitter, handler, place).read();
  }
  splitter.restart();
  await handler.settle();
}

/** Passes the record at an offset on. It is complete when another record begins. */
class FirstRecord implements RecordHandler {
  readonly #start: number;
  readonly #handler: RecordHandler;
  isDone = false;

  constructor(start: number, handler: RecordHandler) {
    this.#start = start;
    this.#handler = handler;
  }

  wanted(header: WarcHeader, offset: number, isAlone: boolean): number {
    if (offset !== this.#start || !isAlone) this.isDone = true;
    return this.isDone ? 0 : this.#handler.wanted(header, offset, isAlone);
  }

  take(record: WarcRecord): void {
    this.#handler.take(record);
  }

  damage(offset: number, reason: string, isCapture: boolean): void {
    this.#handler.damage(offset, reason, isCapture);
  }

  settle(): Promise<void> | undefined {
    return this.#handler.settle();
  }
}

async function readPlain(
  source: ByteSource,
  splitter: RecordSplitter,
  handler: RecordHandler & { readonly isDone?: boolean },
  from = 0,
): Promise<void> {
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  let offset = from;
  while (handler.isDone !== true) {
    const bytes = await source.read(offset, chunk);
    if (bytes === 0) break;
    const next = splitter.push({ bytes: chunk.subarray(0, bytes), offset, kind: 'plain' });
    offset = next ?? offset + bytes;
    await handler.settle();
  }
  splitter.restart();
}
