import { RobotsFilterError } from '../errors.js';
import { ColumnCursor, isNumeric, numberOf } from '../parquet/column-cursor.js';
import type { ColumnChunk } from '../parquet/footer.js';
import type { ParquetFile } from '../parquet/parquet-file.js';
import type { Leaf } from '../parquet/schema.js';
import {
  isText,
  type Needed,
  namedColumn,
  nestedColumn,
  noColumn,
  severalColumns,
  unreadableColumn,
} from '../parquet/text-column.js';
import type { EntryEvent, WarningEvent } from './entry.js';
import { recordEvents, recordOf } from './record.js';
import type {
  OpenRecordFile,
  RecordColumns,
  RecordFile,
  RecordRow,
  RecordRows,
} from './record-file.js';

/** The columns that are read, by the names that data sets give them. */
const COLUMN_NAMES = {
  host: ['host', 'domain', 'hostname'],
  url: ['url', 'robots_url'],
  robots: ['robots', 'robots_txt', 'content', 'body'],
  robots_base64: ['robots_base64'],
  status: ['status', 'status_code', 'fetch_status'],
} as const;

type Column = keyof typeof COLUMN_NAMES;

const COLUMNS = Object.keys(COLUMN_NAMES) as Column[];

/** The options that name a column. */
const OPTIONS = {
  host: '--host-column',
  robots: '--robots-column',
  status: '--status-column',
} as const;

/** The option after which a column is no longer read, or read from another place. */
const REMEDIES: Record<Column, string> = {
  ...OPTIONS,
  url: OPTIONS.host,
  robots_base64: OPTIONS.robots,
};

/** A column that is read, and what is done with its values. */
interface ReadColumn {
  readonly leaf: Leaf;
  /** `unreadable`: the values are of another kind, so that only nulls are accepted. */
  readonly content: 'text' | 'number' | 'unreadable';
}

type ReadColumns = ReadonlyMap<Column, ReadColumn>;

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
    const file = await ParquetFile.open(descriptor, path);
    const read = columnsOf(file, columns);
    let first = 1;
    for (const group of file.footer.rowGroups) {
      const { columns: chunks } = group.read();
      const cursors = new Map<Column, ColumnCursor>();
      for (const [column, { leaf }] of read) {
        const chunk = chunks[file.footer.leaves.indexOf(leaf)] as ColumnChunk;
        if (chunk.values !== group.rows) throw unevenRows(path, leaf);
        cursors.set(column, new ColumnCursor(file, chunk));
      }
      try {
        for (let row = 0; row < group.rows; ) {
          const rows: RecordRow[] = [];
          let bytes = 0;
          while (row < group.rows && rows.length < PART_ROWS && bytes < PART_BYTES) {
            const next = await rowOf(file, cursors, read);
            bytes += bodyBytes(next);
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
        bodyBytes(row) > LONGEST_BODY
          ? ({ code: 'bad-record', message: 'The body is longer than 64 MiB; skipped.' } as const)
          : recordOf(row, maxBodyBytes);
      yield* recordEvents(record, path, source, number);
    }
  },
};

/**
 * Finds the columns of a file that are read.
 *
 * @throws RobotsFilterError `input` if a column is missing, if two have the same name, or if one
 *   that decides cannot be read
 */
function columnsOf(file: ParquetFile, named: RecordColumns): ReadColumns {
  const columns = new Map<Column, ReadColumn>();
  for (const [column, option] of Object.entries(OPTIONS) as [keyof RecordColumns, string][]) {
    const name = named[column];
    if (name === undefined) continue;
    const leaf = namedColumn(file, name, option);
    const content = contentOf(column, leaf);
    if (content === 'unreadable') throw unreadableColumn(file, leaf, neededIn(column), option);
    columns.set(column, { leaf, content });
  }
  // What the user chose takes the place of both columns: one of pages may be called url.
  const replaced: Column[] = [];
  if (columns.has('host')) replaced.push('url');
  if (columns.has('robots')) replaced.push('robots_base64');
  for (const column of COLUMNS) {
    if (columns.has(column) || replaced.includes(column)) continue;
    // A number comes before a text, and what can be read before what cannot.
    const [best, next] = leavesNamed(file, column)
      .map((leaf) => ({
        leaf,
        content: isNested(leaf) ? ('unreadable' as const) : contentOf(column, leaf),
      }))
      .sort((a, b) => RANKS[a.content] - RANKS[b.content]);
    if (best === undefined) continue;
    // Which of two status codes counts cannot be known, and the other one may close the host.
    if (column === 'status' && next !== undefined && next.content !== 'unreadable') {
      throw severalColumns(file, best.leaf, next.leaf, OPTIONS.status);
    }
    if (isNested(best.leaf)) {
      throw nestedColumn(file, best.leaf, neededIn(column), REMEDIES[column]);
    }
    columns.set(column, best);
  }
  if (!columns.has('robots') && !columns.has('robots_base64')) {
    throw noColumn(file, usual('robots'), OPTIONS.robots);
  }
  if (columns.has('host') || columns.has('url')) return columns;
  throw noColumn(file, usual('host', 'url'), OPTIONS.host);
}

/** Of several columns with a meaning, the one of the lowest rank is read. */
const RANKS: Record<ReadColumn['content'], number> = { number: 0, text: 1, unreadable: 2 };

/**
 * The columns that have one of the usual names for a meaning, whatever they hold, in the order of
 * the names. Small letters and capitals are the same, as in SQL; a name as it is listed goes first.
 *
 * @throws RobotsFilterError `input` if two columns have the same name
 */
function leavesNamed(file: ParquetFile, column: Column): Leaf[] {
  return COLUMN_NAMES[column].flatMap((name) => {
    const roots = file.footer.leaves.filter(({ path: [root = ''] }) => root.toLowerCase() === name);
    const exact = roots.filter(({ path: [root] }) => root === name);
    const [leaf, other] = exact.length > 0 ? exact : roots;
    if (leaf === undefined) return [];
    // A group has several columns of the same first name.
    if (other !== undefined && !(isNested(leaf) && isNested(other))) {
      throw severalColumns(file, leaf, other, REMEDIES[column]);
    }
    return [leaf];
  });
}

function isNested({ path, maxRepetition }: Leaf): boolean {
  return path.length > 1 || maxRepetition > 0;
}

function contentOf(column: Column, leaf: Leaf): ReadColumn['content'] {
  if (column === 'status' && isNumeric(leaf)) return 'number';
  return isText(leaf) ? 'text' : 'unreadable';
}

function neededIn(column: Column): Needed {
  return column === 'status' ? 'whole numbers' : 'text';
}

function usual(...columns: readonly Column[]): string {
  return `of text called ${columns.flatMap((column) => COLUMN_NAMES[column]).join(', ')}`;
}

/** @throws RobotsFilterError `input` for a value of a column that cannot be read */
async function rowOf(
  file: ParquetFile,
  cursors: ReadonlyMap<Column, ColumnCursor>,
  columns: ReadColumns,
): Promise<RecordRow> {
  const row: { -readonly [Name in keyof RecordRow]: RecordRow[Name] } = {};
  for (const [column, cursor] of cursors) {
    const bytes = await cursor.next();
    if (bytes === null || bytes === undefined) continue;
    const { leaf, content } = columns.get(column) as ReadColumn;
    if (content === 'unreadable') {
      throw unreadableColumn(file, leaf, neededIn(column), REMEDIES[column]);
    }
    if (column === 'robots') {
      // The part may go to another thread, so the bytes are copied.
      row.robots = Uint8Array.from(bytes);
    } else if (content === 'number') {
      row.status = numberOf(leaf, bytes);
    } else {
      row[column] = Buffer.from(bytes).toString('utf8');
    }
  }
  return row;
}

function bodyBytes({ robots, robots_base64: base64 }: RecordRow): number {
  return (robots?.length ?? 0) + (base64?.length ?? 0);
}

function unevenRows(path: string, leaf: Leaf): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `${path}: column "${leaf.path.join('.')}" has a different number of rows than its row group. ` +
      'Write or download the file again.',
  );
}
