import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturePlan } from '../corpus/capture-plan.js';
import { type IndexRow, indexRows } from '../corpus/index-rows.js';
import type { GeneratedArchive } from './archive-store.js';

/** Writes rows of the index to a Parquet file. */
export interface IndexWriter {
  readonly codec: 'snappy' | 'zstd';
  write(path: string, rows: Iterable<IndexRow>): Promise<void>;
}

/** An index in Parquet on the disk. */
export interface GeneratedIndex {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Bytes of all URLs. */
  readonly urlBytes: number;
  /** SHA-256 of the URLs, each with a line feed. */
  readonly sha256: string;
}

/** Makes an index of the sites of an archive, or returns the one that an earlier run made. */
export async function provideIndex(
  archive: GeneratedArchive,
  plan: CapturePlan,
  rows: number,
  writer: IndexWriter,
  report: (sentence: string) => void,
): Promise<GeneratedIndex> {
  const path = join(archive.directory, `index-${rows}-rows-${writer.codec}.parquet`);
  const note = `${path}.json`;
  if (!existsSync(note)) {
    report(`making ${path}`);
    const counted = new CountedRows(indexRows(plan, rows));
    await writer.write(`${path}.tmp`, counted);
    if (counted.rows !== rows) throw new Error(`the index has ${counted.rows} rows, not ${rows}`);
    renameSync(`${path}.tmp`, path);
    writeFileSync(note, JSON.stringify({ urlBytes: counted.urlBytes, sha256: counted.sha256() }));
  }
  const known = JSON.parse(readFileSync(note, 'utf8')) as { urlBytes: number; sha256: string };
  return { path, rows, bytes: statSync(path).size, ...known };
}

class CountedRows implements Iterable<IndexRow> {
  readonly #rows: Iterable<IndexRow>;
  readonly #hash = createHash('sha256');
  rows = 0;
  urlBytes = 0;

  constructor(rows: Iterable<IndexRow>) {
    this.#rows = rows;
  }

  sha256(): string {
    return this.#hash.digest('hex');
  }

  *[Symbol.iterator](): Generator<IndexRow> {
    for (const row of this.#rows) {
      this.rows++;
      this.#hash.update(`${row.url}\n`);
      this.urlBytes += row.url.length; // canonical URLs are ASCII
      yield row;
    }
  }
}
