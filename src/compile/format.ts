/**
 * The table: one immutable, host-keyed binary in which every robots.txt is a set of automata.
 *
 * This file is the only description of the format, and all that the compiler (TypeScript) and the
 * kernel (AssemblyScript) share; both compile it, so it holds integer constants and nothing else.
 *
 * Numbers are little-endian. Offsets count octets from the start of the table unless said
 * otherwise. Sections follow one another in the order of their header fields; each behind the first
 * starts at a multiple of 64.
 *
 *     header | tokens | buckets | hosts | sources | 320 zero octets
 *
 * What a URL reads lies close together, and with it what the other URLs of its host do: in a table
 * of many hosts each place far from the last one costs more than all that is done there. What only
 * explanations show is derived from it where that is possible, and else kept apart.
 *
 * ## Header, 352 octets
 *
 *       0  u8[8]  magic, "RFTABLE" and 0x1A
 *       8  u32    version
 *      12  u32    profile: index in PROFILES
 *      16  u32    octets of the whole table
 *      20  u32    CRC-32 of octets 0–19 and 24–end
 *      24  u32    flags: 1 = reduced to the product tokens it names; other agents must not be asked
 *                 for
 *      28  zeros
 *      32  u32    number of hosts            36  u32  number of authorities
 *      40  u32    number of robots records   44  u32  number of automata
 *      48  u32    number of rules            52  u32  number of product tokens
 *      56  u32    number of buckets
 *      60  u32    longest probe, in buckets: 1 = every host in its own
 *      64  u32[5] starts of the sections tokens, buckets, hosts, sources, end
 *      84  u32    octets of robots.txt that were compiled, modulo 2^32
 *      88  key of the host hash: u8[256] added to the stripes of a host, u64 an odd factor
 *
 * ## Tokens
 *
 * For each product token `u32 start, u32 octets` of its lower-case text, then the texts. Its index
 * is its number: 0 is `*`, 1 is the empty token (which only the google profile matches), the others
 * are sorted by octets from 2 on.
 *
 * ## Buckets
 *
 * Open addressing with linear probing, ten slots at a time, which fill a cache line of 64 octets:
 *
 *       0  u32[10] host records; 0 is a free slot, and all behind it are free
 *      40  u16[10] for each the host's tag: the low half of its hash, 1 in place of 0; 0 for a free
 *          slot
 *      60  u32     1 = passed: full, and a host whose search begins here or before is in a bucket
 *                  behind; else 0
 *
 * The hash (kernel/assembly/host-hash.ts) is taken over the canonical host alone, never its scheme
 * or port, so that a table can be cut into shards by host. Its high part says where the search
 * begins: in bucket `hash * buckets >>> 32`. At most half of the slots are used, so that few
 * searches go on to a second bucket.
 *
 * ## Hosts
 *
 * For each robots record, in the order in which the sorted hosts need them, a cluster: the hosts
 * whose first authority has it, sorted; the record; and those of its automata that no record before
 * it has, in the order in which it names them. Before a cluster there are zero octets up to the
 * next multiple of 64 where its first 512 octets would else reach into one multiple of 64 more than
 * they need.
 *
 * ### Host
 *
 *       0  u8   octets of the canonical host (lower-case A-label, no trailing dot)
 *       1  u8   form
 *     form 0 and 1: one authority, of http and https at their default ports
 *       2  u32  robots record
 *       6  u32  source
 *      10  u32  number for the source; form 1 alone
 *       …  u8[] the host
 *     form 2: any authorities
 *       2  u16  their number        4  u8[] the host
 *       …  for each, sorted by port:
 *            u16 port, 0 for the scheme's default port
 *            u8  schemes, a bit each: 1 http, 2 https, 4 ftp; no scheme stands twice at a port
 *            u8  form, 2
 *            u32 robots record, u32 source, u32 number for the source, u32 the host's record
 *
 * An authority is known by the place of its robots record: the octet before it says which form it
 * is of.
 *
 * ### Robots record: what one distinct robots.txt says
 *
 *       0  u8   access result in bits 0 and 1: 0 successful, 1 unavailable, 2 unreachable (RFC 9309
 *               section 2.3.1); bit 2: the width w of the following numbers is 4, else it is 2
 *       1  u[w] number n of product tokens that its groups name
 *       …  u[w][n] their numbers, ascending
 *       …  u[w][n] for each the start of its list of groups, from the record's start
 *       …  lists of groups: for each group `u32 automaton, u32 line << 1 | another follows`; in the
 *          order of the file
 *
 * An automaton of 0 is a group without any rule that could match. The lines of its rules count from
 * `line`.
 *
 * ### Automaton; offsets within count from its start
 *
 *       0  u8   widths: bits 0 and 1 log2 of the octets of a field marked `line`, bits 2 and 3 of
 *               one marked `size`; bit 4: a field marked `offset` has 4 octets, else 2; bit 5:
 *               texts are kept
 *       1  offset octets of the automaton, offset number of rules, with bit 5 offset of the end of
 *          the nodes
 *       …  the root node, and the others
 *       …  texts that are kept: u16 octets, u8[]
 *
 * `rank = octets << 1 | allow`, where octets is the canonical length of the rule's pattern: the
 * greatest rank among the rules that match decides: most octets, allow wins a tie (RFC 9309 section
 * 2.2.2); among equals the first line. 0 is no match.
 *
 * Node: a state of a radix trie, in pre-order. What the rules of a node and the way to it say need
 * not be written down: a prefix rule has as many octets as the path to its node, and reads as that.
 *
 *       0  u8   flags: bits 0 and 1 the prefix rule that ends here: 0 none, 1 disallow, 2 allow, 3
 *               one of another form; 4 edges, 8 blocks; bits 4 and 5 log2 of the octets of a
 *               distance
 *       1  u8   octets l of the label
 *       2  u8[l] label: what the text must hold here for the state to be reached
 *       …  edges, if flag 4: u8 number e of edges, u8[e] the octet of each, from that on behind
 *          which least follows; the label of its target begins behind it; then for each but the
 *          first the distance from the first one's target to its own
 *       …  prefix rule: for another form u8 form; line; with RULE_LONGER u32 by how many octets its
 *          pattern is longer than its prefix, else it is by RULE_STAR's one; with RULE_TEXT offset
 *          of its text, from the end of the nodes
 *       …  offset octets of all blocks, with both flags 4 and 8
 *       …  blocks, if flag 8, by falling highest rank
 *       …  the target of the first edge
 *
 * Block: at most 32 rules whose literal prefix ends in this state, by falling rank and rising line.
 *
 *       0  u8   bits 0–4 number of rules, less one; bit 5 masks; bit 6 another block follows (then
 *               with masks); bit 7 wide places
 *     masks, if bit 5
 *       …  u8[96] for each of the three octets of a window, 16 entries for its low and 16 for its
 *          high half; entry bit b: some rule of bucket b has that half there. A text in which no
 *          window has a bit in all six entries holds no match for any rule of that bucket. A window
 *          may begin at every octet of the text behind the prefix, and reach beyond its end into
 *          whatever is there.
 *       …  u8[] for each rule its bucket's bit; 255 for `$` alone, which matches where there are no
 *          windows at all
 *       …  with bit 6 offset octets of all that follows in the block
 *       …  for each rule its place, counted from the first one: u8[], with bit 7 offset[]
 *       …  the rules
 *
 * Wildcard rule: what follows the literal prefix, `*s1*s2…*sk`, with or without `$`; or `$` alone.
 *
 *       0  size rank                            …  size octets of all that follows
 *       …  u8   form                            …  line
 *       …  with RULE_TEXT offset of its text, from the end of the nodes
 *       …  segments: none for `$` alone; with RULE_SINGLE the octets of the only one; else for each
 *          size octets, u8[]; with RULE_TWO_FORMS followed by the form for the query: size octets,
 *          u8[]
 *
 * The two forms (spec note A): a text matches where all segments are there in their first form, or
 * those before some `*` in their first, then a `?`, and all others in their second.
 *
 * A rule's text is its pattern as written, escaped as in a JSON string, at most TEXT_LIMIT octets
 * before escaping. It is kept only where it differs from what can be derived: the way to the node,
 * `*` and the first form of each segment, `$`, and a `*` for RULE_STAR.
 *
 * ## Sources
 *
 *       0  u8   kind: 0 the text before alone, 1 with the host behind it, 2 with the authority's
 *               number in decimal
 *       1  u16  octets of the text before
 *       3  u16  octets of the text behind
 *       5  …    the two
 *
 * Where a robots.txt came from, escaped as in a JSON string; no escape sequence reaches from one
 * text into another.
 */

export const VERSION = 7;

/** "RFTABLE" and 0x1A, as two little-endian words. */
export const MAGIC_LOW = 0x41544652;
export const MAGIC_HIGH = 0x1a454c42;

export const HEADER_OCTETS = 352;
export const HEADER_VERSION = 8;
export const HEADER_PROFILE = 12;
export const HEADER_LENGTH = 16;
export const HEADER_CHECKSUM = 20;
export const HEADER_FLAGS = 24;
export const HEADER_ZEROS = 28;
export const HEADER_HOSTS = 32;
export const HEADER_AUTHORITIES = 36;
export const HEADER_ROBOTS = 40;
export const HEADER_AUTOMATA = 44;
export const HEADER_RULES = 48;
export const HEADER_TOKENS = 52;
export const HEADER_BUCKETS = 56;
export const HEADER_LONGEST_PROBE = 60;
export const HEADER_SECTIONS = 64;
export const HEADER_COMPILED_OCTETS = 84;
export const HEADER_HOST_KEY = 88;

/** Indices of the section starts; `SECTION_END` is where the last section ends. */
export const SECTION_TOKENS = 0;
export const SECTION_BUCKETS = 1;
export const SECTION_HOSTS = 2;
export const SECTION_SOURCES = 3;
export const SECTION_END = 4;
/** A section behind the first starts at a multiple of it: a bucket is to fill a cache line. */
export const CACHE_LINE_OCTETS = 64;

export const FLAG_REDUCED = 1;

/**
 * What the kernel may read past what it needs: vectors, and the cache lines of an automaton
 * (assembly/look-up.ts).
 */
export const TAIL_OCTETS = 320;

export const TOKEN_ANY = 0;
export const TOKEN_EMPTY = 1;

export const SCHEME_HTTP = 1;
export const SCHEME_HTTPS = 2;
export const SCHEME_FTP = 4;

export const HOST_KEY_FACTOR = 256;
export const HOST_KEY_OCTETS = 264;

export const BUCKET_OCTETS = 64;
export const BUCKET_SLOTS = 10;
export const BUCKET_TAGS = 40;
export const BUCKET_PASSED = 60;
/**
 * No host is farther than this from its home bucket, itself counted: as many buckets a look-up
 * looks at, at most. Half full as they are, chance alone comes to half of it, with millions of
 * hosts.
 */
export const MAX_PROBE = 8;
export const MAX_HOST_OCTETS = 255;

export const HOST_FORM = 1;
export const HOST_PLAIN = 0;
export const HOST_NUMBERED = 1;
export const HOST_SEVERAL = 2;
/** The one authority of forms 0 and 1; the number of authorities of form 2. */
export const HOST_AUTHORITY = 2;
/** Where the host begins, by form. */
export const HOST_PLAIN_NAME = 10;
export const HOST_NUMBERED_NAME = 14;
export const HOST_SEVERAL_NAME = 4;

/** An authority counts from its robots record on; in form 2 there are four octets before it. */
export const AUTHORITY_SOURCE = 4;
export const AUTHORITY_NUMBER = 8;
export const AUTHORITY_HOST = 12;
export const ENTRY_SCHEMES = 2;
export const ENTRY_FORM = 3;
export const ENTRY_AUTHORITY = 4;
export const ENTRY_OCTETS = 20;

export const ACCESS_SUCCESSFUL = 0;
export const ACCESS_UNAVAILABLE = 1;
export const ACCESS_UNREACHABLE = 2;

export const ROBOTS_ACCESS = 3;
export const ROBOTS_WIDE = 4;
export const GROUP_LINE = 4;
export const GROUP_OCTETS = 8;
/**
 * Rules that the groups of a list have at most: a file has a million (protocol/parse.ts), each of
 * which may be two in the google profile.
 */
export const MAX_GROUP_RULES = 0x20_0000;

/** Of an automaton's first octet. */
export const AUTOMATON_LINE_WIDTH = 3;
export const AUTOMATON_SIZE_WIDTH_SHIFT = 2;
export const AUTOMATON_WIDE = 16;
export const AUTOMATON_TEXTS = 32;

export const NODE_RULE = 3;
export const NODE_RULE_DISALLOW = 1;
export const NODE_RULE_ALLOW = 2;
export const NODE_RULE_OTHER = 3;
export const NODE_EDGES = 4;
export const NODE_BLOCKS = 8;
export const NODE_DISTANCE_WIDTH_SHIFT = 4;
export const NODE_FIXED_OCTETS = 2;
export const MAX_LABEL_OCTETS = 255;

/**
 * Of a rule's form; RULE_ALLOW and RULE_LONGER of prefix rules alone, from RULE_END on of the
 * others.
 */
export const RULE_ALLOW = 1;
export const RULE_STAR = 2;
export const RULE_TEXT = 4;
export const RULE_LONGER = 8;
export const RULE_END = 16;
export const RULE_TWO_FORMS = 32;
export const RULE_SINGLE = 64;
export const RULE_IN_BLOCK = 128;

export const BLOCK_RULES = 31;
export const BLOCK_MASKS = 32;
export const BLOCK_FOLLOWED = 64;
export const BLOCK_WIDE = 128;
export const BLOCK_MASK_OCTETS = 96;
export const MAX_BLOCK_RULES = 32;

export const SOURCE_TEXT = 0;
export const SOURCE_WITH_HOST = 1;
export const SOURCE_WITH_NUMBER = 2;
export const SOURCE_FIXED_OCTETS = 5;

/** Octets of a source after escaping, at most; what is cut begins with U+2026 and keeps its end. */
export const SOURCE_LIMIT = 4096;

/** Octets of a rule's pattern that a table keeps for display; what is cut ends in U+2026. */
export const TEXT_LIMIT = 1000;
