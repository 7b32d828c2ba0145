import { describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import { requireNode } from '../../src/cli/program.js';
import { test, Workplace } from './command-line.js';

/** Makes a process list the modules of Node that were loaded. */
const LIST_MODULES = `process.on('exit', () => {
  require('node:fs').writeFileSync('loaded.json', JSON.stringify(process.moduleLoadList));
});`;

/** Replaces Node's compile cache by a function that writes a file when called. */
const FAKE_CACHE = `require('node:module').enableCompileCache = () => {
  require('node:fs').appendFileSync('calls.txt', 'enabled\\n');
};`;

const NO_CACHE = "delete require('node:module').enableCompileCache;";

/** A workplace with a table and a URL. */
async function workplaceWithTable(): Promise<Workplace> {
  const workplace = new Workplace();
  workplace.write('robots/example.com.txt', 'User-agent: *\nDisallow: /private\n');
  workplace.write('urls.txt', 'https://example.com/private\n');
  const compiled = await workplace.run('compile --robots-dir robots -o hosts.table');
  expect(compiled.code).toBe(0);
  return workplace;
}

/** Runs the filter on one URL, after a CommonJS script. */
async function judgeAfter(workplace: Workplace, script: string, options = ''): Promise<void> {
  workplace.write('preload.cjs', script);
  const { code, text, stderr } = await workplace.shellAlone(
    `NODE_OPTIONS="-r ./preload.cjs" $rf --table hosts.table ${options} urls.txt`,
  );
  expect({ code, text, stderr }).toEqual({
    code: 0,
    text: 'deny\thttps://example.com/private\n',
    stderr: '',
  });
}

describe('the start of the command line', () => {
  it('loads none of Node’s slow modules for one URL', async () => {
    const workplace = await workplaceWithTable();
    await judgeAfter(workplace, LIST_MODULES);
    const loaded: unknown = JSON.parse(workplace.read('loaded.json'));
    expect(loaded).toContain('NativeModule fs');
    for (const slow of ['crypto', 'http', 'internal/fs/promises', 'worker_threads', 'zlib']) {
      expect(loaded).not.toContain(`NativeModule ${slow}`);
    }
    // A pipe needs streams. A file does not.
    expect(loaded).toContain('NativeModule stream');
    const { code } = await workplace.shellAlone(
      `NODE_OPTIONS="-r ./preload.cjs" $rf --table hosts.table urls.txt > verdicts.txt 2> /dev/null`,
    );
    expect(code).toBe(0);
    expect(workplace.read('verdicts.txt')).toBe('deny\thttps://example.com/private\n');
    for (const slow of ['net', 'stream', 'tty']) {
      expect(JSON.parse(workplace.read('loaded.json'))).not.toContain(`NativeModule ${slow}`);
    }
    // With threads the list names them, so the check above is not vacuous.
    await judgeAfter(workplace, LIST_MODULES, '--threads 2');
    expect(JSON.parse(workplace.read('loaded.json'))).toContain('NativeModule worker_threads');
  });

  it('enables the compile cache once, if Node has it', async () => {
    const workplace = await workplaceWithTable();
    await judgeAfter(workplace, FAKE_CACHE);
    expect(workplace.read('calls.txt')).toBe('enabled\n');
  });

  it('works without the compile cache if Node lacks it', async () => {
    await judgeAfter(await workplaceWithTable(), NO_CACHE);
  });
});

test('Deno and Bun are refused', () => {
  expect(() => requireNode(process.versions)).not.toThrow();
  for (const [key, name] of [
    ['deno', 'Deno'],
    ['bun', 'Bun'],
  ] as const) {
    const refused = () => requireNode({ node: '24.0.0', [key]: '1.2.3' });
    expect(refused).toThrow(RobotsFilterError);
    expect(refused).toThrow(`this is ${name} 1.2.3. Install Node`);
  }
});

// Node ends with success when nothing is left that could wake a run.
test('a process that ends in the middle of a run fails', async ({ place }) => {
  place.write('robots/example.com', 'User-agent: *\nDisallow: /a\n');
  place.write('urls.txt', 'https://example.com/a\n');
  place.write(
    'asleep.cjs',
    `const { setInterval } = globalThis;
globalThis.setInterval = (...args) => setInterval(...args).unref();
require('node:fs').read = () => {};
require('node:fs/promises').open = () => new Promise(() => {});
Atomics.waitAsync = () => ({ async: true, value: new Promise(() => {}) });
`,
  );
  const preload = { NODE_OPTIONS: `--require ${place.path}/asleep.cjs` };
  const args = ['--robots-dir', 'robots', 'urls.txt'];
  const { code, text, stderr } = await place.runAlone(args, '', preload);
  expect({ code, text }).toEqual({ code: 2, text: '' });
  expect(stderr).toContain('the run stopped before its end: the output is incomplete');
});
