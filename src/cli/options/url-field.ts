import type { OpenInput } from '../../pipeline/input/open.js';
import { usageError } from '../usage-error.js';
import type { InputOptions } from './command-options.js';

type UrlFieldOptions = Pick<InputOptions, 'input' | 'urlField'>;

/** Whether --url-field names a member other than the default. */
function isGiven({ urlField }: UrlFieldOptions): boolean {
  return urlField.join('.') !== 'url';
}

/** The column that --url-field names in rows; undefined for the default. */
export function columnOption(options: UrlFieldOptions): string | undefined {
  return isGiven(options) ? options.urlField.join('.') : undefined;
}

/**
 * Refuses --url-field with --input text, which has no members.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlField(options: UrlFieldOptions): void {
  if (options.input !== 'text' || !isGiven(options)) return;
  throw usageError(
    '--url-field has no effect on text: each line is a URL. Leave it out, or use --input ndjson instead of --input text',
  );
}

/**
 * Refuses --url-field if the only input turned out to be text. Among several inputs, others may
 * have the member.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlFieldOf(
  input: Pick<OpenInput, 'name' | 'format' | 'isBlank'>,
  options: UrlFieldOptions,
  inputs: number,
): void {
  if (input.format !== 'text' || input.isBlank || inputs > 1 || !isGiven(options)) return;
  throw usageError(
    `${input.name} is text, one URL per line, and --url-field has no effect on it. Leave it out, or use --input ndjson if its lines are objects`,
  );
}
