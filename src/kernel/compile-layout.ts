/**
 * The memory in which the kernel compiles a group of rules into an automaton
 * (assembly/compile/automaton.ts). The kernel and kernel/automata.ts both
 * compile this file, so it holds integer constants and nothing else. Offsets count bytes.
 *
 *     block | text | places of rules | memory that the kernel lays out itself
 */

const WORD = 4;
const LONG = 8;

// ---- Places of rules: where the patterns of a group stand in the text

/** Offsets in the text of the first byte of the pattern, and of the byte after it. */
export const PLACE_START = 0;
export const PLACE_END = PLACE_START + WORD;
/** `line << 1 | allow` */
export const PLACE_LINE = PLACE_END + WORD;
export const PLACE_BYTES = PLACE_LINE + WORD;

// ---- The block

/** Number of rules that remain, and the first and the last of their lines. */
export const COMPILE_RULES = 0;
export const COMPILE_FIRST_LINE = COMPILE_RULES + WORD;
export const COMPILE_LAST_LINE = COMPILE_FIRST_LINE + WORD;
/** Address of the addresses of the items that remain, in their order. */
export const COMPILE_ITEMS = COMPILE_LAST_LINE + WORD;
/** Address of the first item that was loaded, and the number of items: those of all rules. */
export const COMPILE_LOADED = COMPILE_ITEMS + WORD;
export const COMPILE_LOADED_ITEMS = COMPILE_LOADED + WORD;
/** Length of the automaton. */
export const COMPILE_LENGTH = COMPILE_LOADED_ITEMS + WORD;
/** The end of what the kernel has written. */
export const COMPILE_END = COMPILE_LENGTH + WORD;
/** u8: the rarity of each byte in URLs, and of ANY (kernel/automata.ts). */
export const COMPILE_RARITY = COMPILE_END + WORD;
/** The byte of a window that any byte of a text matches. */
export const ANY = 256;
/**
 * f64: the share of the bytes whose half is in a set. A set has 16 bits: 256 shares for the low and
 * 256 for the high byte of a set of low halves, then the same for high halves.
 */
export const COMPILE_SHARES = (COMPILE_RARITY + ANY + 1 + LONG - 1) & -LONG;
export const SHARES_OF_SET = 256 * LONG;
/** The memory of the buckets: BUCKETS_… of kernel/assembly/compile/blocks.ts. */
export const COMPILE_BUCKETS = COMPILE_SHARES + 4 * SHARES_OF_SET;
export const COMPILE_BUCKETS_BYTES = 10 * 1024;
export const COMPILE_BYTES = COMPILE_BUCKETS + COMPILE_BUCKETS_BYTES;

// ---- Items: numbered patterns of rules, one cache line each

/** u64, big-endian: the first bytes of the prefix, and zeros after its end. */
export const ITEM_BEGINNING = 0;
/** Addresses of the canonical form: its start, the end of its prefix, and its end. */
export const ITEM_START = ITEM_BEGINNING + LONG;
export const ITEM_PREFIX_END = ITEM_START + WORD;
export const ITEM_END = ITEM_PREFIX_END + WORD;
/** `bytes << 1 | allow`: table/format.ts. */
export const ITEM_RANK = ITEM_END + WORD;
/** KIND_… */
export const ITEM_KIND = ITEM_RANK + WORD;
/** Number of segments, and whether one of them has a second form. */
export const ITEM_SEGMENTS = ITEM_KIND + WORD;
export const ITEM_TWO_FORMS = ITEM_SEGMENTS + WORD;
/** The greatest number in a field `size` of the rule. */
export const ITEM_SIZE = ITEM_TWO_FORMS + WORD;
export const ITEM_LINE = ITEM_SIZE + WORD;
/** Addresses of the pattern as written, and of the byte after it. */
export const ITEM_WRITTEN = ITEM_LINE + WORD;
export const ITEM_WRITTEN_END = ITEM_WRITTEN + WORD;
/** How the rule's text derives from the pattern: RULE_STAR, RULE_TEXT or 0. */
export const ITEM_FORM = ITEM_WRITTEN_END + WORD;
/**
 * With RULE_TEXT the text: address and length. A length of 0 means that the pattern as written
 * needs escapes: the kernel's host writes the text.
 */
export const ITEM_TEXT = ITEM_FORM + WORD;
export const ITEM_TEXT_BYTES = ITEM_TEXT + WORD;
export const ITEM_BYTES = ITEM_TEXT_BYTES + WORD;

/** Precedes a segment's second form. No canonical literal holds the byte if there is one. */
export const SECOND_FORM = 0;

/** Kinds of the part of a pattern after its prefix: nothing, `$`, segments, or segments and `$`. */
export const KIND_PREFIX = 0;
export const KIND_END = 1;
export const KIND_WILDCARDS = 2;
export const KIND_WILDCARDS_END = 3;
