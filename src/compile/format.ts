/**
 * The table: one immutable, host-keyed binary in which every robots.txt is a set of automata.
 *
 * This file is the only description of the format, and all that the compiler (TypeScript) and the
 * kernel (AssemblyScript) share; both compile it, so it holds integer constants and nothing else.
 *
 * Numbers are little-endian. Offsets count octets from the start of the table unless said otherwise.
 * Sections follow one another in the order of their header fields; each starts at a multiple of 8.
 *
 *     header | tokens | slots | hosts | robots | automata | lines | sources | 64 zero octets
 *
 * ## Header, 128 octets
 *
 *       0  u8[8]  magic, "RFTABLE" and 0x1A
 *       8  u32    version
 *      12  u32    profile: index in PROFILES
 *      16  u32    octets of the whole table
 *      20  u32    CRC-32 of octets 0–19 and 24–end
 *      24  u32    flags: 1 = reduced to the product tokens it names; other agents must not be asked for
 *      28  u32    seed of the host hash
 *      32  u32    number of hosts            36  u32  number of authorities
 *      40  u32    number of robots records   44  u32  number of automata
 *      48  u32    number of rules            52  u32  number of product tokens
 *      56  u32    number of slots            60  u32  longest probe, in slots: 1 = every host in its own
 *      64  u32[8] starts of the sections tokens, slots, hosts, robots, automata, lines, sources, end
 *      96  u32    octets of robots.txt that were compiled, modulo 2^32
 *     100  zeros
 *
 * ## Tokens
 *
 * For each product token `u32 start, u32 octets` of its lower-case text, then the texts. Its index is its
 * number: 0 is `*`, 1 is the empty token (which only the google profile matches), the others are
 * sorted by octets from 2 on.
 *
 * ## Slots
 *
 * Open addressing with linear probing: `u32 hash, u32 host record`; a record of 0 is a free slot. The
 * hash (hash.ts) is taken over the canonical host alone, never its scheme or port, so that a table
 * can be cut into shards by host. Home slot: `hash * slots >>> 32`. At most half of the slots are used.
 *
 * ## Hosts, each at a multiple of 4
 *
 *       0  u16  octets of the host             2  u16  number of authorities
 *       4  u8[] the canonical host: lower-case A-label, no trailing dot; zeros up to a multiple of 4
 *       …  for each authority, sorted by port:
 *            u16 port, 0 for the scheme's default port
 *            u8  schemes, a bit each: 1 http, 2 https, 4 ftp; no scheme stands twice at a port
 *            u8  zero
 *            u32 robots record
 *            u32 source
 *
 * ## Robots, each at a multiple of 4: what one distinct robots.txt says
 *
 *       0  u32  access result: 0 successful, 1 unavailable, 2 unreachable (RFC 9309 section 2.3.1)
 *       4  u32  number n of product tokens that its groups name
 *       8  u32[n] their numbers, ascending     …  u32[n] for each the start of its list of groups
 *       …  lists of groups: u32 count, then for each group `u32 automaton, u32 lines`; in the order of the file
 *
 * An automaton of 0 is a group without any rule that could match.
 *
 * ## Automata, each at a multiple of 4; offsets within count from the automaton's start
 *
 *       0  u32  octets of the automaton        4  u32  number n of rules
 *       8  u32  width w: 2 or 4, the octets of every field marked `ref`
 *      12  u32  start of the rules             16 …    the root node
 *
 * A rule's order is its place, from 1, when the rules are sorted by falling precedence turned round: fewest octets first,
 * disallow before allow, later lines before earlier ones. Hence the greatest order among the
 * rules that match decides: most octets, allow wins a tie (RFC 9309 section 2.2.2), the first line
 * among equals. `rank = order << 1 | allow`; 0 is no match, and one `max` combines any two.
 *
 * Node: a state of a radix trie, in pre-order.
 *
 *       0  u8   flags: 1 prefix rule, 2 end rule, 4 wildcards
 *       1  u8   octets l of the label           2  u8   number e of edges
 *       3  u8[l] label: what the text must hold here for the state to be reached
 *       …  u8[e] first octet of each edge's label, ascending
 *       …  ref[e] for each edge the distance from this node's start to its target's; always forwards
 *       …  ref  rank of the rule that ends here, if flag 1
 *       …  ref  rank of the rule that ends here with `$`, if flag 2
 *       …  wildcards, if flag 4: ref number of blocks, then the blocks, by falling highest rank
 *
 * Block: at most 32 rules with a `*` whose literal prefix ends in this state, by falling rank.
 *
 *       0  u8   number of rules                 1  u8   flags: 1 masks
 *       2  ref  octets of the block, all of it  …  ref  highest rank
 *       …  u8[96] masks, if flag 1: for each of the three octets of a window, 16 entries for its low and 16 for its
 *          high half; entry bit b: some rule of bucket b has that half there. A text in which no
 *          window has a bit in all six entries holds no match for any rule of that bucket. A window may begin at every
 *          octet of the text behind the prefix, and reach beyond its end into whatever is there.
 *       …  the rules
 *
 * Wildcard rule: what follows the literal prefix, `*s1*s2…*sk`, with or without `$`.
 *
 *       0  ref  rank                            …  ref  octets of this record, all of it
 *       …  u8   buckets: the bits of which one must be found by the masks; 255 where there are none
 *       …  u8   flags: 1 ends with `$`, 2 each segment in two forms
 *       …  ref  number k of segments, at least 1
 *       …  segments: ref octets, u8[]; with flag 2 followed by the form for the query: ref octets, u8[]
 *
 * The two forms (spec note A): a segment that starts at or before the text's first `?` is taken in its
 * first form, behind it in its second.
 *
 * Rules: for each order `ref end, ref octets`: where its text ends, counted from the first text's start (each
 * begins where the one before ends), and how many octets its pattern has. Then the texts: the
 * rule's pattern as written, escaped as in a JSON string, at most TEXT_LIMIT octets before escaping.
 *
 * ## Lines
 *
 * For each distinct list, at a multiple of 4: u32 width (2 or 4), then the line number of each rule of an automaton, by order.
 *
 * ## Sources, each at a multiple of 4
 *
 * u32 octets, u8[]: where a robots.txt came from, escaped as in a JSON string.
 */

export const VERSION = 1;

/** "RFTABLE" and 0x1A, as two little-endian words. */
export const MAGIC_LOW = 0x41544652;
export const MAGIC_HIGH = 0x1a454c42;

export const HEADER_OCTETS = 128;
export const HEADER_VERSION = 8;
export const HEADER_PROFILE = 12;
export const HEADER_LENGTH = 16;
export const HEADER_CHECKSUM = 20;
export const HEADER_FLAGS = 24;
export const HEADER_SEED = 28;
export const HEADER_HOSTS = 32;
export const HEADER_AUTHORITIES = 36;
export const HEADER_ROBOTS = 40;
export const HEADER_AUTOMATA = 44;
export const HEADER_RULES = 48;
export const HEADER_TOKENS = 52;
export const HEADER_SLOTS = 56;
export const HEADER_LONGEST_PROBE = 60;
export const HEADER_SECTIONS = 64;
export const HEADER_COMPILED_OCTETS = 96;

/** Indices of the section starts; `SECTION_END` is where the last section ends. */
export const SECTION_TOKENS = 0;
export const SECTION_SLOTS = 1;
export const SECTION_HOSTS = 2;
export const SECTION_ROBOTS = 3;
export const SECTION_AUTOMATA = 4;
export const SECTION_LINES = 5;
export const SECTION_SOURCES = 6;
export const SECTION_END = 7;

export const FLAG_REDUCED = 1;

/** The kernel reads in vectors of 16 octets, up to three of them past what it needs. */
export const TAIL_OCTETS = 64;

export const TOKEN_ANY = 0;
export const TOKEN_EMPTY = 1;

export const SCHEME_HTTP = 1;
export const SCHEME_HTTPS = 2;
export const SCHEME_FTP = 4;

export const SLOT_OCTETS = 8;
export const HOST_FIXED_OCTETS = 4;
export const AUTHORITY_OCTETS = 12;
export const MAX_HOST_OCTETS = 255;

export const ACCESS_SUCCESSFUL = 0;
export const ACCESS_UNAVAILABLE = 1;
export const ACCESS_UNREACHABLE = 2;

export const ROBOTS_FIXED_OCTETS = 8;

export const AUTOMATON_RULE_COUNT = 4;
export const AUTOMATON_WIDTH = 8;
export const AUTOMATON_RULES = 12;
export const AUTOMATON_ROOT = 16;

export const NODE_PREFIX_RULE = 1;
export const NODE_END_RULE = 2;
export const NODE_WILDCARDS = 4;
export const NODE_FIXED_OCTETS = 3;
export const MAX_LABEL_OCTETS = 255;

export const BLOCK_MASKS = 1;
export const BLOCK_MASK_OCTETS = 96;
export const MAX_BLOCK_RULES = 32;

export const WILDCARD_END = 1;
export const WILDCARD_TWO_FORMS = 2;

/** Octets of a source after escaping, at most; what is cut begins with U+2026 and keeps its end. */
export const SOURCE_LIMIT = 4096;

/** Octets of a rule's pattern that a table keeps for display; what is cut ends in U+2026. */
export const TEXT_LIMIT = 1000;
