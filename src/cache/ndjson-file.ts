import { RobotsFilterError } from '../errors.js';
import { compressionFault } from '../files/compression-fault.js';
import { COMPRESSIONS, compressionOf } from '../files/compressions.js';
import { isBlankLine, linesOf, splitBlocks } from '../files/lines.js';
import { describeSystemError } from '../files/system-error.js';
import { systemRemedy } from '../files/system-remedy.js';
import { describeUnsupported } from '../files/unsupported-formats.js';
import { beginsRecord } from '../warc/records.js';
import type { EntryEvent, WarningEvent } from './entry.js';
import { decompress, joined, readChunks } from './file-chunks.js';
import { parseRecord, recordEvents } from './record.js';
import type { OpenRecordFile, RecordFile, RecordLines } from './record-file.js';

/** Maximum length of a line, in bytes. The largest known robots.txt files have 4 MB. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Why the records of a WARC file are not read here, and what to do. */
const WARC =
  'is a WARC file, which is not read from a pipe, nor under this name. Write it to a file whose name ends in .warc, .warc.gz or .warc.zst, and name that file.';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** NDJSON, one record per line (record.ts), plain or compressed. */
export const ndjsonFile: RecordFile = {
  kind: 'lines',
  endings: ['.ndjson', '.jsonl'],
  isSequential: true,
  isCompressible: true,

  async *parts({ descriptor, path, source }: OpenRecordFile): AsyncGenerator<RecordLines> {
    for await (const block of splitBlocks(readText(descriptor, path), LONGEST_LINE)) {
      yield { kind: 'lines', ...block, path, source };
    }
  },

  *read(lines, maxBodyBytes): Generator<EntryEvent | WarningEvent> {
    if (lines.kind !== 'lines') throw new Error(`no lines in a part of ${lines.kind}`);
    const { path, source } = lines;
    for (const { number, bytes } of linesOf(lines, LONGEST_LINE)) {
      if (bytes === undefined) {
        const message = 'The line is longer than 64 MiB; skipped.';
        yield { kind: 'warning', warning: { code: 'bad-record', path, line: number, message } };
        continue;
      }
      const line = number === 1 ? withoutByteOrderMark(bytes) : bytes;
      if (isBlankLine(line)) continue;
      yield* recordEvents(parseRecord(line, maxBodyBytes), path, source, number);
    }
  },
};

function withoutByteOrderMark(line: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return line.subarray(0, length).equals(BYTE_ORDER_MARK) ? line.subarray(length) : line;
}

/**
 * The text of an open file, decompressed.
 *
 * @param remedy for a file that cannot be read or is damaged
 * @throws RobotsFilterError `input` if it cannot be read, or is of an unsupported format
 */
export async function* readText(
  descriptor: number,
  path: string,
  remedy = 'Download the file again, or take it out of the directory',
): AsyncGenerator<Buffer> {
  try {
    const chunks = readChunks(descriptor);
    const { value: first, done } = await chunks.next();
    if (done) return;
    const compression = compressionOf(first);
    yield* compression === undefined
      ? checked(joined(first, chunks), path, undefined)
      : checked(decompress(compression, first, chunks), path, compression.name);
  } catch (error) {
    throw readError(path, error, remedy);
  }
}

/** The chunks, unless the first one shows an unsupported format. */
async function* checked(
  chunks: AsyncGenerator<Buffer>,
  path: string,
  compression: string | undefined,
): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const refusal = isFirst ? describeUnsupported(chunk, compression) : undefined;
    if (isFirst && beginsRecord(chunk, 0)) throw new RobotsFilterError('input', `${path}: ${WARC}`);
    if (refusal !== undefined) throw new RobotsFilterError('input', `${path}: ${refusal}`);
    isFirst = false;
    yield chunk;
  }
}

function readError(path: string, cause: unknown, otherwise: string): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  const known = systemRemedy(cause, 'read');
  if (known !== undefined) return new RobotsFilterError('input', `${path}: ${known}.`, { cause });
  const compression = COMPRESSIONS.find((candidate) => candidate.isDamage(cause));
  const { what, remedy = otherwise } =
    compression === undefined
      ? { what: `reading failed: ${describeSystemError(cause)}` }
      : compressionFault(compression, cause);
  return new RobotsFilterError('input', `${path}: ${what}. ${remedy}.`, { cause });
}
