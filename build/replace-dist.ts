/**
 * Moves the build from .build/dist to dist, one file at a time. A program that runs from dist
 * continues: no file is missing or incomplete at any time, and an unchanged file stays.
 */

import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

const BUILT = '.build/dist';
const DIST = 'dist';

for (const name of ['cjs/main.cjs', 'cli/main.js']) chmodSync(join(BUILT, name), 0o755);
mkdirSync(DIST, { recursive: true });
const built = filesIn(BUILT);
for (const name of built) {
  const target = join(DIST, name);
  if (isSame(join(BUILT, name), target)) continue;
  mkdirSync(dirname(target), { recursive: true });
  renameSync(join(BUILT, name), target);
}
for (const name of filesIn(DIST)) if (!built.includes(name)) rmSync(join(DIST, name));
removeEmptyIn(DIST);
rmSync('.build', { recursive: true });

/** Lists the files and the directories below a directory, by their relative paths. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

/** Removes the directories below a directory that hold no file. */
function removeEmptyIn(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(directory, entry.name);
    removeEmptyIn(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}

function isSame(path: string, other: string): boolean {
  try {
    return readFileSync(path).equals(readFileSync(other));
  } catch {
    return false;
  }
}
