import { rmSync } from 'node:fs';

const unfinished = new Set<string>();

/**
 * Registers a temporary file or directory before it is created. If the process exits before
 * `finished` is called, it is removed, except after an unhandled signal.
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
      // Threads that still write into a directory may keep it from being removed at first.
      rmSync(path, { recursive: true, force: true, maxRetries: 2 });
    } catch {
      // The file cannot be removed. The process is exiting anyway.
    }
  }
}
