import { HYPHEN, UNDERSCORE, UPPER_A, UPPER_Z } from '../ascii.js';
import { isDigit } from '../protocol/byte.js';

/*
 * Files in a robots directory whose names mark them as documents or data. Read as the robots.txt of
 * a host, such a file would have no rules, and so allow everything.
 *
 * An ending marks a document only if it is not a top-level domain: example.md is a host in Moldova,
 * and example.zip and example.sh are hosts too. Without such an ending, a name marks a document if
 * it is README or the like, or one word in capitals, with or without .md or .txt. Hosts are written
 * in lower case.
 */

/**
 * Endings of data, documents, and leftovers of editors and downloads. None is a top-level domain.
 */
const ENDINGS: ReadonlySet<string> = new Set(
  (
    'csv tsv json geojson xml html htm xhtml yaml yml toml ini cfg conf log sql db sqlite sqlite3 pdf rtf docx xls xlsx ods ' +
    'ipynb rst adoc markdown js ts css png jpg jpeg gif svg ico warc wat wet arc paths cdx cdxj parquet arrow feather orc avro ' +
    'pickle pkl npy npz h5 table tar tgz bak backup orig old tmp temp swp swo part crdownload lock diff patch rej md5 sha256 asc sig'
  ).split(' '),
);

/**
 * Endings of compressions, after another ending. A compressed file is recognised by its first
 * bytes.
 */
const COMPRESSIONS: ReadonlySet<string> = new Set(['gz', 'zst', 'xz', 'bz2', 'lz4']);

const DOCUMENTS: ReadonlySet<string> = new Set(
  'readme license licence copying changelog makefile dockerfile'.split(' '),
);

/** Whether the name of a file marks it as a document or data, not a robots.txt. */
export function isDocumentName(name: string): boolean {
  if (name.endsWith('~')) return true;
  const [stem, ending] = splitEnding(name);
  if (COMPRESSIONS.has(ending)) return ENDINGS.has(splitEnding(stem)[1]);
  if (ENDINGS.has(ending)) return true;
  const word = ending === 'md' || ending === 'txt' ? stem : name;
  return DOCUMENTS.has(word.toLowerCase()) || isWordInCapitals(word);
}

/** Whether the name of a file marks it as an ARC file, the predecessor of WARC. */
export function isArcName(name: string): boolean {
  const [stem, ending] = splitEnding(name);
  return (COMPRESSIONS.has(ending) ? splitEnding(stem)[1] : ending) === 'arc';
}

/** Splits a name at its last dot. The ending is in lower case; empty if there is none. */
function splitEnding(name: string): [stem: string, ending: string] {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1).toLowerCase()];
}

/** Whether a name is one word in capitals, such as SHA256SUMS or LICENSE-MIT. */
function isWordInCapitals(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    const isCapital = unit >= UPPER_A && unit <= UPPER_Z;
    const isMark = unit === HYPHEN || unit === UNDERSCORE;
    if (!isCapital && (at < 2 || !(isDigit(unit) || isMark))) return false;
  }
  return name.length >= 2;
}
