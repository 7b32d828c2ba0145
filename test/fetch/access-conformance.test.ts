import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchResult } from '../../src/fetch/result.js';
import { Store } from '../../src/fetch/store.js';
import { Table } from '../../src/judge/table.js';
import { compileCache } from '../../src/pipeline/compile/compile-cache.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { accessResultOf } from '../../src/protocol/verdict.js';

const FILE = fileURLToPath(
  new URL('../../fixtures/conformance/access-results.ndjson', import.meta.url),
);
const DAY = 24 * 60 * 60 * 1000;

interface AccessCase {
  readonly id: string;
  readonly source: string;
  readonly clause: string;
  readonly robots: string;
  readonly agent: string;
  readonly url: string;
  readonly expect: 'allow' | 'deny';
  /** 0 where there was no response. */
  readonly status: number;
  readonly error?: string;
  readonly redirects?: number;
  readonly final_robots_url?: string;
  readonly unreachable_days?: number;
  readonly cached?: boolean;
}

const CASES = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as AccessCase);

let root: string;
let number = 0;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'robots-access-'));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What a fetcher makes of a case; its own tests show that it does. */
function resultOf(testCase: AccessCase, time: number): FetchResult {
  const { status, error, robots, url, redirects = 0 } = testCase;
  const parsed = parseAuthority(url);
  if (parsed?.scheme === undefined) throw new Error(url);
  const own = `${new URL(url).origin}/robots.txt`;
  const accessResult = error === undefined ? accessResultOf(status) : 'unreachable';
  const chain = [own];
  for (let step = 1; step < redirects; step++) chain.push(`${own}?${step}`);
  if (testCase.final_robots_url !== undefined) chain.push(testCase.final_robots_url);
  return {
    authority: { ...parsed, scheme: parsed.scheme },
    accessResult,
    status: status === 0 ? undefined : status,
    error: error === undefined ? undefined : { code: 'connect-failed', message: error },
    chain,
    body: accessResult === 'successful' ? Buffer.from(robots) : undefined,
    notModified: false,
    cut: false,
    headers: {},
    policy: undefined,
    retryAfter: undefined,
    requestedAt: time,
    respondedAt: time,
  };
}

async function verdictOf(testCase: AccessCase, now: number): Promise<string> {
  const directory = join(root, String(number++));
  let time = now - (testCase.unreachable_days ?? 0) * DAY;
  const store = await Store.open(directory, { now: () => time });
  const result = resultOf(testCase, time);
  if (testCase.cached === true) {
    const earlier = { ...testCase, status: 200, unreachable_days: 0 };
    await store.save(resultOf(earlier, time - DAY), undefined);
  }
  await store.save(result, (await store.load(result.authority)).state);
  // An attempt a day, as those who fetch what has gone stale make it.
  while (time !== now) {
    time = Math.min(time + DAY, now);
    await store.save(resultOf(testCase, time), (await store.load(result.authority)).state);
  }
  const { layout } = await compileCache([directory], {
    profile: testCase.source.startsWith('draft') ? 'draft-koster-rep-00' : 'rfc9309',
    fetchReading: { now },
    onWarning({ path, message }) {
      throw new Error(`${path}: ${message}`);
    },
  });
  return Table.from(layout.table()).verdict(testCase.url, testCase.agent).verdict;
}

describe('access results: from what a fetch came to, by way of the store, to the verdict', () => {
  it.each(CASES)('$clause ($source): $id: $status means $expect', async (testCase) => {
    expect(await verdictOf(testCase, Date.UTC(2026, 5, 1))).toBe(testCase.expect);
  });

  it('covers all cases of the file', () => {
    expect(CASES).toHaveLength(42);
    expect(CASES.filter(({ expect }) => expect === 'deny').length).toBeGreaterThan(15);
  });
});
