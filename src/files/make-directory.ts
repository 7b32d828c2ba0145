import { mkdirSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';

/**
 * Creates a directory, and its parents where they are missing.
 *
 * @throws the system's error, such as `ENOENT` if the path is relative and the working directory
 *   has been deleted: there Node's own recursive `mkdir` would never return
 */
export function makeDirectory(path: string): void {
  if (!isAbsolute(path)) statSync(process.cwd());
  mkdirSync(resolve(path), { recursive: true });
}
