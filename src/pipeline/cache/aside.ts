/*
 * Files that lie in a directory of robots.txt files and say by their names that they are something
 * else. As hosts they would have no rules, and so allow everything.
 *
 * Only endings that are no top-level domain tell: example.md is a host in Moldova, example.zip and
 * example.sh are hosts, too. Names without such an ending are known as documents by being README or
 * the like, or by being one word in capitals, with .md or .txt behind it or not: hosts are written
 * in lower case.
 */

/** Endings of data, documents, and what editors and downloads leave. None is a top-level domain. */
const ENDINGS: ReadonlySet<string> = new Set(
  (
    'csv tsv json geojson xml html htm xhtml yaml yml toml ini cfg conf log sql db sqlite sqlite3 pdf rtf docx xls xlsx ods ' +
    'ipynb rst adoc markdown js ts css png jpg jpeg gif svg ico warc wat wet arc cdx cdxj parquet arrow feather orc avro ' +
    'pickle pkl npy npz h5 table tar tgz bak backup orig old tmp temp swp swo part crdownload lock diff patch rej md5 sha256 asc sig'
  ).split(' '),
);

/** Compressions, behind another ending. By itself such a file is known by its first bytes. */
const COMPRESSIONS: ReadonlySet<string> = new Set(['gz', 'zst', 'xz', 'bz2', 'lz4']);

const DOCUMENTS: ReadonlySet<string> = new Set(
  'readme license licence copying changelog makefile dockerfile'.split(' '),
);

/** Whether a file's name says that it is no robots.txt. */
export function isAside(name: string): boolean {
  if (name.endsWith('~')) return true;
  const [stem, ending] = splitEnding(name);
  if (COMPRESSIONS.has(ending)) return ENDINGS.has(splitEnding(stem)[1]);
  if (ENDINGS.has(ending)) return true;
  const word = ending === 'md' || ending === 'txt' ? stem : name;
  return DOCUMENTS.has(word.toLowerCase()) || isWordInCapitals(word);
}

/**
 * What stands before and behind the last dot, the latter in small letters; the ending is empty
 * where there is none.
 */
function splitEnding(name: string): [stem: string, ending: string] {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1).toLowerCase()];
}

/**
 * Whether a name has no dot, and begins with two capitals and goes on without a small letter:
 * SHA256SUMS, LICENSE-MIT.
 */
function isWordInCapitals(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    const isCapital = unit >= 0x41 && unit <= 0x5a;
    const isDigit = unit >= 0x30 && unit <= 0x39;
    const isMark = unit === 0x2d || unit === 0x5f;
    if (!isCapital && (at < 2 || !(isDigit || isMark))) return false;
  }
  return name.length >= 2;
}
