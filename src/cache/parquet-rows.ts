import { RobotsFilterError } from '../errors.js';
import type { ColumnCursor } from '../parquet/column-cursor.js';
import type { ColumnChunk } from '../parquet/footer.js';
import type { ParquetFile } from '../parquet/parquet-file.js';
import type { Leaf } from '../parquet/schema.js';
import type { EntryEvent, WarningEvent } from './entry.js';
import { recordOf } from './record.js';
import type {
  OpenRecordFile,
  RecordColumns,
  RecordFile,
  RecordRow,
  RecordRows,
} from './record-file.js';

/**
 * The columns that are read, by the names that data sets give them. The first one that exists
 * counts.
 */
const COLUMN_NAMES = {
  host: ['host', 'domain', 'hostname'],
  url: ['url', 'robots_url'],
  robots: ['robots', 'robots_txt', 'content', 'body'],
  status: ['status', 'status_code', 'fetch_status'],
} as const;

type Column = keyof typeof COLUMN_NAMES;

const COLUMNS = Object.keys(COLUMN_NAMES) as Column[];

/** The options that name a column. */
const OPTIONS = { host: '--host-column', robots: '--robots-column' } as const;

/** Maximum rows of a part, and maximum bytes of their bodies. */
const PART_ROWS = 1024;
const PART_BYTES = 1024 * 1024;

/** Maximum length of a body that is read, in bytes. */
const LONGEST_BODY = 64 * 1024 * 1024;

/** Parquet: a robots.txt in each row. */
export const parquetRows: RecordFile = {
  kind: 'rows',
  endings: ['.parquet'],
  isSequential: false,
  isCompressible: false,

  async *parts({ descriptor, path, source, columns }: OpenRecordFile): AsyncGenerator<RecordRows> {
    // Loaded on demand, together with the decompressors.
    const { ParquetFile } = await import('../parquet/parquet-file.js');
    const { ColumnCursor } = await import('../parquet/column-cursor.js');
    const file = await ParquetFile.open(descriptor, path);
    const leaves = await leavesOf(file, columns);
    let first = 1;
    for (const group of file.footer.rowGroups) {
      const cursors = new Map<Column, ColumnCursor>();
      for (const [column, leaf] of leaves) {
        const chunk = group.columns[file.footer.leaves.indexOf(leaf)] as ColumnChunk;
        if (chunk.values !== group.rows) throw unevenRows(path, leaf);
        cursors.set(column, new ColumnCursor(file, chunk));
      }
      try {
        for (let row = 0; row < group.rows; ) {
          const rows: RecordRow[] = [];
          let bytes = 0;
          while (row < group.rows && rows.length < PART_ROWS && bytes < PART_BYTES) {
            const next = await rowOf(cursors, leaves);
            bytes += next.robots?.length ?? 0;
            rows.push(next);
            row++;
          }
          yield { kind: 'rows', rows, first, path, source };
          first += rows.length;
        }
      } finally {
        for (const cursor of cursors.values()) await cursor.close();
      }
    }
  },

  *read(part, maxBodyBytes): Generator<EntryEvent | WarningEvent> {
    if (part.kind !== 'rows') throw new Error(`no rows in a part of ${part.kind}`);
    const { path, source, first } = part;
    let line = first;
    for (const row of part.rows) {
      const number = line++;
      const record =
        (row.robots?.length ?? 0) > LONGEST_BODY
          ? ({ code: 'bad-record', message: 'The body is longer than 64 MiB; skipped.' } as const)
          : recordOf(row, maxBodyBytes);
      if ('code' in record) {
        const { code, message } = record;
        yield { kind: 'warning', warning: { code, path, line: number, message } };
        continue;
      }
      const { authority, body, status } = record;
      yield { kind: 'entry', entry: { authority, body, source: `${source}:${number}`, status } };
    }
  },
};

/**
 * Finds the columns of a file that are read.
 *
 * @throws RobotsFilterError `input` if a column is missing, or holds no text
 */
async function leavesOf(file: ParquetFile, named: RecordColumns): Promise<Map<Column, Leaf>> {
  const { isText, noColumn, textColumn } = await import('../parquet/text-column.js');
  const leaves = new Map<Column, Leaf>();
  for (const [column, option] of Object.entries(OPTIONS) as [keyof RecordColumns, string][]) {
    const name = named[column];
    if (name !== undefined) leaves.set(column, textColumn(file, name, option));
  }
  const hasNamedHost = leaves.has('host');
  for (const column of COLUMNS) {
    // If the user chose the column of hosts, no other is read: a column of pages may be called url.
    if (leaves.has(column) || (column === 'url' && hasNamedHost)) continue;
    const isUsable = column === 'status' ? isInteger : isText;
    const found = COLUMN_NAMES[column]
      .map((name) => file.leafNamed(name))
      .find((leaf) => leaf !== undefined && isUsable(leaf));
    if (found !== undefined) leaves.set(column, found);
  }
  if (!leaves.has('robots')) throw noColumn(file, usual('robots'), OPTIONS.robots);
  if (leaves.has('host') || leaves.has('url')) return leaves;
  throw noColumn(file, usual('host', 'url'), OPTIONS.host);
}

function usual(...columns: readonly Column[]): string {
  return `of text called ${columns.flatMap((column) => COLUMN_NAMES[column]).join(', ')}`;
}

function isInteger({ type, maxRepetition }: Leaf): boolean {
  return maxRepetition === 0 && (type === 'INT32' || type === 'INT64');
}

async function rowOf(
  cursors: ReadonlyMap<Column, ColumnCursor>,
  leaves: ReadonlyMap<Column, Leaf>,
): Promise<RecordRow> {
  const row: { -readonly [Name in keyof RecordRow]: RecordRow[Name] } = {};
  for (const [column, cursor] of cursors) {
    const bytes = await cursor.next();
    if (bytes === null || bytes === undefined) continue;
    if (column === 'robots') {
      // The part may go to another thread, so the bytes are copied.
      row.robots = Uint8Array.from(bytes);
    } else if (column === 'status') {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const isShort = leaves.get(column)?.type === 'INT32';
      row.status = isShort ? view.getInt32(0, true) : Number(view.getBigInt64(0, true));
    } else {
      row[column] = Buffer.from(bytes).toString('utf8');
    }
  }
  return row;
}

function unevenRows(path: string, leaf: Leaf): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `${path}: column "${leaf.path.join('.')}" has a different number of rows than its row group. ` +
      'Write or download the file again.',
  );
}
