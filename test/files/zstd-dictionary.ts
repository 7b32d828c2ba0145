import { compressUsingDict, createCCtx, freeCCtx } from '@bokuweb/zstd-wasm';
import { loadWholeFrameCodec } from '../../src/files/zstd/encoder.js';
import { rawBlock } from './zstd-frames.js';

/** A dictionary for WARC records of robots.txt files, made by `zstd --train --maxdict=400`. */
export const DICTIONARY = Buffer.from(
  'N6Qw7GLuVlIbENgKKukMwzAMwzAMLmEIIaTtTd7gztfWWmsD8wGYAACAyZL0BgAABAAAAIASAEWcAAAMADIAAAAAAAAAAAAAhDymAQAAAAAAAEApBwMAAAAAAORXqGgAAAAAAAAAAAAAAAAAAAEAAAAEAAAACAAAAGRpc2FsbG93OiAvcGF0aDY2Cg0KDQpXQVJDLzEuMA0KV0FSQy1UeXBlOiByZXNwb25zDQpDb250ZW50LUxlbmd0aDogMTAxDQoNCkhUVFAvMS4xIDIwMCBSZWFzb24NCkNvbnRUYXJnZXQtVVJJOiBodHRwczovL2g1OTUuZXhhbXBsZS9yb2JvdHMudHh0DQpDb250ZQ0KDQp1c2VyLWFnZW50OiAqCmRpc2FsbG93OiAvcGF0aDU4Cg0KDQpXQVJDLzEuMA0KbnQtVHlwZTogYXBwbGljYXRpb24vaHR0cDsgbXNndHlwZT1yZXNwb25zZQ0KQ29udGVXQVJDLURhdGU6IDIwMjUtMDMtMTBUMDA6MDA6MA==',
  'base64',
);

/** Each content as a frame of its own that needs a dictionary, with its content size. */
export async function framesWith(
  dictionary: Uint8Array,
  contents: readonly Uint8Array[],
): Promise<Buffer[]> {
  await loadWholeFrameCodec();
  const context = createCCtx();
  const frames = contents.map((content) => compressUsingDict(context, content, dictionary, 3));
  freeCCtx(context);
  return frames.map((frame) => Buffer.from(frame));
}

/** A frame of these blocks that names `DICTIONARY`, without a content size. */
export function frameNaming(blocks: readonly Uint8Array[]): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 3, 7 << 3]);
  return Buffer.concat([header, DICTIONARY.subarray(4, 8), ...blocks]);
}

/** A frame of one raw block that names `DICTIONARY`. */
export const rawFrameNaming = (content: Uint8Array): Buffer =>
  frameNaming([rawBlock(content, true)]);
