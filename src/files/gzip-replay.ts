import { createInflateRaw } from 'node:zlib';

/*
 * zlib drops what it has decoded since its last chunk when it meets a fault. The data are therefore
 * decoded again, in pieces so small that the fault has a piece of its own.
 */

/** Maximum bytes of a member's deflate data that are kept to be decoded again. */
export const MAX_REPLAY_BYTES = 8 << 20;

/** Size of the pieces in which the fault is looked for first, in bytes. */
const PIECE_BYTES = 256;

/** Lets zlib hold one chunk: an error destroys what it holds. @types/node lacks the option. */
export const ONE_CHUNK: object = { readableHighWaterMark: 1 };

/**
 * Decodes deflate data up to its fault, which lies in the last chunk.
 *
 * @param skip number of decoded bytes at the start to leave out
 */
export async function decodedBeforeFault(
  chunks: readonly Uint8Array[],
  skip: number,
): Promise<Buffer> {
  const last = chunks.at(-1) ?? new Uint8Array();
  const pieces = [...chunks.slice(0, -1), ...piecesOf(last, PIECE_BYTES)];
  const { decodable } = await decode(pieces, skip);
  const faulty = piecesOf(pieces[decodable] ?? new Uint8Array(), 1);
  return (await decode([...pieces.slice(0, decodable), ...faulty], skip)).output;
}

function piecesOf(bytes: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

interface Decoded {
  /** Number of pieces before the first that zlib refuses. */
  readonly decodable: number;
  readonly output: Buffer;
}

async function decode(pieces: readonly Uint8Array[], skip: number): Promise<Decoded> {
  const output: Buffer[] = [];
  let left = skip;
  const inflate = createInflateRaw({ chunkSize: 65_536, ...ONE_CHUNK }).on(
    'data',
    (bytes: Buffer) => {
      if (left < bytes.length) output.push(bytes.subarray(left));
      left = Math.max(0, left - bytes.length);
    },
  );
  const refused = new Promise<false>((resolve) => {
    inflate.on('error', () => resolve(false)).on('end', () => resolve(false));
  });
  let decodable = 0;
  for (const piece of pieces) {
    const written = new Promise<boolean>((resolve) => {
      inflate.write(piece, (error) => resolve(!error));
    });
    if (!(await Promise.race([written, refused]))) break;
    // The output is read before the next piece, whose fault would destroy it.
    await new Promise((resolve) => setImmediate(resolve));
    decodable++;
  }
  inflate.destroy();
  return { decodable, output: Buffer.concat(output) };
}
