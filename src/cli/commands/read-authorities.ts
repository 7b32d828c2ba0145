import { Authorities } from '../../fetch/authorities.js';
import { openInput } from '../../pipeline/input/open.js';
import type { InputOptions } from '../options/command-options.js';
import { checkUrlField, checkUrlFieldOf, columnOption } from '../options/url-field.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { formatCount } from '../report/numbers.js';
import { inputPaths } from './input-paths.js';
import { noteDoubt, noteTerminalInput } from './input-survey.js';

/**
 * Reads the authorities of inputs until a signal comes.
 *
 * @param files none means standard input
 * @throws RobotsFilterError
 */
export async function readAuthorities(
  files: readonly string[],
  options: InputOptions,
  diagnostics: Diagnostics,
  signal: AbortSignal,
): Promise<Authorities> {
  const paths = await inputPaths(files);
  noteTerminalInput(paths, diagnostics);
  checkUrlField(options);
  const { urlField, maxLineBytes } = options;
  const authorities = new Authorities({ urlField, maxLineBytes });
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });
  for (const path of paths) {
    if (signal.aborted) return authorities;
    // A silent pipe must not delay an interrupt.
    const reading = readInput(authorities, path, options, paths.length, diagnostics, signal);
    reading.catch(() => {}); // The race below reports the error, unless a signal came.
    await Promise.race([reading, interrupted]);
    if (signal.aborted) return authorities;
  }
  const { records, invalid } = authorities;
  diagnostics.note(
    `${formatCount(records, 'record')} of ${formatCount(authorities.size, 'authority', 'authorities')}` +
      (invalid === 0 ? '' : `; ${formatCount(invalid, 'record')} without a usable URL`),
  );
  return authorities;
}

async function readInput(
  authorities: Authorities,
  path: string,
  options: InputOptions,
  inputs: number,
  diagnostics: Diagnostics,
  signal: AbortSignal,
): Promise<void> {
  const { input: format, maxLineBytes: maxRecordBytes, header, urlField } = options;
  const column = columnOption(options);
  const input = await openInput(path, { format, maxRecordBytes, header, column, urlField });
  try {
    noteDoubt(input, diagnostics);
    checkUrlFieldOf(input, options, inputs);
    await authorities.addInput(input, signal);
  } finally {
    await input.close();
  }
}
