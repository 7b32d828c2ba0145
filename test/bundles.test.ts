import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const IMPORTS = `import { text } from 'node:stream/consumers';
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { compileTable, filterStream, Robots, Table, TableBuilder } from 'robots-filter';
import robotsParser from 'robots-filter/robots-parser';
`;

const REQUIRES = `const { text } = require('node:stream/consumers');
const { mkdirSync, writeFileSync } = require('node:fs');
const { gzipSync } = require('node:zlib');
const { compileTable, filterStream, Robots, Table, TableBuilder } = require('robots-filter');
const robotsParser = require('robots-filter/robots-parser');
`;

const PROGRAM = `
async function run() {
  let threads = 0;
  process.on('worker', () => threads++);
  const body = 'User-agent: *\\nDisallow: /private\\n';
  console.log(Robots.parse(body).verdict('/private', 'a').verdict);
  console.log(robotsParser('https://a.example/robots.txt', body).isAllowed('https://a.example/private'));
  const builder = new TableBuilder();
  builder.add('a.example', body);
  const stream = filterStream(Table.from(builder.build()), { agents: 'a', threads: 2 });
  stream.end('https://a.example/private\\nhttps://a.example/\\n');
  process.stdout.write(await text(stream));
  console.log('threads', threads);
  mkdirSync('robots', { recursive: true });
  for (let host = 0; host < 3; host++) writeFileSync('robots/h' + host + '.example.txt', body);
  const compiled = await compileTable('robots', { threads: 2 });
  console.log(compiled.verdict('https://h1.example/private', 'a').rule.line, (await compiled.verify()).hosts);
  writeFileSync('hosts.table.gz', gzipSync(compiled.bytes));
  await compiled.save('hosts.table');
  console.log((await Table.open('hosts.table')).hosts, (await Table.open('hosts.table.gz')).hosts);
}
run();
`;

const OUTPUT = `deny
false
deny	https://a.example/private
allow	https://a.example/
threads 2
2 3
3 3
`;

let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'robots-filter-bundles-'));
  mkdirSync(join(place, 'program/node_modules'), { recursive: true });
  symlinkSync(ROOT, join(place, 'program/node_modules/robots-filter'), 'junction');
  writeFileSync(join(place, 'program/esm.mjs'), IMPORTS + PROGRAM);
  writeFileSync(join(place, 'program/cjs.cjs'), REQUIRES + PROGRAM);
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Bundles a program with all that it needs into a directory. */
async function bundle(by: string, input: string, format: 'esm' | 'cjs', to: string) {
  const ending = format === 'esm' ? 'mjs' : 'cjs';
  if (by === 'esbuild') {
    const { warnings } = await esbuild.build({
      entryPoints: [input],
      bundle: true,
      platform: 'node',
      format,
      outfile: join(to, `bundle.${ending}`),
      logLevel: 'silent',
    });
    return warnings.map(({ text }) => text);
  }
  const warnings: string[] = [];
  const built = await rolldown({
    input,
    platform: 'node',
    checks: { pluginTimings: false },
    onLog: (_level, { message }) => warnings.push(message),
  });
  await built.write({
    dir: to,
    format,
    entryFileNames: `bundle.${ending}`,
    chunkFileNames: `chunk-[name].${ending}`,
  });
  await built.close();
  return warnings;
}

it.each([
  ['esbuild', 'esm.mjs', 'esm'],
  ['esbuild', 'esm.mjs', 'cjs'],
  ['esbuild', 'cjs.cjs', 'cjs'],
  ['rolldown', 'esm.mjs', 'esm'],
  ['rolldown', 'esm.mjs', 'cjs'],
  ['rolldown', 'cjs.cjs', 'cjs'],
] as const)('%s bundles %s as %s, and the bundle works alone', async (by, input, format) => {
  const to = join(place, `${by}-${input}-${format}`);
  const warnings = await bundle(by, join(place, 'program', input), format, to);
  expect(warnings).toEqual([]);
  // Nothing but the bundle is there: no package, and no kernel as a file.
  expect(readdirSync(to).filter((name) => !/\.[mc]js$/.test(name))).toEqual([]);
  const name = format === 'esm' ? 'bundle.mjs' : 'bundle.cjs';
  const { stdout, stderr } = spawnSync(process.execPath, [name], { cwd: to, encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: OUTPUT, stderr: '' });
});
