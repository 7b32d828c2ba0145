import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync } from 'node:fs';

/**
 * A file beside a list of URLs, with its lines in the order of their bytes, so that those of a host
 * follow each other; made on the first request.
 */
export function provideSorted(path: string): string {
  const sorted = `${path}.sorted`;
  if (existsSync(sorted)) return sorted;
  const output = openSync(`${sorted}.tmp`, 'w');
  const env = { ...process.env, LC_ALL: 'C' };
  execFileSync('sort', [path], { env, stdio: ['ignore', output, 'inherit'] });
  closeSync(output);
  renameSync(`${sorted}.tmp`, sorted);
  return sorted;
}
