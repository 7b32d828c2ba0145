/**
 * Tests the build in dist under the program that runs this file: `npx node@24 test/smoke.mjs`, and
 * likewise `deno run -A` and `bun`. It needs no other package than those that the build needs.
 *
 * The other tests run under one version of Node, since vitest and the compilers have versions of
 * their own to ask for. Under Deno and Bun the command must refuse to run.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as library from 'robots-filter';
import robotsParser from 'robots-filter/robots-parser';

const { compileTable, filterStream, Robots, RobotsFilterError, Table, TableBuilder } = library;
const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAIN = join(ROOT, 'dist/cjs/main.cjs');
const { bun, deno, node } = process.versions;
const IS_NODE = bun === undefined && deno === undefined;
const RUNTIME = bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`;

const place = mkdtempSync(join(tmpdir(), 'robots-filter-smoke-'));
const inPlace = (name) => join(place, name);
const DEMO = join(ROOT, 'fixtures/demo/robots');
const BODY = 'User-agent: *\nDisallow: /private\n';
const ALLOWED = 'https://a.example/';
const DENIED = 'https://a.example/private';

/** Runs the command line; fails if it says anything on standard error. */
function command(args, input = '') {
  const words = [...(deno ? ['run', '-A'] : []), MAIN, ...args];
  const run = spawnSync(process.execPath, words, { cwd: ROOT, input, maxBuffer: 1e8 });
  assert.equal(`${run.stderr}`, '');
  assert.equal(run.status, 0);
  return run.stdout;
}

function refusedCommand() {
  const words = [...(deno ? ['run', '-A'] : []), MAIN, '--robots-dir', DEMO];
  const run = spawnSync(process.execPath, words, { input: `${ALLOWED}\n`, encoding: 'utf8' });
  assert.equal(run.stdout, '');
  assert.match(run.stderr, /runs under Node, and this is (Deno|Bun)/);
  assert.equal(run.status, 2);
}

/** Compares many lines, and shows the first that is wrong. */
function sameLines(output, expected) {
  const lines = `${output}`.split('\n');
  const wrong = expected.split('\n').findIndex((line, index) => line !== lines[index]);
  assert.equal(lines[wrong], expected.split('\n')[wrong], `line ${wrong + 1}`);
  assert.equal(output.length, expected.length);
}

/** Lines and their verdicts, more than one batch of them. */
function manyLines() {
  const urls = Array.from({ length: 100_000 }, (_, n) => `${n % 3 ? ALLOWED : DENIED}?${n}`);
  const verdicts = urls.map((url, n) => `${n % 3 ? 'allow' : 'deny'}\t${url}\n`);
  return { lines: `${urls.join('\n')}\n`, expected: verdicts.join('') };
}

function smallTable() {
  const builder = new TableBuilder({ records: true });
  builder.add('a.example', `${BODY}Sitemap: https://a.example/s.xml\n`);
  return Table.from(builder.build());
}

const CASES = {
  'Robots judges'() {
    const robots = Robots.parse(BODY);
    assert.equal(robots.isAllowed(ALLOWED, 'MyBot'), true);
    const rule = { line: 2, text: 'Disallow: /private', agent: '*' };
    assert.deepEqual(robots.verdict(DENIED, 'MyBot'), { verdict: 'deny', reason: 'rule', rule });
    assert.throws(() => robots.verdict(DENIED), RobotsFilterError);
  },

  'require gives the same library'() {
    assert.equal(require('robots-filter').Table, Table);
    // Jest cannot require ES modules.
    assert.match(require.resolve('robots-filter'), /\.cjs$/);
    for (const parser of [robotsParser, require('robots-filter/robots-parser')]) {
      assert.equal(parser('https://a.example/robots.txt', BODY).isAllowed(DENIED), false);
    }
  },

  async 'a table is saved, opened, verified, and judges'() {
    await smallTable().save(inPlace('my.table'));
    const table = await Table.open(inPlace('my.table'), { verify: true });
    assert.deepEqual(table.verdicts([DENIED, ALLOWED, 'x'], 'a'), ['deny', 'allow', 'invalid']);
    assert.deepEqual(table.sitemaps(ALLOWED), ['https://a.example/s.xml']);
    writeFileSync(inPlace('my.table.gz'), gzipSync(readFileSync(inPlace('my.table'))));
    assert.equal((await Table.open(inPlace('my.table.gz'))).hosts, 1);
  },

  async 'a stream keeps all records in order, on one thread and on two'() {
    const { lines, expected } = manyLines();
    for (const threads of [1, 2]) {
      const stream = filterStream(smallTable(), { agents: 'MyBot', threads });
      stream.end(lines);
      sameLines(await text(stream), expected);
    }
  },

  async 'a file of records is compiled, on threads'() {
    const record = JSON.stringify({
      url: 'https://a.example/robots.txt',
      status: 200,
      robots: BODY,
    });
    writeFileSync(inPlace('robots.ndjson'), `${record}\n`);
    const table = await compileTable(inPlace('robots.ndjson'), { threads: 2 });
    assert.equal(table.isDisallowed(DENIED, 'MyBot'), true);
  },

  async 'a directory is compiled'() {
    const compiled = compileTable(DEMO, { threads: 2 });
    if (bun) await assert.rejects(compiled, /lists no names as bytes.*under Node/);
    else assert.equal((await compiled).hosts, 3);
  },
};

const COMMAND_CASES = {
  'the command judges the demo'() {
    const args = ['--robots-dir', DEMO, '--agent', 'GPTBot', 'fixtures/demo/urls.txt'];
    assert.equal(
      `${command(args)}`,
      [
        'allow\thttps://shop.example/tea',
        'deny\thttps://shop.example/?sort=up',
        'allow\thttps://shop.example/cart/help',
        'deny\thttps://blog.example/essays/1',
        'deny\thttps://down.example/anything',
        'unknown\thttps://new.example/some-page\n',
      ].join('\n'),
    );
  },

  'the command compiles, and filters gzip and pipes on threads'() {
    const { lines, expected } = manyLines();
    const table = inPlace('compiled.table');
    command(['compile', '--quiet', '--robots-dir', inPlace('robots.ndjson'), '-o', table]);
    const filter = ['--quiet', '--table', table, '--threads', '2'];
    writeFileSync(inPlace('urls.gz'), gzipSync(lines));
    sameLines(command(filter, lines), expected);
    sameLines(command([...filter, inPlace('urls.gz')]), expected);
    command([...filter, '-o', inPlace('out.gz'), inPlace('urls.gz')]);
    sameLines(gunzipSync(readFileSync(inPlace('out.gz'))), expected);
  },

  'the command reads Parquet'() {
    const output = command(['--quiet', '--robots-dir', DEMO, 'fixtures/demo/index']);
    assert.ok(output.length > 0);
  },
};

let failures = 0;
const cases = IS_NODE
  ? { ...CASES, ...COMMAND_CASES }
  : { ...CASES, 'the command refuses': refusedCommand };
try {
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
    } catch (error) {
      failures++;
      console.error(`${RUNTIME}: ${name}: FAILED`, error);
    }
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
if (failures > 0) process.exitCode = 1;
else console.log(`${RUNTIME}: ${Object.keys(cases).length} cases hold`);
