import type { ByteSource } from './byte-source.js';
import { GzipReader } from './gzip-reader.js';
import { type RecordHandler, RecordSplitter, type WarcRecord } from './record-splitter.js';
import type { WarcHeader } from './warc-header.js';

/** Bytes of a plain file that are read at a time. */
const CHUNK = 512 * 1024;

/** The compressions of a WARC file. Each record of a gzip file is a member of its own. */
export type ArchiveCompression =
  | { readonly kind: 'none' }
  | { readonly kind: 'gzip' }
  | StreamCompression;

/** A compression whose data is read as one stream; offsets are those of the decompressed bytes. */
interface StreamCompression {
  readonly kind: 'stream';
  /** The decompressed bytes; throws an error that `isDamage` recognises for damaged data. */
  readonly chunks: AsyncIterable<Buffer>;
  readonly isDamage: (error: unknown) => boolean;
}

/**
 * Passes all records of a WARC file to a handler. Damage costs the records in which it lies.
 *
 * @throws Error if the system cannot read the file, or if the file was truncated meanwhile
 */
export async function readArchive(
  source: ByteSource,
  compression: ArchiveCompression,
  handler: RecordHandler,
): Promise<void> {
  if (compression.kind === 'gzip') {
    const splitter = new RecordSplitter(handler, Number.POSITIVE_INFINITY);
    await new GzipReader(source, splitter, handler).read();
    splitter.restart();
  } else if (compression.kind === 'none') {
    await readPlain(source, new RecordSplitter(handler, source.length), handler);
  } else {
    await readStream(compression, handler);
  }
  await handler.settle();
}

/**
 * Passes the record at an offset to a handler, where the first reading said that it can be read
 * alone.
 *
 * @throws Error if the system cannot read the file, or if the file was truncated meanwhile
 */
export async function readRecordAt(
  source: ByteSource,
  compression: ArchiveCompression,
  offset: number,
  handler: RecordHandler,
): Promise<void> {
  const first = new FirstRecord(offset, handler);
  const isGzip = compression.kind === 'gzip';
  const splitter = new RecordSplitter(first, isGzip ? Number.POSITIVE_INFINITY : source.length);
  if (isGzip) await new GzipReader(source, splitter, first, { from: offset }).read();
  else await readPlain(source, splitter, first, offset);
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

async function readStream(
  { chunks, isDamage }: StreamCompression,
  handler: RecordHandler,
): Promise<void> {
  const splitter = new RecordSplitter(handler, Number.POSITIVE_INFINITY);
  let offset = 0;
  try {
    for await (const bytes of chunks) {
      splitter.push({ bytes, offset, kind: 'stream' });
      offset += bytes.length;
      await handler.settle();
    }
    splitter.restart();
  } catch (error) {
    if (!isDamage(error)) throw error;
    splitter.restart();
    handler.damage(offset, 'the compressed data is damaged or cut short', false);
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
