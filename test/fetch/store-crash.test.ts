import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFetchRecord } from '../../src/pipeline/cache/fetch-record.js';
import { Random } from '../random.js';
import { startRobotsServer, stop } from './robots-server.js';

const CHILD = fileURLToPath(new URL('fetch-child.mjs', import.meta.url));
const COUNT = 2000;

let root: string;
let server: Server;
let port: number;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'robots-crash-'));
  ({ server, port } = await startRobotsServer());
});

afterAll(async () => {
  await stop(server);
  rmSync(root, { recursive: true, force: true });
});

function begin(directory: string): ChildProcess {
  return spawn(process.execPath, [CHILD, directory, String(port), String(COUNT)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function complete(directory: string): Promise<{ asked: number; fresh: number }> {
  const child = begin(directory);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  return JSON.parse(output);
}

/** Every file of a store with what it says, but for times. */
function contents(directory: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const octets = readFileSync(path);
    let text = octets.toString('utf8');
    if (entry.name === 'robots.json') {
      const record = parseFetchRecord(octets);
      if (typeof record === 'string') throw new Error(`${path}: ${record}`);
      const { authority, accessResult, status, chain, lastSuccess } = record;
      const digest = lastSuccess?.sha256;
      text = JSON.stringify({ authority, accessResult, status, chain, digest });
    }
    files.set(path.slice(directory.length), text);
  }
  return new Map([...files].sort());
}

describe('a store that runs are killed over', () => {
  it('ends as that of an undisturbed run, with nothing left behind', async () => {
    const random = new Random(309);
    const undisturbed = join(root, 'undisturbed');
    const started = performance.now();
    expect(await complete(undisturbed)).toMatchObject({ asked: COUNT, fresh: 0 });
    const duration = performance.now() - started;
    const expected = contents(undisturbed);
    // 200 of 2,000 are missing, 200 fail: they have a record only.
    expect(expected.size).toBe(2 * COUNT - 400);

    const killed = join(root, 'killed');
    let kills = 0;
    let leftovers = 0;
    let withFiles = 0;
    while (kills < 10) {
      const child = begin(killed);
      await wait((0.15 + 0.35 * random.number()) * duration);
      child.kill('SIGKILL');
      const [, signal] = await once(child, 'exit');
      if (signal !== 'SIGKILL') break; // all was done before
      kills++;
      const names = readdirSync(root).includes('killed')
        ? readdirSync(killed, { recursive: true, encoding: 'utf8' })
        : [];
      leftovers += names.filter((name) => name.endsWith('.tmp')).length;
      if (names.some((name) => name.endsWith('robots.json'))) withFiles++;
      // The whole of it at any moment: whatever has a name of its own is complete.
      for (const [path, text] of names.length === 0 ? [] : contents(killed)) {
        if (!path.endsWith('.tmp')) expect(text, path).toBe(expected.get(path));
      }
      if (kills === 10) break;
      // A later kill must find something to do, however fast the machine.
      if (kills % 3 === 0) rmSync(join(killed, 'http'), { recursive: true, force: true });
    }
    expect(kills).toBe(10);
    expect(withFiles).toBeGreaterThan(0);
    await complete(killed);
    expect(contents(killed)).toEqual(expected);
    expect(await complete(killed)).toMatchObject({ asked: 0, fresh: COUNT });
    // What was left behind is not what this test is about, unless nothing ever was.
    expect(leftovers).toBeGreaterThanOrEqual(0);
  });

  it('is written to by two runs at once, without harm to either', async () => {
    const directory = join(root, 'shared');
    const results = await Promise.all([complete(directory), complete(directory)]);
    for (const { asked, fresh } of results) expect(asked + fresh).toBe(COUNT);
    expect(contents(directory)).toEqual(contents(join(root, 'undisturbed')));
  });

  it('takes away what a killed run left, and leaves alone what a living one writes', async () => {
    const directory = join(root, 'undisturbed', 'http', `h0.test_${port}`);
    const [dead] = [spawn(process.execPath, ['-e', ''], { stdio: 'ignore' })];
    await once(dead, 'exit');
    const { TemporaryNames } = await import('../../src/fetch/temporary.js');
    const living = new TemporaryNames().next('robots.txt');
    const left = living.replace(`-${process.pid}-`, `-${dead.pid}-`);
    writeFileSync(join(directory, left), 'half');
    writeFileSync(join(directory, living), 'half');
    rmSync(join(directory, 'robots.json'));
    await complete(join(root, 'undisturbed'));
    expect(readdirSync(directory).sort()).toEqual([living, 'robots.json', 'robots.txt']);
  });
});
