import { unlinkSync } from 'node:fs';

const unfinished = new Set<string>();

/**
 * Notes a file that is to become another one, before it is made: if the process exits before
 * `finished` is called, whatever the reason but a signal that nobody handles, the file is taken
 * away.
 */
export function begun(path: string): void {
  if (unfinished.size === 0) process.on('exit', removeAll);
  unfinished.add(path);
}

/** The file has been put in its place, or taken away. */
export function finished(path: string): void {
  unfinished.delete(path);
  if (unfinished.size === 0) process.off('exit', removeAll);
}

function removeAll(): void {
  for (const path of unfinished) {
    try {
      unlinkSync(path);
    } catch {
      // It was not made yet, or nothing more can be done, and nobody is left to hear of it.
    }
  }
}
