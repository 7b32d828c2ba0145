/**
 * Opens an input: finds its compression and its format by the first bytes, and says who reads it.
 */

import { pipeline, type Readable } from 'node:stream';
import { RobotsFilterError } from '../../base/errors.js';
import {
  COMPRESSION_ENDINGS,
  COMPRESSIONS,
  type Compression,
  compressionFault,
  compressionOf,
  magicsOf,
  zstd,
} from '../../files/compression.js';
import { startsWith } from '../../files/magic.js';
import { beginsWithDictionary, UnsupportedZstdError, ZstdError } from '../../files/zstd/frames.js';
import type { RecordFormat } from '../../kernel/query-settings.js';
import type { ParquetFile } from '../../parquet/parquet-file.js';
import type { ZstdDamage, ZstdSource } from '../../workers/messages.js';
import { PARQUET_ENDING } from '../bad-record.js';
import { ARCHIVE_TIME } from './cdx.js';
import {
  describeRefusal,
  type Format,
  formatNamed,
  isEnough,
  type NamedRows,
  recogniseFormat,
  rowsOfName,
  sniffFormat,
  sniffRows,
} from './formats.js';
import {
  byteOrderMarkBytes,
  type ChunkSource,
  Chunks,
  type DamagedPlace,
  HEAD_BYTES,
  type InputStart,
  KeptChunks,
  openRawPath,
  type RawInput,
  startOfContent,
  streamOf,
  streamSource,
} from './raw-input.js';
import { describeUrlDocument } from './url-documents.js';
import type { ArchiveUrls } from './warc-urls.js';

export interface OpenInputOptions {
  /** The format of the input; `auto` recognises it by its first bytes. Default `auto`. */
  readonly format?: RecordFormat | 'auto';
  /** Maximum length of a record of JSON, in bytes. Default 16 MiB. */
  readonly maxRecordBytes?: number;
  /** Maximum nesting of brackets and braces in JSON. Default 1,000. */
  readonly maxDepth?: number;
  /** The column of URLs in rows: its name, or its number from 1. Default: found in the input. */
  readonly column?: string | undefined;
  /** The column of times in rows: its name, or its number from 1. Default: none is looked for. */
  readonly timeColumn?: string | undefined;
  /** The column of agents in rows: its name, or its number from 1. Default: none is looked for. */
  readonly agentColumn?: string | undefined;
  /** Whether rows begin with a header. Default: whether the first row holds no URL. */
  readonly header?: boolean | undefined;
  /** The names that lead to the URL's column in Parquet. Default `url`. */
  readonly urlField?: readonly string[];
  /** The names that lead to the time's column in Parquet. Default: none is looked for. */
  readonly timeField?: readonly string[] | undefined;
  /** The names that lead to the agent's column in Parquet. Default: none is looked for. */
  readonly agentField?: readonly string[] | undefined;
  /** Whether the records of WARC files will be copied to an output. Default false. */
  readonly copies?: boolean;
  /** Called for the damaged places of a WARC file. */
  readonly onDamage?: ((place: DamagedPlace) => void) | undefined;
  /**
   * The bytes that have already been read from the input, a pipe or socket, or all bytes of any
   * input; `undefined` if none.
   */
  readonly taken?: InputStart | undefined;
}

interface InputBase {
  /** The name of the input in messages: its path, or `standard input`. */
  readonly name: string;
  /**
   * The format of the input. The lines of `json` are NDJSON, but may also be strings or numbers.
   */
  readonly format: RecordFormat;
  /** Why lines that are read as URLs may be rows after all, and what to type then. */
  readonly doubt: string | undefined;
  /** The size of a regular file on disk in bytes, compressed or not; otherwise `undefined`. */
  readonly size: number | undefined;
  readonly isTerminal: boolean;
  /**
   * Whether only white space came before the format was settled, so the input may have any format.
   */
  readonly isBlank: boolean;
  /** The first bytes, after decompression, for messages about the content. */
  readonly beginning: Buffer;
  /**
   * Closes everything that was opened for the input, and destroys its stream. Call it when no
   * thread reads the descriptor any longer. Standard input stays open if it is a file or a pipe.
   */
  close(): Promise<void>;
}

/** A regular file of lines, to be read by position from `offset` to its end. */
export interface FileInput extends InputBase {
  readonly kind: 'file';
  readonly descriptor: number;
  /**
   * Offset of the first line in bytes: after a byte order mark, and from the position of an
   * inherited descriptor.
   */
  readonly offset: number;
}

/**
 * A pipe of lines: `head`, then the bytes from `descriptor`. Reads block. If another process made
 * the pipe non-blocking, reads fail with `EAGAIN` while the pipe is empty.
 */
export interface PipeInput extends InputBase {
  readonly kind: 'pipe';
  readonly descriptor: number;
  readonly head: Uint8Array;
}

/** Any other input: a stream of lines, which fails with a `RobotsFilterError`. */
export interface StreamInput extends InputBase {
  readonly kind: 'stream';
  readonly stream: Readable;
  /** Rows only: the column of URLs, from 0. */
  readonly column?: number;
  /** Rows only: the column of times, from 0, if one was asked for. */
  readonly timeColumn?: number | undefined;
  /** Rows only: the column of agents, from 0, if one was asked for. */
  readonly agentColumn?: number | undefined;
  /** Rows only: the number of fields of a row. A row with more is invalid. */
  readonly rowFields?: number;
  /** Rows only: the header with its line end, which is not in the stream. */
  readonly header?: Buffer | undefined;
  /** Returns the bytes read of the input so far, compressed or not as in `size`. */
  consumed(): number;
  /**
   * Returns the bytes read of the input so far, after decompression. Absent if they are those of
   * the stream, or of values in Parquet.
   */
  readonly contentBytes?: () => number;
  /** The file, if the input is Parquet. */
  readonly parquet?: ParquetFile;
  /** The file, if the input is WARC. */
  readonly archive?: ArchiveUrls;
  /**
   * Parquet only: the path of the member with the URL in the lines. It differs from the path that
   * was asked for if a flat column is called `request.url`.
   */
  readonly urlField?: readonly string[];
  /** Parquet only: the path of the member with the time in the lines, if one was asked for. */
  readonly timeField?: readonly string[] | undefined;
  /** Parquet only: the path of the member with the agent in the lines, if one was asked for. */
  readonly agentField?: readonly string[] | undefined;
  /** A file of lines in zstd that a thread of its own may decode, in place of `stream`. */
  readonly zstd?: ZstdInput | undefined;
}

export type OpenInput = FileInput | PipeInput | StreamInput;

/**
 * Opens an input and recognises its format. Reads no further than the first line, at most about 64
 * KiB, and loses none of it. Waits for a slow input.
 *
 * A compression of `COMPRESSIONS` is undone, and a byte order mark is dropped. A format whose lines
 * are not its records is turned into lines. An empty input counts as text.
 *
 * @param path a path, or `-` for standard input
 * @throws RobotsFilterError `input` if the input cannot be opened or read, is a directory, or has a
 *   format that is not read
 */
export async function openInput(path: string, options: OpenInputOptions = {}): Promise<OpenInput> {
  const raw = await openRawPath(path, options.taken);
  try {
    return await recognised(raw, options);
  } catch (error) {
    await raw.close();
    throw error;
  }
}

/**
 * The format to look for. A file whose name says that it is Parquet must begin like Parquet.
 * Otherwise it is damaged, and its bytes are not URLs. The same is true of WARC.
 */
function askedFormat(name: string, asked: RecordFormat | 'auto'): RecordFormat | 'auto' {
  if (asked !== 'auto') return asked;
  const lower = name.toLowerCase();
  if (lower.endsWith(PARQUET_ENDING)) return 'parquet';
  return COMPRESSION_ENDINGS.some((ending) => lower.endsWith(`.warc${ending}`)) ? 'warc' : asked;
}

/** Opens the input in the format that its first bytes show. */
async function recognised(raw: RawInput, options: OpenInputOptions): Promise<OpenInput> {
  const { name, descriptor, kind } = raw;
  const { maxRecordBytes, maxDepth, column, timeColumn, agentColumn, header } = options;
  const asked = askedFormat(name, options.format ?? 'auto');
  const named = asked === 'auto' && kind === 'file' ? rowsOfName(name) : undefined;
  if (asked === 'warc') return openArchive(raw, raw.chunks, options);
  const suffices = (bytes: Uint8Array) => isEnough(bytes, asked, named !== undefined);
  const start = await uncompressed(raw, suffices);
  if (asked === 'auto' && start.isArchive) return openArchive(raw, await start.again(), options);
  const { chunks, head, compression } = start;
  const isWhole = compression === undefined && raw.isWhole();
  const recognition = {
    head,
    isWhole,
    format: recogniseFormat(head),
    compression: compression?.name,
  };
  const isTold = column !== undefined || header !== undefined;
  const rows: NamedRows = asked === 'auto' ? sniffRows(recognition, named, isTold) : {};
  const document = asked === 'auto' ? describeUrlDocument(head, compression?.name) : undefined;
  // The name may imply rows although the bytes show another format.
  const refusal = document ?? describeRefusal(recognition, rows.format ?? asked) ?? rows.refusal;
  if (refusal !== undefined) throw new RobotsFilterError('input', `${name}: ${refusal}`);

  const format = formatNamed(asked === 'auto' ? (rows.format ?? sniffFormat(head)) : asked);
  const base = {
    name,
    format: format.name,
    doubt: rows.doubt,
    size: raw.size,
    isTerminal: kind === 'terminal',
    beginning: Buffer.from(head.subarray(0, HEAD_BYTES)),
    isBlank: format.name === 'text' && startOfContent(head) === head.length,
  };
  if (format.openFile !== undefined) {
    const { stream, progress, parquet, urlField, timeField, agentField } = await openPositioned(
      raw,
      format.openFile,
      options,
    );
    return {
      ...base,
      kind: 'stream',
      stream,
      parquet,
      urlField,
      timeField,
      agentField,
      consumed: () => Math.round((raw.size ?? 0) * progress()),
      close: async () => {
        await closeStream(stream);
        await raw.close();
      },
    };
  }
  const markBytes = byteOrderMarkBytes(head);
  const isLines = format.toLines === undefined && format.toRows === undefined;
  const isForThreads = isLines && compression === undefined;
  if (isForThreads && (kind === 'file' || kind === 'pipe') && !raw.hasEnded) {
    const close = () => raw.close();
    await raw.chunks.abandon();
    return raw.offset === undefined
      ? { ...base, kind: 'pipe', descriptor, head: head.subarray(markBytes), close }
      : { ...base, kind: 'file', descriptor, offset: raw.offset + markBytes, close };
  }
  chunks.drop(markBytes);
  const how = { name, maxRecordBytes, maxDepth, column, timeColumn, agentColumn, header };
  const lines =
    (await format.toRows?.(chunks, how)) ??
    ({ stream: (await format.toLines?.(chunks, how)) ?? chunks.stream() } as const);
  const { stream } = lines;
  const zstd = isLines ? await zstdInput(raw, compression, markBytes) : undefined;
  return {
    ...base,
    ...lines,
    kind: 'stream',
    zstd,
    ...(isLines ? {} : { contentBytes: () => chunks.bytes - markBytes }),
    consumed: () => Math.max(raw.chunks.bytes, zstd?.consumed() ?? 0),
    close: async () => {
      stream.destroy();
      await raw.close();
    },
  };
}

/** The first bytes of an input, after decompression. */
interface Uncompressed {
  /** The input, from which nothing has been taken. */
  readonly chunks: Chunks;
  readonly head: Buffer;
  readonly compression: Compression | undefined;
  /** Whether it is a WARC file. */
  readonly isArchive: boolean;
  /** Returns the input as it came, in place of `chunks`. Only for a WARC file. */
  again(): Promise<ChunkSource>;
}

/** @param suffices whether the first bytes are enough */
async function uncompressed(
  raw: RawInput,
  suffices: (head: Uint8Array) => boolean,
): Promise<Uncompressed> {
  const head = await raw.chunks.peek(HEAD_BYTES, suffices);
  const compression = compressionOf(head);
  const isArchive = recogniseFormat(head) === 'warc' || beginsWithDictionary(head) === true;
  if (compression === undefined || isArchive) {
    if (!isArchive) refuseCutOff(raw, head);
    return { chunks: raw.chunks, head, compression, isArchive, again: async () => raw.chunks };
  }
  const kept = new KeptChunks(raw.chunks);
  const chunks = await decompressed(kept, raw.name, compression);
  const content = await chunks.peek(HEAD_BYTES, suffices);
  if (recogniseFormat(content) !== 'warc') {
    kept.forget();
    return { chunks, head: content, compression, isArchive: false, again: () => kept.again() };
  }
  const again = async (): Promise<ChunkSource> => {
    const source = await kept.again();
    await chunks.abandon();
    return source;
  };
  return { chunks, head: content, compression, isArchive: true, again };
}

/**
 * Opens a WARC file, which is read by position, or a pipe of one.
 *
 * @param chunks the bytes of the input, as they come
 * @throws RobotsFilterError `usage` for another time than that of the records, or for an agent
 */
async function openArchive(
  raw: RawInput,
  chunks: ChunkSource,
  { timeField, agentField, copies = false, onDamage }: OpenInputOptions,
): Promise<StreamInput> {
  const { name, descriptor, kind, offset, size } = raw;
  if (timeField !== undefined && timeField.join('.') !== ARCHIVE_TIME) {
    throw new RobotsFilterError(
      'usage',
      `${name} is WARC, and the time of its records is WARC-Date. Use --time-field ${ARCHIVE_TIME}`,
    );
  }
  if (agentField !== undefined) {
    throw new RobotsFilterError(
      'usage',
      `${name} is WARC, whose records are judged for no User-Agent: --agent-field has no effect on it. Name the agent: --agent GPTBot`,
    );
  }
  // Loaded on demand, together with the decompressors.
  const { ArchiveUrls } = await import('./warc-urls.js');
  const { SequentialSource } = await import('../../sources/piped.js');
  const { DescriptorSource } = await import('../../sources/file.js');
  const isPositioned = kind === 'file' && offset === 0;
  if (isPositioned) await raw.chunks.abandon();
  const source = isPositioned
    ? new DescriptorSource(descriptor)
    : new SequentialSource(() => chunks.next(), name);
  const isPath = descriptor !== 0;
  const archive = await ArchiveUrls.open(source, { name, isPath, copies, onDamage });
  const stream = streamOf(archive);
  return {
    name,
    format: 'warc',
    doubt: undefined,
    size,
    isTerminal: kind === 'terminal',
    get beginning() {
      return archive.beginning;
    },
    isBlank: false,
    kind: 'stream',
    stream,
    archive,
    urlField: ['url'],
    timeField: timeField && [ARCHIVE_TIME],
    consumed: () => archive.consumed,
    close: async () => {
      stream.destroy();
      await raw.chunks.abandon();
      await archive.abandon();
      await raw.close();
    },
  };
}

/**
 * Refuses a file that ends within the first bytes of the compression in its name. It would be taken
 * for text, or for no records.
 */
function refuseCutOff({ kind, name }: RawInput, head: Buffer): void {
  if (kind !== 'file') return;
  const named = COMPRESSIONS.find(({ ending }) => name.endsWith(ending));
  if (named === undefined || !magicsOf(named).some((magic) => startsWith(magic, head))) return;
  throw new RobotsFilterError(
    'input',
    `${name}: the ${named.name} data ends after ${head.length} bytes, so it is truncated. Copy the file again.`,
  );
}

/** Opens a file that is read by position; refuses any other kind of input. */
async function openPositioned(
  raw: RawInput,
  open: NonNullable<Format['openFile']>,
  { urlField = ['url'], timeField, agentField }: OpenInputOptions,
): ReturnType<typeof open> {
  const { name, descriptor, kind, offset } = raw;
  await raw.chunks.abandon();
  if (kind !== 'file' || (offset ?? 0) > 0) {
    const from = kind === 'file' ? `byte ${offset}` : `a ${kind}`;
    throw new RobotsFilterError(
      'input',
      `${name}: Parquet cannot be read from ${from}, because its footer is at the end of the file. ` +
        'Write it to a file first, and name that file.',
    );
  }
  return open(descriptor, { name, urlField, timeField, agentField });
}

/**
 * Destroys a stream, and waits for a pending read, because a read must not meet a closed
 * descriptor.
 */
async function closeStream(stream: Readable): Promise<void> {
  if (stream.closed) return;
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.destroy();
  await closed;
}

/** A file of zstd data that a thread may decode from its beginning. */
interface ZstdInput {
  readonly source: ZstdSource;
  /** The error for damage that the thread has met. */
  explain(damage: ZstdDamage): RobotsFilterError;
  /** Returns the number of bytes of the file that the thread has read, and those before them. */
  consumed(): number;
}

/**
 * Describes an input to a thread; `undefined` if the input is not a file of zstd data, or has been
 * read already.
 *
 * @param dropped number of decoded bytes at the start that are no lines
 */
async function zstdInput(
  { name, descriptor, size, offset, hasEnded }: RawInput,
  compression: Compression | undefined,
  dropped: number,
): Promise<ZstdInput | undefined> {
  if (compression !== zstd || size === undefined || offset === undefined || hasEnded) {
    return undefined;
  }
  const { loadZstd } = await import('../../files/zstd/codec.js');
  const progress = new BigInt64Array(new SharedArrayBuffer(8));
  const codec = await loadZstd();
  return {
    source: { kind: 'zstd', descriptor, offset, bytes: size, dropped, codec, progress },
    explain: ({ message, remedy, bytes }) => {
      const error =
        remedy === undefined ? new ZstdError(message) : new UnsupportedZstdError(message, remedy);
      return damaged(name, zstd, error, bytes);
    },
    consumed: () => Number(Atomics.load(progress, 0)),
  };
}

/** The decompressed chunks of an input, which fail with a `RobotsFilterError`. */
async function decompressed(
  chunks: ChunkSource,
  name: string,
  compression: Compression,
): Promise<Chunks> {
  const stream = await compression.decompress(HEAD_BYTES);
  // An error in `chunks` destroys `stream` with that error, so the reader of `stream` gets it.
  pipeline(streamOf(chunks), stream, () => {});
  return new Chunks(streamSource(stream), (error, bytes) =>
    error instanceof RobotsFilterError ? error : damaged(name, compression, error, bytes),
  );
}

/** The error for compressed data that is damaged after `bytes` decompressed bytes. */
function damaged(
  name: string,
  compression: Compression,
  cause: unknown,
  bytes: number,
): RobotsFilterError {
  const { what, remedy = 'Fetch or write the file again' } = compressionFault(compression, cause);
  return new RobotsFilterError(
    'input',
    `${name}: ${what}; ${bytes} decompressed bytes came out before. ${remedy}.`,
    { cause },
  );
}
