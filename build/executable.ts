/**
 * Makes one executable file of Node and the package, for users without Node:
 *
 *     npm run build && npm run build:executable
 *
 * It writes .build/executable/robots-filter: a copy of this Node, in which the package lies as a
 * resource.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { serialize } from 'node:v8';
import { gzipSync } from 'node:zlib';
import { inject } from 'postject';
import { rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');
const PLACE = join(ROOT, '.build/executable');
const NAME = process.platform === 'win32' ? 'robots-filter.exe' : 'robots-filter';

/** The mark in Node's executable that says whether a resource is there. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly dev?: boolean; readonly devOptional?: boolean; readonly optional?: boolean }
    >
  >;
}

/** What runs: the build, and the packages that it needs. */
function packageFiles(): Map<string, Buffer> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const needed = Object.entries(lock.packages).filter(
    ([path, { dev, devOptional, optional }]) => path !== '' && !dev && !devOptional && !optional,
  );
  const files = new Map([
    ['package.json', readFileSync(join(ROOT, 'package.json'))],
    ['LICENSE', readFileSync(join(ROOT, 'LICENSE'))],
  ]);
  for (const directory of ['dist', ...needed.map(([path]) => path)]) {
    for (const entry of readdirSync(join(ROOT, directory), {
      recursive: true,
      withFileTypes: true,
    })) {
      if (!entry.isFile() || /\.(map|[cm]?ts)$/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      files.set(relative(ROOT, path).replaceAll('\\', '/'), readFileSync(path));
    }
  }
  return files;
}

/** The start as one file of CommonJS, as Node asks for. */
async function bundleStart(): Promise<void> {
  const bundle = await rolldown({
    input: join(ROOT, 'build/executable/start.ts'),
    platform: 'node',
    external: /^node:/,
  });
  await bundle.write({ file: join(PLACE, 'main.cjs'), format: 'cjs' });
}

rmSync(PLACE, { recursive: true, force: true });
mkdirSync(PLACE, { recursive: true });
await bundleStart();
const content = gzipSync(serialize(packageFiles()), { level: 9 });
writeFileSync(join(PLACE, 'package'), content);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};
const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
writeFileSync(join(PLACE, 'id'), `${version}-${hash}`);
const settings = {
  main: join(PLACE, 'main.cjs'),
  output: join(PLACE, 'resource'),
  assets: { package: join(PLACE, 'package'), id: join(PLACE, 'id') },
  disableExperimentalSEAWarning: true,
};
writeFileSync(join(PLACE, 'settings.json'), JSON.stringify(settings));
execFileSync(process.execPath, ['--experimental-sea-config', join(PLACE, 'settings.json')]);
const executable = join(PLACE, NAME);
copyFileSync(process.execPath, executable);
chmodSync(executable, 0o755);
await inject(executable, 'NODE_SEA_BLOB', readFileSync(settings.output), { sentinelFuse: FUSE });
for (const rest of ['main.cjs', 'package', 'id', 'resource', 'settings.json']) {
  rmSync(join(PLACE, rest));
}
process.stdout.write(`${executable}, ${(statSync(executable).size / 1e6).toFixed(0)} MB\n`);
