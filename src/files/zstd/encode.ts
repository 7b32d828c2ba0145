import { compress } from '@bokuweb/zstd-wasm';
import xxhash from 'xxhash-wasm';
import { loadWholeFrameCodec } from './whole-frames.js';

/** What the command `zstd` uses by default. */
const LEVEL = 3;
/** Where a frame header has its descriptor, and the descriptor's flag of a checksum. */
const DESCRIPTOR = 4;
const CHECKSUM_FLAG = 0x04;
const CHECKSUM_BYTES = 4;

let hash: ((content: Uint8Array) => bigint) | undefined;

/** Loads what `encodeZstd` needs. */
export async function prepareZstdEncoder(): Promise<void> {
  if (hash !== undefined) return;
  const [{ h64Raw }] = await Promise.all([xxhash(), loadWholeFrameCodec()]);
  hash = h64Raw;
}

/**
 * Encodes bytes as one frame, with its content size and its checksum (RFC 8878 section 3.1.1). Call
 * `prepareZstdEncoder` before.
 *
 * @param content at most some MiB, as all of them and the frame are in memory
 */
export function encodeZstd(content: Uint8Array): Buffer {
  if (hash === undefined) throw new Error('the zstd encoder has not been loaded');
  // The package cannot be asked for a checksum: the low half of XXH64, behind the blocks.
  const blocks = compress(content, LEVEL);
  const frame = Buffer.allocUnsafe(blocks.length + CHECKSUM_BYTES);
  frame.set(blocks);
  frame[DESCRIPTOR] = (frame[DESCRIPTOR] ?? 0) | CHECKSUM_FLAG;
  frame.writeUInt32LE(Number(hash(content) & 0xffff_ffffn), blocks.length);
  return frame;
}
