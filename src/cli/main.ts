#!/usr/bin/env node
import module from 'node:module';

// Node 22.8 and later keep compiled code between runs, unless NODE_DISABLE_COMPILE_CACHE=1 is set.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown };
enableCompileCache?.();

// Imported late, so that the compile cache holds the program as well. The process does not end by
// itself: an abandoned input may keep the event loop alive.
void import('./program.js')
  .then(({ run }) => run(process.argv.slice(2)))
  .then((code) => process.exit(code));
