import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

// The library as ES modules: they export what the CommonJS files of the build hold, so that the
// package has its code once. The types likewise.

const INDEX = "export * from './cjs/index.cjs';\n";

const ROBOTS_PARSER = `import robotsParser from './cjs/robots-parser.cjs';
export { robotsParser as default };
`;

renameSync('.build/dist/index.d.ts', '.build/dist/cjs/index.d.cts');
writeFileSync('.build/dist/index.d.ts', INDEX);
writeFileSync('.build/dist/index.js', INDEX);
writeFileSync('.build/dist/robots-parser.js', ROBOTS_PARSER);

/** The types of what `require` returns: a function, with the interface beside it. */
const REQUIRED_TYPES = `declare namespace robotsParser {
  export { RobotsParser };
}
export = robotsParser;
`;
const TYPES = readFileSync('.build/dist/robots-parser.d.ts', 'utf8').split('export {')[0] ?? '';
writeFileSync('.build/dist/cjs/robots-parser.d.cts', `${TYPES}${REQUIRED_TYPES}`);

/**
 * `npx` in a clone keeps its link to the file that `bin` named on the first call. Until 0.1.0 that
 * was dist/cli/main.js, so after `git pull` the link still leads there.
 */
const FORMER_BIN = `#!/usr/bin/env node
import '../cjs/main.cjs';
`;

mkdirSync('.build/dist/cli', { recursive: true });
writeFileSync('.build/dist/cli/main.js', FORMER_BIN);

// Node takes a file in .js for what the nearest package.json says, and piscina's is CommonJS.
writeFileSync('.build/dist/cjs/piscina/package.json', '{"type":"commonjs"}\n');
