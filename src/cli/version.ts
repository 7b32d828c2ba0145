import { readFileSync } from 'node:fs';

/** The version in package.json, two directories above `src/cli` and `dist/cli`. */
export function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(file) as { version: string };
  return version;
}
