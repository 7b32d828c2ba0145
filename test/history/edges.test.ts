import { parquetWriteBuffer, schemaFromColumnData } from 'hyparquet-writer';
import { describe, expect } from 'vitest';
import { Table } from '../../src/judge/table.js';
import { VERDICTS } from '../../src/protocol/verdict.js';
import { lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { GREETING, parseOutput, words } from '../serve/frames.js';

/** The first and the last second of which a table can know, and one whose sign bit is set. */
const FIRST = 1;
const MIDDLE = 2 ** 31;
const LAST = 0xffff_fffe;
const STARTS = [FIRST, MIDDLE, LAST];

/** The year 9999, which texts and numbers can state. */
const FAR = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

/** Seconds since 1970 with their milliseconds, and how many versions have begun by then. */
const CASES: readonly (readonly [seconds: number, begun: number])[] = [
  [-1, 0],
  [0, 0],
  [0.999, 0],
  [FIRST, 1],
  [1.999, 1],
  [MIDDLE - 1, 1],
  [MIDDLE - 0.001, 1],
  [MIDDLE, 2],
  [MIDDLE + 1, 2],
  [LAST - 1, 2],
  [LAST - 0.001, 2],
  [LAST, 3],
  [LAST + 0.999, 3],
  [LAST + 1, 3],
  [2 ** 32, 3],
  [2 ** 32 + 1, 3],
  [FAR, 3],
];

const URLS = [1, 2, 3].map((version) => `https://e.example/${version}`);

/** The verdicts on `URLS` once so many versions have begun: each denies its own number. */
function verdictsOf(begun: number): string[] {
  if (begun === 0) return ['unknown', 'unknown', 'unknown'];
  return [1, 2, 3].map((version) => (version === begun ? 'deny' : 'allow'));
}

/** A request of `serve` whose URLs have times, and its agents. */
const WITH_TIMES = 4;
const AGENTS = '["*"]';

const isoOf = (seconds: number): string => new Date(Math.round(1000 * seconds)).toISOString();

/** A record for each case and URL. */
const RECORDS = CASES.flatMap(([seconds]) => URLS.map((url) => ({ url, seconds })));
const WANTED = CASES.flatMap(([, begun]) => verdictsOf(begun));

async function compiled(): Promise<Workplace> {
  const it = workplace();
  const records = STARTS.map((start, at) => ({
    host: 'e.example',
    robots: `User-agent: *\nDisallow: /${at + 1}\n`,
    fetched: isoOf(start),
  }));
  it.write('robots.ndjson', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const { code, stderr } = await it.run('compile --history --robots-dir robots.ndjson -o t.table');
  expect(code, stderr).toBe(0);
  // The last of them are to come.
  expect(stderr).toContain('has a date to come, and counts as the newest');
  return it;
}

/** A Parquet file of the records, whose times are of a type. */
function parquet(times: readonly unknown[], override: object): Buffer {
  const columnData = [
    { name: 'url', data: RECORDS.map(({ url }) => url) },
    { name: 't', data: [...times] },
  ];
  const element = { name: 't', repetition_type: 'OPTIONAL', ...override } as never;
  const schema = schemaFromColumnData({ columnData, schemaOverrides: { t: element } });
  return Buffer.from(parquetWriteBuffer({ columnData, schema }));
}

const MICROSECONDS = RECORDS.map(({ seconds }) => BigInt(Math.round(1000 * seconds)) * 1000n);

const INPUTS: Readonly<Record<string, string | Buffer>> = {
  NDJSON: RECORDS.map(({ url, seconds }) => `${JSON.stringify({ url, t: isoOf(seconds) })}\n`).join(
    '',
  ),
  CSV: `url,t\n${RECORDS.map(({ url, seconds }) => `${url},${isoOf(seconds)}\n`).join('')}`,
  TSV: `t\turl\n${RECORDS.map(({ url, seconds }) => `${isoOf(seconds)}\t${url}\n`).join('')}`,
  Parquet: parquet(MICROSECONDS, { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' }),
  'Parquet of text': parquet(
    RECORDS.map(({ seconds }) => isoOf(seconds)),
    { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  ),
};

describe('the first, the middle and the last time of a table', () => {
  test.each(Object.entries(INPUTS))('are those of records: %s', async (_what, input) => {
    const it = await compiled();
    it.write('input', input);
    const args = '-q --table t.table --time-field t --url-field url --format verdicts input';
    const { code, text, stderr } = await it.run(args);
    expect(code, stderr).toBe(0);
    expect(lines(text)).toEqual(WANTED);
  });

  test.each([
    ['seconds', 1],
    ['milliseconds', 1000],
  ])('are those of numbers that are %s', async (_what, factor) => {
    const it = await compiled();
    // Smaller numbers are no times, and greater ones are no seconds.
    const isRead = (seconds: number): boolean => {
      return seconds > 100_000_000 && (factor === 1000 || seconds < 100_000_000_000);
    };
    const read = CASES.filter(([seconds]) => isRead(seconds));
    expect(read.length).toBeGreaterThan(10);
    const records = read.flatMap(([seconds]) =>
      URLS.map(
        (url) => `${JSON.stringify({ url, t: Math.round(1000 * seconds) / (1000 / factor) })}\n`,
      ),
    );
    it.write('input.ndjson', records.join(''));
    const { text } = await it.run(
      '-q --table t.table --time-field t --format verdicts input.ndjson',
    );
    expect(lines(text)).toEqual(read.flatMap(([, begun]) => verdictsOf(begun)));
  });

  test('are those of --as-of, and of the library', async () => {
    const it = await compiled();
    it.write('urls.txt', URLS.map((url) => `${url}\n`).join(''));
    const table = await Table.open(`${it.path}/t.table`, { verify: true });
    for (const [seconds, begun] of CASES) {
      const wanted = verdictsOf(begun);
      const date = isoOf(seconds);
      const milliseconds = Math.round(1000 * seconds);
      for (const at of [milliseconds, new Date(milliseconds)]) {
        const one = URLS.map((url) => table.verdict(url, 'bot', { at }).verdict);
        expect(one, date).toEqual(wanted);
        expect(table.verdicts(URLS, 'bot', { at }), date).toEqual(wanted);
      }
      const each = URLS.map(() => milliseconds);
      expect(table.verdicts(URLS, 'bot', { at: each }), date).toEqual(wanted);
      const args = [
        '-q',
        '--table',
        't.table',
        '--as-of',
        date,
        '--format',
        'verdicts',
        'urls.txt',
      ];
      const { code, text, stderr } = await it.run(args);
      expect({ code, stderr, verdicts: lines(text) }, date).toEqual({
        code: 0,
        stderr: '',
        verdicts: wanted,
      });
    }
  });

  test('are those of the frames of serve, whose last word is no time', async () => {
    const it = await compiled();
    const asked = CASES.filter(([seconds]) => Number.isInteger(seconds) && seconds >= 0);
    const known = asked.filter(([seconds]) => seconds <= LAST);
    const times = [...known.map(([seconds]) => seconds), 0xffff_ffff];
    const urls = times.flatMap(() => URLS).map((url) => Buffer.from(url));
    let at = 0;
    const offsets = [0, ...urls.map(({ length }) => (at += length))];
    const input = Buffer.concat([
      GREETING,
      words(1, WITH_TIMES, AGENTS.length, urls.length, at),
      Buffer.from(AGENTS.padEnd(8, '\0')),
      words(...times.flatMap((time) => [time, time, time]), ...offsets),
      ...urls,
    ]);
    const { code, stdout, stderr } = await it.runAlone('serve --table t.table', input);
    expect(code, stderr).toBe(0);
    const [answer] = parseOutput(stdout).answers;
    const verdicts = [...(answer?.content ?? [])].map((verdict) => VERDICTS[verdict]);
    const wanted = known.flatMap(([, begun]) => verdictsOf(begun));
    expect(verdicts).toEqual([...wanted, 'invalid', 'invalid', 'invalid']);
  });

  test('are those between which --max-age counts', async () => {
    const it = await compiled();
    const day = 86_400;
    const ask = async (seconds: number, age: string): Promise<string> => {
      it.write('in.ndjson', `${JSON.stringify({ url: URLS[0], t: isoOf(seconds) })}\n`);
      const args = `-q --table t.table --time-field t --max-age ${age} --explain in.ndjson`;
      const { text, stderr } = await it.run(args);
      return text === '' ? stderr : (JSON.parse(text) as { reason: string }).reason;
    };
    const days = Math.floor((MIDDLE - 1) / day);
    expect(await ask(FIRST + days * day, `${days}d`)).toBe('rule');
    expect(await ask(FIRST + days * day + 1, `${days}d`)).toBe('no-recent-capture');
    expect(await ask(LAST, '1d')).toBe('no-rule');
    expect(await ask(LAST + 1, '1d')).toBe('no-rule');
    expect(await ask(FAR, '1d')).toBe('no-rule');
  });
});
