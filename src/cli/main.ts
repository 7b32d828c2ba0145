#!/usr/bin/env node
import { run } from './program.js';

// Not left to the event loop's running empty: an input that was opened and given up may still hold it.
process.exit(await run(process.argv.slice(2)));
