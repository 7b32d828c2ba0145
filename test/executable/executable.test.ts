import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEMO = join(ROOT, 'fixtures/demo');
const PROGRAM = join(ROOT, '.build/executable/robots-filter');
const ARGS = ['--robots-dir', 'robots', '-a', 'GPTBot', 'urls.txt'];
const VERDICTS = ['allow', 'deny', 'allow', 'deny', 'deny', 'unknown'];

const place = mkdtempSync(join(tmpdir(), 'robots-filter-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(place, 'cache-'));
});

/** There is no Node in this environment. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: '/nowhere', HOME: '/nowhere', XDG_CACHE_HOME: cache };
}

function run(args: readonly string[], input = '') {
  const options = { cwd: DEMO, env: environment(), input, encoding: 'utf8' } as const;
  return spawnSync(PROGRAM, args, { ...options, maxBuffer: 1 << 26 });
}

function verdicts(output: string): string[] {
  return output.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
}

describe('the single executable', () => {
  it('runs without Node, on its first run and later', () => {
    for (let turn = 0; turn < 2; turn++) {
      const { status, stdout, stderr } = run(ARGS);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(verdicts(stdout)).toEqual(VERDICTS);
    }
    expect(readdirSync(join(cache, 'robots-filter'))).toHaveLength(1);
  });

  it('judges on threads what is long, and keeps the order', () => {
    const urls = Array.from({ length: 300_000 }, (_, index) => `https://shop.example/${index}`);
    const { status, stdout } = run(['-q', ...ARGS.slice(0, 4)], `${urls.join('\n')}\n`);
    expect(status).toBe(0);
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines.map((line) => line.slice(line.indexOf('\t') + 1))).toEqual(urls);
  });

  it('compiles on threads, too', () => {
    const table = join(place, 'x.table');
    expect(run(['compile', '-q', '--robots-dir', 'robots', '-o', table]).status).toBe(0);
    const { stdout } = run(['--table', table, ...ARGS.slice(2)]);
    expect(verdicts(stdout)).toEqual(VERDICTS);
  });

  it('is unpacked once by runs that begin together', async () => {
    const options = { cwd: DEMO, env: environment() } as const;
    const outputs = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const child = spawn(PROGRAM, ARGS, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
        const [output, errors] = await Promise.all([
          text(child.stdout),
          text(child.stderr),
          once(child, 'close'),
        ]);
        return { errors, verdicts: verdicts(output) };
      }),
    );
    for (const output of outputs) expect(output).toEqual({ errors: '', verdicts: VERDICTS });
    expect(readdirSync(join(cache, 'robots-filter'))).toHaveLength(1);
  });

  it('refuses to run files that others could have written', () => {
    mkdirSync(join(cache, 'robots-filter'));
    chmodSync(join(cache, 'robots-filter'), 0o777);
    const { status, stdout, stderr } = run(ARGS);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('others can write to');
    expect(stderr).toContain('XDG_CACHE_HOME');
  });

  it('says what to do if it cannot be unpacked', () => {
    copyFileSync(join(DEMO, 'urls.txt'), join(cache, 'robots-filter'));
    const { status, stdout, stderr } = run(ARGS);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^robots-filter: the program cannot be unpacked .*Set XDG_CACHE_HOME/);
  });
});
