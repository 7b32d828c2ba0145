#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { load } from '../start/loader.js';

// What rolldown makes of program.ts and all that it loads at once (rolldown.config.ts).
const program = load(fileURLToPath(new URL('command-line.js', import.meta.url)));
const { run } = program as typeof import('./program.js');

// Not left to the event loop's running empty: an input that was opened and given up may still hold
// it.
void run(process.argv.slice(2)).then((code) => process.exit(code));
