/**
 * The frames of `robots-filter serve`, version 1. docs/serve.md describes them. All numbers are
 * 32-bit words, little-endian.
 */

/** First word of both greetings: `RFSV`. */
export const MAGIC = 0x56534652;
export const PROTOCOL_VERSION = 1;

// ---- The client's greeting: MAGIC, the version

export const GREETING_BYTES = 8;

// ---- The server's greeting: MAGIC, the version, the length of a JSON object, the object

// ---- Request: this header, the agents (JSON, padded with zeros), the offsets, the URLs

export const REQUEST_KIND = 0;
export const REQUEST_FLAGS = 4;
/** Length of the agents' JSON, without its padding. */
export const REQUEST_AGENTS = 8;
/** Number of URLs. One more offset than that follows the agents. */
export const REQUEST_COUNT = 12;
/** Bytes of all URLs: the last offset minus the first. */
export const REQUEST_URL_BYTES = 16;
export const REQUEST_BYTES = 20;

/** The agents are padded to a multiple of this. */
export const ALIGNMENT = 4;

/** The only kind of request: verdicts on URLs. */
export const KIND_JUDGE = 1;
/** Reasons and rules are wanted, too. */
export const FLAG_EXPLAIN = 1;
/** A warning about the agents is wanted before the answer. */
export const FLAG_WARN = 2;

// ---- Answer: this header, then for VERDICTS the columns, for REFUSAL a message in UTF-8

export const ANSWER_KIND = 0;
/** Bytes after the header. */
export const ANSWER_LENGTH = 4;
export const ANSWER_BYTES = 8;

export const KIND_VERDICTS = 1;
/** The request cannot be answered, as for an agent that is no product token. */
export const KIND_REFUSAL = 2;
/** A warning about the agents of the request whose answer follows. */
export const KIND_WARNING = 3;

// ---- Limits

/** Maximum length of the agents' JSON, in bytes. */
export const MAX_AGENTS_BYTES = 65_536;
/** Maximum product of URLs and agents in one request, which bounds the answer. */
export const MAX_VERDICTS = 65_536;
/** The longest URL that is judged, in bytes, as a line by default. A longer URL is `invalid`. */
export const MAX_URL_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of URLs in one request: one byte more shows that a URL is too long. */
export const MAX_REQUEST_URL_BYTES = MAX_URL_BYTES + 1;

/** The limits as the server's greeting states them. */
export const LIMITS = {
  agentsBytes: MAX_AGENTS_BYTES,
  verdicts: MAX_VERDICTS,
  urlBytes: MAX_URL_BYTES,
  requestUrlBytes: MAX_REQUEST_URL_BYTES,
} as const;
