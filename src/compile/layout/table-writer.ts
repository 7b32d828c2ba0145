import type { ReplacementFile } from '../../files/replacement-file.js';
import { HEADER_BYTES } from '../../table/format.js';
import { TableChunk } from './table-chunk.js';
import type { TableLayout } from './table-layout.js';

/** Length of a chunk, unless a piece is longer; fits in a processor's caches. */
const CHUNK_BYTES = 1 << 22;

/** Number of chunks: one is laid out while the others are written. */
const CHUNKS = 3;

/**
 * Writes a table to a file while it is laid out; the header comes last. Returns the checksum.
 *
 * @param chunkBytes for tests
 * @throws RobotsFilterError `output` if the file cannot be written; the reason of the signal
 */
export async function writeTable(
  layout: TableLayout,
  file: ReplacementFile,
  signal: AbortSignal,
  chunkBytes = CHUNK_BYTES,
): Promise<number> {
  if (!file.isSeekable) {
    signal.throwIfAborted();
    await file.write(layout.table());
    return layout.checksum;
  }
  const writes: Promise<TableChunk>[] = [];
  for (let at = HEADER_BYTES; layout.nextBytes > 0; ) {
    let chunk = writes.length < CHUNKS ? undefined : await writes.shift();
    signal.throwIfAborted();
    const bytes = Math.max(chunkBytes, layout.nextBytes);
    if (chunk?.bytes.length !== bytes) chunk = new TableChunk(new Uint8Array(bytes));
    chunk.moveTo(at);
    layout.fill(chunk);
    at += chunk.end;
    writes.push(writeChunk(chunk, file));
  }
  await Promise.all(writes);
  layout.seal();
  await file.write(layout.header, 0);
  return layout.checksum;
}

/** Writes a chunk; returns it when it can be used again. */
function writeChunk(chunk: TableChunk, file: ReplacementFile): Promise<TableChunk> {
  const written = file.write(chunk.written, chunk.start).then(() => chunk);
  written.catch(() => {}); // the error is reported when `written` is awaited
  return written;
}
