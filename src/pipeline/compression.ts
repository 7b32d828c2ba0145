/** An encoding that can be told by how the octets begin. */
export interface Encoding {
  /** What such octets are: `gzip data`. */
  readonly name: string;
  /** The command that undoes it, from standard input or a file to standard output. */
  readonly remedy: string;
}

/** RFC 1952, section 2.3.1: ID1, ID2 and CM, of which 8 (deflate) is the only value there is. */
const GZIP = Uint8Array.of(0x1f, 0x8b, 0x08);

/** How many octets tell gzip data from others. */
export const GZIP_OCTETS = GZIP.length;

const COMPRESSIONS: readonly (Encoding & { magic: Uint8Array })[] = [
  { magic: GZIP, name: 'gzip data', remedy: 'gzip -dc' },
  { magic: Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd), name: 'zstd data', remedy: 'zstd -dc' },
  { magic: Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a), name: 'xz data', remedy: 'xz -dc' },
  {
    magic: Uint8Array.of(0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59),
    name: 'bzip2 data',
    remedy: 'bzip2 -dc',
  },
  { magic: Uint8Array.of(0x50, 0x4b, 0x03, 0x04), name: 'a zip archive', remedy: 'unzip -p' },
];

/** Whether `head` begins with all of `magic`. */
export function startsWith(head: Uint8Array, magic: Uint8Array): boolean {
  return head.length >= magic.length && magic.every((octet, index) => head[index] === octet);
}

/** Whether `head` is the beginning of `magic`, but not all of it. */
export function mayBecome(head: Uint8Array, magic: Uint8Array): boolean {
  return head.length < magic.length && startsWith(magic, head);
}

/** Whether octets begin as a gzip member does (RFC 1952). */
export function isGzip(head: Uint8Array): boolean {
  return startsWith(head, GZIP);
}

/** Whether octets are too few to tell whether they begin a gzip member. */
export function mayBecomeGzip(head: Uint8Array): boolean {
  return mayBecome(head, GZIP);
}

/** How octets are compressed; `undefined` if they do not begin as any that is known. */
export function compressionOf(head: Uint8Array): Encoding | undefined {
  return COMPRESSIONS.find(({ magic }) => startsWith(head, magic));
}
