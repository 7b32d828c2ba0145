import { spawnSync } from 'node:child_process';
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
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Scripts that npm runs, or asks about, when someone installs the package. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];

/** Maximum bytes of the unpacked package, apart from its kernel. */
const MOST_BYTES = 1_420_000;
/** Maximum bytes of the copies for bundles: the kernel and the program of the threads. */
const MOST_EMBEDDED_BYTES = 60_000;

const KERNEL = 'dist/kernel/kernel.wasm';

interface PackedFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
}

let place: string;
let files: readonly PackedFile[];
let installed: { readonly status: number | null; readonly stderr: string };

/** Runs a program of npm without the settings of the caller's npm. */
function npm(args: readonly string[], cwd: string) {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const env = { ...Object.fromEntries(own), npm_config_userconfig: join(place, 'no-npmrc') };
  return spawnSync('npm', args, { cwd, env, encoding: 'utf8', shell: sep === '\\' });
}

function node(args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: place, encoding: 'utf8' });
  return stdout + stderr;
}

/** Copies the packages that the installed package needs, so that npm does not fetch them. */
function copyDependencies(): void {
  const lock: {
    packages: Record<string, { dev?: boolean; devOptional?: boolean; optional?: boolean }>;
  } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  for (const [path, { dev, devOptional, optional }] of Object.entries(lock.packages)) {
    if (path === '' || dev || devOptional || optional) continue;
    cpSync(join(ROOT, path), join(place, path), { recursive: true });
  }
}

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'robots-filter-'));
  // Without scripts, because they would build, and other tests run the build.
  const pack = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', place], ROOT);
  const [{ filename, files: packed }] = JSON.parse(pack.stdout) as [
    { filename: string; files: PackedFile[] },
  ];
  files = packed;
  writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  copyDependencies();
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(place, filename)];
  installed = npm(install, place);
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('the package', () => {
  it('holds the build and six more files', () => {
    const built = readdirSync(join(ROOT, 'dist'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).split(sep).join('/'));
    expect(built).toEqual(
      expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/cjs/main.cjs', KERNEL]),
    );
    const further = [
      'CHANGELOG.md',
      'LICENSE',
      'NOTICE',
      'README.md',
      'SECURITY.md',
      'package.json',
    ];
    const packed = files.map(({ path }) => path);
    expect(packed.sort()).toEqual([...built, ...further].sort());
    // No leftovers of a build.
    const others = built.filter((path) => !path.endsWith('.js') && !path.endsWith('.cjs'));
    const types = [
      'dist/cjs/index.d.cts',
      'dist/cjs/robots-parser.d.cts',
      'dist/index.d.ts',
      'dist/robots-parser.d.ts',
    ];
    const assets = [KERNEL, 'dist/robots-filter.1.gz', 'dist/cjs/piscina/package.json'];
    expect(others.sort()).toEqual([...types, ...assets].sort());
  });

  it('has an executable command line', () => {
    const main = files.find(({ path }) => path === 'dist/cjs/main.cjs');
    expect((main?.mode ?? 0) & 0o111).toBe(0o111);
  });

  it('has an executable file where bin once led, for the links that npx keeps', () => {
    const former = join(ROOT, 'dist/cli/main.js');
    const { stdout } = spawnSync(former, ['--version'], { encoding: 'utf8' });
    expect(stdout).toBe('0.1.0\n');
  });

  it('has no character beyond ASCII in its programs, which would make their start slower', () => {
    const programs = files.filter(({ path }) => /\.c?js$/.test(path));
    expect(programs.length).toBeGreaterThan(40);
    const beyond = programs.filter(({ path }) =>
      readFileSync(join(ROOT, path)).some((byte) => byte > 0x7f),
    );
    expect(beyond).toEqual([]);
  });

  it('is small, apart from its kernel', () => {
    const bytesOf = (isCounted: (path: string) => boolean): number =>
      files.reduce((sum, { path, size }) => sum + (isCounted(path) ? size : 0), 0);
    const bytes = bytesOf((path) => path !== KERNEL);
    expect(bytes).toBeGreaterThan(MOST_BYTES / 10);
    expect(bytes).toBeLessThan(MOST_BYTES);
    const embedded = bytesOf((path) => path === 'dist/cjs/embedded.cjs');
    expect(embedded).toBeGreaterThan(MOST_EMBEDDED_BYTES / 10);
    expect(embedded).toBeLessThan(MOST_EMBEDDED_BYTES);
  });

  it.each([
    ['commander', 'chunk-program.cjs', 'helpDisplayed'],
    ['piscina', 'piscina/index.cjs', 'needsDrain'],
    ['piscina', 'piscina/worker.js', 'PISCINA_DISABLE_ATOMICS'],
    ['tldts-icann', 'chunk-join-keys.cjs', 'fastPathLookup'],
  ])('names the licence of %s, whose code is in %s', (name, file, word) => {
    expect(readFileSync(join(ROOT, 'dist/cjs', file), 'utf8')).toContain(word);
    const licence = readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8');
    expect(readFileSync(join(ROOT, 'NOTICE'), 'utf8')).toContain(licence.trim());
  });

  it('has no script that runs when it is installed', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(place, 'node_modules/robots-filter/package.json'), 'utf8'),
    );
    expect(Object.keys(scripts)).toContain('prepack');
    for (const name of INSTALL_SCRIPTS) expect(scripts).not.toHaveProperty(name);
  });

  it('is installed by npm without a warning', () => {
    expect(installed).toMatchObject({ status: 0, stderr: '' });
  });

  it.skipIf(sep === '\\')('brings its manual page where man(1) looks for it', () => {
    const prefix = join(place, 'global');
    const install = ['install', '--global', '--ignore-scripts', '--offline', '--prefix', prefix];
    expect(npm([...install, ROOT], place)).toMatchObject({ status: 0, stderr: '' });
    const page = gunzipSync(readFileSync(join(prefix, 'share/man/man1/robots-filter.1.gz')));
    expect(page.toString()).toContain('.TH "ROBOTS\\-FILTER" 1');
    const bin = join(prefix, 'bin/robots-filter');
    expect(spawnSync(bin, ['--version'], { encoding: 'utf8' }).stdout).toBe('0.1.0\n');
  });
});

describe('the installed package', () => {
  it('has a library that loads no packages, nothing for threads, and no copies of its files', () => {
    writeFileSync(
      join(place, 'loaded.js'),
      `import { createRequire } from 'node:module';
       await import('robots-filter');
       console.log(Object.keys(createRequire(import.meta.url).cache).join());`,
    );
    const loaded = node(['loaded.js']);
    expect(loaded).toContain('/dist/cjs/index.cjs');
    expect(loaded).not.toMatch(/\/dist\/cjs\/(embedded|piscina\/index)\.cjs/);
    // Neither undici nor stream-json: packages are loaded when they are used.
    expect(loaded.replaceAll('/node_modules/robots-filter/', '/')).not.toContain('/node_modules/');
  });

  it('has a library that judges, compiles, and filters on threads', () => {
    writeFileSync(
      join(place, 'library.js'),
      `import { text } from 'node:stream/consumers';
       import { filterStream, parseAuthority, Robots, Table, TableBuilder } from 'robots-filter';
       const body = new TextEncoder().encode('User-agent: *\\nDisallow: /private\\n');
       console.log(Robots.parse(body).verdict('/private', 'a').verdict);
       const builder = new TableBuilder();
       builder.add(parseAuthority('a.example'), body, { source: 'a' });
       const stream = filterStream(Table.from(builder.build()), { agents: 'a' });
       stream.end('https://a.example/private\\nhttps://a.example/\\n');
       process.stdout.write(await text(stream));`,
    );
    expect(node(['library.js'])).toBe(
      'deny\ndeny\thttps://a.example/private\nallow\thttps://a.example/\n',
    );
  });

  it('takes the place of robots-parser, for import and for require', () => {
    const ask = `const robots = robotsParser('https://a.example/robots.txt', 'User-agent: *\\nDisallow: /b');
       console.log(robots.isAllowed('https://a.example/b'), robots.isAllowed('https://b.example/b'));`;
    const name = 'robots-filter/robots-parser';
    writeFileSync(join(place, 'esm.js'), `import robotsParser from '${name}';\n${ask}`);
    writeFileSync(join(place, 'common.cjs'), `const robotsParser = require('${name}');\n${ask}`);
    // With npm's overrides: a package of two files under the other name.
    const instead = join(place, 'node_modules/robots-parser');
    mkdirSync(instead);
    writeFileSync(join(instead, 'package.json'), '{"name":"robots-parser","version":"3.0.1"}');
    writeFileSync(join(instead, 'index.js'), `module.exports = require('${name}');`);
    writeFileSync(join(place, 'as-before.js'), `import robotsParser from 'robots-parser';\n${ask}`);
    for (const file of ['esm.js', 'common.cjs', 'as-before.js']) {
      expect(node([file]), file).toBe('false undefined\n');
    }
  });

  it('has a command line, with threads and without', () => {
    // The build holds their code.
    for (const name of ['commander', 'piscina']) {
      rmSync(join(place, 'node_modules', name), { recursive: true });
    }
    mkdirSync(join(place, 'robots'));
    writeFileSync(join(place, 'robots/a.example.txt'), 'User-agent: *\nDisallow: /private\n');
    writeFileSync(join(place, 'urls.txt'), 'https://a.example/private\n');
    const bin = join(place, 'node_modules/.bin/robots-filter');
    for (const threads of [[], ['--threads', '2']]) {
      const args = ['--robots-dir', 'robots', ...threads, 'urls.txt'];
      const { stdout, stderr } = spawnSync(bin, args, {
        cwd: place,
        encoding: 'utf8',
        shell: sep === '\\',
      });
      expect({ stdout, stderr }).toEqual({
        stdout: 'deny\thttps://a.example/private\n',
        stderr: '',
      });
    }
  });

  it('has a command line that loads four files for one URL, and starts no threads', () => {
    writeFileSync(
      join(place, 'loaded.cjs'),
      `process.on('exit', () => {
         const ofNode = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
         console.log(Object.keys(require.cache).join());
         console.log(ofNode.filter((name) => /^(child_process|fs|worker_threads|zlib)$/.test(name)).join());
       });`,
    );
    const program = join(place, 'node_modules/robots-filter/dist/cjs/main.cjs');
    writeFileSync(join(place, 'one.ndjson'), '{"host":"a.example","robots":"Disallow:"}\n');
    writeFileSync(join(place, 'one.txt'), 'https://a.example/\n');
    node([program, 'compile', '-q', '--robots-dir', 'one.ndjson', '-o', 'one.table']);
    const said = node(['-r', './loaded.cjs', program, '--table', 'one.table', 'one.txt']);
    const [verdict, loaded = '', ofNode] = said.split('\n');
    expect(verdict).toBe('allow\thttps://a.example/');
    const names = loaded.split(',').map((path) => path.slice(path.lastIndexOf(sep) + 1));
    expect(names.sort()).toEqual([
      'chunk-filter.cjs',
      'chunk-program.cjs',
      'chunk-rolldown-runtime.cjs',
      'loaded.cjs',
      'main.cjs',
    ]);
    expect(ofNode).toBe('fs');
  });

  it('has types against which a program compiles, strictly', () => {
    mkdirSync(join(place, 'node_modules/@types'));
    for (const name of ['@types/node', 'undici-types']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(place, 'node_modules', name), 'junction');
    }
    const compilerOptions = {
      // In which a CommonJS module cannot import an ES module.
      module: 'Node16',
      target: 'ES2022',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
    };
    const common = `
      import { type Judgement, type KnownAgent, Robots, type Verdict, knownAgents } from 'robots-filter';
      import robotsParser, { type RobotsParser } from 'robots-filter/robots-parser';
      const verdict: Verdict = Robots.parse('').verdict('/', 'a').verdict;
      const parsed: RobotsParser = robotsParser('https://a.example/robots.txt', '');
      const isAllowed: boolean | undefined = parsed.isAllowed('https://a.example/');
      const placeOf = (judgement: Judgement): string =>
        judgement.reason === 'rule'
          ? judgement.rule.text
          : (judgement.reason satisfies Exclude<Judgement['reason'], 'rule'>);
      const withRule = ({ rule, verdict }: Judgement): 'allow' | 'deny' | undefined =>
        rule === undefined ? undefined : verdict;
      const tokens: string[] = knownAgents('ai-training').map(({ token }: KnownAgent) => token);
      export { isAllowed, placeOf, tokens, verdict, withRule };
    `;
    const program = (agent: string, method = 'build') => `
      import { type Authority, Robots, RobotsFilterError, Table, TableBuilder, filterStream, parseAuthority, verdicts } from 'robots-filter';
      const robots: Robots = Robots.parse('', { profile: 'google' });
      const { verdict, rule } = robots.verdict('/', ${agent});
      const line: number | undefined = rule?.line;
      const authority: Authority | undefined = parseAuthority('example.com');
      const builder = new TableBuilder();
      if (authority !== undefined) builder.add(authority, new Uint8Array(), { source: 'a' });
      const table: Table = Table.from(builder.${method}());
      const stream: NodeJS.ReadWriteStream = filterStream(table, { agents: 'a' });
      for await (const { url } of verdicts(table, ['a'], 'a')) url.toUpperCase();
      try {} catch (error) { if (error instanceof RobotsFilterError) error.code satisfies string; }
      export { verdict, line, stream };
    `;
    // What compiles, what does not because types are checked, and the data by which threads merge,
    // which is not public.
    const programs = {
      'common.cts': common,
      'unruled.ts': `
        import { Robots } from 'robots-filter';
        export const { line } = Robots.parse('').verdict('/', 'a').rule;
      `,
      'right.ts': program("'a'"),
      'wrong.ts': program('1'),
      'secret.ts': program("'a'", 'merger'),
    };
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(place, name), text);
    writeFileSync(
      join(place, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: Object.keys(programs) }),
    );
    const said = node([join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', place]);
    const errors = said.matchAll(/^(\w+\.c?ts)\(.*error (TS\d+)/gm);
    expect([...errors].map(([, file, code]) => `${file} ${code}`).sort()).toEqual([
      'secret.ts TS2339',
      'unruled.ts TS2339',
      'wrong.ts TS2345',
    ]);
  });

  it('declares only names that something public uses', () => {
    const types = readFileSync(
      join(place, 'node_modules/robots-filter/dist/cjs/index.d.cts'),
      'utf8',
    );
    const declared = [
      ...types.matchAll(/^(?:declare class|declare function|interface|type) (\w+)/gm),
    ].map(([, name]) => name ?? '');
    expect(declared).toContain('Table');
    for (const name of declared) {
      expect(types.match(new RegExp(`\\b${name}\\b`, 'g'))?.length, name).toBeGreaterThan(1);
    }
  });
});
