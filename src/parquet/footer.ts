/** The footer of a Parquet file: schema, row groups, column chunks. */

import {
  integerOf,
  listOf,
  ParquetDamage,
  STRUCT,
  structOf,
  ThriftReader,
  type ThriftStruct,
  textOf,
  type UnreadList,
} from './thrift.js';

/** Field numbers of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData in parquet.thrift. */
export const FILE = {
  version: 1,
  schema: 2,
  rows: 3,
  rowGroups: 4,
  keyValues: 5,
  createdBy: 6,
  columnOrders: 7,
  encryption: 8,
} as const;
export const GROUP = {
  columns: 1,
  bytes: 2,
  rows: 3,
  sorting: 4,
  offset: 5,
  compressedBytes: 6,
  ordinal: 7,
} as const;
export const CHUNK = {
  path: 1,
  offset: 2,
  metadata: 3,
  offsetIndex: 4,
  offsetIndexBytes: 5,
  columnIndex: 6,
  columnIndexBytes: 7,
  crypto: 8,
  encrypted: 9,
} as const;
export const COLUMN = {
  type: 1,
  encodings: 2,
  path: 3,
  codec: 4,
  values: 5,
  uncompressedBytes: 6,
  compressedBytes: 7,
  keyValues: 8,
  dataPage: 9,
  indexPage: 10,
  dictionaryPage: 11,
  statistics: 12,
  encodingStatistics: 13,
  bloomFilter: 14,
  bloomFilterBytes: 15,
  sizeStatistics: 16,
} as const;

/**
 * The fields without which a structure is damaged. parquet.thrift also requires
 * ColumnMetaData.path_in_schema, which nothing needs, and which is to become optional.
 */
const REQUIRED = {
  FileMetaData: [FILE.version, FILE.schema, FILE.rows, FILE.rowGroups],
  RowGroup: [GROUP.columns, GROUP.bytes, GROUP.rows],
  ColumnChunk: [CHUNK.offset, CHUNK.metadata],
  ColumnMetaData: [
    COLUMN.type,
    COLUMN.encodings,
    COLUMN.codec,
    COLUMN.values,
    COLUMN.uncompressedBytes,
    COLUMN.compressedBytes,
    COLUMN.dataPage,
  ],
} as const;

/** The values of a column in a row group. */
export interface ColumnChunk {
  readonly leaf: Leaf;
  /** Number of the codec in parquet.thrift. */
  readonly codec: number;
  /** Number of values and nulls. */
  readonly values: number;
  /** Offset of its pages in the file, in bytes. */
  readonly start: number;
  /** Length of its pages, in bytes. */
  readonly bytes: number;
  readonly fields: ThriftStruct;
  readonly metadata: ThriftStruct;
}

export interface RowGroup {
  /** At least 1. */
  readonly rows: number;
  /**
   * Reads its metadata, which have been checked. Nothing is kept: those of all row groups would
   * take many times the memory of their bytes.
   */
  read(): RowGroupMetadata;
}

interface RowGroupMetadata {
  /** One chunk for each leaf, in their order. */
  readonly columns: readonly ColumnChunk[];
  readonly fields: ThriftStruct;
}

/** The checked metadata at the end of a file. */
export interface Footer {
  /** The row groups in them are bytes. */
  readonly fields: ThriftStruct;
  readonly leaves: readonly Leaf[];
  readonly rows: number;
  /** The row groups that have rows, in their order. */
  readonly rowGroups: readonly RowGroup[];
}

/** Maximum length of metadata that are read or written, in bytes. */
export const MAX_FOOTER = 256 * 1024 * 1024;
/** Maximum number of row groups: what is kept of each takes memory. */
export const MAX_ROW_GROUPS = 1_000_000;
/** The row groups, which are read one at a time. */
export const ROW_GROUPS: UnreadList = { id: FILE.rowGroups, most: MAX_ROW_GROUPS };

/** Length of the magic bytes at both ends of the file. */
export const MAGIC_BYTES = 4;

/**
 * Reads the metadata of a file. Every column chunk lies between the magic bytes and the metadata,
 * and all chunks together are no longer than the file. The structures have all fields that they
 * need, and fill the bytes up to zeros: a damaged byte can end a structure early, and row groups
 * must not be lost by that.
 *
 * @param offset offset of the metadata in the file, in bytes
 * @throws ParquetDamage
 */
export function parseFooter(bytes: Uint8Array, offset: number): Footer {
  const reader = new ThriftReader(bytes, 0, offset);
  const fields = reader.struct(ROW_GROUPS);
  if (fields.has(FILE.encryption)) throw new ParquetDamage('the columns are encrypted', offset);
  requireFields(fields, 'FileMetaData', offset);
  if (bytes.subarray(reader.at).some((byte) => byte !== 0)) {
    throw new ParquetDamage('the metadata end before their declared length', offset + reader.at);
  }
  const leaves = schemaLeaves(structs(fields, FILE.schema, offset), offset);
  const groups = listOf(fields, FILE.rowGroups);
  if (groups === undefined) throw new ParquetDamage('a list of structures is missing', offset);
  let bytesLeft = offset - MAGIC_BYTES;
  let rows = 0;
  const rowGroups: RowGroup[] = [];
  for (const value of groups.values) {
    if (!(value instanceof Uint8Array) || groups.elementType !== STRUCT) {
      throw new ParquetDamage('a list of structures holds something else', offset);
    }
    const place = offset + value.byteOffset - bytes.byteOffset;
    const group = new ThriftReader(value, 0, place).struct();
    requireFields(group, 'RowGroup', offset);
    const groupRows = count(group, GROUP.rows, 'row group', offset);
    // A group without rows may have no pages: writers put 0 for the places of such pages.
    if (groupRows === 0) continue;
    for (const chunk of parseChunks(group, leaves, offset)) {
      bytesLeft -= chunk.bytes;
      if (bytesLeft < 0) throw new ParquetDamage('the columns overlap one another', offset);
    }
    rows += groupRows;
    rowGroups.push({
      rows: groupRows,
      read() {
        const fields = new ThriftReader(value, 0, place).struct();
        return { fields, columns: parseChunks(fields, leaves, offset) };
      },
    });
  }
  const declared = count(fields, FILE.rows, 'file', offset);
  if (declared !== rows) {
    throw new ParquetDamage(`the file has ${declared} rows, its row groups ${rows}`, offset);
  }
  return { fields, leaves, rows, rowGroups };
}

function parseChunks(group: ThriftStruct, leaves: readonly Leaf[], offset: number): ColumnChunk[] {
  const chunks = structs(group, GROUP.columns, offset);
  if (chunks.length !== leaves.length) {
    throw new ParquetDamage(
      `a row group has ${chunks.length} columns, but the schema has ${leaves.length}`,
      offset,
    );
  }
  return leaves.map((leaf, index) => parseChunk(chunks[index] as ThriftStruct, leaf, offset));
}

function parseChunk(fields: ThriftStruct, leaf: Leaf, footer: number): ColumnChunk {
  const name = leaf.path.join('.');
  if (fields.has(CHUNK.crypto) || fields.has(CHUNK.encrypted)) {
    throw new ParquetDamage(`column ${name} is encrypted`, footer);
  }
  if (fields.has(CHUNK.path)) {
    throw new ParquetDamage(`column ${name} lies in another file`, footer);
  }
  requireFields(fields, 'ColumnChunk', footer);
  const metadata = structOf(fields, CHUNK.metadata);
  if (metadata === undefined) throw new ParquetDamage(`column ${name} has no metadata`, footer);
  requireFields(metadata, 'ColumnMetaData', footer);
  const dataPage = integerOf(metadata, COLUMN.dataPage) ?? -1;
  const dictionaryPage = integerOf(metadata, COLUMN.dictionaryPage) ?? 0;
  // Some writers store 0 for "no dictionary", and some put the dictionary after the data.
  const start = dictionaryPage >= MAGIC_BYTES ? Math.min(dictionaryPage, dataPage) : dataPage;
  const bytes = count(metadata, COLUMN.compressedBytes, `column ${name}`, footer);
  if (start < MAGIC_BYTES || start + bytes > footer) {
    throw new ParquetDamage(
      `column ${name} claims bytes ${start} to ${start + bytes}, outside of the data`,
      footer,
    );
  }
  return {
    leaf,
    codec: integerOf(metadata, COLUMN.codec) ?? -1,
    values: count(metadata, COLUMN.values, `column ${name}`, footer),
    start,
    bytes,
    fields,
    metadata,
  };
}

/** @throws ParquetDamage if the structure lacks a field that it needs */
function requireFields(
  fields: ThriftStruct,
  structure: keyof typeof REQUIRED,
  offset: number,
): void {
  const missing = REQUIRED[structure].find((id) => !fields.has(id));
  if (missing === undefined) return;
  throw new ParquetDamage(`field ${missing} of ${structure} is missing`, offset);
}

/** The structures of a list. */
function structs(fields: ThriftStruct, id: number, offset: number): ThriftStruct[] {
  const values = listOf(fields, id)?.values;
  if (values === undefined) throw new ParquetDamage('a list of structures is missing', offset);
  return values.map((value) => {
    if (value instanceof Map) return value;
    throw new ParquetDamage('a list of structures holds something else', offset);
  });
}

function count(fields: ThriftStruct, id: number, what: string, offset: number): number {
  const value = integerOf(fields, id);
  if (value !== undefined && value >= 0) return value;
  throw new ParquetDamage(`a size of ${what} is missing or out of range`, offset);
}

/** Field numbers of SchemaElement in parquet.thrift. */
const TYPE = 1;
const TYPE_LENGTH = 2;
const REPETITION = 3;
const NAME = 4;
export const NUM_CHILDREN = 5;
const CONVERTED_TYPE = 6;
const SCALE = 7;
const LOGICAL_TYPE = 10;

const OPTIONAL = 1;
const REPEATED = 2;

/** The physical types, by their numbers in parquet.thrift. */
export const PHYSICAL_TYPES = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;

export type PhysicalType = (typeof PHYSICAL_TYPES)[number];

/**
 * What the annotation of a column says about its values: texts, whole numbers, decimals, floats of
 * 16 bits, nothing but nulls, or something else that has this name. `plain`: no annotation.
 */
type Annotation =
  | 'plain'
  | 'text'
  | 'integer'
  | 'decimal'
  | 'float16'
  | 'null'
  | 'DATE'
  | 'TIME'
  | 'TIMESTAMP'
  | 'INTERVAL'
  | 'JSON'
  | 'BSON'
  | 'UUID'
  | 'an unknown type';

/** ConvertedType in parquet.thrift. Its integers are 11 to 18. */
const CONVERTED_TYPES: ReadonlyMap<number, Annotation> = new Map([
  [0, 'text'],
  [4, 'text'],
  [5, 'decimal'],
  [6, 'DATE'],
  [7, 'TIME'],
  [8, 'TIME'],
  [9, 'TIMESTAMP'],
  [10, 'TIMESTAMP'],
  ...Array.from({ length: 8 }, (_, index) => [11 + index, 'integer'] as const),
  [19, 'JSON'],
  [20, 'BSON'],
  [21, 'INTERVAL'],
]);
/** LogicalType in parquet.thrift, a union: the number of its only field. */
const LOGICAL_TYPES: ReadonlyMap<number, Annotation> = new Map([
  [1, 'text'],
  [4, 'text'],
  [5, 'decimal'],
  [6, 'DATE'],
  [7, 'TIME'],
  [8, 'TIMESTAMP'],
  [10, 'integer'],
  [11, 'null'],
  [12, 'JSON'],
  [13, 'BSON'],
  [14, 'UUID'],
  [15, 'float16'],
]);

/** Maximum number of levels of nesting, which fits into a byte. */
const MAX_LEVEL = 200;

/** A column of values: a leaf of the schema. */
export interface Leaf {
  /** The names from below the root to the leaf. */
  readonly path: readonly string[];
  readonly type: PhysicalType;
  /** Number of bytes of a value of FIXED_LEN_BYTE_ARRAY; otherwise 0. */
  readonly typeLength: number;
  readonly annotation: Annotation;
  /** Number of decimal places of a decimal; otherwise 0. */
  readonly scale: number;
  /** Units of a TIMESTAMP in a second, as a power of ten: 3, 6 or 9; otherwise 0. */
  readonly unit: number;
  /** Whether whole numbers have no sign. */
  readonly isUnsigned: boolean;
  /** The definition level of a value that is not null. */
  readonly maxDefinition: number;
  /** The greatest repetition level; 0 unless the column, or a group around it, is repeated. */
  readonly maxRepetition: number;
}

interface OpenGroup {
  children: number;
  readonly path: readonly string[];
  readonly definition: number;
  readonly repetition: number;
}

/**
 * The leaves of a schema, in the order of its columns.
 *
 * @param elements the list of elements, depth first, the root first
 * @param offset offset of the footer, for messages
 * @throws ParquetDamage
 */
function schemaLeaves(elements: readonly ThriftStruct[], offset: number): Leaf[] {
  const leaves: Leaf[] = [];
  const [root, ...rest] = elements;
  if (root === undefined) throw new ParquetDamage('the schema is empty', offset);
  if (textOf(root, NAME) === undefined) throw new ParquetDamage('the schema has no name', offset);
  const groups: OpenGroup[] = [
    { children: childrenOf(root, offset), path: [], definition: 0, repetition: 0 },
  ];
  for (const element of rest) {
    const group = innermost(groups);
    if (group === undefined) throw new ParquetDamage('the schema has elements to spare', offset);
    group.children--;
    const name = textOf(element, NAME);
    if (name === undefined) throw new ParquetDamage('a column has no name', offset);
    const kind = integerOf(element, REPETITION) ?? 0;
    const level = {
      path: [...group.path, name],
      definition: group.definition + (kind === OPTIONAL || kind === REPEATED ? 1 : 0),
      repetition: group.repetition + (kind === REPEATED ? 1 : 0),
    };
    if (level.path.length > MAX_LEVEL) {
      throw new ParquetDamage(`columns nest more than ${MAX_LEVEL} deep`, offset);
    }
    const children = childrenOf(element, offset);
    if (children > 0 || !element.has(TYPE)) {
      groups.push({ children, ...level });
    } else {
      leaves.push(leafOf(element, level, offset));
    }
  }
  if (innermost(groups) !== undefined) {
    throw new ParquetDamage('the schema lacks elements', offset);
  }
  return leaves;
}

/** The group that the next element belongs to; `undefined` if all are complete. */
function innermost(groups: OpenGroup[]): OpenGroup | undefined {
  while (groups.at(-1)?.children === 0) groups.pop();
  return groups.at(-1);
}

function childrenOf(element: ThriftStruct, offset: number): number {
  const children = integerOf(element, NUM_CHILDREN) ?? 0;
  if (children >= 0) return children;
  throw new ParquetDamage('a group has a negative number of columns', offset);
}

function leafOf(
  element: ThriftStruct,
  { path, definition, repetition }: Omit<OpenGroup, 'children'>,
  offset: number,
): Leaf {
  const type = PHYSICAL_TYPES[integerOf(element, TYPE) ?? -1];
  const typeLength = integerOf(element, TYPE_LENGTH) ?? 0;
  if (type === undefined) {
    throw new ParquetDamage(`column ${path.join('.')} has an unknown type`, offset);
  }
  if (type === 'FIXED_LEN_BYTE_ARRAY' && !(typeLength > 0 && typeLength < 2 ** 24)) {
    throw new ParquetDamage(`column ${path.join('.')} has values of ${typeLength} bytes`, offset);
  }
  return {
    path,
    type,
    typeLength: type === 'FIXED_LEN_BYTE_ARRAY' ? typeLength : 0,
    ...annotationOf(element),
    maxDefinition: definition,
    maxRepetition: repetition,
  };
}

/** A logical type wins over a converted type, which older readers understand. */
function annotationOf(
  element: ThriftStruct,
): Pick<Leaf, 'annotation' | 'scale' | 'unit' | 'isUnsigned'> {
  const logical = structOf(element, LOGICAL_TYPE);
  const [field] = logical?.keys() ?? [];
  const converted = integerOf(element, CONVERTED_TYPE);
  const annotation =
    (field === undefined ? undefined : LOGICAL_TYPES.get(field)) ??
    (converted === undefined ? undefined : CONVERTED_TYPES.get(converted)) ??
    (field === undefined && converted === undefined ? 'plain' : 'an unknown type');
  const none = { annotation, scale: 0, unit: 0, isUnsigned: false };
  if (annotation === 'TIMESTAMP') {
    return { ...none, unit: unitOf(logical, field) ?? (converted === MICROSECONDS ? 6 : 3) };
  }
  const own = logical === undefined ? undefined : structOf(logical, field ?? 0);
  if (annotation === 'integer') {
    const isUnsigned =
      own === undefined
        ? converted !== undefined && UNSIGNED.includes(converted)
        : own.get(IS_SIGNED)?.value === false;
    return { ...none, isUnsigned };
  }
  if (annotation !== 'decimal') return none;
  const scale = own === undefined ? undefined : integerOf(own, 1);
  return { ...none, scale: scale ?? integerOf(element, SCALE) ?? 0 };
}

/** TIMESTAMP_MICROS, and UINT_8 to UINT_64, of ConvertedType in parquet.thrift. */
const MICROSECONDS = 10;
const UNSIGNED: readonly number[] = [11, 12, 13, 14];
/** The field of IntType in parquet.thrift. */
const IS_SIGNED = 2;

/** TimeUnit in parquet.thrift, a union: milliseconds, microseconds, nanoseconds. */
const UNITS: ReadonlyMap<number, number> = new Map([
  [1, 3],
  [2, 6],
  [3, 9],
]);

/** The unit of the logical type TIMESTAMP; `undefined` for one that is not in parquet.thrift. */
function unitOf(logical: ThriftStruct | undefined, field: number | undefined): number | undefined {
  const timestamp = logical === undefined ? undefined : structOf(logical, field ?? 0);
  const [unit] = (timestamp && structOf(timestamp, 2)?.keys()) ?? [];
  return unit === undefined ? undefined : UNITS.get(unit);
}
