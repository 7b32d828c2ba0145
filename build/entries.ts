import { mkdirSync, writeFileSync } from 'node:fs';

// The library as ES modules: they export what the CommonJS files of the build hold, so that the
// package has its code once.

const INDEX = "export * from './cjs/index.cjs';\n";

/** `require` of Node 20.19 and later returns the export that is named `module.exports`. */
const ROBOTS_PARSER = `import robotsParser from './cjs/robots-parser.cjs';
export { robotsParser as default, robotsParser as 'module.exports' };
`;

writeFileSync('.build/dist/index.js', INDEX);
writeFileSync('.build/dist/robots-parser.js', ROBOTS_PARSER);

/**
 * `npx` in a clone keeps its link to the file that `bin` named on the first call. Until 0.1.0 that
 * was dist/cli/main.js, so after `git pull` the link still leads there.
 */
const FORMER_BIN = `#!/usr/bin/env node
import '../cjs/main.cjs';
`;

mkdirSync('.build/dist/cli', { recursive: true });
writeFileSync('.build/dist/cli/main.js', FORMER_BIN);
