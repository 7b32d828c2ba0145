import { COMPRESSION_ENDINGS } from '../files/compressions.js';
import { hasEnding } from './layout.js';
import { ndjsonFile } from './ndjson-file.js';
import { parquetRows } from './parquet-rows.js';
import type { RecordFile, RecordPart } from './record-file.js';

/**
 * The kinds of files of records that are read. To add a kind, write a file such as ndjson-file.ts,
 * add it here, and add its parts to `RecordPart`. A pipe has the first kind.
 */
export const RECORD_FILES: readonly [RecordFile, ...RecordFile[]] = [ndjsonFile, parquetRows];

/** The name endings of all files of records: `.ndjson`, `.ndjson.gz` and so on. */
export const RECORD_FILE_ENDINGS = RECORD_FILES.flatMap(endingsOf);

/** The kind of a file of records, by its name; `undefined` for the name of any other file. */
export function recordFileOf(name: string): RecordFile | undefined {
  return RECORD_FILES.find((kind) => endingsOf(kind).some((ending) => hasEnding(name, ending)));
}

/** The kind of file that a part is of. */
export function recordFileOfPart(part: RecordPart): RecordFile {
  const found = RECORD_FILES.find(({ kind }) => kind === part.kind);
  if (found === undefined) throw new Error(`no file of records has parts of ${part.kind}`);
  return found;
}

function endingsOf({ endings, isCompressible }: RecordFile): readonly string[] {
  if (!isCompressible) return endings;
  return endings.flatMap((ending) => COMPRESSION_ENDINGS.map((outer) => `${ending}${outer}`));
}
