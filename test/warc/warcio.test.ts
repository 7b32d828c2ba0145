import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  bodyOf,
  type OracleCapture,
  type OracleVersion,
  versionAt,
  versionsOf,
} from '../../oracle/captures.js';
import { verdictOf } from '../../oracle/verdict.js';
import { lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { ROOT } from '../docs/scratch.js';

/** WARC files that warcio wrote, and what their records say: fixtures/warc/make.py. */
const FIXTURES = join(ROOT, 'fixtures/warc/archive');
const FILES = ['a.warc.gz', 'b.warc.gz', 'c.warc', 'd.warc.gz'];
const CAPTURES = lines(readFileSync(join(ROOT, 'fixtures/warc/captures.ndjson'), 'utf8')).map(
  (line) => JSON.parse(line) as OracleCapture,
);

const URLS = [...new Set(CAPTURES.map(({ url }) => url))].filter((url) =>
  url.endsWith('/robots.txt'),
);
const PATHS = [...new Set(CAPTURES.flatMap(({ robots = '' }) => /\/.*/.exec(robots) ?? []))];
const PAGES = CAPTURES.map(({ url }) => url).filter((url) => !url.endsWith('/robots.txt'));

const VERSIONS = new Map(URLS.map((url) => [url, versionsOf(CAPTURES, url)]));

/** The seconds in which something was captured, and those beside them. */
const TIMES = timesBeside(CAPTURES.map(({ date }) => Math.floor(Date.parse(date) / 1000)));
const DAY = 86_400;
const MAX_AGE = 2;

function timesBeside(seconds: readonly number[]): number[] {
  const times = new Set(seconds.flatMap((second) => [second - 1, second, second + 1]));
  return [...times].sort((a, b) => a - b);
}

/** A question about a page of a host at a time. */
interface Question {
  readonly robots: string;
  readonly url: string;
  readonly time: number;
}

function questionsAt(times: readonly number[], paths = PATHS): Question[] {
  return times.flatMap((time, at) =>
    URLS.flatMap((robots) => {
      // Each rule that is there, and another.
      const { state } = versionAt(VERSIONS.get(robots) ?? [], time) ?? {};
      const own = typeof state === 'object' ? (state[0]?.rules[0]?.pattern ?? '/') : '/';
      return [own, paths[at % paths.length] as string].map((path) => ({
        robots,
        url: new URL(path, robots).href,
        time,
      }));
    }),
  );
}

/** A record of the answer, as far as it is compared. */
interface Answer {
  readonly verdict: string;
  readonly reason: string;
  readonly rule?: { readonly line: number; readonly source: string };
  readonly since?: string;
}

function expectedOf({ robots, url, time }: Question, maxAge = Number.POSITIVE_INFINITY): unknown {
  const versions = VERSIONS.get(robots) ?? [];
  const version = versionAt(versions, time);
  const unknown = (reason: string): unknown => ({ verdict: 'unknown', reason });
  if (versions.length === 0) return unknown('unknown-host');
  if (version === undefined) return unknown('before-first-capture');
  const { state, confirmed } = version;
  if (state === 'unknown') return unknown('unknown-host');
  if (time - confirmed > maxAge) return unknown('no-recent-capture');
  return { version, ...judged(version, url) };
}

function judged({ state }: OracleVersion, url: string): object {
  if (state === 'unavailable') return { verdict: 'allow', reason: 'unavailable' };
  if (typeof state === 'string') return { verdict: 'deny', reason: 'unreachable' };
  const { verdict, line } = verdictOf(state, 'rfc9309', ['bot'], url);
  return line === 0 ? { verdict, reason: 'no-rule' } : { verdict, reason: 'rule', line };
}

/** Compares answers with what the captures say; counts the reasons, and how often rules decided. */
async function compare(
  it: Workplace,
  table: string,
  questions: readonly Question[],
  { args = '', maxAge }: { args?: string; maxAge?: number } = {},
): Promise<Map<string, number>> {
  const records = questions.map(({ url, time }) => `${JSON.stringify({ url, t: time })}\n`);
  it.write('asked.ndjson', records.join(''));
  const { text, stderr } = await it.run(
    `-q --table ${table} --time-field t --explain -a bot${args} asked.ndjson`,
  );
  const answers = lines(text).map((line) => JSON.parse(line) as Answer);
  expect(answers.length, stderr).toBe(questions.length);
  const seen = new Map<string, number>();
  for (const [at, question] of questions.entries()) {
    const { verdict, reason, rule } = answers[at] as Answer;
    const wanted = expectedOf(question, maxAge) as Answer & {
      line?: number;
      version?: OracleVersion;
    };
    seen.set(reason, (seen.get(reason) ?? 0) + 1);
    const got = { verdict, reason, line: rule?.line };
    const { verdict: v, reason: r, line } = wanted;
    const what = `${question.url} at ${new Date(question.time * 1000).toISOString()}`;
    expect(got, what).toEqual({ verdict: v, reason: r, line });
    if (rule === undefined) continue;
    // The capture that is named had these rules then.
    const source = CAPTURES.find(({ file, offset }) => `${file}:${offset}` === rule.source);
    if (source === undefined) throw new Error(`${rule.source}: ${what}`);
    expect(Date.parse(source.date), what).toBeLessThan(1000 * (question.time + 1));
    expect(bodyOf(CAPTURES, source), what).toEqual(wanted.version?.state);
  }
  return seen;
}

describe('WARC files that warcio wrote', () => {
  test.each([
    ['in their order', FILES.map((name) => `--robots-dir ${FIXTURES}/${name}`).join(' ')],
    ['as a directory, in shards', `--robots-dir ${FIXTURES} --shards 3`],
  ])('have at each second the rules of the captures until then: %s', async (_how, sources) => {
    const it = workplace();
    const { code, stderr } = await it.run(`compile --history ${sources} -o t.table`);
    expect(code, stderr).toBe(0);
    const seen = await compare(it, 't.table', questionsAt(TIMES));
    for (const reason of [
      'rule',
      'no-rule',
      'unavailable',
      'unreachable',
      'unknown-host',
      'before-first-capture',
    ]) {
      expect(seen.get(reason) ?? 0, reason).toBeGreaterThan(20);
    }
    const again = timesBeside(
      [...VERSIONS.values()].flat().map(({ confirmed }) => confirmed + MAX_AGE * DAY),
    );
    const aged = await compare(it, 't.table', questionsAt([...TIMES, ...again]), {
      args: ` --max-age ${MAX_AGE}d`,
      maxAge: MAX_AGE * DAY,
    });
    expect(aged.get('no-recent-capture')).toBeGreaterThan(100);
    expect((await it.run('inspect --verify t.table')).code).toBe(0);
  });

  test('say the same as the captures that are printed of them', async () => {
    const it = workplace();
    it.write('pages.txt', PAGES.map((url) => `${url}\n`).join(''));
    const sources = FILES.map((name) => `${FIXTURES}/${name}`).join(' ');
    const printed = await it.run(`captures --targets pages.txt ${sources}`);
    it.write('c.captures.ndjson', printed.stdout);
    const all = await it.run(`captures ${sources}`);
    it.write('all.captures.ndjson', all.stdout);
    const { code, stderr } = await it.run(
      'compile --history --robots-dir all.captures.ndjson --robots-dir c.captures.ndjson -o t.table',
    );
    expect(code, stderr).toBe(0);
    await compare(it, 't.table', questionsAt(TIMES));
  });
});
