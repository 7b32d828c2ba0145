import { formatFieldPath } from '../arguments.js';
import { RobotsFilterError } from '../errors.js';
import { isNumeric } from './column-cursor.js';
import type { ParquetFile } from './parquet-file.js';
import type { Leaf } from './schema.js';

/** Maximum number of column names that a message lists. */
const LISTED = 12;

/**
 * Finds the column that the user named.
 *
 * @param path the names that lead to it
 * @param option the option that gives the name, for messages
 * @throws RobotsFilterError `input` if no column has this name, or several have it
 */
export function namedColumn(file: ParquetFile, path: readonly string[], option: string): Leaf {
  const [leaf, ...others] = file.leavesAt(path);
  if (leaf === undefined) throw noColumn(file, `"${path.join('.')}"`, option);
  const [other] = others;
  if (other !== undefined) throw severalColumns(file, leaf, other, option);
  return leaf;
}

/**
 * Finds the column of text that the user named.
 *
 * @throws RobotsFilterError `input` if there is no such column, or if it holds no text
 */
export function textColumn(file: ParquetFile, path: readonly string[], option: string): Leaf {
  const leaf = namedColumn(file, path, option);
  if (isText(leaf)) return leaf;
  throw unreadableColumn(file, leaf, 'text', option);
}

/** Whether a column holds at most one value of text or bytes in each row. */
export function isText({ type, maxRepetition, annotation }: Leaf): boolean {
  const isPlain = annotation === 'plain' || annotation === 'text';
  return type === 'BYTE_ARRAY' && maxRepetition === 0 && isPlain;
}

/** The error for a missing column, with a list of the existing columns. */
export function noColumn(file: ParquetFile, column: string, option: string): RobotsFilterError {
  return refusal(file, `there is no column ${column}. ${remedy(file, option)}`);
}

/** The error for two columns of one name: which of them is meant cannot be known. */
export function severalColumns(
  file: ParquetFile,
  { path }: Leaf,
  other: Leaf,
  option: string,
): RobotsFilterError {
  const [name, second] = [path, other.path].map(formatFieldPath);
  const what =
    name === second
      ? `two columns are called ${JSON.stringify(path.join('.'))}. Write the file again with different names`
      : `${name} and ${second} are two columns. Use ${option} '${name}' or ${option} '${second}'`;
  return refusal(file, what);
}

/** What a column must hold: texts, or numbers, for which texts of digits are taken too. */
export type Needed = 'text' | 'whole numbers';

/** The error for a column that does not hold what is needed. */
export function unreadableColumn(
  file: ParquetFile,
  leaf: Leaf,
  needed: Needed,
  option: string,
): RobotsFilterError {
  const { path } = leaf;
  const what = `column "${path.join('.')}" holds ${contentOf(leaf)}, not ${needed}`;
  return refusal(file, `${what}. ${remedy(file, option, needed)}`);
}

/** The error for a group or list that has the name of a column. */
export function nestedColumn(
  file: ParquetFile,
  { path }: Leaf,
  needed: Needed,
  option: string,
): RobotsFilterError {
  const what = `column "${path[0]}" is a group or a list, not a column of ${needed}`;
  return refusal(file, `${what}. ${remedy(file, option, needed)}`);
}

/** What a column holds, for messages. */
function contentOf({ type, annotation, maxRepetition }: Leaf): string {
  if (maxRepetition > 0) return 'lists';
  switch (annotation) {
    case 'plain':
    case 'text':
    case 'integer':
      return type;
    case 'decimal':
      return 'decimals';
    case 'float16':
      return 'FLOAT16';
    case 'null':
      return 'only nulls';
    default:
      return annotation;
  }
}

function remedy(file: ParquetFile, option: string, needed: Needed = 'text'): string {
  const isReadable = (leaf: Leaf) => isText(leaf) || (needed !== 'text' && isNumeric(leaf));
  const noun = needed === 'text' ? 'text' : 'numbers or text';
  const names = file.footer.leaves.filter(isReadable).map(({ path }) => formatFieldPath(path));
  if (names.length === 0) return `No column holds ${noun}.`;
  const rest = names.length > LISTED ? `, and ${names.length - LISTED} more` : '';
  return `Columns of ${noun}: ${names.slice(0, LISTED).join(', ')}${rest}. Use ${option} NAME.`;
}

function refusal({ name }: ParquetFile, reason: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: ${reason}`);
}
