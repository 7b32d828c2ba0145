/** The compressions of files, by their first bytes and by the ending of their name. */

import { type Duplex, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { TrailingBytesError } from './gzip.js';
import { type Magic, startsWith } from './magic.js';
import { errorCode, errorText } from './system-error.js';
import { SKIPPABLE_MAGICS, UnsupportedZstdError, ZSTD_MAGIC, ZstdError } from './zstd/frames.js';

/** A compression of inputs, robots.txt records, tables and outputs. */
export interface Compression extends Magic {
  /** Other first bytes that such data may have. */
  readonly otherMagics?: readonly (readonly number[])[];
  /** The name in messages, such as `gzip`. */
  readonly name: string;
  /** The command that decompresses, from standard input to standard output. */
  readonly command: string;
  /** The ending of file names, with its dot. */
  readonly ending: string;
  /** Makes the stream that decompresses all members; `chunkBytes` is the size of its chunks. */
  decompress(chunkBytes: number): Promise<Duplex>;
  /** Makes the stream that compresses. */
  compress(): Promise<Transform>;
  /** Whether an error comes from `decompress` on damaged or truncated data. */
  isDamage(error: unknown): boolean;
}

/** gzip data of one member or many (RFC 1952). No text begins with its magic bytes. */
export const gzip: Compression = {
  name: 'gzip',
  command: 'gzip -dc',
  ending: '.gz',
  // RFC 1952 section 2.3.1: ID1 and ID2.
  magic: [0x1f, 0x8b],
  async decompress(chunkBytes) {
    const { GzipDecompressor } = await import('./decompressors.js');
    return new GzipDecompressor(chunkBytes);
  },
  compress: async () => createGzip(),
  isDamage: (error) => errorCode(error).startsWith('Z_'),
};

/** ZSTD_c_checksumFlag of the reference implementation: writes a checksum after each frame. */
const CHECKSUM_FLAG = 201;

/** Zstandard, of one frame or many (RFC 8878). No UTF-8 text begins with its magic bytes. */
export const zstd: Compression = {
  name: 'zstd',
  command: 'zstd -dc',
  ending: '.zst',
  magic: ZSTD_MAGIC,
  otherMagics: SKIPPABLE_MAGICS,
  async decompress() {
    const { ZstdDecompressor } = await import('./decompressors.js');
    return new ZstdDecompressor();
  },
  async compress() {
    // Not imported: Node 20 lacks the name, and of a namespace each start would make a copy.
    const { createZstdCompress } = process.getBuiltinModule('node:zlib') as ZstdOfNode;
    // Node's own compresses on another thread, and needs half of the time.
    if (createZstdCompress !== undefined) {
      return createZstdCompress({ params: { [CHECKSUM_FLAG]: 1 } });
    }
    const { ZstdCompressor } = await import('./zstd/encoder.js');
    return ZstdCompressor.create();
  },
  isDamage: (error) => error instanceof ZstdError,
};

/** All supported compressions. To support another one, add its file here. */
export const COMPRESSIONS: readonly Compression[] = [gzip, zstd];

/** The endings of file names, compressed or not: empty, `.gz` and so on. */
export const COMPRESSION_ENDINGS = ['', ...COMPRESSIONS.map(({ ending }) => ending)];

/** The compression of data by its first bytes; `undefined` if it is not in `COMPRESSIONS`. */
export function compressionOf(head: Uint8Array): Compression | undefined {
  return COMPRESSIONS.find((compression) =>
    magicsOf(compression).some((magic) => startsWith(head, magic)),
  );
}

/** All first bytes that data in a compression may have. */
export function magicsOf({ magic, otherMagics = [] }: Compression): readonly (readonly number[])[] {
  return [magic, ...otherMagics];
}

/** The compression of a file by the ending of its name, in lower case or capitals. */
function compressionOfName(path: string): Compression | undefined {
  const name = path.toLowerCase();
  return COMPRESSIONS.find(({ ending }) => name.endsWith(ending));
}

/** Whether the ending of a name says that the file is compressed. */
export function isCompressedName(path: string): boolean {
  return compressionOfName(path) !== undefined;
}

/** Makes the stream that compresses a file by the ending of its name; else `undefined`. */
export async function compressorFor(path: string): Promise<Transform | undefined> {
  return compressionOfName(path)?.compress();
}

/**
 * Decompresses chunks. Fails with the errors of `chunks` and of the stream of `decompress`.
 *
 * @param chunks the compressed bytes; each chunk must stay unchanged
 * @param chunkBytes the size of the chunks that come out
 */
export async function* decompressed(
  compression: Compression,
  chunks: AsyncGenerator<Uint8Array>,
  chunkBytes: number,
): AsyncGenerator<Buffer, undefined> {
  const stream = await compression.decompress(chunkBytes);
  // The iteration below throws the errors of both streams.
  const flow = pipeline(Readable.from(chunks, { objectMode: false }), stream).catch(() => {});
  try {
    yield* stream;
  } finally {
    stream.destroy();
    await flow;
    // A pending read is awaited, because a read must not meet a closed descriptor.
    await chunks.return(undefined);
  }
}

/** What is wrong with compressed data, in the words of a message. */
interface CompressionFault {
  /** What was found: `the gzip data is damaged or truncated (…)`. */
  readonly what: string;
  /** What to do, if another copy of the data would not help. */
  readonly remedy: string | undefined;
}

/** Describes an error that `Compression.isDamage` accepts. */
export function compressionFault(
  { name, command }: Pick<Compression, 'name' | 'command'>,
  error: unknown,
): CompressionFault {
  if (error instanceof TrailingBytesError) {
    return { what: error.message, remedy: `Drop them: ${command} FILE prints what comes before` };
  }
  if (error instanceof UnsupportedZstdError) {
    return { what: `the zstd data is not supported: ${error.message}`, remedy: error.remedy };
  }
  return {
    what: `the ${name} data is damaged or truncated (${errorText(error)})`,
    remedy: undefined,
  };
}

/** A function of node:zlib from Node 22.15 and 23.8 on. */
interface ZstdOfNode {
  readonly createZstdCompress?: (options: { params: Record<number, number> }) => Transform;
}
