import { fileURLToPath } from 'node:url';

/**
 * Path of a file of this package. This source and all built files that may contain it are two
 * directories below the package. Node would take milliseconds to find a file by the `imports` of
 * package.json.
 *
 * @param path from the directory of package.json
 */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
