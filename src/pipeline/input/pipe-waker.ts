import { accessSync, closeSync, constants, openSync, writeSync } from 'node:fs';

/**
 * Whether `wakeReader` can wake a thread that blocks in a read of this pipe. If not, for example
 * without `/proc`, no thread may read the pipe: `process.exit` would wait for that thread.
 */
export function canWakeReader(descriptor: number): boolean {
  try {
    accessSync(path(descriptor), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Wakes a thread that blocks in a read of an empty pipe, by writing a byte to it. Call it only if
 * that thread discards the bytes it reads.
 */
export function wakeReader(descriptor: number): void {
  let writer: number | undefined;
  try {
    // The path leads to the pipe itself, so it can be opened for writing even from the reading end.
    writer = openSync(path(descriptor), constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(writer, '\n');
  } catch {
    // The pipe is full, or its reader is gone: no thread blocks in a read of it.
  } finally {
    if (writer !== undefined) closeSync(writer);
  }
}

function path(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}
