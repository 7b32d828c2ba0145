import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'rolldown';

const COMMANDER = dirname(createRequire(import.meta.url).resolve('commander'));

/** What the program uses, by its file. The index of commander would make a program of its own. */
const USED = {
  argument: 'Argument',
  command: 'Command',
  error: 'CommanderError, InvalidArgumentError',
  option: 'Option',
};

/** The module that this plugin writes. It has a path, as all that is not external. */
const ENTRY = join(COMMANDER, 'used.js');

/** Statements of commander's CommonJS, and those of an ES module in place of each. */
const STATEMENTS: readonly (readonly [RegExp, string])[] = [
  // Its commands that are programs of their own are left out: the module takes half a millisecond.
  [/= require\('node:child_process'\);/, '= {};'],
  [/= require\('(node:\w+)'\)/g, "= globalThis.process.getBuiltinModule('$1')"],
  [/^const (\{.+\}) = require\('\.\/(\w+)(?:\.js)?'\);/gm, "import $1 from './$2.js';"],
  [/^exports\.(\w+) = \1;/gm, 'export { $1 };'],
];

/**
 * Puts commander into the program's own file, because Node takes 3 ms to find and load its seven
 * files. Its files become ES modules: the bundler would wrap CommonJS in functions, which V8 parses
 * twice.
 */
export function bundledCommander(): Plugin {
  return {
    name: 'bundled-commander',
    resolveId: (id) => (id === 'commander' ? ENTRY : null),
    load(id) {
      if (id !== ENTRY) return null;
      const code = Object.entries(USED)
        .map(([file, names]) => `export { ${names} } from ${pathOf(file)};`)
        .join('\n');
      return { code, moduleType: 'js' };
    },
    transform(code, id) {
      if (!id.startsWith(COMMANDER) || id === ENTRY) return null;
      const module = STATEMENTS.reduce((text, [from, to]) => text.replace(from, to), code);
      if (!/\brequire\(|\bexports\./.test(module)) return module;
      throw new Error(`${id} has a statement of another form. Read build/bundled-commander.ts`);
    },
  };
}

function pathOf(file: string): string {
  return JSON.stringify(join(COMMANDER, 'lib', `${file}.js`));
}
