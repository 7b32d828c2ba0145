import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const THIS_FILE = fileURLToPath(import.meta.url);
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

let root: string;
const servers: Server[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'robots-fetch-'));
});

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(root, { recursive: true, force: true });
});

/** A server that answers each request with a status; its port, and the User-Agents that asked. */
async function serve(
  status: number,
  body = '',
  delay = 0,
): Promise<{ port: number; agents: string[] }> {
  const agents: string[] = [];
  const server = createServer((request, response) => {
    agents.push(request.headers['user-agent'] ?? '');
    response.statusCode = status;
    setTimeout(() => response.end(body), delay);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, agents };
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

function begin(...args: string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], { cwd: root });
}

async function ended(child: ChildProcess, input = ''): Promise<Ended> {
  let out = '';
  let error = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    error += chunk;
  });
  child.stdin?.end(input);
  const [code] = await once(child, 'close');
  return { code, out, error };
}

const ROBOTS = 'user-agent: *\ndisallow: /private\n';

describe('robots-filter fetch', () => {
  it('fetches what an input names, then the filter goes by it', async () => {
    const good = await serve(200, ROBOTS);
    const missing = await serve(404);
    const failing = await serve(503);
    const urls = [
      `http://127.0.0.1:${good.port}/page`,
      `http://127.0.0.1:${good.port}/private`,
      `http://127.0.0.1:${missing.port}/private`,
      `http://127.0.0.1:${failing.port}/page`,
      'nonsense',
    ];
    writeFileSync(join(root, 'urls.txt'), urls.join('\n'));
    const options = ['--robots-dir', 'cache', '--allow-private', '--retries', '0'];
    const fetched = await ended(
      begin(
        'fetch',
        ...options,
        '--user-agent',
        'MyBot/2.0',
        '--report',
        'report.ndjson',
        'urls.txt',
      ),
    );
    expect(fetched.error).toContain('3 authorities: 1 successful, 1 unavailable, 1 unreachable');
    expect(fetched).toMatchObject({ code: 0, out: '' });
    expect(good.agents).toEqual(['MyBot/2.0']);
    const report = readFileSync(join(root, 'report.ndjson'), 'utf8').trim().split('\n');
    expect(report.map((line) => JSON.parse(line).accessResult).sort()).toEqual([
      'successful',
      'unavailable',
      'unreachable',
    ]);
    const judged = await ended(begin('--robots-dir', 'cache', 'urls.txt'));
    expect(
      judged.out
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]?.trim()),
    ).toEqual(['allow', 'deny', 'allow', 'deny', 'invalid']);
    const again = await ended(begin('fetch', ...options, '-'), urls.join('\n'));
    expect(again.error).toContain('3 fresh already');
    expect(good.agents).toHaveLength(1);
    const stale = await ended(begin('fetch', ...options, '--stale', '--max-age', '0'));
    expect(stale).toMatchObject({ code: 0 });
    // What is unreachable is left alone for an hour.
    expect(stale.error).toContain('1 successful, 1 unavailable, 0 unreachable, 1 fresh already');
    expect(good.agents).toHaveLength(2);
  });

  it('refuses private addresses unless told otherwise: all is denied then', async () => {
    const { port, agents } = await serve(200, ROBOTS);
    const result = await ended(
      begin('fetch', '--robots-dir', 'cache', '-'),
      `http://127.0.0.1:${port}/`,
    );
    expect(result.error).toContain('1 unreachable (1 address-refused)');
    expect(result.code).toBe(0);
    expect(agents).toEqual([]);
  });

  it('finishes on SIGINT what is in flight, exits 130, and goes on from there', async () => {
    const ports: number[] = [];
    for (let number = 0; number < 6; number++) ports.push((await serve(200, ROBOTS, 300)).port);
    const urls = ports.map((port) => `http://127.0.0.1:${port}/`).join('\n');
    const args = ['fetch', '--robots-dir', 'cache', '--allow-private', '-'];
    const child = begin(...args);
    const end = ended(child, urls);
    // All have one host, so there is one at a time; the first is there when its record is.
    while (
      !existsSync(join(root, 'cache', 'http')) ||
      readdirSync(join(root, 'cache', 'http')).length === 0
    ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    child.kill('SIGINT');
    const stopped = await end;
    expect(stopped.code).toBe(130);
    expect(stopped.error).toContain('of 6 left');
    const kept = readdirSync(join(root, 'cache', 'http')).length;
    expect(kept).toBeLessThan(6);
    const rest = await ended(begin(...args), urls);
    expect(rest.error).toContain(`6 authorities: ${6 - kept} successful`);
    expect(rest.code).toBe(0);
  });

  it('says what is missing or contradictory', async () => {
    for (const [args, word] of [
      [['fetch', 'urls.txt'], 'robots-filter fetch --robots-dir DIR urls.txt'],
      [['fetch', '--robots-dir', 'cache', '--stale', 'urls.txt'], '--stale'],
      [['fetch', '--robots-dir', 'cache', 'missing.txt'], 'missing.txt'],
      [['fetch', '--robots-dir', 'cache', '--concurrency', '0'], 'whole number'],
      [['fetch', '--robots-dir', 'cache', '--ca', 'missing.pem', '--stale'], 'missing.pem'],
      [['fetch', '--robots-dir', 'cache', '--ca', THIS_FILE, '--stale'], 'Name a PEM file'],
    ] as const) {
      const { code, error } = await ended(begin(...args));
      expect(code).toBe(2);
      expect(error).toContain(word);
    }
  });
});

describe('robots-filter --fetch', () => {
  it('refuses options that do not fit before it fetches', async () => {
    const server = await serve(200, ROBOTS);
    const url = `http://127.0.0.1:${server.port}/private\n`;
    writeFileSync(join(root, 'out'), 'old');
    const args = ['--fetch', '--allow-private', '--robots-dir', '.'];
    for (const [wrong, word] of [
      [['-o', 'out'], '-o out is a file in --robots-dir .'],
      [['--verdict-field', 'line'], '--verdict-field line'],
      [['--agent', 'a b'], 'a b'],
    ] as const) {
      const { code, error } = await ended(begin(...args, ...wrong, '-'), url);
      expect(code).toBe(2);
      expect(error).toContain(word);
      expect(error).not.toContain('is copied to');
    }
    expect(server.agents).toEqual([]);
    expect(readdirSync(root)).toEqual(['out']);
  });

  it('fetches what is unknown, from a pipe too, and judges', async () => {
    const known = await serve(200, ROBOTS);
    const unknown = await serve(200, ROBOTS);
    const url = ({ port }: { port: number }) => `http://127.0.0.1:${port}/private\n`;
    const args = ['--fetch', '--allow-private', '--robots-dir', 'cache'];
    const first = await ended(begin(...args, '-'), url(known));
    expect(first.out).toMatch(/^deny/);
    expect(first.error).toContain('is copied to');
    const second = await ended(begin(...args, '-'), url(known) + url(unknown));
    expect(second.out.match(/^deny/gm)).toHaveLength(2);
    expect(known.agents).toHaveLength(1);
    expect(unknown.agents).toHaveLength(1);
    expect(readdirSync(join(root, 'cache'))).toEqual(['http']);
  });

  it('without it, the filter asks nobody', async () => {
    const { port, agents } = await serve(200, ROBOTS);
    const input = `http://127.0.0.1:${port}/private\n`;
    await ended(begin('--fetch', '--allow-private', '--robots-dir', 'cache', '-'), input);
    await ended(begin('--robots-dir', 'cache', '-'), `${input}http://127.0.0.1:1/\n`);
    expect(agents).toHaveLength(1);
  });

  it('does not go with a table', async () => {
    const { code, error } = await ended(begin('--fetch', '--table', 'x.table', '-'));
    expect(code).toBe(2);
    expect(error).toContain('--robots-dir');
  });
});
