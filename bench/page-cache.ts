import { runProgram } from './measure.js';

/**
 * Has the page cache hold all of these files, whatever of them it has let go. It does so without
 * need, too: some virtual machines give memory back to their host that was not looked at for some
 * seconds, and a gigabyte that was read in 0.1 s then takes 2.3 s, for whichever program is the
 * next to read it.
 */
export async function warmPages(files: readonly string[]): Promise<void> {
  if (files.length > 0) await runProgram('cat', files);
}

/**
 * Has the page cache hold these files as one reader in order leaves them, in large pieces: they are
 * dropped from it, and read again. Of files whose pieces are small, which they become where memory
 * was short as they were read, a program that takes a gigabyte in a second took up to 14 % longer;
 * `md5sum` 1 %.
 */
export async function settlePages(files: readonly string[]): Promise<void> {
  for (const file of files) {
    // GNU dd alone knows how to; where it is another, the files are read all the same.
    await runProgram('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']).catch(
      () => {},
    );
    await warmPages([file]);
  }
}
