import { existsSync } from 'node:fs';
import { usageError } from '../usage-error.js';

/** The character that Node puts in place of bytes of an argument that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** Options that name files or directories. */
export interface PathOptions {
  readonly robotsDir?: string | readonly string[] | undefined;
  readonly table?: string | undefined;
  readonly output?: string | undefined;
  readonly report?: string | undefined;
  readonly ca?: string | undefined;
  readonly hosts?: string | undefined;
  readonly urls?: string | undefined;
  readonly agentsFile?: string | undefined;
  readonly targets?: string | undefined;
}

/**
 * Refuses paths that are not UTF-8. Node decodes arguments as text, so such a path would name
 * another file, which would be missing or, worse, overwritten.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseLossyPaths(files: readonly string[], options: PathOptions = {}): void {
  const { robotsDir = [], table, output, report, ca, hosts, urls, agentsFile, targets } = options;
  const named = [table, output, report, ca, hosts, urls, agentsFile, targets];
  for (const path of [...files, ...[robotsDir].flat(), ...named]) {
    // A name may contain this very character.
    if (path === undefined || !path.includes(REPLACEMENT) || existsSync(path)) continue;
    throw usageError(
      `${path}: the name is not UTF-8, so Node cannot pass it on. Redirect the file (< FILE, > FILE), or rename it`,
    );
  }
}
