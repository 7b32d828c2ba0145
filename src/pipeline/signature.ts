/** An encoding that is told by how its octets begin, other than UTF-8. */
export interface Encoding {
  /** What such octets are: `gzip data`. */
  readonly name: string;
  /** The command that undoes it, from standard input to standard output; `undefined` if nothing does. */
  readonly remedy?: string;
}

/** RFC 1952 section 2.3.1: ID1 and ID2. Neither UTF-8 nor any text begins so. */
const GZIP = Uint8Array.of(0x1f, 0x8b);

interface Magic extends Encoding {
  readonly magic: readonly number[];
}

const COMPRESSIONS: readonly Magic[] = [
  { magic: [...GZIP], name: 'gzip data', remedy: 'gzip -dc' },
  { magic: [0x1f, 0x9d], name: 'data of compress', remedy: 'gzip -dc' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], name: 'zstd data', remedy: 'zstd -dc' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], name: 'xz data', remedy: 'xz -dc' },
  { magic: [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59], name: 'bzip2 data', remedy: 'bzip2 -dc' },
  { magic: [0x50, 0x4b, 0x03, 0x04], name: 'a zip archive', remedy: 'funzip' },
  // RFC 1950 section 2.2, with the windows and levels that there are; 78 5E may be text.
  { magic: [0x78, 0x01], name: 'zlib data', remedy: 'zlib-flate -uncompress' },
  { magic: [0x78, 0x9c], name: 'zlib data', remedy: 'zlib-flate -uncompress' },
  { magic: [0x78, 0xda], name: 'zlib data', remedy: 'zlib-flate -uncompress' },
  // 8B is no UTF-8, so whoever takes it for such writes U+FFFD.
  { magic: [0x1f, 0xef, 0xbf, 0xbd, 0x08], name: 'gzip data that was decoded as UTF-8' },
];

const UTF_16 = { name: 'UTF-16 text', remedy: 'iconv -f UTF-16 -t UTF-8' };
const UTF_16_TEXTS: readonly Magic[] = [
  { magic: [0xff, 0xfe], ...UTF_16 },
  { magic: [0xfe, 0xff], ...UTF_16 },
];

const ENCODINGS = [...UTF_16_TEXTS, ...COMPRESSIONS];

/** Octets by which all of these are told. */
export const TELLING_OCTETS = Math.max(...ENCODINGS.map(({ magic }) => magic.length));

/** Whether `head` begins with all of `magic`. */
export function startsWith(head: Uint8Array, magic: ArrayLike<number>): boolean {
  if (head.length < magic.length) return false;
  for (let at = 0; at < magic.length; at++) if (head[at] !== magic[at]) return false;
  return true;
}

/** Whether octets begin as a gzip member does (RFC 1952). */
export function isGzip(head: Uint8Array): boolean {
  return startsWith(head, GZIP);
}

/** Whether octets are too few to tell whether they begin a gzip member. */
export function mayBecomeGzip(head: Uint8Array): boolean {
  return head.length < GZIP.length && startsWith(GZIP, head);
}

/** How octets are compressed; `undefined` if they do not begin as any that is known. */
export function compressionOf(head: Uint8Array): Encoding | undefined {
  return COMPRESSIONS.find(({ magic }) => startsWith(head, magic));
}

/**
 * Says of an input that is neither UTF-8 nor gzip what it is, and what turns it into that; `undefined` if it does not look so.
 *
 * @param decompressed whether the octets were in gzip data
 */
export function describeForeign(head: Uint8Array, decompressed: boolean): string | undefined {
  const encoding = ENCODINGS.find(({ magic }) => startsWith(head, magic));
  if (encoding === undefined) return undefined;
  const { name, remedy } = encoding;
  const advice =
    remedy === undefined
      ? 'Get it anew.'
      : `Send it through "${decompressed ? 'gzip -dc | ' : ''}${remedy}" and pipe the result in.`;
  return `is ${name}${decompressed ? ' in gzip data' : ''}; plain UTF-8 and gzip are read. ${advice}`;
}
