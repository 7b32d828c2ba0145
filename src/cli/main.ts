#!/usr/bin/env node

/** A function of node:module from Node 22.8 on. */
interface ModuleOfNode {
  readonly enableCompileCache?: () => unknown;
}

// Keeps compiled code between runs, unless NODE_DISABLE_COMPILE_CACHE=1 is set.
const { enableCompileCache } = process.getBuiltinModule('node:module') as ModuleOfNode;
enableCompileCache?.();

// Imported late, so that the compile cache holds the program as well. The process does not end by
// itself: an abandoned input may keep the event loop alive.
void import('./program.js')
  .then(({ run }) => run(process.argv.slice(2)))
  .then((code) => process.exit(code));
