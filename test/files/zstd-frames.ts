/** Frames of Zstandard data for tests (RFC 8878 section 3.1), without an encoder. */

const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** A window of 128 KiB: exponent 7, mantissa 0. */
const WINDOW_128_KIB = 7 << 3;

/** `LINE_COUNT` lines, compressed by `zstd -19 --check`: the content size and a checksum. */
export const REAL_FRAME = Buffer.from(
  'KLUv/QRoVQgAhpQrFJCrxVjpW/gv/5+wSyu7e4eamZyeLgAlAB8AiIiId3d3d3dmZmZmZlVVVVVV//+/SRPPagAJxkEwgrIUgZEwCvEYgjA0jOMgAf////+PRqPRaDQajUbv7u7u7qaUUkoppaSqqqqqmpmZmZmJiBg4juM4juM4ft/3fd/3fd+2bdu2bdu2Xdd1Xdd1XdcfwO77vu/7vu97Op1Op9PpdDqt67qu67qu63me53me53kegMeoERD6/d/QU3kR/P8IxA+rrdnZ3Gyu1lZns7O5WV0tlmSSNZIiOyRA9kfy2B3JMQUBEAABEAABCIAACEBtJI2VERjrIixWRVCsiZCYBbMEZglmrsAOkCrHWKB2',
  'base64',
);
const LINE_COUNT = 200;
export const REAL_CONTENT = Array.from(
  { length: LINE_COUNT },
  (_, index) => `https://example.com/page/${index}\n`,
).join('');

function blockHeader(isLast: boolean, type: number, size: number): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((isLast ? 1 : 0) | (type << 1) | (size << 3), 0, 3);
  return header;
}

/** A block that holds its content as it is. */
export const rawBlock = (content: Uint8Array, isLast = false): Buffer =>
  Buffer.concat([blockHeader(isLast, 0, content.length), content]);

/** A block that repeats one byte. */
export const repeatBlock = (byte: number, size: number, isLast = false): Buffer =>
  Buffer.concat([blockHeader(isLast, 1, size), Buffer.of(byte)]);

/** A frame of these blocks, without a content size; the last block must say that it is. */
export const frameOf = (blocks: readonly Uint8Array[], window = WINDOW_128_KIB): Buffer =>
  Buffer.concat([MAGIC, Buffer.of(0, window), ...blocks]);

/** A frame of one raw block. */
export const rawFrame = (content: string | Uint8Array): Buffer =>
  frameOf([rawBlock(Buffer.from(content), true)]);

/** A skippable frame (section 3.1.2). */
export function skippable(text: string | Uint8Array, kind = 0): Buffer {
  const content = Buffer.from(text as string);
  const header = Buffer.from([0x50 + kind, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, content]);
}
