import { accessSync, closeSync, constants, openSync, writeSync } from 'node:fs';

/**
 * Whether a thread that sits in a blocking read of this pipe could be woken. Where it could not, as
 * without `/proc`, no thread may be sent to read it: `process.exit` would wait for it.
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
 * Wakes a thread that sits in a blocking read of a silent pipe, by writing an octet to it. Only to
 * be done when that thread will throw away what it reads.
 */
export function wakeReader(descriptor: number): void {
  let writer: number | undefined;
  try {
    // The path leads to the pipe itself, which opens for writing though the descriptor is for
    // reading.
    writer = openSync(path(descriptor), constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(writer, '\n');
  } catch {
    // The pipe is full, or its reader is gone: then nobody sits in a read of it.
  } finally {
    if (writer !== undefined) closeSync(writer);
  }
}

function path(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}
