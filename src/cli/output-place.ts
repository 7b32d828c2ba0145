import { realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { RobotsFilterError } from '../errors.js';
import { beginsAsTable } from './table-file.js';

/** An option that names what a command reads, and the path said with it. */
export interface NamedSource {
  readonly option: string;
  readonly path: string;
}

/**
 * Sees that an output takes the place of nothing that the command decides by: of no such file, and
 * of none in such a directory but a table, which is not read there.
 *
 * @throws RobotsFilterError `usage`
 */
export async function refuseSourceAsOutput(
  output: string,
  sources: readonly NamedSource[],
): Promise<void> {
  const replaced = await realPathOf(output);
  if (replaced === undefined || !(await stat(replaced)).isFile()) return;
  for (const { option, path } of sources) {
    const source = await realPathOf(path); // who reads it says why that fails
    if (source === undefined) continue;
    if (source === replaced) throw refusal(`${output} is what ${option} ${path} names`);
    const directory = source.endsWith(sep) ? source : `${source}${sep}`;
    if (replaced.startsWith(directory) && !(await beginsAsTable(replaced))) {
      throw refusal(`${output} is a file in ${option} ${path}`);
    }
  }
}

async function realPathOf(path: string): Promise<string | undefined> {
  return await realpath(path).catch(() => undefined);
}

function refusal(what: string): RobotsFilterError {
  return new RobotsFilterError('usage', `-o ${what}, and would be replaced. Name another file`);
}
