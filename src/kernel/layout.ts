/**
 * The memory blocks that the kernel shares with its hosts (the library, the worker threads), apart
 * from the table. Compiled by both the TypeScript and the AssemblyScript compiler: integer
 * constants only.
 *
 * A field's offset is the offset of the previous field plus that field's size.
 * test/kernel/layout.test.ts proves that no fields overlap. Fields are 32-bit little-endian words
 * unless said otherwise. Addresses count bytes from the start of the memory.
 */

const WORD = 4;
const LONG = 8;
/** An address and a number of bytes. */
const PAIR = 8;
export const CACHE_LINE = 64;

// ---- Outcomes: `verdict << REASON_BITS | reason`, one byte

export const ALLOW = 0;
export const DENY = 1;
export const UNKNOWN = 2;
export const INVALID = 3;
export const VERDICTS = 4;

export const REASON_RULE = 0;
export const REASON_NO_RULE = 1;
export const REASON_NO_GROUP = 2;
export const REASON_ROBOTS_TXT = 3;
export const REASON_UNAVAILABLE = 4;
export const REASON_UNREACHABLE = 5;
export const REASON_UNKNOWN_HOST = 6;
export const REASON_INVALID_URL = 7;
export const REASON_NO_URL = 8;
export const REASON_NO_OBJECT = 9;
export const REASON_LINE_TOO_LONG = 10;
export const REASON_NO_JSON = 11;
export const REASON_OVER_BUDGET = 12;
export const REASON_TAB_IN_LINE = 13;
export const REASON_NESTED_TOO_DEEP = 14;
export const REASON_RETURN_IN_LINE = 15;
export const REASON_BEFORE_FIRST_CAPTURE = 16;
export const REASON_NO_TIME = 17;
export const REASON_NO_RECENT_CAPTURE = 18;
export const REASONS = 19;
/** The reasons of answers about uses (protocol/uses.ts) follow. */
export const REASON_CONTENT_USAGE = REASONS;
export const REASON_CONTENT_SIGNAL = REASON_CONTENT_USAGE + 1;
export const REASON_POLICY_TOKEN = REASON_CONTENT_SIGNAL + 1;
export const REASON_NO_SIGNAL = REASON_POLICY_TOKEN + 1;
export const REASON_NOT_ALLOWED = REASON_NO_SIGNAL + 1;
export const ALL_REASONS = REASON_NOT_ALLOWED + 1;
export const REASON_BITS = 5;
export const REASON_MASK = 31;
export const OUTCOMES = VERDICTS << REASON_BITS;

// ---- Task: one batch of lines, written by the thread that runs it

export const TASK_QUERY = 0;
/** Worker block of the thread. */
export const TASK_WORKER = TASK_QUERY + WORD;
/** Scratch memory, TASK_SCRATCH to TASK_SCRATCH_END: see SCRATCH_FACTOR. */
export const TASK_SCRATCH = TASK_WORKER + WORD;
/** The kernel traps before it writes at or after this address of scratch memory. */
export const TASK_SCRATCH_END = TASK_SCRATCH + WORD;
/** In and out: where the next line starts. */
export const TASK_INPUT = TASK_SCRATCH_END + WORD;
/** End of the input. A last line without a newline is a record as well. */
export const TASK_INPUT_END = TASK_INPUT + WORD;
/** In and out: where the next byte of output goes. */
export const TASK_OUTPUT = TASK_INPUT_END + WORD;
export const TASK_OUTPUT_END = TASK_OUTPUT + WORD;
/** In and out: lines of this batch that are done, empty ones included. */
export const TASK_LINES = TASK_OUTPUT_END + WORD;
/** Bits: TASK_LINE_BASE_KNOWN, TASK_OVERLONG, TASK_RESUMED. */
export const TASK_FLAGS = TASK_LINES + WORD;
/** u64: lines of the input before this batch; valid with TASK_LINE_BASE_KNOWN. */
export const TASK_LINE_BASE = TASK_FLAGS + WORD;
/** Out: bad records met in this call. */
export const TASK_BAD_COUNT = TASK_LINE_BASE + LONG;
/**
 * Address of 32 bits for each line of the input: in, the number of the line in its batch; out, the
 * end of the line's output. 0 if the input is the whole batch.
 */
export const TASK_PLACES = TASK_BAD_COUNT + WORD;
/** Out: the first MAX_BAD bad records, each a line of the batch, counted from 0, and a reason. */
export const TASK_BAD = TASK_PLACES + WORD;
/** As many of a whole run are named in messages; the others are only counted. */
export const MAX_BAD = 10;
export const BAD_LINE = 0;
export const BAD_REASON = BAD_LINE + WORD;
export const BAD_BYTES = BAD_REASON + WORD;
const TASK_END = TASK_BAD + MAX_BAD * BAD_BYTES;
/** The worker block may follow: its own cache lines begin there. */
export const TASK_BYTES = (TASK_END + CACHE_LINE - 1) & -CACHE_LINE;

export const TASK_LINE_BASE_KNOWN = 1;
/** The input is the beginning of one line over the limit. The caller skips the rest of the line. */
export const TASK_OVERLONG = 2;
/** The call before has ended with RUN_NEEDS_AGENT: its bad records stay listed. */
export const TASK_RESUMED = 4;

/** All input is done. */
export const RUN_DONE = 0;
/** The next line may not fit: write out the output and call again. */
export const RUN_OUTPUT_FULL = 1;
/** The next line's output needs its line number: set the line base and call again. */
export const RUN_NEEDS_LINE_BASE = 2;
/** With QUERY_STRICT: TASK_BAD names the bad record; the output ends before it. */
export const RUN_BAD_RECORD = 3;
/** The counters of rules have no room for another line: prune them and call again. */
export const RUN_RULES_FULL = 4;
/** The next line names an agent that is not in the register: add it there and call again. */
export const RUN_NEEDS_AGENT = 5;

// ---- Division: a batch whose hosts lie in several memories, for one thread (assembly/counts.ts)

/** Address of the bank of each shard, 16 bits each. A bank is a memory with some of the shards. */
export const DIVISION_BANKS = 0;
/** Address of the bank of each line of the batch, 16 bits each. */
export const DIVISION_LIST = DIVISION_BANKS + WORD;
/** Lines of the batch; those of them whose output is merged. */
export const DIVISION_LINES = DIVISION_LIST + WORD;
export const DIVISION_MERGED = DIVISION_LINES + WORD;
/** In and out: where the next byte of merged output goes. */
export const DIVISION_OUTPUT = DIVISION_MERGED + WORD;
export const DIVISION_OUTPUT_END = DIVISION_OUTPUT + WORD;
/** For each bank SHARE_…: the lines of the batch that are judged there. */
export const DIVISION_SHARES = DIVISION_OUTPUT_END + WORD;

/** In and out: where the next line goes, and where its number in the batch goes, 32 bits. */
export const SHARE_INPUT = 0;
export const SHARE_NUMBER = SHARE_INPUT + WORD;
/** In and out: the next line's output, and the address of its end; then the end of the ends. */
export const SHARE_OUTPUT = SHARE_NUMBER + WORD;
export const SHARE_PLACE = SHARE_OUTPUT + WORD;
export const SHARE_PLACE_END = SHARE_PLACE + WORD;
/** What is added to an end, an address of the bank, to make it one of this memory. */
export const SHARE_DISTANCE = SHARE_PLACE_END + WORD;
export const SHARE_BYTES = SHARE_DISTANCE + WORD;

/** All lines are merged. */
export const MERGE_DONE = -1;
/** The output of the next line does not fit: write out the output and call again. */
export const MERGE_FULL = -2;

// ---- Query: the questions about every URL of a run; read-only during the run

export const QUERY_TABLE = 0;
/** Bits: QUERY_GOOGLE, QUERY_EXPLAIN, QUERY_STRICT, and those after them. */
export const QUERY_FLAGS = QUERY_TABLE + WORD;
/** FORMAT_… */
export const QUERY_FORMAT = QUERY_FLAGS + WORD;
/** OUTPUT_… */
export const QUERY_OUTPUT = QUERY_FORMAT + WORD;
/** ALLOW, DENY or UNKNOWN: the verdict on URLs of unknown hosts. */
export const QUERY_UNKNOWN = QUERY_OUTPUT + WORD;
/** Bytes; a longer line is an invalid record. */
export const QUERY_MAX_LINE = QUERY_UNKNOWN + WORD;
export const QUERY_AGENT_COUNT = QUERY_MAX_LINE + WORD;
/** Address of the agents: AGENT_BYTES each. */
export const QUERY_AGENTS = QUERY_AGENT_COUNT + WORD;
/** Number of keys of the URL field's path, and the address of their pairs. */
export const QUERY_FIELD_COUNT = QUERY_AGENTS + WORD;
export const QUERY_FIELDS = QUERY_FIELD_COUNT + WORD;
/** CONVERT_…: what comes out in place of the records. */
export const QUERY_CONVERSION = QUERY_FIELDS + WORD;
/**
 * A line of `n` bytes needs at most QUERY_LINE_FACTOR × n + QUERY_LINE_OVERHEAD bytes of output
 * (kernel/query.ts).
 */
export const QUERY_LINE_FACTOR = QUERY_CONVERSION + WORD;
export const QUERY_LINE_OVERHEAD = QUERY_LINE_FACTOR + WORD;
/**
 * Offset within the worker block of one bit for each slot of the table. The bit is set when a URL
 * of the slot's host has a robots.txt. 0 to count no hosts.
 */
export const QUERY_SEEN = QUERY_LINE_OVERHEAD + WORD;
/**
 * Offset within the worker block of the counters of hosts: for each slot of the table and each
 * agent HOST_COUNTS_…, of URLs with a robots.txt. 0 to count none.
 */
export const QUERY_COUNTS = QUERY_SEEN + WORD;
/** Offset within the worker block of the counters of rules, RULES_…; 0 to count none. */
export const QUERY_RULES = QUERY_COUNTS + WORD;
/** Number of their entries at first, a power of two, and how often it may be doubled. */
export const QUERY_RULE_ENTRIES = QUERY_RULES + WORD;
export const QUERY_RULE_DOUBLINGS = QUERY_RULE_ENTRIES + WORD;
/** Offset of the robots record that applies to every URL; 0 to look up each URL's host. */
export const QUERY_ANY_HOST = QUERY_RULE_DOUBLINGS + WORD;
/** The column of rows that holds the URL, from 0. The host may change it between two inputs. */
export const QUERY_COLUMN = QUERY_ANY_HOST + WORD;
/**
 * Fields of each row: a row with fewer is padded before its verdicts, a row with more is invalid. 0
 * if rows may have any number. The host may change it between two inputs. In the query of a shard
 * it may be out of date: ask the run's query, or `missing` of the line.
 */
export const QUERY_ROW_FIELDS = QUERY_COLUMN + WORD;
/** Number of shards by which hosts are divided; 0 for a table in one piece. */
export const QUERY_SHARDS = QUERY_ROW_FIELDS + WORD;
/**
 * Address of the address of each shard's query: a copy of this query for the table of the shard. 0
 * if all shards are asked by this query.
 */
export const QUERY_SHARD_QUERIES = QUERY_SHARDS + WORD;
/** Address of CRC_BYTES: for each byte its CRC-32, as in zlib; needed if there are shards. */
export const QUERY_CRC = QUERY_SHARD_QUERIES + WORD;
/**
 * Address of a word for each slot of the table, at first 0: what the query's only agent finds
 * there, REMEMBERED_…. 0 to remember nothing. Threads share the words: all write the same values.
 */
export const QUERY_REMEMBERED = QUERY_CRC + WORD;
/**
 * The time for which robots.txt files are looked up, in seconds since 1970, or LATEST. The host may
 * change it between two inputs, unless something is remembered. With QUERY_TIMED and QUERY_EVER it
 * is 0, so that the usual query has one comparison.
 */
export const QUERY_AT = QUERY_REMEMBERED + WORD;
/** With QUERY_TIMED, number of keys of the time field's path, and the address of their pairs. */
export const QUERY_TIME_FIELD_COUNT = QUERY_AT + WORD;
export const QUERY_TIME_FIELDS = QUERY_TIME_FIELD_COUNT + WORD;
/** With QUERY_TIMED, the column of rows that holds the time, from 0, as QUERY_COLUMN. */
export const QUERY_TIME_COLUMN = QUERY_TIME_FIELDS + WORD;
/**
 * With QUERY_TIMED, the address of the time of each line, as QUERY_AT, or LATEST for none; 0 if
 * records have it. The host may change it between two inputs.
 */
export const QUERY_TIMES = QUERY_TIME_COLUMN + WORD;
/**
 * Seconds after which a version that was not found again counts for nothing; LATEST for any number.
 * Only for times: see QUERY_AT and QUERY_TIMED.
 */
export const QUERY_MAX_AGE = QUERY_TIMES + WORD;
/** Records of later times are counted (WORKER_TO_COME), in seconds since 1970; LATEST for none. */
export const QUERY_NOW = QUERY_MAX_AGE + WORD;
/**
 * Number of the agents that are asked for verdicts. The others after them are asked about uses:
 * AGENT_SIGNALS.
 */
export const QUERY_FIRST_USE = QUERY_NOW + WORD;
/**
 * With QUERY_NAMES_AGENT, where each record names its agent, as QUERY_TIME_FIELD_COUNT and the two
 * after it.
 */
export const QUERY_AGENT_FIELD_COUNT = QUERY_FIRST_USE + WORD;
export const QUERY_AGENT_FIELDS = QUERY_AGENT_FIELD_COUNT + WORD;
export const QUERY_AGENT_COLUMN = QUERY_AGENT_FIELDS + WORD;
/** With QUERY_NAMES_AGENT, offset within the worker block of the register of agents, REGISTER_…. */
export const QUERY_REGISTER = QUERY_AGENT_COLUMN + WORD;
/** In a query of the register, the address of the counters of its agent: NAME_…. Otherwise 0. */
export const QUERY_NAME = QUERY_REGISTER + WORD;
/**
 * FORMAT_LOG: the canonical host to which paths belong, a pair; its scheme, a bit as in the table;
 * its port, 0 for the scheme's default; and the text that stands before a path in a URL, a pair.
 * The host is empty if lines have it.
 */
export const QUERY_HOST = QUERY_NAME + WORD;
export const QUERY_SCHEME = QUERY_HOST + PAIR;
export const QUERY_PORT = QUERY_SCHEME + WORD;
export const QUERY_BASE = QUERY_PORT + WORD;
/** Pairs: fragments of output, FRAGMENT_… */
export const QUERY_FRAGMENTS = QUERY_BASE + PAIR;

/** The time after which no robots.txt was captured. */
export const LATEST = 0xffff_ffff;
/** The greatest time, 2106-02-07T06:28:14Z: that of a later record counts as this one. */
export const LAST_TIME = 0xffff_fffe;

/** The host has several authorities, or the agent several groups: they are looked up each time. */
export const REMEMBERED_NOTHING = 1;
/** Plus an outcome: the outcome of every path but /robots.txt. */
export const REMEMBERED_OUTCOME = 2;
/** From here on: the offset of the automaton of the agent's only group. */
export const REMEMBERED_AUTOMATON = 256;
export const REMEMBERED_BYTES = WORD;

export const QUERY_GOOGLE = 1;
export const QUERY_EXPLAIN = 2;
export const QUERY_STRICT = 4;
/** The lines were made from a column of Parquet, so a line without a URL has nothing to show. */
export const QUERY_PARQUET = 8;
/** The number of the URL's shard comes out in place of the verdicts of valid URLs. */
export const QUERY_ADDS_SHARD = 16;
/** Each record comes out in a frame, FRAME_…, for code that adds to it. */
export const QUERY_FRAMES = 32;
/** Each line has its own time, for which its robots.txt is looked up. */
export const QUERY_TIMED = 64;
/** All versions of a robots.txt count: a URL is denied if any of them denies it. */
export const QUERY_EVER = 128;
/** With QUERY_EXPLAIN: the time from which the version was in force comes out, too. */
export const QUERY_DATED = 256;
/** A use that is not granted counts as refused where records are chosen. */
export const QUERY_REQUIRE_GRANT = 512;
/** Each line is judged for the agent that it names: see REGISTER_…. */
export const QUERY_NAMES_AGENT = 1024;

/** Bytes of the record, 32 bits. */
export const FRAME_RECORD = 0;
/** Bytes of the URL, 32 bits: as the verdicts were given on it, decoded. 0 if there is none. */
export const FRAME_URL = FRAME_RECORD + WORD;
/** An outcome of one byte for each agent; then the URL, and the record. */
export const FRAME_OUTCOMES = FRAME_URL + WORD;

export const CRC_BYTES = 256 * WORD;

export const FORMAT_TEXT = 0;
/** One object per line. */
export const FORMAT_NDJSON = 1;
/** As NDJSON, but a line may also be a JSON string, which is the URL, or a REFUSED_RECORD. */
export const FORMAT_JSON = 2;

/** One row per line (RFC 4180), with commas or tabs between fields. */
export const FORMAT_CSV = 3;
export const FORMAT_TSV = 4;

/**
 * Values of a column as Arrow has them. Each line is an offset, 32 bits: where a value begins in
 * the bytes of all values. One more offset, the end of the last value, stands at the end of the
 * input, and the bytes of all values follow. Offsets begin with 0 and never descend. Each value is
 * a URL, whatever bytes it holds.
 */
export const FORMAT_OFFSETS = 5;
export const OFFSET_BYTES = WORD;

/**
 * A line of an archive's index: a sort key, a space, a time of 14 digits, a space, and an object as
 * of FORMAT_NDJSON. With QUERY_TIMED and no time field, the time of the record is that one.
 */
export const FORMAT_CDXJ = 6;
/**
 * A line of the log of a web server, in the combined format (assembly/log.ts). The host of a path
 * is that of the query (QUERY_HOST), or without one the first field of the line.
 */
export const FORMAT_LOG = 7;
/**
 * A line of an archive's index in columns (CDX): fields with a space between two of them, and no
 * quotes. With QUERY_ROW_FIELDS each record has as many fields.
 */
export const FORMAT_CDX = 8;
/** Bytes of the time of a URL: see QUERY_TIMES. */
export const TIME_BYTES = WORD;

/**
 * FORMAT_CSV and FORMAT_TSV: the first byte of a row that holds newlines, or whose own first byte
 * would be this one. The second byte stands for each newline and occurs nowhere else in the row.
 * The row follows.
 */
export const ROW_MARKED = 1;
/**
 * As ROW_MARKED, for a row that is no record: a quote is open at the end of the input, or the row
 * holds every byte, so that none can stand for newlines (pipeline/input/row-lines.ts).
 */
export const ROW_REFUSED = 2;
export const ROW_MARK_BYTES = 2;

/**
 * FORMAT_JSON: first byte of a record that the reader of JSON has refused; no JSON begins with this
 * byte. The next byte is REFUSED_REASON plus REASON_LINE_TOO_LONG or REASON_NESTED_TOO_DEEP: a
 * letter. The first bytes of the record follow.
 */
export const REFUSED_RECORD = 1;
export const REFUSED_REASON = 64;
export const REFUSED_BYTES = 2;

export const OUTPUT_ANNOTATE = 0;
export const OUTPUT_ALLOWED = 1;
export const OUTPUT_DENIED = 2;
/** The verdicts alone: one line for each record, and an empty line for a blank line. */
export const OUTPUT_VERDICTS = 3;
/** As OUTPUT_VERDICTS, with FRAGMENT_MASK_ALLOWED or FRAGMENT_MASK_DENIED. */
export const OUTPUT_MASK = 4;

/** The records come out in their own format. */
export const CONVERT_NONE = 0;
/** URL and verdicts come out in place of each record: as text, as NDJSON, as a row. */
export const CONVERT_TEXT = 1;
export const CONVERT_NDJSON = 2;
export const CONVERT_CSV = 3;
export const CONVERT_TSV = 4;
/**
 * The URL as a value of Parquet (PLAIN: its length, 32 bits, and its bytes, UTF-8). With
 * OUTPUT_ANNOTATE the outcomes of all agents follow: an outcome of one byte each; with
 * QUERY_EXPLAIN also the rule's line, 32 bits, the length of its text, 16 bits, and its text,
 * escaped as in a JSON string. Line and length are 0 if no rule decided. With QUERY_DATED the time
 * from which the version was in force stands before the rule's line, 32 bits, 0 if there is none.
 * With QUERY_EXPLAIN and QUERY_NAMES_AGENT the length of the agent's name, 16 bits, and the name
 * come last.
 */
export const CONVERT_PARQUET = 5;
/**
 * As CONVERT_PARQUET, without the URL. With QUERY_ADDS_SHARD the number of the shard, 32 bits, or
 * NO_SHARD if the URL is invalid.
 */
export const CONVERT_OUTCOMES = 6;
export const NO_SHARD = 0xffff_ffff;

/** The names of the reasons, by reason. */
export const FRAGMENT_REASONS = 0;
/** NDJSON: `"reasons":{`, `"rules":{`. */
export const FRAGMENT_REASONS_OPEN = FRAGMENT_REASONS + ALL_REASONS;
export const FRAGMENT_RULES_OPEN = FRAGMENT_REASONS_OPEN + 1;
/** `{"line":`, `,"text":"`, `,"agent":"`, `,"source":"`, `"rule":`, `"reason":"`. */
export const FRAGMENT_LINE = FRAGMENT_RULES_OPEN + 1;
export const FRAGMENT_TEXT = FRAGMENT_LINE + 1;
export const FRAGMENT_AGENT = FRAGMENT_TEXT + 1;
export const FRAGMENT_SOURCE = FRAGMENT_AGENT + 1;
export const FRAGMENT_RULE = FRAGMENT_SOURCE + 1;
export const FRAGMENT_REASON = FRAGMENT_RULE + 1;
/** NDJSON: `"version":"`, `"versions":{`. */
export const FRAGMENT_VERSION = FRAGMENT_REASON + 1;
export const FRAGMENT_VERSIONS_OPEN = FRAGMENT_VERSION + 1;
/** `Disallow: ` and `Allow: `. */
export const FRAGMENT_DISALLOW = FRAGMENT_VERSIONS_OPEN + 1;
export const FRAGMENT_ALLOW = FRAGMENT_DISALLOW + 1;
/**
 * In the record for a line that is not an object: `,"line":` or `,"record":`, `,"input":"`, `"}`.
 */
export const FRAGMENT_BAD_LINE = FRAGMENT_ALLOW + 1;
export const FRAGMENT_BAD_INPUT = FRAGMENT_BAD_LINE + 1;
export const FRAGMENT_BAD_END = FRAGMENT_BAD_INPUT + 1;
/** Around a JSON string that is a record: `{"url":` and nothing, or `{"a":{"url":` and `}`. */
export const FRAGMENT_STRING_OPEN = FRAGMENT_BAD_END + 1;
export const FRAGMENT_STRING_CLOSE = FRAGMENT_STRING_OPEN + 1;
/** Whether all agents may fetch the URL: `{"allowed":true}` or `{"allowed":false}`. */
export const FRAGMENT_MASK_ALLOWED = FRAGMENT_STRING_CLOSE + 1;
export const FRAGMENT_MASK_DENIED = FRAGMENT_MASK_ALLOWED + 1;
/** What follows the number of a shard. */
export const FRAGMENT_SHARD_END = FRAGMENT_MASK_DENIED + 1;
/**
 * NDJSON, for uses what `"reason":"`, `"reasons":{`, `"version":"`, `"versions":{`, `"rule":` and
 * `"rules":{` are for verdicts.
 */
export const FRAGMENT_USE_REASON = FRAGMENT_SHARD_END + 1;
export const FRAGMENT_USE_REASONS_OPEN = FRAGMENT_USE_REASON + 1;
export const FRAGMENT_USE_VERSION = FRAGMENT_USE_REASONS_OPEN + 1;
export const FRAGMENT_USE_VERSIONS_OPEN = FRAGMENT_USE_VERSION + 1;
export const FRAGMENT_SIGNAL = FRAGMENT_USE_VERSIONS_OPEN + 1;
export const FRAGMENT_SIGNALS_OPEN = FRAGMENT_SIGNAL + 1;
/** NDJSON: `"judged_as":`. */
export const FRAGMENT_JUDGED_AS = FRAGMENT_SIGNALS_OPEN + 1;
export const FRAGMENTS = FRAGMENT_JUDGED_AS + 1;

/** A multiple of 8; the data at the addresses of the query follow. */
export const QUERY_BYTES = (QUERY_FRAGMENTS + FRAGMENTS * PAIR + LONG - 1) & -LONG;

/** An agent: a fallback chain of product tokens. */
export const AGENT_CHAIN_COUNT = 0;
/** Address of the chain: CHAIN_BYTES each. */
export const AGENT_CHAIN = AGENT_CHAIN_COUNT + WORD;
/** Pair: the name as given, escaped as in a JSON string. */
export const AGENT_NAME = AGENT_CHAIN + WORD;
/**
 * The text that each verdict adds to a record before its explanation: pairs, by verdict. The texts
 * of all agents, one after another, form the whole text: `"verdict":"allow"`, or
 * `"verdicts":{"A":"allow"` and `,"B":"deny"}`; for text `allow` and a tab, or `allow,` and `deny`
 * and a tab; for rows a delimiter and `allow`; with OUTPUT_VERDICTS `allow`, or `allow,` and
 * `deny`.
 */
export const AGENT_VERDICTS = AGENT_NAME + PAIR;
/** 1 if the agent disregards the groups of `*`, else 0. */
export const AGENT_DISREGARDS_ANY = AGENT_VERDICTS + VERDICTS * PAIR;
/**
 * Of an agent that is asked about a use: the number and the address of those signals that the table
 * has, SIGNAL_BYTES each, in the order in which they are asked; and the index of the same agent
 * among those that are asked for verdicts. Its `verdicts` are granted, refused, unstated, and
 * nothing.
 */
export const AGENT_SIGNAL_COUNT = AGENT_DISREGARDS_ANY + WORD;
export const AGENT_SIGNALS = AGENT_SIGNAL_COUNT + WORD;
export const AGENT_OF = AGENT_SIGNALS + WORD;
export const AGENT_BYTES = AGENT_OF + WORD;
/** A link of the chain: number of the token in the table, -1 if no robots.txt names it. */
export const CHAIN_TOKEN = 0;
/** Pair: the token's text. */
export const CHAIN_TEXT = CHAIN_TOKEN + WORD;
export const CHAIN_BYTES = CHAIN_TEXT + PAIR;

/** A signal: REASON_CONTENT_USAGE, REASON_CONTENT_SIGNAL or REASON_POLICY_TOKEN. */
export const SIGNAL_REASON = 0;
/**
 * Address of the numbers of product tokens in the table, 32 bits each, -1 for none: the signal for
 * each link of the chain, for `*`, and for everyone; of Content-Usage also those of lines that
 * leave keys out, for each link and for `*`. Or the policy token alone.
 */
export const SIGNAL_TOKENS = SIGNAL_REASON + WORD;
/** Pairs: `Content-Usage: `; then what follows the path of a grant, and of a refusal. */
export const SIGNAL_TEXT = SIGNAL_TOKENS + WORD;
export const SIGNAL_GRANTED = SIGNAL_TEXT + PAIR;
export const SIGNAL_REFUSED = SIGNAL_GRANTED + PAIR;
export const SIGNAL_BYTES = SIGNAL_REFUSED + PAIR;

// ---- Lines and results: what the host reads of classes in kernel/assembly/memory.ts

/** Line: a line in flight. */
export const LINE_OUTCOME = 16;
export const LINE_URL = 20;
export const LINE_URL_END = 24;
export const LINE_QUERY = 112;
export const LINE_SHARD = 116;
export const LINE_BYTES = 144;

/** Result: the decision on one URL for one agent. */
export const RESULT_OUTCOME = 0;
export const RESULT_RANK = 8;
export const RESULT_LINE = 12;
export const RESULT_GROUPS = 28;
export const RESULT_SOURCE = 36;
export const RESULT_BYTES = 56;

/** Groups: those that an agent obeys. */
export const GROUPS_LINK = 4;

// ---- Worker block: private to a thread, read by others for statistics only

/** u64: records judged. */
export const WORKER_RECORDS = 0;
/** u64: records in the output. */
export const WORKER_PASSED = WORKER_RECORDS + LONG;
/** u64: records that are invalid for all agents alike. */
export const WORKER_BAD = WORKER_PASSED + LONG;
/** u64: records with a time after QUERY_NOW. */
export const WORKER_TO_COME = WORKER_BAD + LONG;
/** With QUERY_ADDS_SHARD: the shard of the line that is being written. */
export const WORKER_SHARD = WORKER_TO_COME + LONG;
/** A line before the first, of which only `rootBytes` is used: it is 0. */
export const WORKER_BEFORE = (WORKER_SHARD + WORD + CACHE_LINE - 1) & -CACHE_LINE;
/** The group of lines in flight: GROUP_LINES times Line (assembly/memory.ts). */
export const WORKER_LINES = WORKER_BEFORE + LINE_BYTES;
/** Number of lines that are looked up together, so that their cache misses overlap. */
export const GROUP_LINES = 64;
/** Addresses of the lines that are still being looked up. */
export const WORKER_OPEN = WORKER_LINES + GROUP_LINES * LINE_BYTES;
/** Addresses of the lines that have a leader, then 0. The first line has none. */
export const WORKER_FOLLOWERS = WORKER_OPEN + GROUP_LINES * WORD;
/** Canonical hosts of the lines in flight. */
export const WORKER_HOSTS = WORKER_FOLLOWERS + GROUP_LINES * WORD;
/**
 * Bytes for the canonical host of a line: MAX_HOST_BYTES, and the bytes that vectors write after
 * it.
 */
export const HOST_SPACE = 320;
/** The marks of the JSON that is being read: Marks (assembly/memory.ts). */
export const WORKER_MARKS = WORKER_HOSTS + GROUP_LINES * HOST_SPACE;
/** Bytes of JSON whose marks are found together at most. */
export const MARKS_MOST = 1024;
export const NO_MARK = 0xffff_ffff;
const MARKS_FIRST = 24;
export const MARKS_BYTES = MARKS_FIRST + (1 + MARKS_MOST + 2 + 16) * WORD;
/** The shapes of the JSON that was read: Shapes (assembly/memory.ts). */
export const WORKER_SHAPES = WORKER_MARKS + ((MARKS_BYTES + LONG - 1) & -LONG);
/** Where they begin, after the credit. */
export const SHAPES_LIST = WORD;
/** Bytes of a shape: one for each byte of JSON. There is a shape for each length below it. */
export const SHAPE_BYTES = 64;
export const SHAPES_BYTES = SHAPES_LIST + SHAPE_BYTES * SHAPE_BYTES;
/** For each agent its Result for the current URL. */
export const WORKER_RESULTS = WORKER_SHAPES + SHAPES_BYTES;
/** Maximum number of agents of a query. */
export const MAX_AGENTS = 256;
/** For each agent OUTCOMES counters, u64. The marks of QUERY_SEEN follow. */
export const WORKER_TALLY = (WORKER_RESULTS + MAX_AGENTS * RESULT_BYTES + LONG - 1) & -LONG;

/**
 * The counters of a host for an agent, u64: URLs that are allowed, and URLs that are denied. A
 * number has HOST_COUNTS_BITS bits. Above them is a bit for each reason that some of the URLs had:
 * of the first HOST_COUNTS_REASONS, since the others come without a robots.txt.
 */
export const HOST_COUNTS_ALLOW = 0;
export const HOST_COUNTS_DENY = HOST_COUNTS_ALLOW + LONG;
export const HOST_COUNTS_BYTES = HOST_COUNTS_DENY + LONG;
export const HOST_COUNTS_BITS = 48;
export const HOST_COUNTS_REASONS = 16;

/**
 * The counters of rules: a hash table with linear probing, which doubles when it fills. First the
 * number of entries in use, and how often the number of all entries was doubled.
 */
export const RULES_USED = 0;
export const RULES_DOUBLINGS = RULES_USED + WORD;
/** u64: an upper bound of what the count of any rule may lack. */
export const RULES_MISSED = RULES_DOUBLINGS + WORD;
/**
 * Rules of the lines in flight that are noted, but not yet counted: NOTES_MOST times NOTE_BYTES.
 */
export const RULES_NOTES = CACHE_LINE;
/**
 * Address of the version of a robots.txt that has the rule, from its robots record on, and the
 * rule's line. Without a time and without a history the version is the authority.
 */
export const RULE_VERSION = 0;
export const RULE_LINE = RULE_VERSION + WORD;
/**
 * With QUERY_NAMES_AGENT and QUERY_COUNTS, URLs of hosts are counted as well: such an entry has
 * this line, which no rule has, and in place of the version the address of the host's counters.
 */
export const HOST_COUNTS_LINE = 0;
/**
 * u64: URLs that the rule decided, RULE_COUNT_BITS bits. Above them `agent << 1 | allow`: the
 * agent's index in the query, with QUERY_NAMES_AGENT that of its name in the register; and whether
 * the rule is an allow rule, or the URLs of the host are allowed.
 */
export const RULE_COUNT = RULE_LINE + WORD;
export const RULE_COUNT_BITS = 48;
/** Four entries share a cache line. */
export const RULE_BYTES = RULE_COUNT + LONG;
export const NOTE_BYTES = 16;
/** At least the results of one line. */
export const NOTES_MOST = MAX_AGENTS;
/** The entries: RULE_…; an entry whose count is 0 is free. */
export const RULES_ENTRIES = RULES_NOTES + NOTES_MOST * NOTE_BYTES;

/**
 * The register of agents, for records that name their agents: which query answers for a value of
 * the agent field. The kernel looks values up, and the host adds those that are missing. First, out
 * with RUN_NEEDS_AGENT: the value that is missing, its hash, and the query that a record with that
 * value would have without it, which is that of its shard.
 */
export const REGISTER_VALUE = 0;
export const REGISTER_VALUE_END = REGISTER_VALUE + WORD;
export const REGISTER_HASH = REGISTER_VALUE_END + WORD;
export const REGISTER_QUERY = REGISTER_HASH + WORD;
/** Number of names that have counters. */
export const REGISTER_NAMES_USED = REGISTER_QUERY + WORD;
/** The key of the hash of values, drawn at random, in the form of a table's HEADER_HOST_KEY. */
export const REGISTER_KEY = CACHE_LINE;
export const REGISTER_KEY_BYTES = 264;
/** Addresses of values, VALUE_…, by their hashes, with linear probing; 0 for none. */
export const REGISTER_SLOTS = REGISTER_KEY + ((REGISTER_KEY_BYTES + CACHE_LINE - 1) & -CACHE_LINE);
export const REGISTER_SLOT_COUNT = 1 << 14;
/** With more values the host empties the slots, so that a search ends soon. */
export const REGISTER_MOST_VALUES = 1 << 13;
/** Room for values, and for queries, each a copy of another with an agent of its own. */
export const REGISTER_ROOM = REGISTER_SLOTS + REGISTER_SLOT_COUNT * WORD;
export const REGISTER_ROOM_BYTES = 1 << 20;
/** Counters by the name of the agent, NAME_…. */
export const REGISTER_NAMES = REGISTER_ROOM + REGISTER_ROOM_BYTES;
/** Names that have counters of their own at most, with NAME_NONE and NAME_OTHERS. */
export const REGISTER_MOST_NAMES = 1 << 13;

/** A value of the agent field, as it stands in the line, and the query that answers for it. */
export const VALUE_HASH = 0;
/** The query as in REGISTER_QUERY. */
export const VALUE_ASKED = VALUE_HASH + WORD;
export const VALUE_QUERY = VALUE_ASKED + WORD;
export const VALUE_LENGTH = VALUE_QUERY + WORD;
/** The value itself. */
export const VALUE_TEXT = VALUE_LENGTH + WORD;
/** Bytes of a value that count: an agent that is named after them is not seen. */
export const MOST_VALUE_BYTES = 1024;

/** The name of an agent, and u64 by verdict: records that were judged for it. */
export const NAME_COUNTS = 0;
export const NAME_LENGTH = NAME_COUNTS + VERDICTS * LONG;
export const NAME_TEXT = NAME_LENGTH + WORD;
export const NAME_BYTES = 2 * CACHE_LINE;
/** Records that name no crawler, and those of names that are too many for counters of their own. */
export const NAME_NONE = 0;
export const NAME_OTHERS = 1;
export const REGISTER_BYTES = REGISTER_NAMES + REGISTER_MOST_NAMES * NAME_BYTES;

// ---- Sizes

/** Bytes that must be readable after any input, and writable after any output. */
export const MARGIN = 256;
/**
 * Scratch memory, in bytes, that an input of `n` bytes may need (`scratchBytes` in kernel/kernel.ts
 * computes the sum):
 *
 *     SCRATCH_FACTOR × n + COPY_MARGIN × lines of a group + SCRATCH_MARGIN
 *
 * Until its group is written, each line keeps at most one copy of its URL, no longer than the line:
 * an unescaped JSON string, or a URL without the white space that the URL Standard drops. (In the
 * google profile a line may keep both, but then no path is rewritten.) The copies of all lines take
 * at most `n` bytes, and a COPY_MARGIN each. The path of the line that is being decided follows
 * them:
 *
 * - If the line keeps a copy, dot segments are removed in the copy. The canonical form takes at
 *   most three bytes for each byte of the path.
 * - If the line keeps none, its own bytes are not among the copies. The path without dot segments
 *   takes as many bytes as the path, and its canonical form at most three times as many.
 *
 * Either way the sum is at most `4 n`. Reading a line takes less: one unescaped key, and one bit
 * for each bracket that is open (kernel/assembly/json/locate-url.ts). SCRATCH_MARGIN has room for
 * the slash that a path may lack, and for what vectors write past an end.
 */
export const SCRATCH_FACTOR = 4;
/** Bytes after each copy of a URL: room for the slash that its path may lack. */
export const COPY_MARGIN = 16;
export const SCRATCH_MARGIN = 128;
/** Bytes of a bad line that its record shows. */
export const BAD_INPUT_LIMIT = 1024;

// ---- The numbers of the checksum (kernel/hashes.ts). The kernel and the host both compile this
// file, so it holds integer constants and nothing else.

/** Lanes of 32 bits, and the bytes of a block: a word for each lane. */
export const LANES = 32;
export const BLOCK_BYTES = 128;

// The primes of XXH32: 0x9e3779b1, 0x85ebca77 and 0xc2b2ae3d as signed numbers.
export const PRIME_1 = -1640531535;
export const PRIME_2 = -2048144777;
export const PRIME_3 = -1028477379;
/** How far a lane is turned in each round, in bits. */
export const TURN = 13;
