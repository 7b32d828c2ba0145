import { createInflateRaw } from 'node:zlib';
import { gzip } from '../files/gzip.js';

/** What became of deflate data. */
export interface Inflated {
  /** Whether the data came to its end. */
  readonly isWhole: boolean;
  /** Bytes of the pieces that belong to the data. */
  readonly bytes: number;
}

/**
 * Inflates deflate data piece by piece. At damage, zlib drops the content of the chunk in which the
 * damage lies; all content before it is passed on.
 *
 * @param chunkSize bytes of content at a time
 * @param onContent takes content, in order
 * @param settle is awaited after each piece
 */
export async function inflatePieces(
  pieces: AsyncIterable<Buffer>,
  chunkSize: number,
  onContent: (content: Buffer) => void,
  settle: () => Promise<void> | undefined,
): Promise<Inflated> {
  const inflate = createInflateRaw({ chunkSize });
  let hasEnded = false;
  let failure: Error | undefined;
  let proceed = (): void => {};
  inflate
    .on('data', onContent)
    .on('end', () => {
      hasEnded = true;
      proceed();
    })
    .on('error', (error) => {
      failure = error;
      proceed();
    });
  const isOver = (): boolean => hasEnded || failure !== undefined;
  try {
    for await (const piece of pieces) {
      // At the end of the data, `write` does not call back.
      await new Promise<void>((resolve) => {
        proceed = resolve;
        inflate.write(piece, () => resolve());
      });
      await settle();
      if (isOver()) break;
    }
    if (!isOver()) {
      await new Promise<void>((resolve) => {
        proceed = resolve;
        inflate.end();
      });
      await settle();
    }
    if (failure !== undefined && !gzip.isDamage(failure)) throw failure;
    return { isWhole: hasEnded && failure === undefined, bytes: inflate.bytesWritten };
  } finally {
    inflate.destroy();
  }
}
