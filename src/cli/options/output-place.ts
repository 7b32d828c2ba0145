import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import type { RobotsFilterError } from '../../errors.js';
import { findExactStatus, isSameFile } from '../../files/same-file.js';
import { STANDARD_INPUT } from '../../files/standard-input.js';
import { STANDARD_OUTPUT_DESCRIPTOR } from '../process/standard-streams.js';
import { usageError } from '../usage-error.js';
import { beginsAsTable } from './table-file.js';

/** An option that names a source of a command, with its path. */
export interface NamedSource {
  readonly option: string;
  readonly path: string;
}

/**
 * Refuses an output that would replace a source, or a file in a source directory. A table there may
 * be replaced, because it is not read as a robots.txt.
 *
 * @param name the option that names the output
 * @throws RobotsFilterError `usage`
 */
export function refuseSourceAsOutput(
  name: string,
  output: string,
  sources: readonly NamedSource[],
): void {
  const replaced = realPathOf(output);
  if (replaced === undefined || !statSync(replaced).isFile()) return;
  for (const { option, path } of sources) {
    const source = realPathOf(path); // Reading the path later gives the error.
    if (source === undefined) continue;
    if (source === replaced) throw refusal(name, `${output} would replace ${option} ${path}`);
    const directory = source.endsWith(sep) ? source : `${source}${sep}`;
    if (replaced.startsWith(directory) && !beginsAsTable(replaced)) {
      throw refusal(name, `${output} would replace a file in ${option} ${path}`);
    }
  }
}

/**
 * Refuses a report that would replace the file behind standard output, whatever its name: the
 * output would be lost.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseStandardOutputAsReport(report: string): void {
  if (isOneFile(report, STANDARD_OUTPUT_DESCRIPTOR)) {
    throw refusal('--report', `${report} would replace the file behind standard output`);
  }
}

/**
 * Refuses a report that would replace an input, whatever its name.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseInputAsReport(report: string, inputs: readonly string[]): void {
  for (const input of inputs) {
    if (input === STANDARD_INPUT && isOneFile(report, 0)) {
      throw refusal('--report', `${report} would replace the file behind standard input`);
    }
    if (input !== STANDARD_INPUT && isOneFile(report, input)) {
      throw refusal('--report', `${report} would replace the input ${input}`);
    }
  }
}

function isOneFile(path: string, other: string | number): boolean {
  const [a, b] = [path, other].map(findExactStatus);
  return a !== undefined && b !== undefined && isSameFile(a, b);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function refusal(name: string, conflict: string): RobotsFilterError {
  return usageError(`${name} ${conflict}. Name another file`);
}
