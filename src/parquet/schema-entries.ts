import type { AddedColumn } from './added-column.js';
import { type ThriftStruct, textOf } from './thrift.js';
import { text } from './thrift-writer.js';

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

/** The schema of Spark, as its StructType writes it. */
function extendSpark(
  value: string,
  added: readonly AddedColumn[],
  columns: readonly string[],
): string | undefined {
  const fields = added.map(({ name, type, nullable }) => ({
    name,
    type: type === 'text' ? 'string' : 'integer',
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
    const own = type === 'text' ? 'string' : 'int';
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
    pandas_type: type === 'text' ? 'unicode' : 'int32',
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
  const isDigit = (character: string) => character >= '0' && character <= '9';
  const isLetter = (character: string) =>
    (character >= 'a' && character <= 'z') ||
    (character >= 'A' && character <= 'Z') ||
    character === '_';
  return (
    name !== '' &&
    !isDigit(name.charAt(0)) &&
    [...name].every((character) => isLetter(character) || isDigit(character))
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
