import { readFileSync, writeFileSync } from 'node:fs';
import { manPage } from '../src/cli/help/man-page.js';
import { describedCommands } from '../src/cli/program.js';

// Writes the manual page into the build. Its date is that of the newest entry in the changelog that
// has one, so that the same sources give the same bytes.

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const [date = '2026-01-01'] = /\d{4}-\d\d-\d\d/.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
const [program, ...commands] = describedCommands();
writeFileSync('.build/dist/robots-filter.1', manPage(program, commands, { date, version }));
