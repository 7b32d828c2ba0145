/** Fails if a comment line is longer than 100 columns; biome wraps code. Part of `npm run lint`. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['bench', 'build', 'dependencies', 'fixtures', 'fuzz', 'oracle', 'src', 'test'];
const ENDINGS = ['.ts', '.mts', '.mjs'];
const COLUMNS = 100;
const BEGINNINGS = ['//', '/*', '*'];

const tooLong: string[] = [];
for (const folder of FOLDERS) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!ENDINGS.some((ending) => name.endsWith(ending))) continue;
    const path = join(folder, name);
    const lines = readFileSync(path, 'utf8').split('\n');
    for (const [index, line] of lines.entries()) {
      const text = line.trimStart();
      if (line.length > COLUMNS && BEGINNINGS.some((beginning) => text.startsWith(beginning))) {
        tooLong.push(
          `${path}:${index + 1}: a comment of ${line.length} columns; wrap it at ${COLUMNS}`,
        );
      }
    }
  }
}
for (const message of tooLong) console.error(message);
if (tooLong.length > 0) process.exitCode = 1;
