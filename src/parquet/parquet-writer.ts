/** Writes a Parquet file that has the columns of another and more. */

import { isDigits } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { isObject } from '../base/maps.js';
import {
  type AddedColumn,
  type AddedValues,
  type ByteSink,
  ChunkWriter,
  chunkOf,
  encodeDataPage,
  encodeDictionaryPage,
  PageList,
  rowGroupOf,
  schemaElementOf,
  selectValues,
  type WrittenChunk,
  writableCodec,
} from './chunk-writer.js';
import { codecOf, SNAPPY } from './codecs.js';
import { COLUMN, type ColumnChunk, FILE, NUM_CHILDREN, type RowGroup } from './footer.js';
import { countOf } from './page-values.js';
import { type DataPage, type DictionaryPage, nameOf } from './pages.js';
import type { ParquetFile } from './parquet-file.js';
import {
  encodeThrift,
  i32,
  i64,
  list,
  listOf,
  STRUCT,
  struct,
  type ThriftStruct,
  text,
  textOf,
} from './thrift.js';

/**
 * Writes the columns of Parquet files, and added columns. If all rows are kept, the pages of a
 * column are copied unchanged.
 */
export class ParquetWriter {
  readonly #writer: ChunkWriter;
  readonly #added: readonly AddedColumn[];
  #first: ParquetFile | undefined;
  #rows = 0;

  constructor(sink: ByteSink, added: readonly AddedColumn[]) {
    this.#writer = new ChunkWriter(sink);
    this.#added = added;
  }

  /** Number of rows written so far. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * Begins with the row groups of a file.
   *
   * @throws RobotsFilterError `input` if the columns differ from those of the files before, or if a
   *   column has the name of an added column
   */
  async begin(file: ParquetFile): Promise<void> {
    if (this.#first === undefined) {
      this.#refuseConflict(file);
      this.#first = file;
      await this.#writer.begin();
    } else if (!schemaOf(file).equals(schemaOf(this.#first))) {
      throw new RobotsFilterError(
        'input',
        `${file.name}: its columns differ from those of ${this.#first.name}. Write one file for each input: -o DIR/`,
      );
    }
  }

  /**
   * Refuses a name that comes twice. Capitals make no difference, because they make none to SQL:
   * Spark cannot read a file with `Verdict` and `verdict`.
   */
  #refuseConflict(file: ParquetFile): void {
    const names = columnNames(file);
    for (const { name } of this.#added) {
      const other = names.find((known) => known.toLowerCase() === name.toLowerCase());
      if (other !== undefined) {
        throw new RobotsFilterError(
          'input',
          `${file.name}: has a column "${other}" already. Choose another name for the added one: --verdict-field NAME`,
        );
      }
      names.push(name);
    }
  }

  /**
   * Writes the rows of a group; a group of which no row is kept is left out, because several
   * readers refuse a group without rows.
   *
   * @param keep 1 for each row that is written, 0 for the others; `undefined` keeps all
   * @param added the values of the added columns, in their order, for all rows of the group
   * @throws RobotsFilterError `input` if a page that must be decoded is damaged
   */
  async group(
    file: ParquetFile,
    group: RowGroup,
    keep: Uint8Array | undefined,
    added: readonly AddedValues[],
  ): Promise<void> {
    let rows = group.rows;
    if (keep !== undefined) rows = keep.reduce((sum, kept) => sum + kept, 0);
    if (rows === 0) return;
    const start = this.#writer.at;
    const selection = rows === group.rows ? undefined : keep;
    const chunks: WrittenChunk[] = [];
    const { columns, fields } = group.read();
    for (const chunk of columns) {
      chunks.push(
        selection === undefined
          ? await this.#copy(file, chunk)
          : await this.#select(file, chunk, selection),
      );
    }
    for (const values of added) chunks.push(await this.#writer.added(values, selection));
    this.#writer.group(rowGroupOf(chunks, rows, start, fields));
    this.#rows += rows;
  }

  /** Writes the metadata. */
  async finish(): Promise<void> {
    if (this.#first === undefined) throw new Error('a Parquet file without columns');
    const { fields } = this.#first.footer;
    const [root, ...elements] = (listOf(fields, FILE.schema)?.values ?? []) as ThriftStruct[];
    const children = Number(root?.get(NUM_CHILDREN)?.value ?? 0) + this.#added.length;
    const schema = [
      new Map(root).set(NUM_CHILDREN, i32(children)),
      ...elements,
      ...this.#added.map(schemaElementOf),
    ];
    const footer = new Map(fields)
      .set(FILE.schema, list(STRUCT, schema))
      .set(FILE.rows, i64(this.#rows));
    const orders = listOf(fields, FILE.columnOrders)?.values;
    if (orders !== undefined) {
      const own = this.#added.map(() => new Map([[1, struct([])]]));
      footer.set(FILE.columnOrders, list(STRUCT, [...orders, ...own]));
    }
    const keyValues = listOf(fields, FILE.keyValues)?.values as ThriftStruct[] | undefined;
    if (keyValues !== undefined && this.#added.length > 0) {
      const entries = entriesWith(keyValues, this.#added, columnNames(this.#first));
      footer.set(FILE.keyValues, list(STRUCT, entries));
    }
    await this.#writer.end(footer);
  }

  /**
   * Copies the pages of a chunk. Its indexes and its Bloom filter are elsewhere, and are left out.
   */
  async #copy(file: ParquetFile, chunk: ColumnChunk): Promise<WrittenChunk> {
    const moved = this.#writer.at - chunk.start;
    for await (const piece of file.bytes(chunk)) await this.#writer.write(piece);
    const metadata = new Map(chunk.metadata);
    for (const id of [COLUMN.dataPage, COLUMN.indexPage, COLUMN.dictionaryPage]) {
      const offset = Number(metadata.get(id)?.value ?? 0);
      if (offset >= chunk.start) metadata.set(id, i64(offset + moved));
      else metadata.delete(id);
    }
    metadata.delete(COLUMN.bloomFilter);
    metadata.delete(COLUMN.bloomFilterBytes);
    const plainBytes = Number(metadata.get(COLUMN.uncompressedBytes)?.value ?? 0);
    return { fields: chunkOf(metadata), bytes: chunk.bytes, plainBytes };
  }

  /** Writes the kept rows of a chunk, in new pages. */
  async #select(file: ParquetFile, chunk: ColumnChunk, keep: Uint8Array): Promise<WrittenChunk> {
    const { leaf, metadata } = chunk;
    const codec = codecOf(chunk.codec);
    const target = await writableCodec(typeof codec === 'string' ? SNAPPY : codec);
    const pages = new PageList(this.#writer.at);
    let entries = 0;
    let dictionary = 0;
    for await (const page of selectRows(file, chunk, keep)) {
      if (page.kind === 'dictionary') {
        dictionary = countOf(page.values);
        await this.#writer.page(pages, encodeDictionaryPage(page.values, target), true);
        continue;
      }
      const { maxDefinition, maxRepetition } = leaf;
      const content = { ...page, maxDefinition, maxRepetition, dictionary };
      await this.#writer.page(pages, encodeDataPage(content, target), false);
      entries += page.entries;
    }
    const fields = pages.metadata(new Map(metadata), entries, target.number);
    for (const id of metadata.keys()) if (id >= COLUMN.statistics) fields.delete(id);
    fields.delete(COLUMN.indexPage);
    return { fields: chunkOf(fields), bytes: pages.bytes, plainBytes: pages.plainBytes };
  }
}

/** The names of the columns, and of the groups around them, at the top of the schema. */
function columnNames({ footer }: ParquetFile): string[] {
  const roots = footer.leaves.map(({ path: [root = ''] }) => root);
  return roots.filter((root, index) => root !== roots[index - 1]);
}

function schemaOf({ footer }: ParquetFile): Buffer {
  const schema = footer.fields.get(FILE.schema);
  return encodeThrift(new Map(schema === undefined ? [] : [[FILE.schema, schema]]));
}

/*
 * Entries of a file's metadata that hold its schema a second time, for one family of readers. Many
 * of these readers believe the entry and not the file: a column that the entry lacks does not exist
 * for them. So where columns are added, such an entry is extended, or left out if that cannot be
 * done. All other entries stay: `org.apache.spark.legacyDateTime` says how dates are read.
 */

/** Fields of KeyValue in parquet.thrift. */
const KEY = 1;
const VALUE = 2;

/** Adds columns to the value of an entry; `undefined` if the value has not the expected form. */
type Extend = (
  value: string,
  added: readonly AddedColumn[],
  columns: readonly string[],
) => string | undefined;

const leaveOut: Extend = () => undefined;

/** The entries that list columns, by their keys. */
const ENTRIES: Readonly<Record<string, Extend>> = {
  'org.apache.spark.sql.parquet.row.metadata': extendSpark,
  // Of Spark before 1.3.
  'org.apache.spark.sql.parquet.row.attributes': leaveOut,
  'parquet.avro.schema': extendAvro,
  'avro.schema': extendAvro,
  pandas: extendPandas,
  // A Flatbuffers message.
  'ARROW:schema': leaveOut,
  // Each column of Iceberg has a number, which a table gives and a file cannot.
  'iceberg.schema': leaveOut,
  'pig.schema': leaveOut,
  huggingface: leaveOut,
};

/**
 * The entries of a file to which columns are added.
 *
 * @param columns the names of the columns of the input at the top of its schema
 */
export function entriesWith(
  entries: readonly ThriftStruct[],
  added: readonly AddedColumn[],
  columns: readonly string[],
): ThriftStruct[] {
  return entries.flatMap((entry) => {
    const key = textOf(entry, KEY) ?? '';
    const extend = Object.hasOwn(ENTRIES, key) ? ENTRIES[key] : undefined;
    if (extend === undefined) return [entry];
    const value = extend(textOf(entry, VALUE) ?? '', added, columns);
    return value === undefined ? [] : [new Map(entry).set(VALUE, text(value))];
  });
}

/** How other programs call the types of added columns. */
const TYPE_NAMES = {
  text: { spark: 'string', avro: 'string', pandas: 'unicode' },
  integer: { spark: 'integer', avro: 'int', pandas: 'int32' },
  number: { spark: 'double', avro: 'double', pandas: 'float64' },
} as const satisfies Record<AddedColumn['type'], object>;

/** The schema of Spark, as its StructType writes it. */
function extendSpark(
  value: string,
  added: readonly AddedColumn[],
  columns: readonly string[],
): string | undefined {
  const fields = added.map(({ name, type, nullable }) => ({
    name,
    type: TYPE_NAMES[type].spark,
    nullable,
    metadata: {},
  }));
  return withFields(value, 'struct', fields, columns);
}

/** A schema of Avro. */
function extendAvro(
  value: string,
  added: readonly AddedColumn[],
  columns: readonly string[],
): string | undefined {
  if (!added.every(({ name }) => isAvroName(name))) return undefined;
  const fields = added.map(({ name, type, nullable }) => {
    const own = TYPE_NAMES[type].avro;
    return nullable ? { name, type: ['null', own], default: null } : { name, type: own };
  });
  return withFields(value, 'record', fields, columns);
}

/** The columns and index of pandas, whose labels of columns must be plain texts. */
function extendPandas(value: string, added: readonly AddedColumn[]): string | undefined {
  const schema = parsed(value);
  const labels = schema?.column_indexes;
  const [label] = Array.isArray(labels) ? labels : [];
  const isPlain =
    Array.isArray(labels) &&
    labels.length === 1 &&
    isObject(label) &&
    label.pandas_type === 'unicode';
  if (!isPlain) return undefined;
  const columns = added.map(({ name, type }) => ({
    name,
    field_name: name,
    pandas_type: TYPE_NAMES[type].pandas,
    // Whole numbers with nulls are floats to pandas.
    numpy_type: type === 'text' ? 'object' : 'float64',
    metadata: null,
  }));
  return withElements(value, 'columns', columns);
}

/**
 * Adds fields to a schema in JSON with a list `fields`; `undefined` unless the list names exactly
 * these columns. A list that is stale already would go on hiding columns.
 */
function withFields(
  value: string,
  type: string,
  fields: readonly object[],
  columns: readonly string[],
): string | undefined {
  const schema = parsed(value);
  if (schema?.type !== type || !Array.isArray(schema.fields)) return undefined;
  const names = schema.fields.map((field) => (isObject(field) ? field.name : undefined));
  const isOfFile =
    names.length === columns.length && names.every((name, index) => name === columns[index]);
  return isOfFile ? withElements(value, 'fields', fields) : undefined;
}

/**
 * Adds elements to the list at a key of an object in JSON. The text of the others stays, because
 * numbers beyond 2^53 would not survive.
 *
 * @param value valid JSON, an object
 */
function withElements(value: string, key: string, elements: readonly object[]): string | undefined {
  const end = endOfList(value, key);
  if (end === undefined) return undefined;
  const texts = elements.map((element) => JSON.stringify(element)).join(',');
  const before = value.slice(0, end).trimEnd();
  return `${before}${before.endsWith('[') ? '' : ','}${texts}${value.slice(end)}`;
}

/**
 * Where the `]` of the list at the object's own key stands; the last one if the key comes twice.
 */
function endOfList(value: string, key: string): number | undefined {
  let depth = 0;
  let isWanted = false;
  let found: number | undefined;
  for (let at = 0; at < value.length; at++) {
    const character = value[at];
    if (character === '"') {
      const start = at;
      for (at++; at < value.length && value[at] !== '"'; at++) if (value[at] === '\\') at++;
      // A string of the object itself is a key, or a value that no list follows.
      if (depth === 1) isWanted = JSON.parse(value.slice(start, at + 1)) === key;
    } else if (character === '[' || character === '{') {
      depth++;
    } else if (character === ']' || character === '}') {
      depth--;
      if (depth === 1 && isWanted) {
        found = character === ']' ? at : undefined;
        isWanted = false;
      }
    }
  }
  return found;
}

/** Names in Avro have letters, digits and underscores, and begin with no digit. */
function isAvroName(name: string): boolean {
  const isLetter = (character: string) =>
    (character >= 'a' && character <= 'z') ||
    (character >= 'A' && character <= 'Z') ||
    character === '_';
  return (
    name !== '' &&
    !isDigits(name.charAt(0)) &&
    [...name].every((character) => isLetter(character) || isDigits(character))
  );
}

function parsed(value: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const schema: unknown = JSON.parse(value);
    return isObject(schema) ? schema : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Yields the pages of a chunk with only the kept rows. A row of a repeated column has one entry or
 * more, the first of which has repetition level 0.
 *
 * @param keep for each row of the group 1 if it is kept, otherwise 0
 * @throws RobotsFilterError `input` if a page is damaged, or the chunk has another number of rows
 */
async function* selectRows(
  file: ParquetFile,
  chunk: ColumnChunk,
  keep: Uint8Array,
): AsyncGenerator<DataPage | DictionaryPage> {
  const { maxDefinition } = chunk.leaf;
  let row = -1;
  for await (const page of file.pages(chunk)) {
    if (page.kind === 'dictionary') {
      yield page;
      continue;
    }
    const { entries, definitions, repetitions, values } = page;
    const kept = new Uint32Array(entries);
    const places = new Uint32Array(entries);
    let keptCount = 0;
    let placeCount = 0;
    let value = 0;
    for (let entry = 0; entry < entries; entry++) {
      if (repetitions === undefined || repetitions[entry] === 0) row++;
      const isPresent = definitions === undefined || definitions[entry] === maxDefinition;
      if (keep[row] === 1) {
        kept[keptCount++] = entry;
        if (isPresent) places[placeCount++] = value;
      }
      if (isPresent) value++;
    }
    if (keptCount === 0) continue;
    const chosen = kept.subarray(0, keptCount);
    yield {
      kind: 'data',
      entries: keptCount,
      definitions: pick(definitions, chosen),
      repetitions: pick(repetitions, chosen),
      values: selectValues(values, places.subarray(0, placeCount)),
    };
  }
  if (row + 1 === keep.length) return;
  throw new RobotsFilterError(
    'input',
    `${file.name}: column "${nameOf(chunk.leaf)}" has ${row + 1} rows in a row group of ${keep.length}. ` +
      'Write or download the file again.',
  );
}

function pick(levels: Uint8Array | undefined, entries: Uint32Array): Uint8Array | undefined {
  return levels && Uint8Array.from(entries, (entry) => levels[entry] as number);
}
