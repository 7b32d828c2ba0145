import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseFetchState } from '../../src/sources/fetch-state.js';
import { authorityOfName, schemeOfName } from '../../src/sources/item.js';
import { ended, MAIN } from '../cli/command-line.js';
import { startRobotsServer, stop } from './robots-server.js';

const COUNT = 150;
/** Authorities that a run asks at a time. */
const IN_FLIGHT = 64;
/** How many requests the server has had when it kills the run that sent the last one. */
const KILLED_AT = [80, 115];

let root: string;
let server: Server;
let urls: string;
/** Requests that the server has had. */
let requests: () => number;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'robots-crash-'));
  const started = await startRobotsServer();
  server = started.server;
  requests = () => started.asked.length;
  urls = Array.from({ length: COUNT }, (_, number) => `${started.urlOf(number)}\n`).join('');
});

afterAll(async () => {
  await stop(server);
  rmSync(root, { recursive: true, force: true });
});

function begin(directory: string): ChildProcess {
  const options = ['--robots-dir', directory, '--allow-private', '--retries', '0'];
  const child = spawn(process.execPath, [MAIN, 'fetch', '-q', ...options, '-'], { stdio: 'pipe' });
  child.stdin?.on('error', () => {});
  child.stdin?.end(urls);
  return child;
}

/** Fetches to the end; gives how many authorities were asked. */
async function complete(directory: string): Promise<number> {
  const before = requests();
  expect(await ended(begin(directory))).toMatchObject({ code: 0, stderr: '' });
  return requests() - before;
}

/** Every file of a store with what it says, but for times. */
function contents(directory: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    let text = bytes.toString('utf8');
    if (entry.name === 'robots.json') {
      const [scheme, name] = relative(directory, entry.parentPath).split('/');
      const authority = authorityOfName(name ?? '', schemeOfName(scheme ?? ''));
      if (authority === undefined) throw new Error(`${path} is nobody's`);
      const state = parseFetchState(bytes, authority);
      if (typeof state === 'string') throw new Error(`${path}: ${state}`);
      const { accessResult, status, chain, lastSuccess } = state;
      const digest = lastSuccess?.sha256;
      text = JSON.stringify({ authority: state.authority, accessResult, status, chain, digest });
    }
    files.set(relative(directory, path), text);
  }
  return new Map([...files].sort());
}

it('ends as that of an undisturbed run where runs are killed, with nothing left behind', async () => {
  const undisturbed = join(root, 'undisturbed');
  expect(await complete(undisturbed)).toBe(COUNT);
  const expected = contents(undisturbed);
  // Of every ten one is missing and one fails: they have a record only.
  expect(expected.size).toBe(2 * COUNT - (2 * COUNT) / 10);

  const killed = join(root, 'killed');
  const first = requests();
  for (const moment of KILLED_AT) {
    const child = begin(killed);
    const killAt = (): void => {
      if (requests() - first >= moment) child.kill('SIGKILL');
    };
    server.on('request', killAt);
    expect(await ended(child)).toMatchObject({ code: null, signal: 'SIGKILL' });
    server.off('request', killAt);
    // At any moment, whatever has a name of its own is complete.
    for (const [path, text] of contents(killed)) {
      const isOwn = path.endsWith('.tmp') || path.startsWith('.fetching');
      if (!isOwn && text !== expected.get(path)) expect(text, path).toBe(expected.get(path));
    }
  }
  const asked = requests() - first;
  const rest = await complete(killed);
  expect(rest).toBeGreaterThan(0);
  expect(rest).toBeLessThan(COUNT);
  // Of what had been answered only what was in flight was asked for again.
  expect(asked + rest - COUNT).toBeLessThanOrEqual(KILLED_AT.length * IN_FLIGHT);
  expect(contents(killed)).toEqual(expected);
  expect(await complete(killed)).toBe(0);
});
