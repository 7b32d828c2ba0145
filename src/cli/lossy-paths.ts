import { existsSync } from 'node:fs';
import { RobotsFilterError } from '../errors.js';

/** What Node puts in the place of octets of an argument that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** Options that name files or directories. */
export interface PathOptions {
  readonly robotsDir?: string | readonly string[] | undefined;
  readonly table?: string | undefined;
  readonly output?: string | undefined;
  readonly report?: string | undefined;
  readonly ca?: string | undefined;
}

/**
 * Sees that no path has lost octets on its way to the program: Node gives arguments as text, and a
 * name that is not UTF-8 would be that of another file, which is not found or, worse, written.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseLossyPaths(files: readonly string[], options: PathOptions = {}): void {
  const { robotsDir = [], table, output, report, ca } = options;
  for (const path of [...files, ...[robotsDir].flat(), table, output, report, ca]) {
    // A name may have this very character.
    if (path === undefined || !path.includes(REPLACEMENT) || existsSync(path)) continue;
    throw new RobotsFilterError(
      'usage',
      `${path}: the name is not UTF-8, and arguments of Node are. Redirect a file (< FILE, > FILE), or rename it`,
    );
  }
}
