import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFetchRecord } from '../../src/pipeline/cache/fetch-record.js';
import { authorityOfName, schemeOfName } from '../../src/pipeline/cache/layout.js';
import { Random } from '../random.js';
import { startRobotsServer, stop } from './robots-server.js';

const CHILD = fileURLToPath(new URL('fetch-child.ts', import.meta.url));
const COUNT = 2000;

let root: string;
let server: Server;
let port: number;
/** Requests that the server has had. */
let requests: () => number;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'robots-crash-'));
  const started = await startRobotsServer();
  ({ server, port } = started);
  requests = () => started.asked.length;
});

afterAll(async () => {
  await stop(server);
  rmSync(root, { recursive: true, force: true });
});

function begin(directory: string): ChildProcess {
  return spawn(
    process.execPath,
    ['--import', 'tsx', CHILD, directory, String(port), String(COUNT)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
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
      const [scheme, name] = relative(directory, entry.parentPath).split('/');
      const authority = authorityOfName(name ?? '', schemeOfName(scheme ?? ''));
      if (authority === undefined) throw new Error(`${path} is nobody's`);
      const record = parseFetchRecord(octets, authority);
      if (typeof record === 'string') throw new Error(`${path}: ${record}`);
      const { accessResult, status, chain, lastSuccess } = record;
      const digest = lastSuccess?.sha256;
      text = JSON.stringify({ authority: record.authority, accessResult, status, chain, digest });
    }
    files.set(path.slice(directory.length), text);
  }
  return new Map([...files].sort());
}

describe('a store that runs are killed over', () => {
  it('ends as that of an undisturbed run, with nothing left behind', async () => {
    const undisturbed = join(root, 'undisturbed');
    expect(await complete(undisturbed)).toMatchObject({ asked: COUNT, fresh: 0 });
    const expected = contents(undisturbed);
    // 200 of 2,000 are missing, 200 fail: they have a record only.
    expect(expected.size).toBe(2 * COUNT - 400);

    const random = new Random(309);
    const killed = join(root, 'killed');
    let asked = 0;
    for (let kill = 0; kill < 10; kill++) {
      const before = requests();
      const moment = before + random.between(65, 180);
      const child = begin(killed);
      const exit = once(child, 'exit');
      while (requests() < moment) await wait(1);
      await wait(random.between(0, 20));
      child.kill('SIGKILL');
      expect(await exit).toEqual([null, 'SIGKILL']);
      asked += requests() - before;
      // At any moment, whatever has a name of its own is complete.
      for (const [path, text] of contents(killed)) {
        if (!path.endsWith('.tmp')) expect(text, path).toBe(expected.get(path));
      }
    }
    const rest = await complete(killed);
    expect(rest.asked + rest.fresh).toBe(COUNT);
    expect(rest.asked).toBeGreaterThan(0);
    expect(rest.fresh).toBeGreaterThan(0);
    // Of what had been answered only what was in flight was asked for again.
    expect(asked - rest.fresh).toBeLessThan(10 * 128);
    expect(contents(killed)).toEqual(expected);
    expect(await complete(killed)).toMatchObject({ asked: 0, fresh: COUNT });
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
