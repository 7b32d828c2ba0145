import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const SOURCES = join(import.meta.dirname, '../src');

/** The file that build/embedded.ts writes. */
const EMBEDDED = './embedded.cjs';

/** The modules that the build replaces, and the text of the module in place of each. */
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  [join(SOURCES, 'files/embedded.ts'), `export const embedded = () => require('${EMBEDDED}');`],
  // Some bundlers warn of an import that is known only at run time.
  [
    join(SOURCES, 'workers/bind-kernel.ts'),
    `import { instantiateKernel } from '../kernel/kernel.js';
export const bindKernel = ({ module }, memory) => instantiateKernel(module, memory);`,
  ],
]);

/** How the built files require a module of Node. */
const REQUIRE_BUILT_IN = /require\((["'`])(node:[a-z_/]+)\1\)/g;

/** Modules of Node that many runs need not. Each takes up to 3 ms to load. */
const LATE =
  /^let (node_\w+(?:\$\d+)?) = (require\("node:(?:crypto|fs\/promises|net|stream(?:\/promises)?|timers\/promises|tty|worker_threads|zlib)"\));$/gm;

/**
 * Makes CommonJS that bundlers can bundle, into ES modules as well: esbuild has no `require` for
 * modules of Node there. The copies of the files that a bundle cannot read are in one file, which
 * Node never loads.
 */
export function bundleable(): Plugin {
  return {
    name: 'bundleable',
    resolveId: (id) => (id === EMBEDDED ? { id, external: true } : null),
    load(id) {
      const code = REPLACEMENTS.get(join(id));
      return code === undefined ? null : { code, moduleType: 'js' };
    },
    // A package may name something of its own `process`.
    renderChunk: (code) =>
      withLateModules(code).replaceAll(
        REQUIRE_BUILT_IN,
        "globalThis.process.getBuiltinModule('$2')",
      ),
  };
}

/**
 * Loads some modules of Node at their first use: `node_net.isIP` becomes `node_net.it.isIP`. The
 * getter is replaced by the module, because millions of records may ask for it.
 */
function withLateModules(code: string): string {
  return [...code.matchAll(LATE)].reduce((text, [statement, name = '', loading]) => {
    const use = new RegExp(`(?<![\\w$.])${name.replace('$', '\\$&')}(?![\\w$])`, 'g');
    const getter = `get it() { return Object.defineProperty(this, 'it', { value: ${loading} }).it; }`;
    return text
      .split(statement)
      .map((part) => part.replaceAll(use, () => `${name}.it`))
      .join(`const ${name} = { ${getter} };`);
  }, code);
}
