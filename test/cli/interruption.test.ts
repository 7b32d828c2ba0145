import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { bundledScript } from '../bundled-script.js';
import { ended, test, Workplace, workplace } from './command-line.js';

const scripts = new Workplace(false);
let script: string;
beforeAll(async () => {
  script = await bundledScript(new URL('interrupted-script.ts', import.meta.url), scripts.path);
});
afterAll(() => scripts.remove());

/** Starts a filter on a pipe that stays open; resolves when the filter has opened the pipe. */
async function filterOfPipe(
  place: Workplace,
  ...options: string[]
): Promise<{ child: ChildProcess; pipe: FileHandle }> {
  const path = join(place.path, 'fifo');
  execFileSync('mkfifo', [path]);
  const child = place.start(['--robots-dir', 'robots', 'fifo', ...options]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const pipe = await open(path, 'w');
  onTestFinished(() => pipe.close());
  return { child, pipe };
}

test('SIGINT prints the statistics so far and exits 130; the output has whole lines', async () => {
  const { child, pipe } = await filterOfPipe(workplace());
  const end = ended(child);
  await pipe.write('https://example.com/private/\nhttps://example.com/\nhttps://exam');
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  child.kill('SIGINT');
  const { code, text, stderr } = await end;
  expect(code).toBe(130);
  expect('deny\thttps://example.com/private/\nallow\thttps://example.com/\n'.startsWith(text)).toBe(
    true,
  );
  expect(stderr).toContain('incomplete');
  expect(stderr).toMatch(/^records +2 read,/);
  // Distinct hosts are counted only with --stats.
  expect(stderr).toMatch(/^hosts +2 in the table$/m);
  expect(stderr).toMatch(/peak memory/);
});

test('SIGINT before any input, with --stats=json', async () => {
  const { child } = await filterOfPipe(workplace(), '--stats=json');
  const end = ended(child);
  child.kill('SIGINT');
  const { code, text, stderr } = await end;
  expect({ code, text }).toEqual({ code: 130, text: '' });
  expect(JSON.parse(stderr)).toMatchObject({ complete: false, records: 0 });
});

test('SIGTERM with --quiet prints nothing; -o keeps the old file', async ({ place }) => {
  place.write('out.txt', 'old\n');
  const { child, pipe } = await filterOfPipe(place, '-q', '-o', 'out.txt');
  const end = ended(child);
  await pipe.write('https://example.com/\n');
  child.kill('SIGTERM');
  const { code, stderr } = await end;
  expect({ code, stderr }).toEqual({ code: 143, stderr: '' });
  expect(place.read('out.txt')).toBe('old\n');
  expect(place.names()).toEqual(['fifo', 'out.txt', 'robots']);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a second %s ends the process by the signal itself, after the exit handlers',
  async (signal) => {
    const place = new Workplace();
    const path = join(place.path, 'unfinished');
    const child = spawn(process.execPath, [script, path], { stdio: 'pipe' });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const end = ended(child);
    await once(child.stdout, 'data');
    expect(place.names()).toEqual(['unfinished']);
    child.kill(signal);
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await end).toMatchObject({
      code: null,
      signal,
      text: 'listening\naborted\n',
      stderr: '',
    });
    expect(place.names()).toEqual([]);
  },
);
