import { type ArchiveCompression, readArchive } from '../../src/warc/archive.js';
import { CaptureReader, type CaptureSelection } from '../../src/warc/capture-reader.js';
import type { Capture } from '../../src/warc/captures.js';
import type { ByteSource } from '../../src/warc/records.js';

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
  readonly kind?: ArchiveCompression;
  /** Bytes of one read, at most. */
  readonly mostAtOnce?: number;
  /** Counts the bytes that are read. */
  readonly reads?: { bytes: number };
}

/** Bytes in memory as a file. */
export function sourceOf(
  bytes: Buffer,
  mostAtOnce = Number.POSITIVE_INFINITY,
  reads = { bytes: 0 },
): ByteSource {
  return {
    length: bytes.length,
    async read(offset, buffer) {
      const end = Math.min(bytes.length, offset + Math.min(buffer.length, mostAtOnce));
      reads.bytes += Math.max(0, end - offset);
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
      profile: 'rfc9309',
      maxBodyBytes: 512_000,
      targets: new Set(),
      robots: true,
      onLeftOut: (url) => skipped.push(url),
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
  const { kind = 'none', mostAtOnce, reads } = options;
  const source = sourceOf(bytes, mostAtOnce, reads);
  await readArchive(source, kind, reader);
  return { captures, damage, broken, skipped };
}
