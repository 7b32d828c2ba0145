/** Finds the files of this package: the kernel, the programs of threads, package.json. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The path of this file. In a build it is `__filename`, which bundles of ES modules lack. */
const OWN_FILE: string | undefined = import.meta.filename;

/** The directory of package.json; undefined in a bundle, which lies elsewhere. */
const PACKAGE = findPackage();

/**
 * This source and all built files that may contain it are two directories below the package. Node
 * would take milliseconds to find a file by the `imports` of package.json.
 */
function findPackage(): string | undefined {
  if (OWN_FILE === undefined) return undefined;
  const directory = join(OWN_FILE, '../../..');
  return existsSync(join(directory, 'dist/kernel/kernel.wasm')) ? directory : undefined;
}

/**
 * Path of a file of this package; undefined in a bundle, which has no other files.
 *
 * @param path from the directory of package.json
 */
export function packageFile(path: string): string | undefined {
  return PACKAGE === undefined ? undefined : join(PACKAGE, path);
}

/**
 * Path of a built file that threads load, or of the one that starts them; undefined in a bundle,
 * which has no such files.
 */
export function entryFile(
  name: 'judge' | 'compile' | 'serve' | 'piscina/index',
): string | undefined {
  return packageFile(`dist/cjs/${name}.cjs`);
}

/** The version in package.json. */
export function version(): string {
  const file = readFileSync(packageFile('package.json') ?? 'package.json', 'utf8');
  const { version } = JSON.parse(file) as { version: string };
  return version;
}
