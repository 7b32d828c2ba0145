import { statSync } from 'node:fs';
import { type Place, SHAPES, type ShapeName } from '../corpus/shapes.js';
import { type Corpus, provideRecords } from './corpus-store.js';

/** A file of URLs for the filter, and the options for this input. */
export interface UrlInput {
  readonly path: string;
  readonly format: 'text' | 'ndjson';
  readonly options: readonly string[];
  readonly records: number;
  readonly bytes: number;
}

/** A corpus' URLs as lines of text. */
export function textInput({ text, summary }: Corpus): UrlInput {
  return inputOf(text, 'text', summary.urls);
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
