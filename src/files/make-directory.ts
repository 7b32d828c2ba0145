import { mkdirSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';

/**
 * Creates a directory, and its parents if they are missing.
 *
 * @throws the system's error, such as `ENOENT` if the path is relative and the working directory
 *   has been deleted. Node's own recursive `mkdir` would never return in that case
 */
export function makeDirectory(path: string): void {
  if (!isAbsolute(path)) statSync(process.cwd());
  mkdirSync(resolve(path), { recursive: true });
}
