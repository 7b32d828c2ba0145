import { Checksum } from '../compile/checksum.js';
import { HEADER_OCTETS } from '../compile/format.js';
import type { TableLayout } from '../compile/table-layout.js';
import { TableWindow } from '../compile/table-window.js';
import type { ReplacementFile } from '../pipeline/replacement-file.js';

/**
 * So many octets are laid out before they are written, more only for a piece that has more: they
 * stay in a processor's caches.
 */
const WINDOW_OCTETS = 1 << 22;

/** One that is being laid out while the others are written. */
const WINDOWS = 3;

/**
 * Writes a table to a file while it is laid out, its header last; returns the table's checksum.
 *
 * @param windowOctets for tests
 * @throws RobotsFilterError `output`; the reason of the signal
 */
export async function writeTable(
  layout: TableLayout,
  file: ReplacementFile,
  signal: AbortSignal,
  windowOctets = WINDOW_OCTETS,
): Promise<number> {
  const sum = new Checksum();
  if (!file.isSeekable) {
    signal.throwIfAborted();
    const table = layout.table();
    sum.update(table);
    await file.write(table);
    return sum.value;
  }
  sum.update(layout.header);
  const writes: Promise<TableWindow>[] = [];
  for (let at = HEADER_OCTETS; layout.nextOctets > 0; ) {
    let window = writes.length < WINDOWS ? undefined : await writes.shift();
    signal.throwIfAborted();
    const octets = Math.max(windowOctets, layout.nextOctets);
    if (window?.octets.length !== octets) window = new TableWindow(new Uint8Array(octets));
    window.moveTo(at);
    layout.fill(window);
    sum.update(window.written);
    at += window.end;
    writes.push(writeWindow(window, file));
  }
  await Promise.all(writes);
  layout.seal(sum);
  await file.write(layout.header, 0);
  return sum.value;
}

/** The window, when it is free again. */
function writeWindow(window: TableWindow, file: ReplacementFile): Promise<TableWindow> {
  const written = file.write(window.written, window.start).then(() => window);
  written.catch(() => {}); // heard when its turn comes
  return written;
}
