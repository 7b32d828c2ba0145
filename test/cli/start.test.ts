import { describe, expect, it } from 'vitest';
import { Workplace } from './command-line.js';

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
    for (const slow of ['crypto', 'http', 'internal/fs/promises', 'worker_threads']) {
      expect(loaded).not.toContain(`NativeModule ${slow}`);
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
