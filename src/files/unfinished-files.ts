import { unlinkSync } from 'node:fs';

const unfinished = new Set<string>();

/**
 * Registers a temporary file before it is created. If the process exits before `finished` is
 * called, the file is removed, except after an unhandled signal.
 */
export function begun(path: string): void {
  if (unfinished.size === 0) process.on('exit', removeAll);
  unfinished.add(path);
}

/** Unregisters a file that has been renamed or removed. */
export function finished(path: string): void {
  unfinished.delete(path);
  if (unfinished.size === 0) process.off('exit', removeAll);
}

function removeAll(): void {
  for (const path of unfinished) {
    try {
      unlinkSync(path);
    } catch {
      // The file does not exist yet, or cannot be removed. The process is exiting anyway.
    }
  }
}
