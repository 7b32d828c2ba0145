/** Maximum bytes of a pattern: its rank, twice that plus one, has 31 bits. */
export const MAX_PATTERN_BYTES = 2 ** 30 - 1;
/**
 * Greatest line of a rule, and greatest line to which the lines of rules are relative: their sum
 * has 32 bits.
 */
export const MAX_LINE = 2 ** 31 - 1;
