import { encodeDataPage, type PageEntries } from '../../src/parquet/chunk-writer.js';
import { LZ4_RAW, UNCOMPRESSED } from '../../src/parquet/codecs.js';
import { type Leaf, PHYSICAL_TYPES, parseFooter, ROW_GROUPS } from '../../src/parquet/footer.js';
import { countOf, PageFault, type PageValues } from '../../src/parquet/page-values.js';
import { type DataPage, decodePage, HEADER } from '../../src/parquet/pages.js';
import {
  BINARY,
  encodeThrift,
  I32,
  i32,
  i64,
  integerOf,
  list,
  ParquetDamage,
  STRUCT,
  struct,
  ThriftReader,
  type ThriftStruct,
  text,
} from '../../src/parquet/thrift.js';
import type { Random } from '../../test/random/random.js';
import { agree, Fault } from '../fault.js';
import type { Target } from '../target.js';

/** Offset of the metadata in the file that is simulated around them. */
const FOOTER_OFFSET = 10_000;
/** Maximum length of a page, and maximum number of its values. Larger pages only take time. */
const MAX_PAGE = 65_536;
const DICTIONARY = 5;
const WRITABLE = { number: 0, compress: (bytes: Uint8Array) => bytes };

/**
 * The reader of Parquet. An input is `F` and metadata; or `P`, three characters that choose the
 * column and the codec, the header of a page, and the page.
 */
export const target: Target = {
  name: 'parquet',
  summary: 'the reader of Parquet, on damaged metadata and pages',
  maxBytes: 1200,
  seeds: [
    footerText(2, 3),
    ...['0000', '0600', '1610', '2610', '1100', '1000', '2001', '0700'].map((choice) =>
      pageText(choice, [0, 1, 2, 3, 4]),
    ),
    'F\x29\xfc\xff\xff\xff\xff\x07',
    `F${'\x1c'.repeat(60)}`,
    // A run of truth values that are neither 0 nor 1.
    'P0000\x15\0\x15\x1c\x15\x1c,\x15>\x15\x06\0\0?\t\xe3\x10PX\x98$\x13\x88P\x81H\n',
    `P0600\x15\0\x15\xfe\xff\xff\xff\x0f\x15\x02\0`,
  ],
  dictionary: ['\x15\x04', '\x15\x0a', '\x15\x0e', '\x2c\x15', '\xff\xff\xff\xff\x0f', '\x19\x4c'],
  generate(random) {
    if (random.chance(0.3)) return footerText(random.between(0, 3), random.between(1, 4));
    const choice = [2, 7, 2, 1].map((most) => String(random.between(0, most))).join('');
    const count = random.between(0, 40);
    return pageText(
      choice,
      Array.from({ length: count }, () => random.between(0, 4)),
    );
  },
  piece: (random: Random) =>
    String.fromCharCode(...Array.from({ length: 4 }, () => random.between(0, 255))),
  check: () => (input) => {
    const kind = String.fromCharCode(input[0] ?? 0);
    if (kind === 'F') checkFooter(input.subarray(1));
    if (kind === 'P') checkPage(input.subarray(1));
  },
};

/** The result, unless the input is refused. Any other error is a fault. */
function unlessRefused<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParquetDamage || error instanceof PageFault) return undefined;
    throw error;
  }
}

function checkFooter(bytes: Uint8Array): void {
  const fields = unlessRefused(() => new ThriftReader(bytes, 0, 0).struct());
  if (fields !== undefined) {
    const written = encodeThrift(fields);
    const again = encodeThrift(new ThriftReader(written, 0, 0).struct());
    agree('a structure that is written twice', again.toString('hex'), written.toString('hex'));
    const unread = encodeThrift(new ThriftReader(written, 0, 0).struct(ROW_GROUPS));
    agree('row groups that are not read', unread.toString('hex'), written.toString('hex'));
  }
  const footer = unlessRefused(() => parseFooter(bytes, FOOTER_OFFSET));
  if (footer === undefined) return;
  let total = 0;
  for (const group of footer.rowGroups) {
    const { columns } = group.read();
    agree('columns of a row group', columns.length, footer.leaves.length);
    for (const { start, bytes: length } of columns) {
      if (start < 4 || length < 0 || start + length > FOOTER_OFFSET) {
        throw new Fault(`a column from ${start} of ${length} bytes`);
      }
      total += length;
    }
  }
  if (total > FOOTER_OFFSET) throw new Fault(`columns of ${total} bytes`);
}

/** The column and the codec that four digits choose: levels, type, repetition levels, codec. */
function chosen(choice: string): { readonly leaf: Leaf; readonly isLz4: boolean } {
  const digit = (at: number, count: number): number => (choice.charCodeAt(at) || 0) % count;
  const type = PHYSICAL_TYPES[digit(1, PHYSICAL_TYPES.length)] ?? 'BYTE_ARRAY';
  const leaf = {
    path: ['x'],
    type,
    typeLength: type === 'FIXED_LEN_BYTE_ARRAY' ? 3 : 0,
    annotation: 'plain' as const,
    scale: 0,
    unit: 0,
    isUnsigned: false,
    maxDefinition: digit(0, 3),
    maxRepetition: digit(2, 3),
  };
  return { leaf, isLz4: digit(3, 2) === 1 };
}

function checkPage(input: Uint8Array): void {
  const { leaf, isLz4 } = chosen(Buffer.from(input.subarray(0, 4)).toString('latin1'));
  const codec = isLz4 ? LZ4_RAW : UNCOMPRESSED;
  const reader = new ThriftReader(input, 4, 0);
  const header = unlessRefused(() => reader.struct());
  if (header === undefined) return;
  const length = integerOf(header, HEADER.bytes) ?? 0;
  if (length < 0 || length > MAX_PAGE || entriesOf(header) > MAX_PAGE) return;
  const body = input.subarray(reader.at);
  for (const dictionary of [undefined, DICTIONARY]) {
    const page = unlessRefused(() => decodePage({ leaf, codec, header, body, length, dictionary }));
    if (page?.kind === 'data') checkData(page, leaf, dictionary ?? 0);
  }
}

function entriesOf(header: ThriftStruct): number {
  return Math.max(
    ...[HEADER.data, HEADER.dataV2, HEADER.dictionary].map((id) => {
      const fields = header.get(id)?.value;
      return fields instanceof Map ? (integerOf(fields, 1) ?? 0) : 0;
    }),
  );
}

/** Levels and values fit together, and come back when the page is written and read again. */
function checkData(page: DataPage, leaf: Leaf, dictionary: number): void {
  const { entries, definitions, repetitions, values } = page;
  const { maxDefinition, maxRepetition } = leaf;
  const present = definitions?.filter((level) => level === maxDefinition).length ?? entries;
  agree('the number of values', countOf(values), present);
  agree('definition levels', definitions?.length, maxDefinition === 0 ? undefined : entries);
  agree('repetition levels', repetitions?.length, maxRepetition === 0 ? undefined : entries);
  if (values.kind === 'indices' && values.indices.some((index) => index >= dictionary)) {
    throw new Fault('an index beyond the dictionary');
  }
  const { header, body } = encodeDataPage(
    { ...page, maxDefinition, maxRepetition, dictionary },
    WRITABLE,
  );
  const again = decodePage({
    leaf,
    codec: UNCOMPRESSED,
    header: new ThriftReader(header, 0, 0).struct(),
    body,
    length: body.length,
    dictionary: values.kind === 'indices' ? dictionary : undefined,
  });
  if (again.kind !== 'data') throw new Fault('data that became a dictionary');
  agree('the values of a page written again', textOf(again), textOf(page));
}

function textOf({ definitions, repetitions, values }: DataPage): string {
  return JSON.stringify([[...(definitions ?? [])], [...(repetitions ?? [])], valuesText(values)]);
}

function valuesText(values: PageValues): unknown {
  switch (values.kind) {
    case 'indices':
      return [...values.indices];
    case 'booleans':
      return [...values.values];
    case 'fixed':
      return Buffer.from(values.bytes).toString('hex');
    case 'byte arrays': {
      const { bytes, starts, ends } = values;
      return [...starts].map((start, index) =>
        Buffer.from(bytes.subarray(start, ends[index])).toString('hex'),
      );
    }
  }
}

/** A page of indices, or of integers, with these values. */
function pageText(choice: string, numbers: readonly number[]): string {
  const { leaf } = chosen(choice);
  const { maxDefinition, maxRepetition } = leaf;
  const content: PageEntries = {
    entries: numbers.length,
    maxDefinition,
    definitions: undefined,
    maxRepetition,
    repetitions: undefined,
    values: { kind: 'indices', indices: Uint32Array.from(numbers) },
    dictionary: DICTIONARY,
  };
  const bytes = Buffer.alloc(12 * numbers.length, 7);
  const fixed: PageValues = { kind: 'fixed', bytes, width: 12 };
  const values = leaf.type === 'INT96' ? fixed : content.values;
  const { header, body } = encodeDataPage({ ...content, values }, WRITABLE);
  return `P${choice}${Buffer.concat([header, body]).toString('latin1')}`;
}

function footerText(groups: number, columns: number): string {
  const names = Array.from({ length: columns }, (_, index) => `c${index}`);
  const schema = [
    new Map([
      [4, text('root')],
      [5, i32(columns)],
    ]),
    ...names.map(
      (name, index) =>
        new Map([
          [1, i32(index % 8)],
          [2, i32(3)],
          [3, i32(index % 3)],
          [4, text(name)],
        ]),
    ),
  ];
  const chunks = names.map(
    (name, index) =>
      new Map([
        [2, i64(0)],
        [
          3,
          struct([
            [1, i32(index % 8)],
            [2, list(I32, [0])],
            [3, list(BINARY, [Buffer.from(name)])],
            [4, i32(0)],
            [5, i64(7)],
            [6, i64(100)],
            [7, i64(100)],
            [9, i64(4 + 100 * index)],
          ]),
        ],
      ]),
  );
  const group = new Map([
    [1, list(STRUCT, chunks)],
    [2, i64(100)],
    [3, i64(7)],
  ]);
  const footer = new Map([
    [1, i32(2)],
    [2, list(STRUCT, schema)],
    [3, i64(7 * groups)],
    [4, list(STRUCT, new Array<ThriftStruct>(groups).fill(group))],
  ]);
  return `F${encodeThrift(footer).toString('latin1')}`;
}
