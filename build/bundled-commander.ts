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

/** Modules that this plugin writes. They have paths, as all that is not external. */
const ENTRY = join(COMMANDER, 'used.js');
const NOTHING = join(COMMANDER, 'nothing.js');

/**
 * Puts commander into the program's own file, because Node takes 3 ms to find and load its seven
 * files. Its commands that are programs of their own are left out: node:child_process takes half a
 * millisecond to load.
 */
export function bundledCommander(): Plugin {
  return {
    name: 'bundled-commander',
    resolveId(id, importer) {
      if (id === 'commander') return ENTRY;
      return id === 'node:child_process' && importer?.startsWith(COMMANDER) ? NOTHING : null;
    },
    load(id) {
      if (id === NOTHING) return { code: 'module.exports = {};', moduleType: 'js' };
      if (id !== ENTRY) return null;
      const code = Object.entries(USED)
        .map(([file, names]) => `export { ${names} } from ${pathOf(file)};`)
        .join('\n');
      return { code, moduleType: 'js' };
    },
  };
}

function pathOf(file: string): string {
  return JSON.stringify(join(COMMANDER, 'lib', `${file}.js`));
}
