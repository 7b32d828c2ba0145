/**
 * The table: one immutable, host-keyed binary in which every robots.txt is a set of automata.
 *
 * This file is the only description of the format. TypeScript and AssemblyScript (the kernel, which
 * writes and reads automata) both compile it, so it holds integer constants and nothing else.
 *
 * Numbers are little-endian. Offsets count bytes from the start of the table unless said
 * otherwise. Sections follow one another in the order of their header fields; each after the first
 * starts at a multiple of 64.
 *
 *     header | tokens | buckets | hosts | sources | records | 320 zero bytes
 *
 * Data that the URLs of one host need lie close together: in a table of many hosts, a cache miss
 * costs more than the work that waits for it. Data that only explanations need are derived where
 * possible, and otherwise stored apart.
 *
 * ## Header, 352 bytes
 *
 *       0  u8[8]  magic, "RFTABLE" and 0x1A
 *       8  u32    version
 *      12  u32    profile: index in PROFILES
 *      16  u32    bytes of the whole table
 *      20  u32    checksum: see kernel/hashes.ts
 *      24  u32    flags: 1 = reduced to the product tokens it names; it answers for no other
 *                 agents; 2 = it has signals about uses, see Robots record
 *      28  u32    start of the section of records; 0 = the table has none
 *      32  u32    number of hosts            36  u32  number of authorities
 *      40  u32    number of robots records   44  u32  number of automata
 *      48  u32    number of rules            52  u32  number of product tokens
 *      56  u32    number of buckets
 *      60  u32    longest probe, in buckets: 1 = every host in its own
 *      64  u32[5] starts of the sections tokens, buckets, hosts, sources; end of the last section
 *      84  u32    bytes of robots.txt that were compiled, modulo 2^32
 *      88  key of the host hash: u8[256] added to the stripes of a host, u64 an odd factor
 *
 * ## Tokens
 *
 * For each product token `u32 start, u32 bytes` of its lower-case text, then the texts. Its index
 * is its number: 0 is `*`, 1 is the empty token (which only the google profile matches), the others
 * are sorted by bytes from 2 on.
 *
 * ## Buckets
 *
 * Open addressing with linear probing, ten slots at a time, which fill a cache line of 64 bytes:
 *
 *       0  u32[10] host records; 0 is a free slot, and all slots after it are free
 *      40  u16[10] tag of each host: the low half of its hash, or 1 if that half is 0; 0 for a
 *          free slot
 *      60  u32     1 = passed: the bucket is full, and a host whose search begins here or before
 *                  is in a later bucket; else 0
 *
 * The hash (kernel/assembly/hosts.ts) is taken over the canonical host alone, never its
 * scheme or port, so that a table can be split into shards by host. Its high part says where the
 * search begins: in bucket `hash * buckets >>> 32`. At most half of the slots are used, so that few
 * searches go on to a second bucket.
 *
 * ## Hosts
 *
 * One cluster for each robots record, in the order in which the sorted hosts need the records. A
 * cluster has the hosts whose first authority has the record, sorted; then the record; then those
 * of its automata that no earlier record has, in the order in which it names them. Zero bytes
 * precede a cluster, up to the next multiple of 64, if its first 512 bytes would otherwise span one
 * more cache line than needed.
 *
 * ### Host
 *
 *       0  u8   bytes of the canonical host (lower-case A-label, no trailing dot)
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
 *     form 3: as form 2, for authorities with histories
 *       …  for each, after what form 2 has: u32 history
 *       …  the histories, in this order
 *
 * History: the versions of the robots.txt of an authority. A version is in force from its time to
 * that of the next. While a version with the access result 3 is in force, the authority is as if
 * it were not in the table; only histories have such versions. The authority itself has the last
 * version's robots record, and the source of the newest capture. Version 9 has no histories.
 *
 *       0  u32  their number, at least 1
 *       …  for each u32 time, in seconds since 1970, ascending; u32 robots record, which differs
 *          from the one before; u32 source; u32 number for the source; u32 the last time before the
 *          next version at which the same was found
 *
 * An authority is identified by the offset of its field `robots record`; the byte before that
 * field is its form.
 *
 * ### Robots record: the groups of one distinct robots.txt
 *
 *       0  u8   access result in bits 0 and 1: 0 successful, 1 unavailable, 2 unreachable (RFC 9309
 *               section 2.3.1), 3 unknown; bit 2: the width w of the following numbers is 4, else
 *               it is 2
 *       1  u[w] number n of product tokens that its groups name
 *       …  u[w][n] their numbers, ascending
 *       …  u[w][n] for each the start of its list of groups, from the record's start
 *       …  lists of groups: for each group `u32 automaton, u32 line << 1 | another follows`; in
 *          the order of the file
 *
 * With flag 2, signals about uses stand among the groups (protocol/signals.ts). Their product token
 * is a vocabulary, a key and a product token, with colons between: `content-usage:train-ai:*`. A
 * slash in place of the last one is for every agent. Each signal is a rule: a refusal an allow
 * rule, since of equal paths an allow rule wins; a grant a disallow rule. Without a key,
 * `content-usage::*` has the paths of lines that leave out some key of the file, as disallow rules.
 * A refusal whose line is 0 stands for more signals than are counted.
 *
 * An automaton of 0 means that no rule of the group can match. `line` is the line that the lines of
 * the group's rules count from.
 *
 * ### Automaton; offsets within count from its start
 *
 *       0  u8   widths: bits 0 and 1 log2 of the bytes of a field marked `line`; bits 2 and 3 the
 *               same of a field marked `size`; bit 4: a field marked `offset` has 4 bytes, else 2;
 *               bit 5: texts are kept
 *       1  offset bytes of the automaton, offset number of rules, with bit 5 offset of the end of
 *          the nodes
 *       …  the root node, and the others
 *       …  texts that are kept: u16 bytes, u8[]
 *
 * `rank = bytes << 1 | allow`, where bytes is the canonical length of the rule's pattern. The
 * greatest rank among the matching rules decides: most bytes, and allow wins a tie (RFC 9309
 * section 2.2.2); among equals the first line. 0 is no match.
 *
 * Node: a state of a radix trie; nodes are in pre-order. A prefix rule stores no pattern: its
 * pattern is the path to its node, which gives its length too.
 *
 *       0  u8   flags: bits 0 and 1 the prefix rule that ends here: 0 none, 1 disallow, 2 allow, 3
 *               another form; 4 edges, 8 blocks; bits 4 and 5 log2 of the bytes of a
 *               distance
 *       1  u8   bytes l of the label
 *       2  u8[l] label: the bytes that the text must hold here to reach the state
 *       …  edges, if flag 4: u8 number e of edges, u8[e] the first byte of each, smallest subtree
 *          first; the label of the target begins after that byte; then for each edge but the first
 *          the distance from the first edge's target to its own
 *       …  prefix rule: for another form u8 form; line; with RULE_LONGER u32 the bytes by which its
 *          pattern is longer than its prefix, else RULE_STAR makes it one byte longer; with
 *          RULE_TEXT offset of its text, from the end of the nodes
 *       …  offset bytes of all blocks, with both flags 4 and 8
 *       …  blocks, if flag 8, by falling highest rank
 *       …  the target of the first edge
 *
 * Block: at most 32 rules whose literal prefix ends in this state, by falling rank and rising line.
 *
 *       0  u8   bits 0–4 number of rules, less one; bit 5 masks; bit 6 another block follows (then
 *               with masks); bit 7 wide places
 *     masks, if bit 5
 *       …  u8[96] for each of the three bytes of a window, 16 entries for its low and 16 for its
 *          high half; entry bit b: some rule of bucket b has that half there. A text in which no
 *          window has a bit in all six entries holds no match for any rule of that bucket. A window
 *          may begin at every byte of the text after the prefix, and reach beyond its end into
 *          whatever is there.
 *       …  u8[] for each rule its bucket's bit; 255 for `$` alone, which matches even where
 *          there are no windows
 *       …  with bit 6 offset bytes of all that follows in the block
 *       …  for each rule its place, counted from the first one: u8[], with bit 7 offset[]
 *       …  the rules
 *
 * Wildcard rule: the pattern after its literal prefix. It is `*s1*s2…*sk`, with or without `$`, or
 * `$` alone.
 *
 *       0  size rank                            …  size bytes of all that follows
 *       …  u8   form                            …  line
 *       …  with RULE_TEXT offset of its text, from the end of the nodes
 *       …  segments: none for `$` alone; with RULE_SINGLE the bytes of the only one; else for each
 *          size bytes, u8[]; with RULE_TWO_FORMS followed by the form for the query: size bytes,
 *          u8[]
 *
 * The two forms (spec note A): a text matches if it holds all segments in their first form. It also
 * matches if it holds the segments before some `*` in their first form, then a `?`, then all other
 * segments in their second form.
 *
 * A rule's text is its pattern as written, escaped as in a JSON string, at most TEXT_LIMIT bytes
 * before escaping. It is kept only where it differs from what can be derived: the path to the node,
 * `*` and the first form of each segment, `$`, and a `*` for RULE_STAR.
 *
 * ## Sources
 *
 *       0  u8   the part between the two texts: 0 none, 1 the host, 2 the authority's number in
 *               decimal
 *       1  u16  bytes of the first text
 *       3  u16  bytes of the second text
 *       5  …    the two texts
 *
 * A source says where a robots.txt came from, escaped as in a JSON string. No escape sequence is
 * split between texts.
 *
 * ## Records
 *
 * The other records (RFC 9309 section 2.2.4) of the robots.txt files, and when each was fetched. No
 * look-up reads them. Version 7 has no such section.
 *
 *       0  u32   number n of entries
 *       4  u32   bytes of an entry: 8, or 12 with dates
 *       8  entries, by rising authority; authorities without records and date have none:
 *            u32 authority (see Host)
 *            u32 record list; 0 = the robots.txt has no such records
 *            u32 with dates: the date of its fetch in seconds since 1970; 0 = unknown
 *       …  the record lists, without gaps, in the order in which the entries need them
 *
 * Record list. Its numbers have 7 bits in each byte, the lowest first, and bit 7 in each byte but
 * the last; they are less than 2^32. A text is a number of bytes, and UTF-8.
 *
 *       …  bytes of all that follows
 *       …  number of groups, and for each a text: its product tokens, with a comma between two
 *       …  records, by rising line:
 *            u8  bits 0–3 kind: index in RECORD_KINDS, plus 1; bit 7: the value is truncated
 *            line; number of the group, from 1, or 0 for none; text: the value
 */

/** Version 10, which no release wrote, has histories of 16 bytes a version. */
export const VERSION_UNREAD = 10;
export const VERSION = 11;
/** The version of tables without histories, which older builds can read. */
export const VERSION_WITHOUT_HISTORIES = 9;
/** The first version with the lanes of kernel/hashes.ts; those before have a CRC-32. */
export const VERSION_WITH_LANES = 9;
/** The oldest version that is read. */
export const OLDEST_VERSION = 7;

/** "RFTABLE" and 0x1A, as two little-endian words. */
export const MAGIC_LOW = 0x41544652;
export const MAGIC_HIGH = 0x1a454c42;

export const HEADER_BYTES = 352;
export const HEADER_VERSION = 8;
export const HEADER_PROFILE = 12;
export const HEADER_LENGTH = 16;
export const HEADER_CHECKSUM = 20;
export const HEADER_FLAGS = 24;
export const HEADER_RECORDS = 28;
export const HEADER_HOSTS = 32;
export const HEADER_AUTHORITIES = 36;
export const HEADER_ROBOTS = 40;
export const HEADER_AUTOMATA = 44;
export const HEADER_RULES = 48;
export const HEADER_TOKENS = 52;
export const HEADER_BUCKETS = 56;
export const HEADER_LONGEST_PROBE = 60;
export const HEADER_SECTIONS = 64;
export const HEADER_COMPILED_BYTES = 84;
export const HEADER_HOST_KEY = 88;

/** Indices of the section starts; `SECTION_END` is where the last section ends. */
export const SECTION_TOKENS = 0;
export const SECTION_BUCKETS = 1;
export const SECTION_HOSTS = 2;
export const SECTION_SOURCES = 3;
export const SECTION_END = 4;
/** Sections after the first start at a multiple of this: each bucket fills one cache line. */
export const CACHE_LINE_BYTES = 64;

export const FLAG_REDUCED = 1;
export const FLAG_SIGNALS = 2;

/**
 * Bytes that the kernel may read past the data that it needs: in vectors, and in the cache lines of
 * an automaton (kernel/assembly/look-up.ts).
 */
export const TAIL_BYTES = 320;

/** Bytes of a product token's entry: start and length of its text. */
export const TOKEN_ENTRY_BYTES = 8;
export const TOKEN_ANY = 0;
export const TOKEN_EMPTY = 1;

export const SCHEME_HTTP = 1;
export const SCHEME_HTTPS = 2;
export const SCHEME_FTP = 4;

export const HOST_KEY_FACTOR = 256;
export const HOST_KEY_BYTES = 264;

export const BUCKET_BYTES = 64;
export const BUCKET_SLOTS = 10;
export const BUCKET_TAGS = 40;
export const BUCKET_PASSED = 60;
/**
 * Maximum number of buckets that a look-up probes. With half of the slots used, millions of random
 * hosts need about half of that number.
 */
export const MAX_PROBE = 8;
export const MAX_HOST_BYTES = 255;

export const HOST_FORM = 1;
export const HOST_PLAIN = 0;
export const HOST_NUMBERED = 1;
export const HOST_SEVERAL = 2;
export const HOST_DATED = 3;
/** Offset of the only authority (forms 0 and 1), or of the number of authorities. */
export const HOST_AUTHORITY = 2;
/** Offset of the host, by form. */
export const HOST_PLAIN_NAME = 10;
export const HOST_NUMBERED_NAME = 14;
export const HOST_SEVERAL_NAME = 4;

/**
 * Offsets in an authority, from its robots record on. In forms 2 and 3, four bytes precede the
 * robots record.
 */
export const AUTHORITY_SOURCE = 4;
export const AUTHORITY_NUMBER = 8;
export const AUTHORITY_HOST = 12;
export const AUTHORITY_HISTORY = 16;
export const ENTRY_SCHEMES = 2;
export const ENTRY_FORM = 3;
export const ENTRY_AUTHORITY = 4;
export const ENTRY_BYTES = 20;
export const ENTRY_BYTES_DATED = 24;

/** Where the versions of a history begin. */
export const HISTORY_VERSIONS = 4;
export const HISTORY_VERSION_BYTES = 20;
/** Offset in a version of its robots record, from which on a version is as an authority. */
export const HISTORY_AUTHORITY = 4;
/** From the robots record on: when the version was found for the last time. */
export const VERSION_CONFIRMED = 12;

export const ACCESS_SUCCESSFUL = 0;
export const ACCESS_UNAVAILABLE = 1;
export const ACCESS_UNREACHABLE = 2;
/** Of versions in histories alone: from then on nothing is known of the robots.txt. */
export const ACCESS_UNKNOWN = 3;

export const ROBOTS_ACCESS = 3;
export const ROBOTS_WIDE = 4;
export const GROUP_LINE = 4;
export const GROUP_BYTES = 8;
/**
 * Maximum number of rules in the groups of a list: a file has a million (protocol/parse.ts), and in
 * the google profile each may become two.
 */
export const MAX_GROUP_RULES = 0x20_0000;

/** Bits of an automaton's first byte. */
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
export const NODE_FIXED_BYTES = 2;
export const MAX_LABEL_BYTES = 255;

/**
 * Bits of a rule's form. RULE_ALLOW and RULE_LONGER are for prefix rules only. RULE_END and the
 * bits after it are for wildcard rules only.
 */
export const RULE_ALLOW = 1;
export const RULE_STAR = 2;
export const RULE_TEXT = 4;
export const RULE_LONGER = 8;
export const RULE_END = 16;
export const RULE_TWO_FORMS = 32;
export const RULE_SINGLE = 64;
export const RULE_IN_BLOCK = 128;

/** Bytes of the number that RULE_LONGER adds, and of the length before a kept text. */
export const SURPLUS_BYTES = 4;
export const TEXT_LENGTH_BYTES = 2;

export const BLOCK_RULES = 31;
export const BLOCK_MASKS = 32;
export const BLOCK_FOLLOWED = 64;
export const BLOCK_WIDE = 128;
export const BLOCK_MASK_BYTES = 96;
export const MAX_BLOCK_RULES = 32;

export const SOURCE_TEXT = 0;
export const SOURCE_WITH_HOST = 1;
export const SOURCE_WITH_NUMBER = 2;
export const SOURCE_FIXED_BYTES = 5;

/** The head of the section of records, and bytes of its entries. */
export const RECORDS_COUNT = 0;
export const RECORDS_ENTRY_BYTES = 4;
export const RECORDS_ENTRIES = 8;
export const RECORDS_ENTRY_PLAIN = 8;
export const RECORDS_ENTRY_DATED = 12;
/** Offsets in an entry. */
export const RECORDS_LIST = 4;
export const RECORDS_DATE = 8;

/** Bits of a record's first byte. */
export const RECORD_KIND = 15;
export const RECORD_TRUNCATED = 128;
/** Maximum bytes of the value of a record that a table keeps. */
export const RECORD_VALUE_LIMIT = 4096;

/** Maximum bytes of an escaped source. A longer source is truncated to U+2026 and its end. */
export const SOURCE_LIMIT = 4096;

/**
 * Bytes of a rule's pattern that a table keeps for display. A longer pattern is truncated and ends
 * in U+2026.
 */
export const TEXT_LIMIT = 1000;
