import { RobotsFilterError } from '../errors.js';
import { nameOf } from './pages.js';
import type { ParquetFile } from './parquet-file.js';
import type { Leaf } from './schema.js';

/** Maximum number of column names that a message lists. */
const LISTED = 12;

/**
 * Finds the column of text with a name that the user gave.
 *
 * @param option the option that gives the name, for messages
 * @throws RobotsFilterError `input` if no column has this name, or if it holds no text
 */
export function textColumn(file: ParquetFile, name: string, option: string): Leaf {
  const leaf = file.leafNamed(name);
  if (leaf === undefined) throw noColumn(file, `"${name}"`, option);
  if (isText(leaf)) return leaf;
  const what = leaf.maxRepetition > 0 ? 'lists' : leaf.type;
  throw new RobotsFilterError(
    'input',
    `${file.name}: column "${name}" holds ${what}, not text. ${remedy(file, option)}`,
  );
}

/** Whether a column holds at most one value of text or bytes in each row. */
export function isText({ type, maxRepetition }: Leaf): boolean {
  return type === 'BYTE_ARRAY' && maxRepetition === 0;
}

/** The error for a missing column, with a list of the existing columns. */
export function noColumn(file: ParquetFile, column: string, option: string): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `${file.name}: there is no column ${column}. ${remedy(file, option)}`,
  );
}

function remedy(file: ParquetFile, option: string): string {
  const texts = file.footer.leaves.filter(isText).map(nameOf);
  if (texts.length === 0) return 'No column holds text.';
  const rest = texts.length > LISTED ? `, and ${texts.length - LISTED} more` : '';
  return `Columns of text: ${texts.slice(0, LISTED).join(', ')}${rest}. Use ${option} NAME.`;
}
