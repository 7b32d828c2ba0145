import { QUOTE } from '../../../ascii.js';
import { COMPRESSION_ENDINGS } from '../../../files/compressions.js';
import type { Recognition } from '../format.js';
import { startOfContent } from '../head.js';
import { describeColumns, fieldsOf, firstLines, isUrl, rowsFormat } from './columns.js';

/*
 * Reads a file whose name ends in .csv or .tsv. Rows of one column give no evidence: without the
 * name they are lines of text, whose header is not a URL. The name decides, unless the content
 * contradicts it. Then the file is refused.
 */

type RowsFormat = 'csv' | 'tsv';

const DELIMITERS = { csv: ',', tsv: '\t' } as const;

/** Delimiters by the words of messages. */
const OTHERS = [
  ['\t', 'tabs'],
  [',', 'commas'],
  [';', 'semicolons'],
  ['|', 'bars'],
] as const;

const ROW_OR_URL =
  'is CSV by its name, but its first line may be one URL with a comma in it. ' +
  'If it is a row, use --url-field 1; if each line is one URL, use --input text.';

/** The format in which a file is read, or why the file is refused. */
export interface NamedRows {
  /** The format of its rows; `undefined` if the file may have no rows. */
  readonly format?: RowsFormat | undefined;
  readonly refusal?: string;
  /** Why lines that are read as URLs may be rows after all. */
  readonly doubt?: string;
}

/** The format that the name of a file implies, compressed or not: `list.csv`, `LIST.TSV.gz`. */
export function rowsOfName(name: string): RowsFormat | undefined {
  const lower = name.toLowerCase();
  const formats = Object.keys(DELIMITERS) as RowsFormat[];
  return formats.find((format) =>
    COMPRESSION_ENDINGS.some((ending) => lower.endsWith(`.${format}${ending}`)),
  );
}

/**
 * The format of a file whose name implies one.
 *
 * @param isTold whether the user has said which column holds the URL, or whether there is a header
 */
export function namedRows(
  named: RowsFormat,
  { head, isWhole, format }: Recognition,
  isTold: boolean,
): NamedRows {
  const rows = rowsFormat(head, isWhole, format);
  // Commas that may belong to URLs are columns only if the name says so too.
  const found = rows?.isDoubtful === true && rows.format !== named ? undefined : rows?.format;
  const isText = format === undefined || format === 'text';
  if (!isText && head[startOfContent(head)] !== QUOTE) return { format: found };
  // Columns with another delimiter are refused with their own message.
  if (found === undefined && describeColumns(head, isWhole, format) !== undefined) return {};
  const [line = ''] = firstLines(head, isWhole);
  const contains = (delimiter: string): boolean => fieldsOf(line, delimiter).length > 1;
  const own = DELIMITERS[named];
  if (contains(own)) {
    if (found !== undefined && found !== named && contains(DELIMITERS[found])) {
      return { format: found };
    }
    // No URL contains a tab.
    const mayBeUrl = named === 'csv' && isUrl(line) && !line.startsWith('"');
    const isDoubtful = found === undefined && mayBeUrl && !isTold;
    return isDoubtful ? { refusal: ROW_OR_URL } : { format: named };
  }
  if (found !== undefined) return { format: found };
  const other = OTHERS.find(([delimiter]) => contains(delimiter));
  return other === undefined || isTold
    ? { format: named }
    : { refusal: otherDelimiter(named, other) };
}

function otherDelimiter(named: RowsFormat, [delimiter, other]: (typeof OTHERS)[number]): string {
  const own = named === 'csv' ? 'comma' : 'tab';
  const remedy =
    other === 'tabs'
      ? 'use --input tsv'
      : other === 'commas'
        ? 'use --input csv'
        : `type: csvformat -d '${delimiter}' FILE | robots-filter --input csv …`;
  return (
    `is ${named.toUpperCase()} by its name, but its first line has ${other} and no ${own}. ` +
    `If ${other} separate columns, ${remedy}; if each row is one URL, use --input ${named}.`
  );
}
