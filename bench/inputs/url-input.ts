import { statSync } from 'node:fs';
import { type Place, SHAPES, type ShapeName } from '../corpus/shapes.js';
import { provideCompressed } from './compressed.js';
import { type Corpus, provideRecords, provideSizedRecords } from './corpus-store.js';
import { provideSorted } from './sorted.js';

/** A file of URLs for the filter, and the options for this input. */
export interface UrlInput {
  readonly path: string;
  readonly format: 'text' | 'ndjson';
  readonly options: readonly string[];
  readonly records: number;
  readonly bytes: number;
  /** The name of the file in the command that a reader sees. Default: by the format. */
  readonly shown?: string;
}

/** A corpus' URLs as lines of text. */
export function textInput({ text, summary }: Corpus): UrlInput {
  return inputOf(text, 'text', summary.urls);
}

/** The same lines with those of a host one after another. */
export function sortedInput(corpus: Corpus): UrlInput {
  const path = provideSorted(corpus.text);
  return { ...textInput(corpus), path, shown: 'sorted.txt' };
}

/** The input as a file that gzip compressed. */
export function gzipInput(input: UrlInput): UrlInput {
  const path = provideCompressed(input.path, 'gz');
  return { ...input, path, bytes: statSync(path).size, shown: 'f.ndjson.gz' };
}

/** Only a corpus' first URL. */
export function oneUrlInput({ oneUrl }: Corpus): UrlInput {
  return inputOf(oneUrl, 'text', 1);
}

/** A corpus' URLs as NDJSON. */
export function recordInput(corpus: Corpus, shape: ShapeName, place: Place): UrlInput {
  const path = provideRecords(corpus, shape, place);
  return inputOf(path, 'ndjson', corpus.summary.urls, SHAPES[shape].urlField);
}

/** A corpus' URLs as NDJSON of about `size` bytes a record. */
export function sizedInput(corpus: Corpus, size: number): UrlInput {
  return inputOf(provideSizedRecords(corpus, size), 'ndjson', corpus.summary.urls);
}

/** @param urlField default: `url` */
export function inputOf(
  path: string,
  format: 'text' | 'ndjson',
  records: number,
  urlField = 'url',
): UrlInput {
  const field = urlField === 'url' ? [] : ['--url-field', urlField];
  const options = ['--input', format, ...field];
  return { path, format, options, records, bytes: statSync(path).size };
}
