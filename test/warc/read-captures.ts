import { type ArchiveCompression, readArchive } from '../../src/warc/archive-reader.js';
import type { ByteSource } from '../../src/warc/byte-source.js';
import type { Capture } from '../../src/warc/capture.js';
import { CaptureReader, type CaptureSelection } from '../../src/warc/capture-reader.js';

/** What a reading of an archive found, in order. */
export interface CaptureReading {
  readonly captures: readonly (Omit<Capture, 'outcome'> & {
    readonly kind: string;
    /** The body of a success; one character per byte. */
    readonly body?: string;
    readonly target?: string;
  })[];
  readonly damage: readonly {
    readonly offset: number;
    readonly reason: string;
    readonly isCapture: boolean;
  }[];
  readonly broken: readonly string[];
  readonly skipped: readonly string[];
}

/** How bytes are read. */
export interface ReadOptions extends Partial<CaptureSelection> {
  readonly kind?: 'none' | 'gzip' | 'stream';
  /** Bytes of one read, at most. */
  readonly mostAtOnce?: number;
}

/** Bytes in memory as a file. */
export function sourceOf(bytes: Buffer, mostAtOnce = Number.POSITIVE_INFINITY): ByteSource {
  return {
    length: bytes.length,
    async read(offset, buffer) {
      const end = Math.min(bytes.length, offset + Math.min(buffer.length, mostAtOnce));
      return offset >= end ? 0 : bytes.copy(buffer, 0, offset, end);
    },
  };
}

/** Reads an archive in memory. */
export async function readCaptures(
  bytes: Buffer,
  options: ReadOptions = {},
): Promise<CaptureReading> {
  const captures: CaptureReading['captures'][number][] = [];
  const damage: CaptureReading['damage'][number][] = [];
  const broken: string[] = [];
  const skipped: string[] = [];
  const reader = new CaptureReader(
    {
      asOf: Number.POSITIVE_INFINITY,
      maxBodyBytes: 512_000,
      targets: new Set(),
      robots: true,
      onOther: (url, _offset, isLeftOut) => {
        if (isLeftOut) skipped.push(url);
      },
      ...options,
    },
    {
      capture({ outcome, ...rest }) {
        const { kind } = outcome;
        if (outcome.kind === 'body') {
          captures.push({ ...rest, kind, body: outcome.body.toString('latin1') });
        } else if (outcome.kind === 'redirect') {
          captures.push({ ...rest, kind, target: outcome.target });
        } else {
          captures.push({ ...rest, kind });
        }
      },
      damage: (offset, reason, isCapture) => damage.push({ offset, reason, isCapture }),
      broken: (_offset, url) => broken.push(url),
    },
  );
  const { kind = 'none', mostAtOnce } = options;
  const source = sourceOf(bytes, mostAtOnce);
  await readArchive(source, compressionOf(kind, bytes, mostAtOnce), reader);
  return { captures, damage, broken, skipped };
}

function compressionOf(
  kind: 'none' | 'gzip' | 'stream',
  bytes: Buffer,
  mostAtOnce = bytes.length,
): ArchiveCompression {
  if (kind !== 'stream') return { kind };
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += mostAtOnce) {
      yield Buffer.from(bytes.subarray(at, at + mostAtOnce));
    }
  }
  return { kind, chunks: chunks(), isDamage: () => true };
}
