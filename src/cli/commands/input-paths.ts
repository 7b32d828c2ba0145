import { STANDARD_INPUT } from '../../files/standard-input.js';
import { withParquetDirectories } from '../../pipeline/input/parquet/directory.js';
import { usageError } from '../usage-error.js';

/**
 * The inputs that are meant by the files of a command line, of which none means standard input.
 * Directories become the Parquet files below them.
 *
 * @throws RobotsFilterError `usage` if standard input is named twice, `input` for a directory that
 *   cannot be read
 */
export async function inputPaths(files: readonly string[]): Promise<string[]> {
  if (files.length === 0) return [STANDARD_INPUT];
  refuseSecondStandardInput(files);
  return withParquetDirectories(files);
}

/**
 * Refuses `-` named twice. A file as standard input is read by position, so its content would come
 * twice, but that of a pipe once.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseSecondStandardInput(files: readonly string[]): void {
  if (files.indexOf(STANDARD_INPUT) === files.lastIndexOf(STANDARD_INPUT)) return;
  throw usageError('standard input can be read only once, but - is named twice. Name it once');
}
