import { runProgram } from './process.js';

/**
 * Reads files, so that the page cache holds them when the next program is timed. A virtual machine
 * may return memory to its host after some idle seconds, and the next reader would pay for that.
 */
export async function warmPages(files: readonly string[]): Promise<void> {
  if (files.length > 0) await runProgram('cat', files, { watched: false });
}

/**
 * Drops files from the page cache and reads them again in order. Files that were cached while
 * memory was short are in small pieces, which slows each reader down.
 */
export async function settlePages(files: readonly string[]): Promise<void> {
  for (const file of files) {
    // Only GNU dd can drop pages; on other systems the files are just read.
    const words = [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'];
    await runProgram('dd', words).catch(() => {});
    await warmPages([file]);
  }
}
