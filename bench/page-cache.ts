import { runProgram } from './measure.js';

/**
 * Has the page cache hold these files as one reader in order leaves them, in large pieces: they are dropped from it, and
 * read again. Of files whose pieces are small, which they become where memory was short as they were read, a program that takes a
 * gigabyte in a second took up to 14 % longer; `md5sum` 1 %.
 */
export async function settlePages(files: readonly string[]): Promise<void> {
  for (const file of files) {
    // GNU dd alone knows how to; where it is another, the files are read all the same.
    await runProgram('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']).catch(
      () => {},
    );
    await runProgram('cat', [file]);
  }
}
