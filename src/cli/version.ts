import { readFileSync } from 'node:fs';
import { packageFile } from '../files/package-file.js';

/** The version in package.json. */
export function version(): string {
  const file = readFileSync(packageFile('package.json') ?? 'package.json', 'utf8');
  const { version } = JSON.parse(file) as { version: string };
  return version;
}
