import { RobotsFilterError } from '../errors.js';
import { selectValues } from './encode.js';
import type { ColumnChunk } from './footer.js';
import { type DataPage, type DictionaryPage, nameOf } from './pages.js';
import type { ParquetFile } from './parquet-file.js';

/**
 * Yields the pages of a chunk with only the kept rows. A row of a repeated column has one entry or
 * more, the first of which has repetition level 0.
 *
 * @param keep for each row of the group 1 if it is kept, otherwise 0
 * @throws RobotsFilterError `input` if a page is damaged, or the chunk has another number of rows
 */
export async function* selectRows(
  file: ParquetFile,
  chunk: ColumnChunk,
  keep: Uint8Array,
): AsyncGenerator<DataPage | DictionaryPage> {
  const { maxDefinition } = chunk.leaf;
  let row = -1;
  for await (const page of file.pages(chunk)) {
    if (page.kind === 'dictionary') {
      yield page;
      continue;
    }
    const { entries, definitions, repetitions, values } = page;
    const kept = new Uint32Array(entries);
    const places = new Uint32Array(entries);
    let keptCount = 0;
    let placeCount = 0;
    let value = 0;
    for (let entry = 0; entry < entries; entry++) {
      if (repetitions === undefined || repetitions[entry] === 0) row++;
      const isPresent = definitions === undefined || definitions[entry] === maxDefinition;
      if (keep[row] === 1) {
        kept[keptCount++] = entry;
        if (isPresent) places[placeCount++] = value;
      }
      if (isPresent) value++;
    }
    if (keptCount === 0) continue;
    const chosen = kept.subarray(0, keptCount);
    yield {
      kind: 'data',
      entries: keptCount,
      definitions: pick(definitions, chosen),
      repetitions: pick(repetitions, chosen),
      values: selectValues(values, places.subarray(0, placeCount)),
    };
  }
  if (row + 1 === keep.length) return;
  throw new RobotsFilterError(
    'input',
    `${file.name}: column "${nameOf(chunk.leaf)}" has ${row + 1} rows in a row group of ${keep.length}. ` +
      'Write or download the file again.',
  );
}

function pick(levels: Uint8Array | undefined, entries: Uint32Array): Uint8Array | undefined {
  return levels && Uint8Array.from(entries, (entry) => levels[entry] as number);
}
