import { closeSync, constants, open, openSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

// From node:fs, because node:fs/promises takes longer to load.
const openElsewhere = promisify(open);

/** Milliseconds between two attempts to wake pending opens. */
const INTERVAL = 10;

/**
 * Milliseconds after which a pipe that cannot be woken is given up, such as another user's pipe.
 */
const TIMEOUT = 1000;

/** Paths of pending opens. A path that is being opened twice is listed twice. */
const openings: string[] = [];

/**
 * Registers a path while it is being opened. The open of a named pipe blocks a thread until another
 * program opens the other end. `process.exit` waits for that thread, so `wakeOpenings` must wake
 * it.
 */
export async function opening<Opened>(path: string, opened: Promise<Opened>): Promise<Opened> {
  openings.push(path);
  try {
    return await opened;
  } finally {
    openings.splice(openings.indexOf(path), 1);
  }
}

/**
 * Opens a path: a regular file at once, and anything else on a thread of Node's, because a named
 * pipe opens when another program opens its other end.
 */
export async function openPath(path: string, flags: string | number): Promise<number> {
  return isRegularFile(path)
    ? openSync(path, flags)
    : await opening(path, openElsewhere(path, flags));
}

function isRegularFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // opening it gives the error
  }
}

/**
 * Makes all pending opens of named pipes return, as if the other end had been opened and closed.
 */
export function wakeOpenings(): void {
  for (const path of openings) {
    try {
      if (!statSync(path).isFIFO()) continue;
      // Opening for reading and writing does not block, and wakes readers and writers.
      closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    } catch {
      // The pipe belongs to another user.
    }
  }
}

/** Wakes pending opens until none are left. */
export async function endOpenings(): Promise<void> {
  if (openings.length === 0) return;
  const begin = performance.now();
  while (openings.length > 0 && performance.now() - begin < TIMEOUT) {
    wakeOpenings();
    await pause(INTERVAL);
  }
}
