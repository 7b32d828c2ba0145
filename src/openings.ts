import { closeSync, constants, openSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds between two tries to wake who opens a named pipe. */
const AGAIN = 10;

/**
 * Milliseconds after which those are given up whose pipe this user may not open for both reading
 * and writing.
 */
const GIVE_UP = 1000;

/** Paths that are being opened, each as often as it is. */
const openings: string[] = [];

/**
 * Notes a path for as long as it is being opened. The opening of a named pipe blocks a thread until
 * somebody opens its other end, and `process.exit` waits for threads: so it has to be woken
 * (`wakeOpenings`).
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
 * Lets all openings of named pipes return, as if somebody had opened the other end and closed it
 * again.
 */
export function wakeOpenings(): void {
  for (const path of openings) {
    try {
      if (!statSync(path).isFIFO()) continue;
      // For both: that does not block, and wakes readers as well as writers.
      closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    } catch {
      // Not this user's pipe.
    }
  }
}

/** Wakes openings until there are none left. */
export async function endOpenings(): Promise<void> {
  const begin = performance.now();
  while (openings.length > 0 && performance.now() - begin < GIVE_UP) {
    wakeOpenings();
    await pause(AGAIN);
  }
}
