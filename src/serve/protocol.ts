/** The protocol of `serve`: frames on pipes, requests, and whose turn it is. */

import { docsPage, RobotsFilterError } from '../base/errors.js';
import { errorCode, errorText } from '../files/system-error.js';
import { LAST_TIME, OFFSET_BYTES, TIME_BYTES } from '../kernel/layout.js';
import { readSome, sleepBeforeRetry, writeBytes } from '../workers/descriptor.js';

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

// ---- Request: this header, the age, the length of the uses' JSON, the agents (JSON, padded with
// zeros), the uses (the same), the times, the offsets, the URLs

const REQUEST_KIND = 0;
const REQUEST_FLAGS = 4;
/** Length of the agents' JSON, without its padding. */
const REQUEST_AGENTS = 8;
/** Number of URLs. One more offset than that follows the agents. */
const REQUEST_COUNT = 12;
/** Bytes of all URLs: the last offset minus the first. */
const REQUEST_URL_BYTES = 16;
const REQUEST_BYTES = 20;
const LENGTH_BYTES = 4;

/** The agents and the uses are padded to a multiple of this. */
const ALIGNMENT = 4;

/** The only kind of request: verdicts on URLs. */
const KIND_JUDGE = 1;
/** Reasons and rules are wanted, too. */
const FLAG_EXPLAIN = 1;
/** A warning about the agents is wanted before the answer. */
const FLAG_WARN = 2;
/** Each URL has its own time: the times come before the offsets. */
const FLAG_TIMES = 4;
/** A robots.txt may be at most so old: a word with its age in seconds follows the header. */
const FLAG_MAX_AGE = 8;
/**
 * Answers about uses are wanted after the verdicts: a word with the length of their JSON, without
 * its padding, follows the header and the age.
 */
const FLAG_USES = 16;
const FLAGS = FLAG_EXPLAIN | FLAG_WARN | FLAG_TIMES | FLAG_MAX_AGE | FLAG_USES;

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
const MAX_AGENTS_BYTES = 65_536;
/** Maximum length of the uses' JSON, in bytes. */
const MAX_USES_BYTES = 65_536;
/** Maximum number of verdicts, and answers about uses, in one request: it bounds the answer. */
export const MAX_VERDICTS = 65_536;
/** The longest URL that is judged, in bytes, as a line by default. A longer URL is `invalid`. */
export const MAX_URL_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of URLs in one request: one byte more shows that a URL is too long. */
const MAX_REQUEST_URL_BYTES = MAX_URL_BYTES + 1;

/** The limits as the server's greeting states them. */
export const LIMITS = {
  agentsBytes: MAX_AGENTS_BYTES,
  usesBytes: MAX_USES_BYTES,
  verdicts: MAX_VERDICTS,
  urlBytes: MAX_URL_BYTES,
  requestUrlBytes: MAX_REQUEST_URL_BYTES,
} as const;

/** Thrown when nobody reads the answers any longer. */
export class ClosedError extends Error {}

/**
 * Fills `bytes`, the beginning of a frame. Returns false if the input ends before it. Blocks.
 *
 * @param part what the bytes are, for messages
 * @throws RobotsFilterError `input` if the input ends within it, or cannot be read
 */
export function beginFrame(input: number, bytes: Uint8Array, part: string): boolean {
  const read = fill(input, bytes);
  if (read < bytes.length && read > 0) throw truncated(part, read, bytes.length);
  return read === bytes.length;
}

/**
 * Fills `bytes`, a later part of a frame.
 *
 * @throws RobotsFilterError `input` if the input ends before all of it, or cannot be read
 */
function readPart(input: number, bytes: Uint8Array, part: string): void {
  const read = fill(input, bytes);
  if (read < bytes.length) throw truncated(part, read, bytes.length);
}

/** Returns the number of bytes before the end of the input. */
function fill(input: number, bytes: Uint8Array): number {
  let at = 0;
  try {
    while (at < bytes.length) {
      const read = readSome(input, bytes.subarray(at), null);
      if (read === 0) break;
      if (read === undefined) sleepBeforeRetry();
      else at += read;
    }
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `standard input cannot be read (${errorText(cause)}). Connect it to a pipe`,
      { cause },
    );
  }
  return at;
}

function truncated(part: string, read: number, wanted: number): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `standard input ends within ${part}, after ${read} of its ${wanted} bytes. ` +
      'Send whole frames, and close standard input between two of them',
  );
}

/**
 * Writes all bytes to a descriptor.
 *
 * @throws ClosedError if nobody reads them
 * @throws RobotsFilterError `output`
 */
export function writeFrame(descriptor: number, bytes: Uint8Array): void {
  try {
    writeBytes(descriptor, bytes);
  } catch (cause) {
    const code = errorCode(cause);
    if (code === 'EPIPE' || code === 'ECONNRESET') throw new ClosedError();
    throw new RobotsFilterError(
      'output',
      `standard output cannot be written (${errorText(cause)}). Connect it to a pipe`,
      { cause },
    );
  }
}

/** A request whose header has been read, and found within its limits. */
export interface Request {
  /** The agents as they were sent: JSON. */
  readonly agents: string;
  /** The uses about which is asked, as they were sent: JSON. */
  readonly uses?: string | undefined;
  readonly explain: boolean;
  /** Whether a warning about the agents is wanted. */
  readonly warn: boolean;
  /** Whether each URL has its own time. */
  readonly timed: boolean;
  /** In seconds, as QuerySettings has it. */
  readonly maxAge?: number | undefined;
  /** Number of URLs. */
  readonly count: number;
  readonly urlBytes: number;
}

/**
 * Reads a request; undefined at the end of the input. Nothing is allocated before the header is
 * found within its limits.
 *
 * @param columnMemory returns the memory for the times if there are any, the offsets and, right
 *   after them, the URLs
 * @throws RobotsFilterError `input` for a frame that is none
 */
export function readRequest(
  input: number,
  columnMemory: (count: number, urlBytes: number, timed: boolean) => Uint8Array,
): Request | undefined {
  const header = Buffer.alloc(REQUEST_BYTES);
  if (!beginFrame(input, header, 'the header of a request')) return undefined;
  const word = (at: number): number => header.readUInt32LE(at);
  if (word(REQUEST_KIND) !== KIND_JUDGE) {
    throw refusedFrame(`a request of kind ${word(REQUEST_KIND)}`, `The only kind is ${KIND_JUDGE}`);
  }
  const flags = word(REQUEST_FLAGS);
  if ((flags & ~FLAGS) !== 0) {
    throw refusedFrame(
      `a request with flags ${flags}`,
      `The flags are ${FLAG_EXPLAIN}, ${FLAG_WARN}, ${FLAG_TIMES}, ${FLAG_MAX_AGE} and ${FLAG_USES}`,
    );
  }
  const timed = (flags & FLAG_TIMES) !== 0;
  const agentsBytes = word(REQUEST_AGENTS);
  const count = word(REQUEST_COUNT);
  const urlBytes = word(REQUEST_URL_BYTES);
  checkLimit('bytes of agents', agentsBytes, MAX_AGENTS_BYTES);
  checkLimit('URLs', count, MAX_VERDICTS);
  checkLimit('bytes of URLs', urlBytes, MAX_REQUEST_URL_BYTES);
  const maxAge = (flags & FLAG_MAX_AGE) === 0 ? undefined : readMaxAge(input);
  const usesBytes = (flags & FLAG_USES) === 0 ? undefined : readUsesBytes(input);
  const agents = readText(input, agentsBytes, 'the agents of a request');
  const uses =
    usesBytes === undefined ? undefined : readText(input, usesBytes, 'the uses of a request');
  const column = columnMemory(count, urlBytes, timed);
  readPart(input, column, 'the URLs of a request');
  const offsetsAt = column.byteOffset + timeBytes(count, timed);
  rebaseOffsets(new Uint32Array(column.buffer, offsetsAt, count + 1), urlBytes);
  return {
    agents,
    uses,
    explain: (flags & FLAG_EXPLAIN) !== 0,
    warn: (flags & FLAG_WARN) !== 0,
    timed,
    maxAge,
    count,
    urlBytes,
  };
}

function readMaxAge(input: number): number {
  const word = Buffer.alloc(TIME_BYTES);
  readPart(input, word, 'the age of a request');
  const maxAge = word.readUInt32LE();
  checkLimit('seconds of age', maxAge, LAST_TIME);
  return maxAge;
}

function readUsesBytes(input: number): number {
  const word = Buffer.alloc(LENGTH_BYTES);
  readPart(input, word, 'the length of the uses of a request');
  const bytes = word.readUInt32LE();
  checkLimit('bytes of uses', bytes, MAX_USES_BYTES);
  return bytes;
}

/** Reads a text and its padding. */
function readText(input: number, bytes: number, part: string): string {
  const text = Buffer.alloc(Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
  readPart(input, text, part);
  return text.toString('utf8', 0, bytes);
}

/** Bytes of the times, the offsets and the URLs. */
export function columnBytes(count: number, urlBytes: number, timed: boolean): number {
  return timeBytes(count, timed) + OFFSET_BYTES * (count + 1) + urlBytes;
}

/** Bytes of the times: a word for each URL. */
function timeBytes(count: number, timed: boolean): number {
  return timed ? TIME_BYTES * count : 0;
}

/**
 * Makes the offsets begin with 0, as the kernel takes for granted: a slice of an Arrow array begins
 * elsewhere.
 *
 * @throws RobotsFilterError `input` unless the offsets ascend over exactly the bytes of the URLs
 */
function rebaseOffsets(offsets: Uint32Array, urlBytes: number): void {
  const base = offsets[0] as number;
  let last = 0;
  for (let index = 0; index < offsets.length; index++) {
    const offset = (offsets[index] as number) - base;
    if (offset < last || offset > urlBytes) {
      throw refusedFrame(
        `a request whose offset ${index} is ${offsets[index]}`,
        `Offsets ascend from ${base} to at most ${base + urlBytes}`,
      );
    }
    offsets[index] = offset;
    last = offset;
  }
  if (last !== urlBytes) {
    throw refusedFrame(
      `a request of ${urlBytes} bytes of URLs whose offsets span ${last}`,
      'The last offset is the end of the last URL',
    );
  }
}

function checkLimit(what: string, value: number, most: number): void {
  if (value <= most) return;
  throw refusedFrame(`a request with ${value} ${what}`, `Send at most ${most} at a time`);
}

/** The error for a frame that no client of this protocol sends. What follows cannot be read. */
function refusedFrame(what: string, remedy: string): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `standard input has ${what}. ${remedy}: see ${docsPage('serve.md')}`,
  );
}

/** Words of the turns. */
const LOCK = 0;
const REQUESTS = 1;
const ANSWERS = 2;
const ENDED = 3;
const WORDS = 4;

const FREE = 0;
const TAKEN = 1;

/**
 * The order of requests and answers among threads. One thread at a time reads a request; answers
 * are written in the order of the requests. A thread that waits to write holds no lock, and the
 * thread whose turn it is waits for nobody: so some thread always goes on.
 */
export class Turns {
  /** Shared by all threads. */
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(buffer = new SharedArrayBuffer(4 * WORDS)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer);
  }

  /**
   * Reads a request while no other thread does.
   *
   * @param read returns undefined at the end of the input; after that, and after an error, no
   *   thread reads
   * @returns the request and its number, for `answer`; undefined at the end
   */
  request<Request>(
    read: () => Request | undefined,
  ): { readonly request: Request; readonly number: number } | undefined {
    const words = this.#words;
    while (Atomics.compareExchange(words, LOCK, FREE, TAKEN) !== FREE) {
      Atomics.wait(words, LOCK, TAKEN);
    }
    try {
      if (Atomics.load(words, ENDED) !== 0) return undefined;
      // Set until the request is whole: after an error nothing is read, either.
      Atomics.store(words, ENDED, 1);
      const request = read();
      if (request === undefined) return undefined;
      Atomics.store(words, ENDED, 0);
      return { request, number: Atomics.add(words, REQUESTS, 1) };
    } finally {
      Atomics.store(words, LOCK, FREE);
      Atomics.notify(words, LOCK, 1);
    }
  }

  /** Writes the answer to a request when all earlier ones have been written. */
  answer(number: number, write: () => void): void {
    const words = this.#words;
    for (;;) {
      const next = Atomics.load(words, ANSWERS);
      if (next === number) break;
      Atomics.wait(words, ANSWERS, next);
    }
    write();
    // Both counters wrap around at 2^32 alike.
    Atomics.add(words, ANSWERS, 1);
    Atomics.notify(words, ANSWERS);
  }
}
