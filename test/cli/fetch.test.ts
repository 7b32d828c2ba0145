import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runKept } from './kept-process.js';

const THIS_FILE = fileURLToPath(import.meta.url);
const MAIN = fileURLToPath(new URL('../../dist/cjs/main.cjs', import.meta.url));

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

/** A server that answers each request with a status. It records the User-Agents. */
async function serve(
  status: number,
  body = '',
  delay = 0,
  host = '127.0.0.1',
): Promise<{ port: number; agents: string[] }> {
  const agents: string[] = [];
  const server = createServer((request, response) => {
    agents.push(request.headers['user-agent'] ?? '');
    response.statusCode = status;
    setTimeout(() => response.end(body), delay);
  });
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, agents };
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** All servers of this test are one host: without a pause the tests do not wait. */
function withoutPause(args: readonly string[]): string[] {
  return [...args, ...(args.includes('fetch') || args.includes('--fetch') ? ['--pause', '0'] : [])];
}

/** Runs the command line in the process that is kept for such runs, with a file as its input. */
async function run(args: readonly string[], input = ''): Promise<Ended> {
  const { code, stdout, stderr } = await runKept(root, withoutPause(args), input);
  return { code, out: stdout.toString(), error: stderr };
}

/** Starts the command line in a process of its own. */
function begin(...args: string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...withoutPause(args)], { cwd: root });
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
/** Longer than the default limit; the rule is on the last line. */
const LONG_ROBOTS = `user-agent: *\n${`#${'x'.repeat(98)}\n`.repeat(6000)}disallow: /private\n`;

describe('robots-filter fetch', () => {
  it('fetches the hosts of an input; the filter then decides by the files', async () => {
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
    const fetched = await run([
      'fetch',
      ...options,
      '--user-agent',
      'MyBot/2.0',
      '--report',
      'report.ndjson',
      '--json',
      'urls.txt',
    ]);
    expect(fetched.error).toContain('3 authorities: 1 successful, 1 unavailable, 1 unreachable');
    expect(fetched.code).toBe(0);
    const { seconds, ...totals } = JSON.parse(fetched.out);
    expect(seconds).toBeGreaterThan(0);
    expect(totals).toEqual({
      schema: 'robots-filter/fetch/1',
      directory: 'cache',
      complete: true,
      authorities: 3,
      successful: 1,
      unavailable: 1,
      unreachable: 1,
      fresh: 0,
      unrecorded: 0,
      left: 0,
      notModified: 0,
      truncated: 0,
      bytes: ROBOTS.length,
      errors: { 'status 503': 1 },
      faults: {},
    });
    expect(good.agents).toEqual(['MyBot/2.0']);
    const report = readFileSync(join(root, 'report.ndjson'), 'utf8').trim().split('\n');
    expect(report.map((line) => JSON.parse(line).accessResult).sort()).toEqual([
      'successful',
      'unavailable',
      'unreachable',
    ]);
    const judged = await run(['--robots-dir', 'cache', 'urls.txt']);
    expect(
      judged.out
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]?.trim()),
    ).toEqual(['allow', 'deny', 'allow', 'deny', 'invalid']);
    const again = await run(['fetch', ...options, '-'], urls.join('\n'));
    expect(again.error).toContain('3 still fresh');
    expect(good.agents).toHaveLength(1);
    const stale = await run(['fetch', ...options, '--stale', '--max-age', '0']);
    expect(stale).toMatchObject({ code: 0 });
    // An unreachable host is not contacted again for an hour.
    expect(stale.error).toContain('1 successful, 1 unavailable, 0 unreachable, 1 still fresh');
    expect(good.agents).toHaveLength(2);
  });

  it('refuses private addresses without --allow-private: everything is denied', async () => {
    const { port, agents } = await serve(200, ROBOTS);
    const result = await ended(
      begin('fetch', '--robots-dir', 'cache', '-'),
      `http://127.0.0.1:${port}/`,
    );
    expect(result.error).toContain('1 unreachable (1 address-refused)');
    expect(result.error).toContain('To connect anyway, use --allow-private');
    expect(result.code).toBe(0);
    expect(agents).toEqual([]);
  });

  it('finishes the requests under way on SIGINT and exits 130; the next run continues', async () => {
    const ports: number[] = [];
    for (let number = 0; number < 6; number++) ports.push((await serve(200, ROBOTS, 100)).port);
    const urls = ports.map((port) => `http://127.0.0.1:${port}/`).join('\n');
    const args = ['fetch', '--robots-dir', 'cache', '--allow-private', '-'];
    const child = begin(...args);
    const end = ended(child, urls);
    // All URLs have one host, so there is one request at a time. A record means that a request is
    // done.
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
    const rest = await run([...args], urls);
    expect(rest.error).toContain(`6 authorities: ${6 - kept} successful`);
    expect(rest.code).toBe(0);
  });

  it('fetches a file that was truncated at a lower limit again, once', async () => {
    const conditions: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      conditions.push(request.headers['if-none-match']);
      response.setHeader('etag', '"1"');
      if (request.headers['if-none-match'] === undefined) response.end(LONG_ROBOTS);
      else response.writeHead(304).end();
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/private\n`;
    const args = ['fetch', '--robots-dir', 'cache', '--allow-private'];
    const more = ['--max-robots-bytes', '700000'];
    for (const [options, asked, result] of [
      [[], 1, '(1 file truncated)'],
      [[], 1, '1 still fresh'],
      [['--max-age', '0'], 2, '(1 not modified)'],
      [more, 3, '600 kB,'],
      [more, 3, '1 still fresh'],
    ] as const) {
      const { error } = await run([...args, ...options, '-'], url);
      expect(error).toContain(result);
      expect(conditions).toHaveLength(asked);
    }
    expect(conditions).toEqual([undefined, '"1"', undefined]);
    const filtered = await run(['--robots-dir', 'cache', ...more, '-'], url);
    expect(filtered.out).toMatch(/^deny/);
  });

  it('names missing and contradictory options', async () => {
    for (const [args, word] of [
      [['fetch', 'urls.txt'], 'robots-filter fetch --robots-dir robots urls.txt'],
      [['fetch', '--robots-dir', 'cache', '--stale', 'urls.txt'], '--stale'],
      [['fetch', '--robots-dir', 'cache', 'missing.txt'], 'missing.txt'],
      [['fetch', '--robots-dir', 'cache', '--concurrency', '0'], 'whole number'],
      [['fetch', '--robots-dir', 'cache', '--ca', 'missing.pem', '--stale'], 'missing.pem'],
      [['fetch', '--robots-dir', 'cache', '--ca', THIS_FILE, '--stale'], 'Name a PEM file'],
      // The certificates are read before the input is.
      [['fetch', '--robots-dir', 'cache', '--ca', 'missing.pem', 'missing.txt'], 'missing.pem'],
      [['--fetch', '--robots-dir', 'cache', '--ca', 'missing.pem', 'missing.txt'], 'missing.pem'],
    ] as const) {
      const { code, error } = await run([...args]);
      expect(code).toBe(2);
      expect(error).toContain(word);
    }
  });
});

describe('faults of the directory and of the machine', () => {
  /** URLs of `count` hosts, each at its own address. */
  const hosts = (count: number, port: number) =>
    Array.from({ length: count }, (_, at) => `http://127.0.1.${at + 1}:${port}/`).join('\n');
  const FETCH = ['fetch', '--robots-dir', 'cache', '--allow-private'];

  it('a robots.json that is a directory affects one host, and the message names that host', async () => {
    const { port } = await serve(200, ROBOTS, 0, '0.0.0.0');
    const broken = join(root, 'cache', 'http', `127.0.1.2_${port}`);
    mkdirSync(join(broken, 'robots.json', 'x'), { recursive: true });
    const args = [...FETCH, '--report', 'report', '--json', '-'];
    const { code, error, out } = await run([...args], hosts(5, port));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ unrecorded: 1, faults: { 'store EISDIR': 1 } });
    expect(error).toContain(`http://127.0.1.2:${port}: not recorded: `);
    expect(error).toContain('5 authorities: 4 successful');
    expect(error).toContain('1 not recorded (1 store EISDIR)');
    const report = readFileSync(join(root, 'report'), 'utf8').trim().split('\n');
    expect(report).toHaveLength(5);
    const line = report.find((text) => text.includes('127.0.1.2:')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ error: { code: 'store', systemCode: 'EISDIR' } });
    expect(readdirSync(broken).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('hosts for which no file can be opened are not unreachable', async () => {
    const { port } = await serve(200, ROBOTS, 50, '0.0.0.0');
    writeFileSync(join(root, 'urls.txt'), hosts(40, port));
    const command = `ulimit -n 40; exec "$0" "$@"`;
    const args = [...FETCH, '--pause', '0', '--concurrency', '40', '--retries', '0', 'urls.txt'];
    const { code, error } = await ended(
      spawn('bash', ['-c', command, process.execPath, MAIN, ...args], { cwd: root }),
    );
    expect(error).toMatch(/40 authorities: \d+ successful, 0 unavailable, 0 unreachable/);
    expect(code).toBe(0);
    const kept = existsSync(join(root, 'cache', 'http'))
      ? readdirSync(join(root, 'cache', 'http'))
      : [];
    for (const name of kept) {
      const path = join(root, 'cache', 'http', name, 'robots.json');
      if (existsSync(path)) {
        expect(JSON.parse(readFileSync(path, 'utf8')).accessResult).toBe('successful');
      }
    }
    // With enough descriptors the same command fetches the rest.
    const again = await run([...FETCH, 'urls.txt']);
    expect(again.error).toMatch(/ successful, 0 unavailable, 0 unreachable/);
    expect(readdirSync(join(root, 'cache', 'http'))).toHaveLength(40);
  });
});

describe('two runs that fetch into one directory', () => {
  /** A server that answers on demand. */
  async function holding() {
    let answer = () => {};
    const told = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const agents: string[] = [];
    const server = createServer((request, response) => {
      agents.push(request.headers['user-agent'] ?? '');
      void told.then(() => response.end(ROBOTS));
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port, agents, answer };
  }

  const FETCH = ['fetch', '--robots-dir', 'cache', '--allow-private', '--retries', '0'];

  it('one continues; the other names the first run and what to do', async () => {
    const { port, agents, answer } = await holding();
    const url = `http://127.0.0.1:${port}/`;
    const first = begin(...FETCH, '-');
    const firstEnd = ended(first, url);
    while (agents.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const args of [
      [...FETCH, '-'],
      [...FETCH, '--stale'],
      ['--fetch', '--robots-dir', 'cache', '--allow-private', '-'],
    ]) {
      const { code, error, out } = await run([...args], `${url}\nhttp://127.0.0.2:${port}/`);
      expect(code).toBe(2);
      expect(out).toBe('');
      expect(error).toContain(
        `another run is fetching into this directory (process ${first.pid} on `,
      );
      expect(error).toContain('Wait until it ends');
    }
    expect(agents).toHaveLength(1);
    answer();
    expect(await firstEnd).toMatchObject({ code: 0 });
    expect(readdirSync(join(root, 'cache'))).toEqual(['http']);
    expect(await run([...FETCH, '-'], url)).toMatchObject({ code: 0 });
  });

  it('started at the same moment: never both run, and the files are complete', async () => {
    const { port } = await serve(200, ROBOTS, 150, '0.0.0.0');
    const urls = Array.from({ length: 20 }, (_, at) => `http://127.0.1.${at + 1}:${port}/`);
    const runs = await Promise.all(
      [1, 2, 3].map(() => ended(begin(...FETCH, '-'), urls.join('\n'))),
    );
    const codes = runs.map(({ code }) => code).sort();
    // All runs may have given up, or one may have started after another ended.
    expect(codes.every((code) => code === 0 || code === 2)).toBe(true);
    for (const { code, error } of runs) {
      if (code === 2) expect(error).toContain('another run is fetching into this directory');
    }
    await run([...FETCH, '-'], urls.join('\n'));
    for (const name of readdirSync(join(root, 'cache', 'http'))) {
      expect(readdirSync(join(root, 'cache', 'http', name)).sort()).toEqual([
        'robots.json',
        'robots.txt',
      ]);
    }
  });

  it('the lock of a killed run is ignored', async () => {
    const { port, agents } = await serve(200, ROBOTS, 300);
    const url = `http://127.0.0.1:${port}/`;
    const child = begin(...FETCH, '-');
    const end = ended(child, url);
    while (agents.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await end;
    const [left = ''] = readdirSync(join(root, 'cache'));
    // The lock of a process whose id another process has by now does not count either.
    const parts = left.split('-');
    const reused = [...parts.slice(0, 2), process.pid, '1', 'x'].join('-');
    expect(reused).toMatch(/^\.fetching-/);
    writeFileSync(join(root, 'cache', reused), '');
    const { code, error } = await run([...FETCH, '-'], url);
    expect(error).toContain('1 successful');
    expect(code).toBe(0);
    expect(readdirSync(join(root, 'cache'))).toEqual(['http']);
  });
});

describe('robots-filter --fetch', () => {
  it('refuses unsuitable options before it fetches', async () => {
    const fetchInto = ['fetch', '--allow-private', '--robots-dir', '.'];
    const server = await serve(200, ROBOTS);
    const url = `http://127.0.0.1:${server.port}/private\n`;
    writeFileSync(join(root, 'out'), 'old');
    const args = ['--fetch', '--allow-private', '--robots-dir', '.'];
    for (const [wrong, word] of [
      [['-o', 'out'], '-o out would replace a file in --robots-dir .'],
      [['--verdict-field', 'line'], '--verdict-field line'],
      [['--agent', 'a b'], 'a b'],
    ] as const) {
      const { code, error } = await run([...args, ...wrong, '-'], url);
      expect(code).toBe(2);
      expect(error).toContain(word);
      expect(error).not.toContain('copying');
    }
    const { code, error } = await run([...fetchInto, '--report', 'r.json.GZ', '-'], url);
    expect(code).toBe(2);
    expect(error).toContain('--report r.json.GZ: this report is written without compression');
    expect(server.agents).toEqual([]);
    expect(readdirSync(root)).toEqual(['out']);
  });

  it('fetches unknown hosts, from a pipe too, and judges', async () => {
    const known = await serve(200, ROBOTS);
    const unknown = await serve(200, ROBOTS);
    const url = ({ port }: { port: number }) => `http://127.0.0.1:${port}/private\n`;
    const args = ['--fetch', '--allow-private', '--robots-dir', 'cache'];
    const first = await ended(begin(...args, '-'), url(known));
    expect(first.out).toMatch(/^deny/);
    expect(first.error).toContain('copying standard input to');
    const second = await run([...args, '-'], url(known) + url(unknown));
    expect(second.out.match(/^deny/gm)).toHaveLength(2);
    expect(known.agents).toHaveLength(1);
    expect(unknown.agents).toHaveLength(1);
    expect(readdirSync(join(root, 'cache'))).toEqual(['http']);
  });

  it('fetches a whole long file for the google profile, and warns if it was truncated', async () => {
    const { port } = await serve(200, LONG_ROBOTS);
    const url = `http://127.0.0.1:${port}/private\n`;
    const args = ['--fetch', '--allow-private', '--profile', 'google', '--agent', 'a'];
    const whole = await run([...args, '--robots-dir', 'whole', '-'], url);
    expect(whole.out).toMatch(/^deny/);
    expect(whole.error).not.toContain('truncated');
    const limit = ['--max-robots-bytes', '512000'];
    const cut = await run([...args, ...limit, '--robots-dir', 'cut', '-'], url);
    expect(cut.out).toMatch(/^allow/);
    expect(cut.error).toContain('1 robots.txt file was truncated at 512,000 bytes');
  });

  it('without --fetch the filter sends no request', async () => {
    const { port, agents } = await serve(200, ROBOTS);
    const input = `http://127.0.0.1:${port}/private\n`;
    await run(['--fetch', '--allow-private', '--robots-dir', 'cache', '-'], input);
    await run(['--robots-dir', 'cache', '-'], `${input}http://127.0.0.1:1/\n`);
    expect(agents).toHaveLength(1);
  });

  it('cannot be combined with a table', async () => {
    const { code, error } = await run(['--fetch', '--table', 'x.table', '-']);
    expect(code).toBe(2);
    expect(error).toContain('--robots-dir');
  });
});
