import { Readable } from 'node:stream';
import { magicOf, startsWith } from '../../../files/magic.js';
import { partitionsOf } from '../../../parquet/partitions.js';
import type { Format } from '../format.js';

const MAGIC = magicOf('PAR1');

/** Rows of a Parquet file; the URL is in a column. */
export const parquet: Format = {
  name: 'parquet',
  recognise: (head) => startsWith(head, MAGIC),
  async openFile(descriptor, { name, urlField }) {
    // Loaded on demand, together with the decompressors.
    const { ParquetFile } = await import('../../../parquet/parquet-file.js');
    const { textColumn } = await import('../../../parquet/text-column.js');
    const { urlLines } = await import('../parquet/url-lines.js');
    const file = await ParquetFile.open(descriptor, name);
    const leaf = textColumn(file, urlField, '--url-field');
    const partitions = partitionsOf(name);
    let rows = 0;
    const lines = urlLines(file, leaf, partitions, (count) => {
      rows = count;
    });
    return {
      stream: Readable.from(lines, { objectMode: false }),
      progress: () => (file.footer.rows === 0 ? 1 : rows / file.footer.rows),
      parquet: file,
      urlField: leaf.path,
    };
  },
};
