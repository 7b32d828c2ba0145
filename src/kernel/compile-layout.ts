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

/** Place of assembly/compile/memory.ts: start and end of the pattern, and `line << 1 | allow`. */
export const PLACE_BYTES = 12;

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

// ---- Flags of `loadRules`

export const COMPILE_GOOGLE = 1;
/** An allow rule whose last path segment begins with `/index.htm` becomes two items. */
export const COMPILE_DIRECTORIES = 2;

// ---- Items: what the host reads of Item (assembly/compile/memory.ts)

export const ITEM_START = 8;
export const ITEM_PREFIX_END = 12;
export const ITEM_END = 16;
export const ITEM_RANK = 20;
export const ITEM_KIND = 24;
export const ITEM_TWO_FORMS = 32;
export const ITEM_LINE = 40;
export const ITEM_WRITTEN = 44;
export const ITEM_WRITTEN_END = 48;
export const ITEM_FORM = 52;
export const ITEM_TEXT_BYTES = 60;
export const ITEM_BYTES = 64;

/** Precedes a segment's second form. No canonical literal holds the byte if there is one. */
export const SECOND_FORM = 0;

/** Kinds of the part of a pattern after its prefix: nothing, `$`, segments, or segments and `$`. */
export const KIND_PREFIX = 0;
export const KIND_END = 1;
export const KIND_WILDCARDS = 2;
export const KIND_WILDCARDS_END = 3;
