import {
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { codeFile, codeToKeep } from '../../src/start/kept-code.js';
import { scriptOf } from '../../src/start/loader.js';
import { Workplace } from './command-line.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a run of the filter loads, with threads and without. */
const LOADED = ['command-line.js', 'rolldown-runtime.js', 'filter.js', 'judging.js'];
const LOADED_WITH_THREADS = ['threads.js', 'piscina-worker.js', '../workers/judge.cjs'];

/**
 * Has a process say at its end which files it has loaded, which of node's own modules, and how many
 * of WebAssembly it has compiled.
 */
const WATCH = `const vm = require('node:vm');
const fs = require('node:fs');
const files = [];
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    files.push({ path: options.filename, isKept: this.cachedDataRejected === false });
    // A thread ends without an event.
    if (this.cachedDataRejected) fs.appendFileSync('rejected.txt', options.filename + '\\n');
  }
};
let compiled = 0;
WebAssembly.Module = new Proxy(WebAssembly.Module, {
  construct(target, args) {
    compiled++;
    return new target(...args);
  },
});
process.on('exit', () => {
  const own = process.moduleLoadList;
  fs.writeFileSync('loaded.json', JSON.stringify({ files, own, compiled }));
});`;

function workplaceWithRobots(): Workplace {
  const workplace = new Workplace();
  workplace.write('robots/example.com.txt', 'User-agent: *\nDisallow: /private\n');
  workplace.write('urls.txt', 'https://example.com/private\n');
  return workplace;
}

describe('the start of the command line', () => {
  it('loads few files for one URL and a table, all as V8 compiled them when they were built, and nothing of what takes long', async () => {
    const workplace = workplaceWithRobots();
    workplace.write('watch.cjs', WATCH);
    const compiled = await workplace.shell('$rf compile --robots-dir robots -o hosts.table');
    expect(compiled.code).toBe(0);

    const { code, text } = await workplace.shell(
      'NODE_OPTIONS="-r ./watch.cjs" $rf --table hosts.table urls.txt',
    );
    expect(text).toBe('deny\thttps://example.com/private\n');
    expect(code).toBe(0);
    const { files, own } = JSON.parse(workplace.read('loaded.json')) as {
      files: { path: string; isKept: boolean }[];
      own: string[];
    };
    expect(files.map(({ path, isKept }) => [basename(path), isKept])).toEqual(
      LOADED.map((name) => [name, true]),
    );
    expect(own).toContain('NativeModule fs');
    for (const slow of ['crypto', 'http', 'worker_threads']) {
      expect(own).not.toContain(`NativeModule ${slow}`);
    }
  });

  it('compiles the kernel for a few URLs, and loads it as V8 compiled it when it was built for more', async () => {
    const workplace = workplaceWithRobots();
    workplace.write('watch.cjs', WATCH);
    for (const [lines, options, expected] of [
      [10, '', 1],
      [1_000, '', 0],
      // Without it accesses beyond the memory are seen by checks, which the kept code has not.
      [1_000, '--disable-wasm-trap-handler', 1],
    ] as const) {
      workplace.write('urls.txt', 'https://example.com/private\n'.repeat(lines));
      const { code, text } = await workplace.shell(
        `NODE_OPTIONS="-r ./watch.cjs ${options}" $rf --robots-dir robots urls.txt`,
      );
      expect(code).toBe(0);
      expect(text).toBe('deny\thttps://example.com/private\n'.repeat(lines));
      const { files, compiled } = JSON.parse(workplace.read('loaded.json')) as {
        files: { path: string; isKept: boolean }[];
        compiled: number;
      };
      expect(compiled).toBe(expected);
      // V8's flags, which are changed for the kernel's code, are what they were again.
      expect(files.filter(({ isKept }) => !isKept)).toEqual([]);
    }
  });

  it('loads what V8 compiled on threads as well, whose start is not what V8’s flags are changed in', async () => {
    const workplace = workplaceWithRobots();
    workplace.write('watch.cjs', WATCH);
    workplace.write('urls.txt', 'https://example.com/private\n'.repeat(1_000));
    for (let run = 0; run < 10; run++) {
      const { code } = await workplace.shell(
        'NODE_OPTIONS="-r ./watch.cjs" $rf --robots-dir robots --threads 4 urls.txt',
      );
      expect(code).toBe(0);
    }
    expect(workplace.names()).not.toContain('rejected.txt');
  });

  it('has code for all that runs of the filter load, which V8 takes', () => {
    for (const name of [...LOADED, ...LOADED_WITH_THREADS]) {
      const file = join(ROOT, 'dist/cli', name);
      expect(scriptOf(file).cachedDataRejected, name).toBe(false);
    }
  });

  it('leaves the code of a file that has changed since', () => {
    const workplace = new Workplace();
    const file = join(workplace.path, 'module.js');
    workplace.write('module.js', 'exports.a = 1;');
    const script = scriptOf(file);
    expect(script.cachedDataRejected).toBe(undefined);
    writeFileSync(codeFile(file), codeToKeep(script.createCachedData(), readFileSync(file)));
    expect(scriptOf(file).cachedDataRejected).toBe(false);
    workplace.write('module.js', 'exports.a = 2;');
    expect(scriptOf(file).cachedDataRejected).toBe(undefined);
    workplace.write('module.js', 'exports.a = 1;');
    expect(scriptOf(file).cachedDataRejected).toBe(false);
  });

  it('takes the code of files that were copied, or installed, whichever were written first', () => {
    const workplace = new Workplace();
    const [before, after] = [new Date(1_000_000), new Date(2_000_000)];
    for (const name of LOADED) {
      const file = join(workplace.path, name);
      cpSync(join(ROOT, 'dist/cli', name), file);
      cpSync(codeFile(join(ROOT, 'dist/cli', name)), codeFile(file));
      utimesSync(codeFile(file), before, before);
      utimesSync(file, after, after);
      expect(scriptOf(file).cachedDataRejected, name).toBe(false);
    }
  });

  it('works the same where V8 does not take that code, and where there is none', async () => {
    const workplace = workplaceWithRobots();
    // So many that the kernel's code is asked for.
    workplace.write('urls.txt', 'https://example.com/private\n'.repeat(1_000));
    const place = join(workplace.path, 'program');
    for (const name of ['dist', 'package.json'])
      cpSync(join(ROOT, name), join(place, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'), 'junction');
    const main = join(place, 'dist/cli/main.js');
    const kept = ['cli', 'kernel', 'workers'].flatMap((folder) =>
      readdirSync(join(place, 'dist', folder))
        .filter((name) => name.endsWith(codeFile('')))
        .map((name) => join(place, 'dist', folder, name)),
    );
    expect(kept.length).toBeGreaterThan(LOADED.length + LOADED_WITH_THREADS.length);
    const judge = async (flag = '') => {
      const node = `'${process.execPath}' ${flag}`;
      const run = `${node} '${main}' --robots-dir robots --threads 2 urls.txt`;
      const { code, text, stderr } = await workplace.shell(run);
      const expected = 'deny\thttps://example.com/private\n'.repeat(1_000);
      expect([code, text, stderr]).toEqual([0, expected, '']);
    };
    const damages: ((path: string) => void)[] = [
      // V8's version stands in the first words.
      (path) => writeFileSync(path, readFileSync(path).fill(1, 0, 16)),
      (path) => truncateSync(path, 100),
      (path) => truncateSync(path, 0),
      (path) => rmSync(path),
    ];
    await judge();
    for (const flag of ['--freeze-flags-after-init', '-freeze_flags_after_init']) await judge(flag);
    for (const damage of damages) {
      for (const path of kept) damage(path);
      await judge();
    }
  });
});
