/**
 * The numbers of the checksum (checksum.ts). The kernel and the host both compile this file, so it
 * holds integer constants and nothing else.
 */

/** Lanes of 32 bits, and the bytes of a block: a word for each lane. */
export const LANES = 32;
export const BLOCK_BYTES = 128;

// The primes of XXH32: 0x9e3779b1, 0x85ebca77 and 0xc2b2ae3d as signed numbers.
export const PRIME_1 = -1640531535;
export const PRIME_2 = -2048144777;
export const PRIME_3 = -1028477379;
/** How far a lane is turned in each round, in bits. */
export const TURN = 13;
