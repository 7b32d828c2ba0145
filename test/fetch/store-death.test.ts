import { spawnSync } from 'node:child_process';
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Store } from '../../src/fetch/store.js';
import { temporaryName } from '../../src/fetch/store-files.js';
import { parseFetchState } from '../../src/sources/fetch-state.js';
import { EXAMPLE, fetchResult, ROBOTS } from './fetch-results.js';

const START = Date.UTC(2026, 0, 1);
const LATER = START + 2 * 24 * 60 * 60 * 1000;
const OLD_ROBOTS = `${ROBOTS}disallow: /old\n`;

/** The id of a process that has ended. */
const DEAD = spawnSync(process.execPath, ['-e', '']).pid;

let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'robots-death-'));
  directory = join(root, 'https/example.com');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** What a store has of an authority: the text of each file by its name. */
type Files = Readonly<Record<string, string>>;

function filesOf(): Files {
  const options = { recursive: true, withFileTypes: true } as const;
  const found = fs.existsSync(directory) ? readdirSync(directory, options) : [];
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    paths.map((path) => [relative(directory, path), readFileSync(path, 'utf8')]),
  );
}

function isTemporary(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

function withoutTemporaries(files: Files): Files {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isTemporary(path)));
}

/**
 * Takes the files of further versions away, if the robots.txt and the robots.json of each are those
 * of one of the findings.
 */
function withoutRepeated(
  files: Files,
  kept: readonly (readonly [string, string])[],
  findings: readonly Files[],
): { kept: number; others: Files } {
  const further = Object.keys(files).filter(
    (path) => path.startsWith('history/') && !kept.some(([known]) => known === path),
  );
  const known = findings.flatMap((finding) => Object.values(finding));
  for (const path of further) expect(known).toContain(files[path]);
  const others = Object.entries(files).filter(([path]) => !further.includes(path));
  return { kept: further.length, others: Object.fromEntries(others) };
}

interface Answer {
  readonly status: number;
  readonly robots?: string;
}

/** One fetch, as the schedule makes it: nothing is asked while the finding is fresh. */
async function fetchOnce(now: number, { status, robots }: Answer, history = false): Promise<void> {
  const store = await Store.open(root, { now: () => now, history });
  const { state, fresh } = await store.load(EXAMPLE);
  if (fresh) return;
  const body = robots === undefined ? {} : { body: Buffer.from(robots) };
  await store.save(fetchResult(now, status, body), state);
}

/**
 * Runs an action whose process is killed before its file system call number `moment`: that call
 * writes half of what it was given, or does nothing, and no later call does anything. Gives the
 * names of the calls that were made or begun.
 */
async function killedAt(moment: number, action: () => Promise<void>): Promise<string[]> {
  const calls: string[] = [];
  const { mkdirSync, openSync, renameSync, rmSync: remove, writeSync } = fs;
  const { unlink } = fs.promises;
  const id = process.pid;
  function step(name: string): boolean {
    if (calls.length <= moment) calls.push(name);
    return calls.length <= moment;
  }
  function orDie<Call extends unknown[], Result>(name: string, call: (...call: Call) => Result) {
    return (...given: Call): Result => {
      if (step(name)) return call(...given);
      throw new Error('killed');
    };
  }
  Object.assign(fs, {
    mkdirSync: orDie('mkdir', mkdirSync),
    openSync: (path: string, flags: string) => {
      if (flags !== 'wx' || step('open')) return openSync(path, flags);
      throw new Error('killed');
    },
    writeSync: (descriptor: number, bytes: Uint8Array, offset: number) => {
      const wasAlive = calls.length <= moment;
      if (step('write')) return writeSync(descriptor, bytes, offset);
      if (wasAlive) writeSync(descriptor, bytes, offset, bytes.length >> 1);
      throw new Error('killed');
    },
    renameSync: orDie('rename', renameSync),
    rmSync: orDie('remove', remove),
  });
  fs.promises.unlink = orDie('unlink', unlink);
  Object.defineProperty(process, 'pid', { value: DEAD });
  syncBuiltinESMExports();
  try {
    await action().catch((error: unknown) => {
      if (calls.length <= moment) throw error;
    });
  } finally {
    Object.assign(fs, { mkdirSync, openSync, writeSync, renameSync, rmSync: remove });
    fs.promises.unlink = unlink;
    Object.defineProperty(process, 'pid', { value: id });
    syncBuiltinESMExports();
  }
  return calls;
}

const WRITES = ['open', 'write', 'open', 'write', 'rename', 'rename'];

const CASES: readonly {
  readonly title: string;
  readonly before: Answer | undefined;
  readonly after: Answer;
  /** The calls of an undisturbed run that change the directory, or create it. */
  readonly calls: readonly string[];
  /** The calls before those, in a run that keeps what it replaces. */
  readonly keeping?: readonly string[];
}[] = [
  {
    title: 'has the first finding',
    before: undefined,
    after: { status: 200, robots: ROBOTS },
    calls: ['mkdir', 'mkdir', ...WRITES],
  },
  {
    title: 'replaces a robots.txt by another',
    before: { status: 200, robots: OLD_ROBOTS },
    after: { status: 200, robots: ROBOTS },
    calls: ['mkdir', 'mkdir', ...WRITES],
    keeping: ['mkdir', 'mkdir', ...WRITES, 'rename'],
  },
  {
    title: 'renews a robots.txt that is the same',
    before: { status: 200, robots: ROBOTS },
    after: { status: 200, robots: ROBOTS },
    calls: ['mkdir', 'mkdir', 'open', 'write', 'rename'],
  },
  {
    title: 'takes a robots.txt away',
    before: { status: 200, robots: OLD_ROBOTS },
    after: { status: 404 },
    calls: ['mkdir', 'mkdir', 'open', 'write', 'rename', 'unlink'],
    keeping: ['mkdir', 'mkdir', ...WRITES, 'rename'],
  },
  {
    title: 'keeps the last good copy of what has become unreachable',
    before: { status: 200, robots: OLD_ROBOTS },
    after: { status: 503 },
    calls: ['mkdir', 'mkdir', 'open', 'write', 'rename'],
    keeping: ['mkdir', 'mkdir', ...WRITES, 'rename'],
  },
  {
    title: 'finds a robots.txt where there was none',
    before: { status: 404 },
    after: { status: 200, robots: ROBOTS },
    calls: ['mkdir', 'mkdir', ...WRITES],
    keeping: ['mkdir', 'mkdir', 'open', 'write', 'rename', 'rename'],
  },
];

describe('a store whose writer is killed before each of its file system calls', () => {
  const runs = CASES.flatMap((entry) => [
    { ...entry, history: false },
    { ...entry, history: true, title: `${entry.title}, with --history` },
  ]);
  it.each(runs.map((run) => [run.title, run] as const))(
    'while it %s',
    async (_title, { before, after, calls: usual, keeping = [], history }) => {
      const [first = '', second = '', ...rest] = usual;
      const calls = history ? [first, second, ...keeping, ...rest] : usual;
      const prepare = async (): Promise<Files> => {
        rmSync(root, { recursive: true, force: true });
        if (before !== undefined) await fetchOnce(START, before);
        return filesOf();
      };
      const old = await prepare();
      const undisturbed = await killedAt(Number.POSITIVE_INFINITY, () =>
        fetchOnce(LATER, after, history),
      );
      expect(undisturbed).toEqual(calls);
      const complete = filesOf();
      const kept = Object.entries(complete).filter(([path]) => path.startsWith('history/'));
      if (history && keeping.length > 0) {
        expect(kept.map(([, text]) => text).sort()).toEqual(Object.values(old).sort());
      } else expect(kept).toEqual([]);
      let left = 0;
      let repeated = 0;
      for (let moment = 0; moment < calls.length; moment++) {
        await prepare();
        const made = await killedAt(moment, () => fetchOnce(LATER, after, history));
        expect(made).toHaveLength(moment + 1);
        const context = `killed before ${made.join(', ')}`;
        const found = filesOf();
        left += Object.keys(found).filter(isTemporary).length;
        const {
          'robots.txt': robots,
          'robots.json': state,
          ...versions
        } = withoutTemporaries(found);
        // The version is there whole, or not at all; and it is before its files are replaced.
        const names = Object.keys(versions).sort();
        const whole = kept.map(([path]) => path).sort();
        if (names.length > 0) expect(versions, context).toEqual(Object.fromEntries(kept));
        const isReplaced = robots !== old['robots.txt'] || state !== old['robots.json'];
        if (isReplaced) expect(names, context).toEqual(whole);
        // Each file is the old one or the new one, and no new state is beside an old robots.txt,
        // except beside one that the state says is out of force.
        expect([old['robots.txt'], complete['robots.txt']], context).toContain(robots);
        expect([old['robots.json'], complete['robots.json']], context).toContain(state);
        if (state === complete['robots.json'] && robots !== complete['robots.txt']) {
          const parsed = parseFetchState(Buffer.from(state ?? ''), EXAMPLE);
          expect(parsed, context).toMatchObject({ discarded: expect.any(String) });
        }
        await fetchOnce(LATER, after, history);
        const { kept: again, others } = withoutRepeated(filesOf(), kept, [old, complete]);
        expect(others, context).toEqual(complete);
        repeated += again;
      }
      // Temporary files were left, which the next run took away.
      expect(left).toBeGreaterThan(1);
      // Killed between robots.txt and robots.json, it leaves files that are those of no finding.
      const isTorn = history && calls.slice(-WRITES.length).join() === WRITES.join();
      expect(repeated).toBe(isTorn ? (before === undefined ? 1 : 2) : 0);
    },
  );

  it('takes away what a killed run left, and leaves alone what a living one writes', async () => {
    await fetchOnce(START, { status: 200, robots: ROBOTS });
    const living = temporaryName('robots.txt');
    const left = living.replace(`-${process.pid}-`, `-${DEAD}-`);
    expect(left).not.toBe(living);
    writeFileSync(join(directory, left), 'half');
    writeFileSync(join(directory, living), 'half');
    await fetchOnce(LATER, { status: 200, robots: ROBOTS });
    expect(readdirSync(directory).sort()).toEqual([living, 'robots.json', 'robots.txt']);
  });
});
