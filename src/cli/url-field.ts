import { RobotsFilterError } from '../errors.js';
import type { OpenInput } from '../pipeline/input/open.js';
import type { FilterOptions } from './options.js';

type UrlFieldOptions = Pick<FilterOptions, 'input' | 'urlField'>;

/** Whether --url-field names another member than the one that counts anyway. */
function isSaid({ urlField }: UrlFieldOptions): boolean {
  return urlField.join('.') !== 'url';
}

/**
 * Sees that --url-field is not said of text, which has no members.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlField(options: UrlFieldOptions): void {
  if (options.input !== 'text' || !isSaid(options)) return;
  throw new RobotsFilterError(
    'usage',
    '--url-field has no effect on text, whose lines are URLs. Leave it out, or say --input ndjson in place of --input text',
  );
}

/**
 * The same, where the format of the only input has been told from its first bytes. Of several
 * inputs others may have the member.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlFieldOf(
  input: Pick<OpenInput, 'name' | 'format' | 'isBlank'>,
  options: UrlFieldOptions,
  inputs: number,
): void {
  if (input.format !== 'text' || input.isBlank || inputs > 1 || !isSaid(options)) return;
  throw new RobotsFilterError(
    'usage',
    `${input.name} is text, one URL a line: --url-field has no effect on it. Leave it out, or say --input ndjson if its lines are objects`,
  );
}
