import { type Dirent, promises, statSync } from 'node:fs';
import { RobotsFilterError } from '../../../errors.js';
import { STANDARD_INPUT } from '../../../files/standard-input.js';
import { errorText } from '../../../files/system-error.js';
import { PARQUET_ENDING } from '../../limits.js';

/** Maximum nesting of directories: Hive has one level for each key. */
const MAX_DEPTH = 32;

/**
 * Replaces each directory among the inputs by the Parquet files below it, in the byte order of
 * their paths. Names that begin with `.` or `_` are left out, as in Hive and Spark. Links to
 * directories are not followed. A directory without Parquet files stays in the list.
 *
 * @throws RobotsFilterError `input` if a directory cannot be read or nests too deep
 */
export async function withParquetDirectories(paths: readonly string[]): Promise<string[]> {
  const inputs: string[] = [];
  for (const path of paths) {
    if (path === STANDARD_INPUT) {
      inputs.push(path);
      continue;
    }
    if (!isDirectory(path)) {
      inputs.push(path);
      continue;
    }
    const files = await filesBelow(path.endsWith('/') ? path.slice(0, -1) : path, 0);
    if (files.length === 0) inputs.push(path);
    for (const file of files) inputs.push(file);
  }
  return inputs;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Opening it later gives the error.
  }
}

async function filesBelow(directory: string, depth: number): Promise<string[]> {
  if (depth > MAX_DEPTH) {
    throw new RobotsFilterError(
      'input',
      `${directory}: nests more than ${MAX_DEPTH} deep. Name the files in it`,
    );
  }
  let entries: Dirent[];
  try {
    entries = await promises.readdir(directory, { withFileTypes: true });
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `${directory}: cannot be read (${errorText(cause)}). Name the files in it`,
      { cause },
    );
  }
  const files: string[] = [];
  const named = entries.map((entry) => ({
    entry,
    // A directory is sorted like the paths below it.
    key: Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name),
  }));
  named.sort((a, b) => a.key.compare(b.key));
  for (const { entry } of named) {
    const { name } = entry;
    if (name.startsWith('.') || name.startsWith('_')) continue;
    const path = `${directory}/${name}`;
    if (entry.isDirectory()) {
      for (const file of await filesBelow(path, depth + 1)) files.push(file);
    } else if (name.toLowerCase().endsWith(PARQUET_ENDING)) {
      files.push(path);
    }
  }
  return files;
}
