import type { OpenInputOptions } from '../../pipeline/input/open.js';
import type { InputOptions } from './command-options.js';
import { columnOption } from './url-field.js';

/** How the options of a command say that inputs are opened. */
export function openOptions(options: InputOptions): Omit<OpenInputOptions, 'taken'> {
  const { input: format, maxLineBytes: maxRecordBytes, header, urlField } = options;
  return { format, maxRecordBytes, header, column: columnOption(options), urlField };
}
