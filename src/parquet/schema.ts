import { ParquetDamage } from './damage.js';
import { integerOf, structOf, type ThriftStruct, textOf } from './thrift.js';

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
export type Annotation =
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
export function schemaLeaves(elements: readonly ThriftStruct[], offset: number): Leaf[] {
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
function annotationOf(element: ThriftStruct): Pick<Leaf, 'annotation' | 'scale'> {
  const logical = structOf(element, LOGICAL_TYPE);
  const [field] = logical?.keys() ?? [];
  const converted = integerOf(element, CONVERTED_TYPE);
  const annotation =
    (field === undefined ? undefined : LOGICAL_TYPES.get(field)) ??
    (converted === undefined ? undefined : CONVERTED_TYPES.get(converted)) ??
    (field === undefined && converted === undefined ? 'plain' : 'an unknown type');
  if (annotation !== 'decimal') return { annotation, scale: 0 };
  const decimal = logical === undefined ? undefined : structOf(logical, field ?? 0);
  const scale = decimal === undefined ? undefined : integerOf(decimal, 1);
  return { annotation, scale: scale ?? integerOf(element, SCALE) ?? 0 };
}
