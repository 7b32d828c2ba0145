/** Octets of a pattern: twice that, and one, is a rank of 31 bits. */
export const MAX_PATTERN_OCTETS = 2 ** 30 - 1;
/** Lines of an automaton's rules, and those from which they count: their sum has 32 bits. */
export const MAX_LINE = 2 ** 31 - 1;
