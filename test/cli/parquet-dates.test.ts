import { parquetWriteBuffer, schemaFromColumnData } from 'hyparquet-writer';
import { describe, expect } from 'vitest';
import { CHUNK, COLUMN, FILE, GROUP } from '../../src/parquet/footer.js';
import { i32, listOf, structOf, type ThriftStruct } from '../../src/parquet/thrift.js';
import { withFooter } from '../parquet/parquet-fixtures.js';
import { lines, test, type Workplace, workplace } from './command-line.js';

const RULES = (path: string): string => `User-agent: *\nDisallow: /${path}\n`;
const DAY = 86_400;
/** The number of the type INT96 in parquet.thrift, and the day from which it counts. */
const INT96 = 3;
const JULIAN_1970 = 2_440_588;
/** Two versions of a host; the third row is of another host, without a date. */
const DATES = [Date.UTC(2024, 0, 15), Date.UTC(2024, 8, 1, 8)];
const HOSTS = ['a.example', 'a.example', 'b.example'];

/** A Parquet file of robots.txt files with columns of times; each has data and a type. */
function setOf(columns: Readonly<Record<string, readonly [readonly unknown[], object]>>): Buffer {
  const columnData = [
    { name: 'host', data: HOSTS },
    { name: 'robots', data: [RULES('one'), RULES('two'), RULES('one')] },
    ...Object.entries(columns).map(([name, [data]]) => ({ name, data: [...data] })),
  ];
  const schemaOverrides = Object.fromEntries(
    Object.entries(columns).map(([name, [, type]]) => [
      name,
      { name, repetition_type: 'OPTIONAL', ...type } as never,
    ]),
  );
  const schema = schemaFromColumnData({ columnData, schemaOverrides });
  return Buffer.from(parquetWriteBuffer({ columnData, schema }));
}

const seconds = DATES.map((date) => date / 1000);
const bigints = (factor: bigint) => [...seconds.map((each) => BigInt(each) * factor), null];
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };
const texts = [...DATES.map((date) => new Date(date).toISOString()), null];
const MILLIS = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' };
const millis = [...DATES.map((date) => new Date(date)), null];

/** The verdicts on /one and /two: before the first date, from it on, before and from the second. */
const EXPECTED = ['unknown unknown', 'deny allow', 'deny allow', 'allow deny'];

async function verdicts(
  place: Workplace,
  words: string,
  second = DATES[1] ?? 0,
): Promise<string[]> {
  const times = [(DATES[0] ?? 0) - 1000, DATES[0] ?? 0, second - 1000, second];
  const asked = times.flatMap((time) =>
    ['one', 'two'].map((path) => ({
      url: `https://a.example/${path}`,
      when: new Date(time).toISOString(),
    })),
  );
  place.write('asked.ndjson', asked.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const filter = '-q --time-field when --format verdicts asked.ndjson';
  const { code, text, stderr } = await place.run(`${words} ${filter}`);
  expect(code, stderr).toBe(0);
  const found = lines(text);
  return times.map((_, index) => found.slice(2 * index, 2 * index + 2).join(' '));
}

describe('dates of Parquet robots.txt files', () => {
  test.each([
    ['text', texts, TEXT],
    ['milliseconds', millis, MILLIS],
    ['microseconds', bigints(1_000_000n), { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' }],
    [
      'nanoseconds',
      bigints(1_000_000_000n),
      { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' } },
    ],
    ['numbers', bigints(1n), { type: 'INT64' }],
    ['doubles', [...seconds.map((each) => each + 0.5), null], { type: 'DOUBLE' }],
  ] as const)('are %s', async (_, data, type) => {
    const place = workplace();
    place.write('set.parquet', setOf({ fetched: [data, type] }));
    const compiled = await place.run('compile --history --robots-dir set.parquet -o h.table');
    expect(compiled.code, compiled.stderr).toBe(0);
    expect(compiled.stderr).toContain('1 robots.txt file of 3 in set.parquet left out');
    expect(await verdicts(place, '--table h.table')).toEqual(EXPECTED);
    expect(await verdicts(place, '--robots-dir set.parquet')).toEqual(EXPECTED);
  });

  test('are days, and come from the column that --date-column names', async ({ empty: place }) => {
    const days = [...seconds.map((each) => Math.floor(each / DAY)), null];
    const day = { type: 'INT32', converted_type: 'DATE' };
    const set = setOf({ fetched: [texts.toReversed(), TEXT], crawled: [days, day] });
    place.write('d/set.parquet', set);
    const words = '--robots-dir d --date-column crawled';
    const midnight = Math.floor((DATES[1] ?? 0) / (1000 * DAY)) * 1000 * DAY;
    expect(await verdicts(place, words, midnight)).toEqual(EXPECTED);
    for (const shards of ['', '--shards 2 ']) {
      const compile = `compile -q --history ${words} ${shards}-o t${shards.length}`;
      expect(await place.run(compile)).toMatchObject({ code: 0 });
      expect(await verdicts(place, `--table t${shards.length}`, midnight)).toEqual(EXPECTED);
    }
  });

  test('are INT96', async ({ empty: place }) => {
    const days = DATES.map((date) => {
      const bytes = Buffer.alloc(12);
      const day = Math.floor(date / 1000 / DAY);
      bytes.writeBigInt64LE(BigInt(date / 1000 - day * DAY) * 1_000_000_000n);
      bytes.writeInt32LE(day + JULIAN_1970, 8);
      return new Uint8Array(bytes);
    });
    const type = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12 };
    // The same bytes are INT96, a type that the writer does not write.
    const set = withFooter(setOf({ fetched: [[...days, null], type] }), (fields) => {
      const [schema, groups] = [FILE.schema, FILE.rowGroups].map(
        (id) => listOf(fields, id)?.values as ThriftStruct[],
      );
      // The type is the first field of an element of the schema.
      schema?.at(-1)?.set(1, i32(INT96));
      for (const group of groups ?? []) {
        const chunk = listOf(group, GROUP.columns)?.values.at(-1) as ThriftStruct;
        structOf(chunk, CHUNK.metadata)?.set(COLUMN.type, i32(INT96));
      }
    });
    place.write('set.parquet', set);
    expect(await verdicts(place, '--robots-dir set.parquet')).toEqual(EXPECTED);
  });

  test('are kept by --records, too', async ({ empty: place }) => {
    place.write('set.parquet', setOf({ fetch_time: [millis, MILLIS] }));
    await place.run('compile -q --records --robots-dir set.parquet -o r.table');
    const { text } = await place.run('inspect r.table a.example');
    expect(text).toContain('2024-09-01T08:00:00Z');
    const audit = await place.run('audit --robots-dir set.parquet --format csv -a x');
    expect(audit.text).toContain('2024-09-01T08:00:00Z');
  });

  test('are left out if they are none, and the row is not', async ({ empty: place }) => {
    const odd = ['soon', '1850-01-01', '20240901080000'];
    place.write('odd.parquet', setOf({ fetched: [odd, TEXT] }));
    const compiled = await place.run('compile --history --robots-dir odd.parquet -o h.table');
    expect(compiled.code).toBe(0);
    const warnings = lines(compiled.stderr);
    expect(warnings[0]).toContain(
      'odd.parquet:1: "fetched" is "soon", not a time such as 2025-03-10T12:00:00Z; left out',
    );
    expect(warnings[1]).toContain('odd.parquet:2: "fetched" is "1850-01-01", outside 1970-01-01');
    expect(warnings[2]).toContain('2 robots.txt files of 3');
    // A duration gives way to a time; two times that differ are none.
    const took = [12, 12, 12];
    place.write(
      'two.parquet',
      setOf({
        fetched: [texts.with(2, '2024-01-15'), TEXT],
        fetch_time: [took, { type: 'DOUBLE' }],
      }),
    );
    const two = await place.run('compile -q --history --robots-dir two.parquet -o h.table');
    expect(two).toMatchObject({ code: 0, stderr: '' });
    const other = texts.with(0, '2024-01-16');
    place.write('unlike.parquet', setOf({ fetched: [texts, TEXT], fetch_time: [other, TEXT] }));
    const unlike = await place.run('compile --history --robots-dir unlike.parquet -o h.table');
    expect(unlike.stderr).toContain('but "fetch_time" is "2024-01-16"');
    // Without a history nothing of it matters.
    const plain = await place.run('compile --robots-dir odd.parquet -o p.table');
    expect(plain.stderr).not.toContain('fetched');
  });

  test('are refused where the column holds none, or has no effect', async ({ empty: place }) => {
    const flags = [[true, false, true], { type: 'BOOLEAN' }] as const;
    const floats = [[1.5, 2.5, 3.5], { type: 'FLOAT' }] as const;
    place.write('set.parquet', setOf({ fetched: flags, f: floats, when: [texts, TEXT] }));
    const compile = 'compile --history --robots-dir set.parquet -o h.table';
    for (const [words, message] of [
      [compile, 'set.parquet: no robots.txt has a date, and a history needs dates'],
      [
        `${compile} --date-column fetched`,
        'column "fetched" holds BOOLEAN, not times. Columns of times, numbers or text: host, robots, when. Use --date-column NAME.',
      ],
      [`${compile} --date-column f`, 'column "f" holds FLOAT, not times'],
      [`${compile} --date-column none`, 'there is no column "none"'],
      [
        'compile --robots-dir set.parquet --date-column when -o h.table',
        '--date-column has no effect here',
      ],
      ['--robots-dir set.parquet --date-column when', '--date-column has no effect here'],
      [
        '--robots-dir set.parquet --date-column when --preferences',
        '--date-column has no effect here',
      ],
      ['--table set.parquet --date-column when', '--date-column has no effect on a table'],
    ] as const) {
      const { code, stderr } = await place.run(words, 'https://a.example/\n');
      expect({ code, stderr }, words).toEqual({
        code: 2,
        stderr: expect.stringContaining(message),
      });
    }
    const named = await place.run(`${compile} --date-column when -q`);
    expect(named).toMatchObject({ code: 0 });
  });
});
