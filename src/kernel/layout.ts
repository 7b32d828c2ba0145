/**
 * What the kernel and its hosts (the library, the worker threads) share beside the table: the
 * blocks of shared memory through which they talk. Compiled by both the TypeScript and the
 * AssemblyScript compiler: integer constants only. All fields are 32-bit little-endian words at the
 * given octet, addresses count from the start of the memory, unless said otherwise.
 */

// ---- Outcomes: `verdict << 4 | reason`, one octet
// ------------------------------------------------

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
export const REASONS = 16;
export const OUTCOMES = 64;

// ---- Task: one batch of lines, written by the thread that runs it
// ---------------------------------

export const TASK_QUERY = 0;
/** Worker block of the thread. */
export const TASK_WORKER = 4;
/** Scratch memory, TASK_SCRATCH to TASK_SCRATCH_END: see SCRATCH_FACTOR. */
export const TASK_SCRATCH = 8;
/** In and out: where the next line starts. */
export const TASK_INPUT = 12;
/** End of the input. A line without a newline at the end is a record as well. */
export const TASK_INPUT_END = 16;
/** In and out: where the next octet of output goes. */
export const TASK_OUTPUT = 20;
export const TASK_OUTPUT_END = 24;
/**
 * Nothing is written at or after this address of scratch memory: the kernel traps before it does.
 */
export const TASK_SCRATCH_END = 36;
/** In and out: lines of this batch that are done, empty ones included. */
export const TASK_LINES = 28;
/** Bits: TASK_LINE_BASE_KNOWN, TASK_OVERLONG. */
export const TASK_FLAGS = 32;
/** u64: lines of the input before this batch; valid with TASK_LINE_BASE_KNOWN. */
export const TASK_LINE_BASE = 40;
/**
 * Out: bad records met in this call, and the first of them: pairs of (line of this batch from 0,
 * reason).
 */
export const TASK_BAD_COUNT = 48;
export const TASK_BAD = 52;
export const MAX_BAD = 10;
export const TASK_OCTETS = 256;

export const TASK_LINE_BASE_KNOWN = 1;
/**
 * The input is the beginning of one line that is longer than the limit; the caller skips the rest
 * of it.
 */
export const TASK_OVERLONG = 2;

/** All input is done. */
export const RUN_DONE = 0;
/** The next line may not fit: write the output out and call again. */
export const RUN_OUTPUT_FULL = 1;
/** The next line's output needs its line number: set the line base and call again. */
export const RUN_NEEDS_LINE_BASE = 2;
/** With QUERY_STRICT: TASK_BAD names the bad record; the output ends before it. */
export const RUN_BAD_RECORD = 3;

// ---- Query: what is asked of every URL of a run; read-only while it runs
// --------------------------

export const QUERY_TABLE = 0;
/** Bits: see below. */
export const QUERY_FLAGS = 4;
/** FORMAT_… */
export const QUERY_FORMAT = 8;
/** OUTPUT_… */
export const QUERY_OUTPUT = 12;
/** ALLOW, DENY or UNKNOWN: the verdict on URLs of unknown hosts. */
export const QUERY_UNKNOWN = 16;
export const QUERY_MAX_LINE = 20;
export const QUERY_AGENT_COUNT = 24;
/** Address of the agents: AGENT_OCTETS each. */
export const QUERY_AGENTS = 28;
/** Number of segments of the URL field's path, and the address of their pairs (address, octets). */
export const QUERY_FIELD_COUNT = 32;
export const QUERY_FIELDS = 36;
/** Octets of output that a line may need beyond its own length. */
export const QUERY_LINE_OVERHEAD = 40;
/**
 * Offset within the worker block of one bit for each slot of the table, set when its host is seen;
 * 0 when not wanted.
 */
export const QUERY_SEEN = 44;
/**
 * Offset of the robots record that counts for every URL whatever its host, 0 to look the host up.
 */
export const QUERY_ANY_HOST = 48;
/**
 * Bits for the octets of `"url":`, the key that leads to the URL where its field's path is one key
 * of at most 13 octets; 0 where it is not. The key itself follows.
 */
export const QUERY_KEY_BITS = 52;
export const QUERY_KEY = 56;
/** Pairs (address, octets): fragments of output, FRAGMENT_… */
export const QUERY_FRAGMENTS = 80;
export const QUERY_OCTETS = 512;

export const QUERY_GOOGLE = 1;
export const QUERY_EXPLAIN = 2;
export const QUERY_STRICT = 4;

export const FORMAT_TEXT = 0;
/** One object a line. */
export const FORMAT_NDJSON = 1;
/**
 * As NDJSON, but a line may also be a JSON string, which is the URL, or a refused record: see
 * REFUSED_RECORD.
 */
export const FORMAT_JSON = 2;

/**
 * FORMAT_JSON: begins the line of a record that the reader of JSON has refused; no JSON begins so.
 * The next octet is REFUSED_REASON and the record's REASON_LINE_TOO_LONG or REASON_NESTED_TOO_DEEP,
 * which makes a letter of it. The record's first octets follow.
 */
export const REFUSED_RECORD = 1;
export const REFUSED_REASON = 64;
export const REFUSED_OCTETS = 2;

export const OUTPUT_ANNOTATE = 0;
export const OUTPUT_ALLOWED = 1;
export const OUTPUT_DENIED = 2;

/** The words of the reasons, by reason. */
export const FRAGMENT_REASONS = 0;
/** NDJSON: `"reasons":{`, `"rules":{`. */
export const FRAGMENT_REASONS_OPEN = 16;
export const FRAGMENT_RULES_OPEN = 17;
/** `{"line":`, `,"text":"`, `,"agent":"`, `,"source":"`, `"rule":`, `"reason":"`. */
export const FRAGMENT_LINE = 18;
export const FRAGMENT_TEXT = 19;
export const FRAGMENT_AGENT = 20;
export const FRAGMENT_SOURCE = 21;
export const FRAGMENT_RULE = 22;
export const FRAGMENT_REASON = 23;
/** `Disallow: ` and `Allow: `. */
export const FRAGMENT_DISALLOW = 24;
export const FRAGMENT_ALLOW = 25;
/** In the record for a line that is no object: `,"line":` or `,"record":`, `,"input":"`, `"}`. */
export const FRAGMENT_BAD_LINE = 26;
export const FRAGMENT_BAD_INPUT = 27;
export const FRAGMENT_BAD_END = 28;
/**
 * What stands around a JSON string that is a record: `{"url":` and nothing, or `{"a":{"url":` and
 * `}`.
 */
export const FRAGMENT_STRING_OPEN = 29;
export const FRAGMENT_STRING_CLOSE = 30;
export const FRAGMENTS = 31;

/** An agent: a fallback chain of product tokens. */
export const AGENT_CHAIN_COUNT = 0;
/** Address of the chain: CHAIN_OCTETS each. */
export const AGENT_CHAIN = 4;
/** Name as given, escaped as in a JSON string: address, octets. */
export const AGENT_NAME = 8;
/**
 * By verdict, all that it adds to a record before what explains it: pairs (address, octets). The
 * fragments of all agents, one behind another, are the whole: `"verdict":"allow"`, or
 * `"verdicts":{"A":"allow"` and `,"B":"deny"}`; of text `allow` and a tab, or `allow,` and `deny`
 * and a tab.
 */
export const AGENT_VERDICTS = 16;
export const AGENT_OCTETS = 48;
/**
 * A link of the chain: number of the token in the table (-1 where no robots.txt names it), address
 * and octets of its text.
 */
export const CHAIN_TOKEN = 0;
export const CHAIN_TEXT = 4;
export const CHAIN_OCTETS = 12;

// ---- Worker block: private to a thread, read by others for statistics only
// --------------------------

/** u64: records judged; u64: octets of their lines. */
export const WORKER_RECORDS = 0;
export const WORKER_PASSED = 8;
/** u64: records that are invalid for all agents alike. */
export const WORKER_BAD = 16;
/** The group of lines in flight: GROUP_LINES entries as in assembly/line.ts. */
export const WORKER_LINES = 64;
/** The addresses of those lines that are still being looked up. */
export const WORKER_OPEN = 6208;
/** What members were skipped last: see assembly/shape.ts. All zeros at first. */
export const WORKER_SHAPES = 6464;
/** Canonical hosts of the lines in flight. */
export const WORKER_HOSTS = 11664;
/** For each agent its result on the URL at hand: RESULT_OCTETS each. */
export const WORKER_RESULTS = 32144;
/** Agents that one query may name. */
export const MAX_AGENTS = 256;
/** For each agent OUTCOMES counters, u64. */
export const WORKER_TALLY = 44432;

/**
 * An agent's result: outcome; where a rule decided, its automaton, rank (`octets << 1 | allow`) and
 * line, and which link of the chain was followed (-1 for `*`).
 */
export const RESULT_OUTCOME = 0;
export const RESULT_AUTOMATON = 4;
export const RESULT_RANK = 8;
export const RESULT_LINE = 12;
export const RESULT_LINK = 16;
/** Address of the authority whose robots.txt was asked, 0 if there is none. */
export const RESULT_SOURCE = 20;
/** The lists of groups that were asked, so that agents with equal lists are asked once. */
export const RESULT_LIST = 24;
/**
 * What the rule's text is made from: address of its form or 0, octets of its prefix, and the path
 * that it matched.
 */
export const RESULT_FORM = 32;
export const RESULT_PREFIX = 36;
export const RESULT_PATH = 40;
export const RESULT_OCTETS = 48;

// ---- Sizes
// -----------------------------------------------------------------------------------------

/**
 * Lines that are looked up together, so that their cache misses overlap: with a million hosts 24
 * take 7 % longer than 64, with 5,000 none.
 */
export const GROUP_LINES = 64;
/** Octets that must be readable behind any input, and writable behind any output. */
export const MARGIN = 256;
/**
 * Scratch memory, in octets, that an input of `n` octets may need (`scratchOctets` in
 * kernel/scratch.ts adds these up):
 *
 *     SCRATCH_FACTOR × n + COPY_MARGIN × lines of a group + SCRATCH_MARGIN
 *
 * Each line of a group keeps at most one copy of its URL, no longer than the line, until the group
 * is written: an unescaped JSON string, or a URL without the white space that the URL Standard
 * drops (google: both, and then nothing is rewritten). The copies of all lines together take at
 * most `n` and a COPY_MARGIN each. After them comes the path of the one line that is decided:
 *
 * - The line keeps a copy: dot segments are removed there, and the canonical form takes three
 *   octets for each of the path's.
 * - The line keeps none, so its own octets are not among the copies. The path without dot segments
 *   takes the path's octets, and its canonical form three times as many.
 *
 * Either way the sum is at most `4 n`. Reading a line takes less: one key unescaped, or one bit for
 * each octet (strict.ts). SCRATCH_MARGIN has room for the slash that a path may lack, and for what
 * vectors write past an end.
 */
export const SCRATCH_FACTOR = 4;
/** Octets after each copy of a URL: room for the slash that its path may lack. */
export const COPY_MARGIN = 16;
export const SCRATCH_MARGIN = 128;
/** Octets of a bad line that its record shows. */
export const BAD_INPUT_LIMIT = 1024;
