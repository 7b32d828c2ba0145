import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync } from 'node:fs';

/** A compression, by the ending of its files: the program that compresses to standard output. */
const PROGRAMS = { gz: ['gzip', '-c'], zst: ['zstd', '-q', '-c'] } as const;
export type CompressedEnding = keyof typeof PROGRAMS;

/** Whether this machine has the program of a compression. */
export function canCompress(ending: CompressedEnding): boolean {
  return spawnSync(PROGRAMS[ending][0], ['--version'], { stdio: 'ignore' }).status === 0;
}

/** A file beside another one, with its contents compressed; made on the first request. */
export function provideCompressed(path: string, ending: CompressedEnding): string {
  const compressed = `${path}.${ending}`;
  if (existsSync(compressed)) return compressed;
  const [program, ...words] = PROGRAMS[ending];
  const output = openSync(`${compressed}.tmp`, 'w');
  execFileSync(program, [...words, path], { stdio: ['ignore', output, 'inherit'] });
  closeSync(output);
  renameSync(`${compressed}.tmp`, compressed);
  return compressed;
}
