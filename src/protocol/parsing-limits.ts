/**
 * The default parsing limit in bytes, which is the least that RFC 9309 section 2.5 allows: 500 KiB.
 */
export const MIN_BYTES = 512_000;

/** The greatest parsing limit in bytes. Such a line still fits into a string, even from UTF-16. */
export const MAX_BYTES = 0x1000_0000;
