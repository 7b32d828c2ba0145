import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Robots, type UseJudgement } from '../../src/library/index.js';
import { Workplace } from '../cli/command-line.js';
import { Random } from '../random/random.js';
import { drawnFile, TARGETS } from './uses.js';

/*
 * The command line against the library, which the slow model has checked: every output of --use,
 * on drawn files, from directories of records, tables and tables in shards.
 */

const HOSTS = 120;
const AGENTS = ['bot', 'image:bot'];
const USES = ['train', 'search'];
const POLICY = ['--policy-token', 'train=NoTrain'];

const place = new Workplace(false);
const files = new Map<string, Robots>();
const urls: string[] = [];

/** What is expected of a URL for an agent. */
interface Expected {
  readonly verdict: string;
  /** In the order of USES. */
  readonly uses: readonly UseJudgement[];
}

const judged = new Map<string, Expected>();

/** Each test has the same URLs, and the library takes longer for them than the command line. */
function expectedOf(url: string, agent: string): Expected {
  const key = `${agent} ${url}`;
  const known = judged.get(key) ?? judgedByLibrary(url, agent);
  judged.set(key, known);
  return known;
}

function judgedByLibrary(url: string, agent: string): Expected {
  const robots = files.get(new URL(url).hostname);
  if (robots === undefined) {
    const none = { answer: undefined, reason: 'not-allowed' } as const;
    return { verdict: 'unknown', uses: USES.map(() => none) };
  }
  const policyToken = 'NoTrain';
  return {
    verdict: robots.verdict(url, agent).verdict,
    uses: USES.map((use) => robots.use(url, agent, use, use === 'train' ? { policyToken } : {})),
  };
}

const answersOf = ({ uses }: Expected): string[] => uses.map(({ answer = '' }) => answer);

/** Whether a record passes --allowed. */
function passes(url: string, requiresGrant: boolean): boolean {
  return AGENTS.every((agent) => {
    const { verdict, uses } = expectedOf(url, agent);
    const isOut = ({ answer }: UseJudgement): boolean =>
      answer === 'refused' || (requiresGrant && answer === 'unstated');
    return verdict === 'allow' && !uses.some(isOut);
  });
}

/** Whether a record passes --denied. */
function isDenied(url: string): boolean {
  return AGENTS.some((agent) => {
    const { verdict, uses } = expectedOf(url, agent);
    return verdict === 'deny' || uses.some(({ answer }) => answer === 'refused');
  });
}

async function run(...words: string[]): Promise<string> {
  const { code, text, stderr } = await place.run([...words, ...POLICY, '-q', 'urls.txt']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return text;
}

const ASKED = ['-a', AGENTS.join(), '--use', USES.join()];
const TABLE = ['--table', 'whole.table'];

beforeAll(async () => {
  const records: string[] = [];
  for (let host = 0; host < HOSTS; host++) {
    const name = `h${host}.example`;
    const text = drawnFile(new Random(9100 + host));
    files.set(name, Robots.parse(text));
    records.push(`${JSON.stringify({ host: name, robots: text })}\n`);
  }
  const random = new Random(5);
  for (let index = 0; index < 1500; index++) {
    const host = random.chance(0.03) ? 'unknown' : `h${random.between(0, HOSTS - 1)}`;
    urls.push(`https://${host}.example${random.pick(TARGETS)}`);
  }
  place.write('robots.ndjson', records.join(''));
  place.write('urls.txt', `${urls.join('\n')}\n`);
  const compile = ['compile', '--signals', '--robots-dir', 'robots.ndjson', '-q'];
  for (const output of [
    ['-o', 'whole.table'],
    ['--shards', '3', '-o', 'shards'],
    ['-a', 'bot,image,NoTrain', '-o', 'small.table'],
  ]) {
    expect(await place.run([...compile, ...output])).toMatchObject({ code: 0, stderr: '' });
  }
  expect(
    (await place.run('compile --robots-dir whole.table --signals -q -o again.table')).code,
  ).toBe(0);
});

afterAll(() => place.remove());

const SOURCES = [
  ['robots.txt files', ['--robots-dir', 'robots.ndjson']],
  ['a table', TABLE],
  ['a table on two threads', [...TABLE, '--threads', '2']],
  ['a table in shards', ['--table', 'shards', '--threads', '2']],
  ['a reduced table', ['--table', 'small.table']],
  ['a table of a table', ['--table', 'again.table']],
] as const;

describe('--use of the filter', () => {
  it.each(SOURCES)('answers from %s as the library does', async (_name, source) => {
    const text = await run(...source, ...ASKED);
    const seen = new Set<string>();
    const expected = urls.map((url) => {
      const each = AGENTS.map((agent) => expectedOf(url, agent));
      const answers = each.flatMap(answersOf);
      for (const answer of answers) seen.add(answer);
      return `${each.map(({ verdict }) => verdict).join()}\t${answers.join()}\t${url}`;
    });
    expect(text.trimEnd().split('\n')).toEqual(expected);
    expect(seen).toEqual(new Set(['granted', 'refused', 'unstated', '']));
  });

  it('explains each answer in NDJSON', async () => {
    const text = await run(...TABLE, ...ASKED, '--format', 'ndjson', '--explain');
    const records = text.trimEnd().split('\n');
    expect(records.length).toBe(urls.length);
    let signals = 0;
    for (const [index, line] of records.entries()) {
      const record = JSON.parse(line);
      for (const agent of AGENTS) {
        const { uses } = expectedOf(urls[index] as string, agent);
        for (const [at, { answer = null, reason, signal }] of uses.entries()) {
          const key = `${agent} ${USES[at]}`;
          expect(record.use[key]).toBe(answer);
          expect(record.use_reasons[key]).toBe(reason);
          const { source: _, ...found } = record.signals?.[key] ?? {};
          expect(found).toEqual(signal ?? {});
          if (signal !== undefined) signals++;
        }
      }
    }
    expect(signals).toBeGreaterThan(urls.length / 2);
  });

  it('has the members of one answer for one agent and use', async () => {
    const one = ['-a', 'bot', '--use', 'train', '--format', 'ndjson', '--explain'];
    const text = await run(...TABLE, ...one);
    for (const [index, line] of text.trimEnd().split('\n').entries()) {
      const { use, use_reason: reason, signal } = JSON.parse(line);
      const [expected] = expectedOf(urls[index] as string, 'bot').uses;
      expect({ use, reason, line: signal?.line }).toEqual({
        use: expected?.answer ?? null,
        reason: expected?.reason,
        line: expected?.signal?.line,
      });
    }
  });

  it('has columns in CSV, with quotes doubled', async () => {
    const text = await run(...TABLE, ...ASKED, '--format', 'csv', '--explain');
    const [header = '', ...rows] = text.trimEnd().split('\n');
    const names = header.split(',');
    expect(names.slice(0, 7)).toEqual([
      'url',
      'verdict_bot',
      'verdict_image:bot',
      'use_bot_train',
      'use_bot_search',
      'use_image:bot_train',
      'use_image:bot_search',
    ]);
    expect(names).toContain('use_signal_image:bot_search');
    expect(names.length).toBe(7 + 5 * 2 + 5 * 4);
    expect(rows.length).toBe(urls.length);
    for (const [index, row] of rows.entries()) {
      const each = AGENTS.map((agent) => expectedOf(urls[index] as string, agent));
      const own = [...each.map(({ verdict }) => verdict), ...each.flatMap(answersOf)];
      expect(row.split(',').slice(1, 7)).toEqual(own);
    }
  });

  it('passes with --allowed and --denied what the answers say', async () => {
    const lines = async (...words: string[]): Promise<string[]> => {
      const text = await run(...TABLE, ...ASKED, ...words);
      return text === '' ? [] : text.trimEnd().split('\n');
    };
    const some = await lines('--allowed');
    expect(some).toEqual(urls.filter((url) => passes(url, false)));
    const granted = await lines('--allowed', '--require-grant');
    expect(granted).toEqual(urls.filter((url) => passes(url, true)));
    expect(await lines('--denied')).toEqual(urls.filter(isDenied));
    expect(granted.length).toBeGreaterThan(0);
    expect(some.length).toBeGreaterThan(granted.length);
    const mask = await lines('--format', 'mask-ndjson', '--require-grant');
    expect(mask).toEqual(urls.map((url) => `{"allowed":${passes(url, true)}}`));
  });

  it('adds columns to Parquet, and chooses its rows', async () => {
    const data = urls.map((url) => url);
    const columnData = [{ name: 'url', data, type: 'STRING' as const }];
    place.write('urls.parquet', new Uint8Array(parquetWriteBuffer({ columnData })));
    const rowsOf = async (...words: string[]) => {
      const options = [...TABLE, ...ASKED, ...POLICY, ...words, '-q', '-o', 'out.parquet'];
      const { code, stderr } = await place.run([...options, 'urls.parquet']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const bytes = readFileSync(join(place.path, 'out.parquet'));
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      return parquetReadObjects({ file: file as ArrayBuffer });
    };
    for (const explain of [[], ['--explain']]) {
      const rows = await rowsOf(...explain);
      expect(rows.length).toBe(urls.length);
      for (const [index, row] of rows.entries()) {
        const url = urls[index] as string;
        for (const agent of AGENTS) {
          const { verdict, uses } = expectedOf(url, agent);
          expect(row[`verdict_${agent}`]).toBe(verdict);
          for (const [at, { answer, signal }] of uses.entries()) {
            const ending = `_${agent}_${USES[at]}`;
            expect(row[`use${ending}`] ?? undefined).toBe(answer);
            if (explain.length > 0)
              expect(row[`use_signal${ending}`] ?? undefined).toBe(signal?.text);
          }
        }
      }
    }
    const chosen = await rowsOf('--allowed', '--require-grant');
    expect(chosen.map(({ url }) => url)).toEqual(urls.filter((url) => passes(url, true)));
    const denied = await rowsOf('--denied');
    expect(denied.map(({ url }) => url)).toEqual(urls.filter(isDenied));
  });

  it('counts answers with --stats-by and in the statistics', async () => {
    const answers = { granted: 0, refused: 0, unstated: 0 };
    const ofHosts = new Map<string, number>();
    for (const url of urls) {
      const [{ answer } = {}] = expectedOf(url, 'bot').uses;
      if (answer === undefined) continue;
      answers[answer]++;
      if (answer === 'granted') {
        const { hostname } = new URL(url);
        ofHosts.set(hostname, (ofHosts.get(hostname) ?? 0) + 1);
      }
    }
    const asked = [...TABLE, '-a', 'bot', '--use', 'train', '--format', 'ndjson'];
    const [agent] = (await run(...asked, '--stats-by', 'agent')).trimEnd().split('\n');
    expect(JSON.parse(agent ?? '')).toMatchObject(answers);
    const hosts = (await run(...asked, '--stats-by', 'host')).trimEnd().split('\n');
    const counted = hosts
      .map((line) => JSON.parse(line))
      .filter(({ granted }) => granted > 0)
      .map(({ host, granted }) => [host, granted] as const);
    expect(new Map(counted)).toEqual(ofHosts);
    const sum = { granted: 0, refused: 0, unstated: 0 };
    for (const line of hosts) {
      const row = JSON.parse(line);
      for (const key of ['granted', 'refused', 'unstated'] as const) sum[key] += row[key];
    }
    expect(sum).toEqual(answers);
    const reasons = (await run(...asked, '--stats-by', 'reason')).trimEnd().split('\n');
    const records = reasons
      .map((line) => JSON.parse(line))
      .filter(({ use }) => use === 'train')
      .reduce((total, { records: count }) => total + count, 0);
    expect(records).toBe(answers.granted + answers.refused + answers.unstated);
    const json = await place.run([...asked, ...POLICY, '--stats=json', 'urls.txt']);
    const { uses } = JSON.parse(json.stderr.trimEnd().split('\n').at(-1) ?? '');
    expect(uses).toMatchObject([{ agent: 'bot', use: 'train', answers }]);
  });
});

describe('what --use refuses or warns of', () => {
  it.each([
    [
      'a table without signals',
      '--table none.table --use train',
      'Compile it again with --signals',
    ],
    ['a use that is none', '--table whole.table --use a/b', 'is no purpose and no key'],
    ['a use twice', '--table whole.table --use train,TRAIN', 'is named twice'],
    [
      'a policy token without its use',
      '--table whole.table --policy-token train=x',
      'has no effect',
    ],
    [
      'a policy token that is none',
      '--table whole.table --use train --policy-token train=a.b',
      'is not a product token',
    ],
    ['a grant without a use', '--table whole.table --require-grant --allowed', 'without --use'],
    [
      'a grant where all pass',
      '--table whole.table --use train --require-grant',
      'where all records',
    ],
    ['rules', '--table whole.table --use train --stats-by rule', 'which counts rules'],
    [
      'a policy token that was left out',
      '--table small.table -a bot --use train --policy-token train=gone',
      'for some agents only',
    ],
    [
      'a member of the name',
      '--table whole.table --use train --url-field use --format ndjson',
      'Choose another name',
    ],
  ])('%s', async (_name, words, message) => {
    await place.run('compile --robots-dir robots.ndjson -q -o none.table');
    const { code, text, stderr } = await place.run(`${words} urls.txt`);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  });

  it('a use of which nothing speaks', async () => {
    const { code, stderr } = await place.run('--table whole.table --use trian -a bot urls.txt');
    expect(code).toBe(0);
    expect(stderr).toContain('says anything about trian, so each answer is unstated. Keys');
  });

  it('a source without signals', async () => {
    await place.run('compile --robots-dir robots.ndjson -q -o none.table');
    const compiled = await place.run('compile --signals --robots-dir none.table -o x.table');
    expect(compiled.code).toBe(2);
    expect(compiled.stderr).toContain('was compiled without --signals');
  });
});
