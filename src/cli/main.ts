#!/usr/bin/env node
import { run } from './program.js';

// Not left to the event loop's running empty: an input that was opened and given up may still hold it.
void run(process.argv.slice(2)).then((code) => process.exit(code));
