import { Checksum } from '../compile/checksum.js';
import { HEADER_OCTETS } from '../compile/format.js';
import type { TableLayout } from '../compile/table-layout.js';
import { TableWindow } from '../compile/table-window.js';
import type { ReplacementFile } from '../pipeline/replacement-file.js';

/** So many octets are laid out before they are written, at least: as many as stay in a processor's caches. */
const WINDOW_OCTETS = 1 << 22;

/** One that is being laid out while the others are written. */
const WINDOWS = 3;

/**
 * Writes a table to a file while it is laid out, its header last.
 *
 * @param windowOctets for tests
 * @throws RobotsFilterError `output`; the reason of the signal
 */
export async function writeTable(
  layout: TableLayout,
  file: ReplacementFile,
  signal: AbortSignal,
  windowOctets = WINDOW_OCTETS,
): Promise<void> {
  if (!file.isSeekable) {
    await file.write(layout.table());
    return;
  }
  const sum = new Checksum();
  sum.update(layout.header);
  const writes: Promise<TableWindow>[] = [];
  for (let at = HEADER_OCTETS; layout.nextOctets > 0; ) {
    signal.throwIfAborted();
    let window = writes.length < WINDOWS ? undefined : await writes.shift();
    if (window === undefined || window.octets.length < layout.nextOctets) {
      window = new TableWindow(new Uint8Array(Math.max(windowOctets, layout.nextOctets)));
    }
    window.moveTo(at);
    layout.fill(window);
    sum.update(window.written);
    at += window.end;
    writes.push(writeWindow(window, file));
  }
  await Promise.all(writes);
  layout.seal(sum);
  await file.write(layout.header, 0);
}

/** The window, when it is free again. */
function writeWindow(window: TableWindow, file: ReplacementFile): Promise<TableWindow> {
  const written = file.write(window.written, window.start).then(() => window);
  written.catch(() => {}); // heard when its turn comes
  return written;
}
