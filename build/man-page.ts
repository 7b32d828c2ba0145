import { readFileSync, writeFileSync } from 'node:fs';
import { manPage } from '../src/cli/help/man-page.js';
import { describedCommands } from '../src/cli/program.js';

// Writes the manual page into the build. It has no date, so that the same sources give the same
// bytes.

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const [program, ...commands] = describedCommands();
writeFileSync('.build/dist/robots-filter.1', manPage(program, commands, version));
