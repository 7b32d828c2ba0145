import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { codeFile } from '../src/start/kept-code.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Folders that nobody outside has types of, and those that are only in the command line's own
 * files.
 */
const UNTYPED = ['workers'];
const COMMAND_LINE = ['cli', 'fetch', 'start'];

let packed: string[];

beforeAll(() => {
  // Without scripts: they would build, and other tests run what is built.
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [{ files }] = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as [{ files: { path: string; mode: number }[] }];
  packed = files.map(({ path }) => path).sort();
});

/** Names of files below a directory, with `/` between folders. */
function filesBelow(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).split(sep).join('/'))
    .sort();
}

describe('the package', () => {
  it('holds what is built of each source of the library, types where they can be had, the command line, and a few more files', () => {
    const built = filesBelow('src')
      .filter((path) => !path.startsWith('src/kernel/assembly/') && !path.startsWith('src/types/'))
      .flatMap((path) => {
        const [, folder = ''] = /^src\/(?:([^/]+)\/)?/.exec(path) ?? [];
        if (COMMAND_LINE.includes(folder)) return [];
        const stem = `dist${path.slice('src'.length, -'ts'.length)}`;
        return [`${stem}js`, ...(UNTYPED.includes(folder) ? [] : [`${stem}d.ts`])];
      });
    expect(built.length).toBeGreaterThan(100);
    const commandLine = filesBelow('dist/cli');
    expect(commandLine).toEqual(
      expect.arrayContaining(['dist/cli/main.js', 'dist/cli/package.json']),
    );
    expect(commandLine.filter((path) => !/\.js(?:\..*\.code)?$/.test(path))).toEqual([
      'dist/cli/LICENSES',
      'dist/cli/package.json',
    ]);
    const further = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'];
    const loaded = [
      'dist/kernel/kernel.wasm',
      'dist/workers/compile.cjs',
      'dist/workers/judge.cjs',
      codeFile('dist/workers/judge.cjs'),
    ];
    expect(packed).toEqual([...built, ...commandLine, ...loaded, ...further].sort());
  });

  it('keeps the notices of the packages whose code it includes', () => {
    const notices = readFileSync(join(ROOT, 'dist/cli/LICENSES'), 'utf8');
    for (const name of ['commander', 'piscina']) {
      const licence = readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8');
      expect(licence).toContain('Permission is hereby granted');
      expect(notices).toContain(licence);
    }
    // Others would want theirs.
    const included = new Set<string>();
    for (const path of packed.filter((path) => /^dist\/(?:cli|workers)\/.*\.c?js$/.test(path))) {
      const text = readFileSync(join(ROOT, path), 'utf8');
      const regions = text.matchAll(/^\/\/ (?:\S*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/gm);
      for (const [, name = ''] of regions) included.add(name);
    }
    expect([...included].sort()).toEqual(['commander', 'piscina']);
  });

  it('is enough to compile a program against, strictly', () => {
    const place = mkdtempSync(join(tmpdir(), 'robots-filter-'));
    onTestFinished(() => rmSync(place, { recursive: true }));
    for (const path of packed) {
      cpSync(join(ROOT, path), join(place, 'node_modules/robots-filter', path));
    }
    mkdirSync(join(place, 'node_modules/@types'));
    for (const name of ['@types/node', 'undici-types']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(place, 'node_modules', name), 'junction');
    }
    const compilerOptions = {
      module: 'NodeNext',
      target: 'ES2022',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
    };
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    writeFileSync(join(place, 'package.json'), '{"type":"module"}');
    const program = (agent: string) => `
      import { type Authority, Robots, RobotsFilterError, Table, TableBuilder, filterStream, parseAuthority, verdicts } from 'robots-filter';
      const robots: Robots = Robots.parse('', { profile: 'google' });
      const { verdict, rule } = robots.verdict('/', ${agent});
      const line: number | undefined = rule?.line;
      const authority: Authority | undefined = parseAuthority('example.com');
      const builder = new TableBuilder();
      if (authority !== undefined) builder.add(authority, new Uint8Array(), { source: 'a' });
      const table: Table = Table.from(builder.build());
      const stream: NodeJS.ReadWriteStream = filterStream(table, { agents: 'a' });
      for await (const { url } of verdicts(table, ['a'], 'a')) url.toUpperCase();
      try {} catch (error) { if (error instanceof RobotsFilterError) error.code satisfies string; }
      export { verdict, line, stream };
    `;
    const compile = (file: string) => {
      writeFileSync(join(place, 'program.ts'), file);
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      return spawnSync(process.execPath, [tsc, '-p', place], { encoding: 'utf8' }).stdout;
    };
    expect(compile(program("'a'"))).toBe('');
    // It does look at the types.
    expect(compile(program('1'))).toContain('error TS2345');
  });
});
