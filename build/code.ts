/**
 * Runs what was built over a little of everything that starts are waited for, so that V8's code of
 * it can be kept (keep-code.ts), and that of the kernel (keep-kernel.ts). It is good for the node
 * that runs this; others compile anew.
 */

import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kernelFile } from '../src/kernel/module.js';
import { codeFile } from '../src/start/kept-code.js';
import { aheadFile } from '../src/start/kept-module.js';

const MAIN = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const KEEPER = fileURLToPath(new URL('./keep-code.ts', import.meta.url));
/** Files, not names: the runs are in a folder from which Node would not find a package. */
const TSX = fileURLToPath(import.meta.resolve('tsx/cjs'));
const KERNEL_KEEPER = fileURLToPath(new URL('./keep-kernel.ts', import.meta.url));
const HOSTS = 20;
/** So much NDJSON that threads take part. */
const RECORDS = 500_000;

const place = mkdtempSync(join(tmpdir(), 'robots-filter-build-'));
try {
  prepare();
  run(['compile', '--quiet', '--robots-dir', 'robots', '-o', 'hosts.table']);
  keepKernel();
  run(['--robots-dir', 'robots', 'url.txt']);
  run(['--table', 'hosts.table', 'records.ndjson']);
  run(['--table', 'hosts.table', 'records.ndjson', '-o', 'annotated.ndjson']);
  run(['--table', 'hosts.table'], { fromPipe: true });
  run(['--table', 'hosts.table'], { fromPipe: true, toPipe: true });
  run(['--table', 'hosts.table', 'url.txt']);
} finally {
  rmSync(place, { recursive: true });
}

function prepare(): void {
  mkdirSync(join(place, 'robots'));
  const rules =
    'User-agent: *\nDisallow: /private\nAllow: /private/a\nDisallow: /*?page=\nDisallow: /*.pdf$\n';
  const urls: string[] = [];
  for (let host = 0; host < HOSTS; host++) {
    writeFileSync(join(place, 'robots', `host${host}.example.txt`), rules);
    urls.push(`https://host${host}.example/private/${host}`, `http://host${host}.example/?page=2`);
  }
  const records = urls.map((url, index) => `${JSON.stringify({ url, index })}\n`).join('');
  writeFileSync(join(place, 'records.ndjson'), records.repeat(RECORDS / urls.length));
  writeFileSync(join(place, 'url.txt'), `${urls[0]}\n`);
}

/**
 * Keeps the kernel's code if this node can make it and run it: a V8 that cannot ends the process
 * that tries.
 */
function keepKernel(): void {
  const attempts = [
    ['--import', 'tsx', KERNEL_KEEPER],
    [MAIN, '--table', join(place, 'hosts.table'), join(place, 'records.ndjson')],
  ];
  for (const args of attempts) {
    const { status, signal } = spawnSync(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status === 0) continue;
    const end = `${args.join(' ')} ended with ${status ?? signal}`;
    process.stderr.write(`${end}: the kernel's code is not kept\n`);
    rmSync(codeFile(aheadFile(kernelFile())), { force: true });
    return;
  }
}

/** One run of the command line that must succeed, from a file or a pipe to a file or a pipe. */
function run(args: readonly string[], { fromPipe = false, toPipe = false } = {}): void {
  const input = openSync(join(place, 'records.ndjson'), 'r');
  const output = openSync(join(place, 'output'), 'w');
  const shell = `${fromPipe ? 'cat |' : ''} "$0" "$@" ${toPipe ? '| cat' : ''}`;
  const node = [process.execPath, '--require', TSX, '--require', KEEPER, MAIN];
  const { status } = spawnSync('sh', ['-c', shell, ...node, ...args], {
    cwd: place,
    stdio: [input, output, 'inherit'],
  });
  closeSync(input);
  closeSync(output);
  if (status !== 0) throw new Error(`robots-filter ${args.join(' ')} ended with ${status}`);
}
