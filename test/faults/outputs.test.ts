import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ended, type Workplace, workplace } from '../cli/command-line.js';

const COUNT = 30_000;
const URLS = Array.from(
  { length: COUNT },
  (_, i) => `https://example.com/${i % 3 === 0 ? 'private/' : ''}${i}\n`,
);
const VERDICTS = URLS.map((url, i) => `${i % 3 === 0 ? 'deny' : 'allow'}\t${url}`).join('');
const OLD = 'as it was\n';

/** A workplace with the URLs in a plain and in a compressed file. */
function place(): Workplace {
  const made = workplace();
  made.write('urls.txt', URLS.join(''));
  made.write('urls.gz', gzipSync(URLS.join('')));
  made.write('out.txt', OLD);
  return made;
}

/** URLs of at least so many bytes together, which compress badly. */
function noise(bytes: number): string {
  const urls = Array.from(
    { length: Math.ceil(bytes / 2000) },
    () => `https://example.com/${randomBytes(1000).toString('hex')}\n`,
  );
  return urls.join('');
}

const INPUTS = [
  ['a file', '$rf --robots-dir robots urls.txt'],
  ['a pipe', 'cat urls.txt | $rf --robots-dir robots'],
  ['gzip', '$rf --robots-dir robots urls.gz'],
] as const;

describe('a file at the size limit of the process', () => {
  for (const [what, command] of INPUTS) {
    test(`ends the run with 2, from ${what}; -o keeps the old file`, async () => {
      const made = place();
      const direct = await made.shellAlone(`ulimit -f 64; ${command} > direct.txt`);
      expect(direct.code).toBe(2);
      expect(direct.stderr).toContain('standard output: the file would be larger than');
      expect(made.read('direct.txt')).toBe(VERDICTS.slice(0, 64 * 1024));
      const replaced = await made.shellAlone(`ulimit -f 64; ${command} -o out.txt`);
      expect(replaced.code).toBe(2);
      expect(replaced.stderr).toContain('out.txt: the file would be larger than');
      expect(made.read('out.txt')).toBe(OLD);
      expect(made.names()).toEqual(['direct.txt', 'out.txt', 'robots', 'urls.gz', 'urls.txt']);
    });
  }

  test.each(['out.gz', 'out.zst'])('keeps the old compressed file: %s', async (name) => {
    const made = place();
    // What compresses badly, and is more than a frame of zstd.
    made.write('urls.txt', noise(4_500_000));
    made.write(name, OLD);
    const { code, stderr } = await made.shellAlone(
      `ulimit -f 64; $rf --robots-dir robots urls.txt -o ${name}`,
    );
    expect(code).toBe(2);
    expect(stderr).toContain(`${name}: the file would be larger than`);
    expect(made.read(name)).toBe(OLD);
    expect(made.names()).toEqual([name, 'out.txt', 'robots', 'urls.gz', 'urls.txt'].sort());
  });

  test('keeps the old table', async () => {
    const made = place();
    const rules = Array.from({ length: 500 }, (_, i) => `Disallow: /${i}*${i * i}$\n`);
    made.write('robots/more.example', `User-agent: *\n${rules.join('')}`);
    const { code, stderr } = await made.shellAlone(
      'ulimit -f 4; $rf compile --robots-dir robots -o out.txt',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('out.txt: the file would be larger than');
    expect(made.read('out.txt')).toBe(OLD);
    expect(made.names()).toEqual(['out.txt', 'robots', 'urls.gz', 'urls.txt']);
  });
});

test('a full disk ends the run with 2 and keeps the old file', async ({ skip }) => {
  const made = place();
  made.write('disk/none', '');
  const disk = join(made.path, 'disk');
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', disk]);
  skip(mount.status !== 0, 'a file system can be mounted by root only');
  onTestFinished(() => {
    spawnSync('umount', [disk]);
  });
  made.write('disk/out.txt', OLD);
  for (const [, command] of INPUTS) {
    const { code, stderr } = await made.shell(`${command} -o disk/out.txt`);
    expect(code).toBe(2);
    expect(stderr).toContain('no space left on the device');
    expect(made.names('disk')).toEqual(['out.txt']);
    expect(made.read('disk/out.txt')).toBe(OLD);
  }
  made.write('noise.txt', noise(4_500_000));
  for (const name of ['disk/none.gz', 'disk/none.zst']) {
    const { code, stderr } = await made.shell(`$rf --robots-dir robots noise.txt -o ${name}`);
    expect(code).toBe(2);
    expect(stderr).toContain(`${name}: no space left on the device`);
    expect(made.names('disk')).toEqual(['out.txt']);
  }
});

describe('a named pipe whose reader goes away', () => {
  test.each([
    ['the filter', '-o out', '--robots-dir robots urls.txt'],
    ['the filter, compressed', '-o out.gz', '--robots-dir robots urls.txt'],
    ['the filter, Parquet', '-o out.parquet', '--robots-dir robots urls.txt'],
    ['shard', '-o out', 'shard --of 4 urls.txt'],
    ['compile', '-o out', 'compile --robots-dir robots'],
  ])('is an output that is lost: exit status 2 of %s', async (_what, option, rest) => {
    const made = place();
    const rules = Array.from({ length: 30_000 }, (_, i) => `Disallow: /${i * i}\n`);
    made.write('robots/more.example', `User-agent: *\n${rules.join('')}`);
    made.write('urls.txt', noise(400_000));
    const name = option.slice('-o '.length);
    const { code, stderr } = await made.shell(
      `mkfifo ${name}; head -c 100 ${name} > /dev/null & $rf ${rest} ${option} --quiet`,
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`${name}: its reader has gone away`),
    });
  });

  test('but standard output may lose its reader, also by another name', async () => {
    const made = place();
    for (const option of ['', '-o /dev/stdout', '-o -']) {
      const { code, text, stderr } = await made.shell(
        `set -o pipefail; $rf --robots-dir robots urls.txt ${option} | head -n 1`,
      );
      expect({ code, text, stderr }).toEqual({
        code: 0,
        text: `${VERDICTS.split('\n')[0]}\n`,
        stderr: '',
      });
    }
  });
});

test('a slow reader gets every record', async () => {
  const made = place();
  const reader = '{ read -r line; echo "$line"; sleep 0.3; head -c 100000; sleep 0.3; cat; }';
  const ends = await Promise.all(INPUTS.map(([, command]) => made.shell(`${command} | ${reader}`)));
  for (const { text } of ends) expect(text === VERDICTS).toBe(true);
});

describe('a reader of a file that is being replaced', () => {
  test.each([
    ['by the filter', ['--robots-dir', 'robots', 'urls.txt', '-o', 'out.txt']],
    ['by compile', ['compile', '--robots-dir', 'robots', '-o', 'out.txt']],
  ])('%s sees the old one or the whole new one', async (_who, args) => {
    const made = place();
    const path = join(made.path, 'out.txt');
    expect((await made.run(args)).code).toBe(0);
    const whole = made.read('out.txt');
    made.write('out.txt', OLD);
    let running = true;
    const end = ended(made.start(args)).finally(() => {
      running = false;
    });
    const seen = new Map<string, number>();
    while (running) {
      const text = readFileSync(path, 'utf8');
      const kind = text === OLD ? 'old' : text === whole ? 'new' : 'neither';
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      await turn();
    }
    expect((await end).code).toBe(0);
    expect(made.read('out.txt') === whole).toBe(true);
    expect(seen.get('neither')).toBe(undefined);
    expect(seen.get('old')).toBeGreaterThan(1);
  });

  test('sees the old file after the writer was killed', async () => {
    const made = place();
    const child = made.start(['--robots-dir', 'robots', '-', '-o', 'out.txt']);
    const end = ended(child);
    child.stdin?.on('error', () => {});
    child.stdin?.write(URLS.join(''));
    // The new file exists before the first URL is read.
    while (!made.names().some((name) => name.endsWith('.tmp'))) await turn();
    child.kill('SIGKILL');
    expect((await end).signal).toBe('SIGKILL');
    expect(made.read('out.txt')).toBe(OLD);
    const left = made.names().filter((name) => name.startsWith('.out.txt.'));
    expect(left).toHaveLength(1);
  });
});
