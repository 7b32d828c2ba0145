import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describedCommands, manPage } from '../src/cli/man-page.js';

// Writes the manual page into the build, compressed, as man(1) reads it too. It has no date, so
// that the same sources give the same bytes.

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const [program, ...commands] = describedCommands();
writeFileSync(
  '.build/dist/robots-filter.1.gz',
  gzipSync(manPage(program, commands, version), { level: 9 }),
);
