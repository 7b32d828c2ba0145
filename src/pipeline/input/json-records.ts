/** Turns a JSON array, or JSON values one after another, into NDJSON. */

import { isUtf8 } from 'node:buffer';
import { jsonParser, type Token } from 'stream-json/core/parser.js';
import { jsonVerifier } from 'stream-json/core/utils/verifier.js';
import { LF, SPACE } from '../../base/ascii.js';
import { RobotsFilterError } from '../../base/errors.js';
import {
  BAD_INPUT_LIMIT,
  REASON_LINE_TOO_LONG,
  REASON_NESTED_TOO_DEEP,
  REFUSED_REASON,
  REFUSED_RECORD,
} from '../../kernel/layout.js';
import { DEFAULT_MAX_LINE_BYTES } from '../bad-record.js';
import type { ChunkSource, LinesOptions } from './raw-input.js';

/** Default depth to which brackets and braces may nest, including an array around the records. */
export const DEFAULT_MAX_DEPTH = 1_000;

/** Depth that ends the run: stream-json keeps a word for each bracket that is open. */
const MOST_LEVELS = 1 << 20;
/** Chunks are processed in pieces of this size, which bounds the strings and tokens made. */
const PIECE_BYTES = 65_536;
/** The most bytes since a checkpoint that are kept. */
const KEPT_BYTES = 1 << 24;
/** Bytes of the longest text of a `lead` for each open bracket: `{"":`. */
const LEAD_BYTES = 4;
/** Code units of the longest line: those of a piece must fit in a string, which has under 2^29. */
const MOST_UNITS = 511 << 20;
/** The most bytes of UTF-8 for a code unit. */
const BYTES_PER_UNIT = 3;
const NOTHING = Buffer.alloc(0);

/** stream-json decides a literal up to 16 characters later. */
const AFTER_TOKENS = Buffer.from(' '.repeat(32));
/** Completes every escape that can be completed: a backslash, or `\u` and less than four digits. */
const AFTER_ESCAPE = Buffer.from('bbbbbb');

/**
 * Turns JSON into NDJSON: bytes in, bytes out, one record per line.
 *
 * The input is JSON values one after another, with or without white space between them. The
 * elements of an array are records, and so is every value that is not an array. An array within an
 * array is one record. A record may be any value; the reader of the lines decides what it means.
 *
 * A record keeps its members in their order, duplicates, and the spelling of numbers. White space
 * outside strings is dropped, and strings are escaped again as `JSON.stringify` does.
 *
 * A record that is too long or nests too deep comes out as a line that stands for it
 * (REFUSED_RECORD), and the run continues after it. That record must be JSON as well.
 *
 * The source fails with a `RobotsFilterError` `input` if the input is not JSON, is not UTF-8 (RFC
 * 8259 section 8.1; U+FFFD in their place would judge another URL), or ends too early.
 * The records that end before the error come out first. The parser does not tell the place of an
 * error, and drops the tokens before it. So after an error the bytes since the last checkpoint are
 * read again: stream-json's verifier, which is as slow as the parser, finds the place, and the
 * parser reads up to there.
 */
export class JsonRecords implements ChunkSource {
  readonly #chunks: ChunkSource;
  readonly #name: string;
  readonly #lines: RecordLines;
  #read: (piece: Buffer) => void;
  /** The part of the last chunk that has not been read. */
  #rest: Buffer = NOTHING;
  /** The bytes of a character whose end is in the next chunk. */
  #begun: Buffer = NOTHING;
  /** Whether the input is not UTF-8 after `#rest`. */
  #isMisencoded = false;
  #ended = false;
  #failure: RobotsFilterError | undefined;

  #checkpoint: Checkpoint;
  /** The bytes since the checkpoint; `undefined` if they are too many. */
  #kept: Buffer[] | undefined = [];
  /** Number of bytes and line feeds since the checkpoint. */
  #bytesSince = 0;
  #lineFeedsSince = 0;

  /** @param chunks the bytes of the input */
  constructor(chunks: ChunkSource, { name, maxRecordBytes, maxDepth }: LinesOptions) {
    this.#chunks = chunks;
    this.#name = name;
    this.#lines = new RecordLines(
      maxRecordBytes ?? DEFAULT_MAX_LINE_BYTES,
      maxDepth ?? DEFAULT_MAX_DEPTH,
    );
    this.#read = readerInto(this.#lines, '');
    this.#checkpoint = { offset: 0, lineFeeds: 0, lead: '', state: { ...this.#lines.state } };
  }

  async next(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return undefined;
      if (this.#rest.length === 0) {
        if (this.#isMisencoded) {
          this.#failure = this.#error(this.#bytesSince, this.#lineFeedsSince, MISENCODED);
          throw this.#failure;
        }
        const chunk = await this.#chunks.next();
        if (chunk !== undefined) this.#rest = this.#decodable(chunk);
        else if (this.#begun.length > 0) this.#isMisencoded = true;
        else this.#end();
        if (this.#isMisencoded) continue;
      }
      const piece = this.#rest.subarray(0, PIECE_BYTES);
      this.#rest = this.#rest.subarray(PIECE_BYTES);
      let start = 0;
      for (let quote = 0; quote >= 0; start = quote + 1) {
        // A fault before a checkpoint would cost the URLs of the piece, unless bytes are kept.
        quote = this.#kept === undefined ? piece.indexOf('"', start) : piece.lastIndexOf('"');
        if (quote < start) break;
        this.#take(piece.subarray(start, quote + 1));
        this.#setCheckpoint();
      }
      this.#take(piece.subarray(start));
      const lines = this.#lines.take();
      if (lines.length > 0) return lines;
    }
  }

  abandon(): Promise<void> {
    return this.#chunks.abandon();
  }

  /** The whole characters of a chunk, up to the first byte that is not UTF-8. */
  #decodable(chunk: Buffer): Buffer {
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    const end = endOfWholeCharacters(bytes);
    // Copied, because the buffer may be used again.
    this.#begun = Buffer.from(bytes.subarray(end));
    const whole = bytes.subarray(0, end);
    if (isUtf8(whole)) return whole;
    this.#isMisencoded = true;
    return whole.subarray(0, endOfUtf8(whole));
  }

  #take(piece: Buffer): void {
    if (!this.#accept(piece, piece)) return;
    this.#bytesSince += piece.length;
    this.#lineFeedsSince += countLineFeeds(piece);
    if (this.#bytesSince > KEPT_BYTES) this.#kept = undefined;
    // Copied, because the buffer may be used again.
    this.#kept?.push(Buffer.from(piece));
    const { depth, records } = this.#lines.state;
    if (depth > MOST_LEVELS) {
      const what = `record ${records + 1} has more than ${MOST_LEVELS} open brackets`;
      this.#failure = this.#error(this.#bytesSince, this.#lineFeedsSince, `${what}. Leave it out.`);
    }
  }

  /** Has stream-json read `text`; fails at `piece` if that is not JSON. */
  #accept(text: Buffer, piece: Buffer): boolean {
    if (text.length === 0 || this.#failure !== undefined) return false;
    try {
      this.#read(text);
      return true;
    } catch (error) {
      this.#fail(piece, error);
      return false;
    }
  }

  /** Sets the checkpoint after the quote at this place, unless the quote begins a string. */
  #setCheckpoint(): void {
    const { state } = this.#lines;
    // The last bound keeps the total length of the leads linear.
    const isGood = state.afterString && state.depth * LEAD_BYTES <= this.#bytesSince + PIECE_BYTES;
    // The parser may still hold a wrong literal or more of its last bytes.
    if (!isGood || !this.#accept(AFTER_TOKENS, NOTHING)) return;
    const { offset, lineFeeds } = this.#checkpoint;
    this.#checkpoint = {
      offset: offset + this.#bytesSince,
      lineFeeds: lineFeeds + this.#lineFeedsSince,
      lead: this.#lines.lead(),
      state: { ...state },
    };
    this.#bytesSince = 0;
    this.#lineFeedsSince = 0;
    this.#kept = [];
  }

  #end(): void {
    this.#ended = true;
    const bytes = this.#bytesSince;
    const lineFeeds = this.#lineFeedsSince;
    this.#take(this.#lines.state.inString ? AFTER_ESCAPE : AFTER_TOKENS);
    const { depth, base, inString, records } = this.#lines.state;
    if (this.#failure === undefined && (depth > 0 || inString)) {
      const where = depth > base || inString ? `within record ${records + 1}` : 'within an array';
      this.#failure = this.#error(
        bytes,
        lineFeeds,
        `the input ends ${where}. ` +
          'It is truncated: fetch or write it again, or close the open brackets and strings.',
      );
    }
  }

  /** Finds the fault in a piece, and adds the lines of the records before it. */
  #fail(piece: Buffer, error: unknown): void {
    const kept = this.#kept;
    const { lead, state } = this.#checkpoint;
    if (kept === undefined) {
      const what = `this is not JSON, at most ${piece.length} bytes later: ${reasonOf(error)}`;
      this.#failure = this.#error(this.#bytesSince, this.#lineFeedsSince, `${what}. ${REMEDY}`);
      return;
    }
    const bytes = Buffer.concat([...kept, piece]);
    const { offset, reason } = findFault(lead, bytes) ?? {
      offset: bytes.length,
      reason: reasonOf(error),
    };
    const before = bytes.subarray(0, offset);
    this.#lines.repeatFrom(state);
    readerInto(this.#lines, lead)(before);
    const found = this.#ended && offset >= this.#bytesSince ? undefined : bytes[offset];
    const what = `${reason}${found === undefined ? '' : `, found ${nameByte(found)}`}`;
    this.#failure = this.#error(
      offset,
      countLineFeeds(before),
      `this is not JSON: ${what}. ${REMEDY}`,
    );
  }

  /** @param bytes place of the error, from the checkpoint */
  #error(bytes: number, lineFeeds: number, what: string): RobotsFilterError {
    const { offset, lineFeeds: before } = this.#checkpoint;
    const place = `byte ${offset + bytes} (line ${before + lineFeeds + 1})`;
    return new RobotsFilterError('input', `${this.#name}: ${place}: ${what}`);
  }
}

const REMEDY =
  'Correct it there. If the whole input is something else, use --input ndjson ' +
  '(one object per line) or --input text (one URL per line).';

const MISENCODED =
  'this byte is not UTF-8, which JSON is written in. ' +
  'Convert the input first, for example: iconv -f ISO-8859-1 -t UTF-8';

/** The longest beginning of `bytes` that does not end within a character. */
function endOfWholeCharacters(bytes: Buffer): number {
  for (let length = 1; length <= 3 && length <= bytes.length; length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const whole = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return whole > length ? bytes.length - length : bytes.length;
  }
  return bytes.length;
}

/** The place of the first byte that is not UTF-8. */
function endOfUtf8(bytes: Buffer): number {
  let at = 0;
  for (;;) {
    const width = widthOf(bytes[at] ?? 0);
    if (at === bytes.length || !isUtf8(bytes.subarray(at, at + width))) return at;
    at += width;
  }
}

/** Bytes of the character that begins with this byte. */
function widthOf(byte: number): number {
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/** A place from which the input can be read again. */
interface Checkpoint {
  readonly offset: number;
  readonly lineFeeds: number;
  /** Text that brings stream-json into its state at this place. */
  readonly lead: string;
  readonly state: Readonly<LinesState>;
}

interface LinesState {
  /** The line of the current record. */
  line: string;
  /** The reason why that record is not judged; 0 if there is none. */
  refusal: number;
  needsComma: boolean;
  inString: boolean;
  /** Whether the last token ended a string, and whether that is the name of a member. */
  afterString: boolean;
  isKey: boolean;
  /** Number of open brackets and braces. */
  depth: number;
  /** The depth of records: 1 in an array, else 0. */
  base: number;
  /** Number of records that have ended. */
  records: number;
}

/** Writes a line for each record, from the tokens of stream-json. */
class RecordLines {
  readonly #maxBytes: number;
  readonly #maxDepth: number;
  readonly state: LinesState = {
    line: '',
    refusal: 0,
    needsComma: false,
    inString: false,
    afterString: false,
    isKey: false,
    depth: 0,
    base: 0,
    records: 0,
  };
  /** The open brackets and braces. */
  readonly #open: ('[' | '{"":')[] = [];
  #lines = '';
  /** Number of the first record whose line has not been written. */
  #firstNew = 0;

  constructor(maxBytes: number, maxDepth: number) {
    this.#maxBytes = Math.min(maxBytes, MOST_UNITS);
    this.#maxDepth = maxDepth;
  }

  /** Returns the lines since the last call. */
  take(): Buffer {
    const lines = Buffer.from(this.#lines);
    this.#lines = '';
    return lines;
  }

  /** Text that brings stream-json into its state after the last token, the end of a string. */
  lead(): string {
    const open = this.#open.join('');
    return this.state.isKey ? open.slice(0, -':'.length) : `${open}""`;
  }

  /** Expects the tokens from an earlier state on, and writes no line twice. */
  repeatFrom(earlier: Readonly<LinesState>): void {
    this.#firstNew = this.state.records;
    Object.assign(this.state, earlier);
  }

  add(token: Token): void {
    const { state } = this;
    state.afterString = token.name === 'endString' || token.name === 'endKey';
    switch (token.name) {
      case 'startObject':
        this.#begin('{');
        this.#openBracket('{"":');
        break;
      case 'startArray':
        if (state.depth === 0) state.base = 1;
        else this.#begin('[');
        this.#openBracket('[');
        break;
      case 'endObject':
      case 'endArray':
        this.#open.pop();
        state.depth--;
        if (state.depth < state.base) {
          state.base = 0;
          break;
        }
        this.#append(token.name === 'endObject' ? '}' : ']');
        this.#endValue();
        break;
      case 'startKey':
        this.#begin('"');
        state.inString = true;
        state.isKey = true;
        break;
      case 'endKey':
        this.#append('":');
        state.inString = false;
        state.needsComma = false;
        break;
      case 'startString':
        this.#begin('"');
        state.inString = true;
        break;
      case 'endString':
        this.#append('"');
        state.inString = false;
        this.#endValue();
        break;
      case 'stringChunk':
        this.#append(JSON.stringify(token.value).slice(1, -1));
        break;
      case 'startNumber':
        this.#begin('');
        break;
      case 'numberChunk':
        this.#append(token.value);
        break;
      case 'endNumber':
        this.#endValue();
        break;
      case 'nullValue':
      case 'trueValue':
      case 'falseValue':
        this.#begin(String(token.value));
        this.#endValue();
        break;
    }
  }

  #openBracket(bracket: '[' | '{"":'): void {
    const { state } = this;
    this.#open.push(bracket);
    state.depth++;
    state.needsComma = false;
    if (state.depth > this.#maxDepth) this.#refuse(REASON_NESTED_TOO_DEEP);
  }

  #begin(text: string): void {
    this.#append(this.state.needsComma ? `,${text}` : text);
    this.state.isKey = false;
  }

  #append(text: string): void {
    const { state } = this;
    // Of a refused record, only the beginning is shown.
    if (state.refusal !== 0 && state.line.length >= BAD_INPUT_LIMIT) return;
    state.line += text;
    if (state.line.length > this.#maxBytes) this.#refuse(REASON_LINE_TOO_LONG);
  }

  /** Refuses the current record, unless it is refused already. */
  #refuse(reason: number): void {
    const { state } = this;
    if (state.refusal !== 0) return;
    state.refusal = reason;
    // Without the copy, the whole line would stay in memory.
    state.line = Buffer.from(state.line.slice(0, BAD_INPUT_LIMIT)).toString();
  }

  #endValue(): void {
    const { state } = this;
    state.needsComma = state.depth > state.base;
    if (state.needsComma) return;
    const mayBeLong = state.line.length * BYTES_PER_UNIT > this.#maxBytes;
    if (mayBeLong && Buffer.byteLength(state.line) > this.#maxBytes) {
      this.#refuse(REASON_LINE_TOO_LONG);
    }
    if (state.records >= this.#firstNew) {
      this.#lines += state.refusal === 0 ? state.line : refusedLine(state.refusal, state.line);
      this.#lines += '\n';
    }
    state.records++;
    state.line = '';
    state.refusal = 0;
  }
}

/** The line that stands for a refused record and shows its beginning. */
function refusedLine(reason: number, beginning: string): string {
  const bytes = Buffer.from(beginning).subarray(0, BAD_INPUT_LIMIT);
  // As the beginning of a stream, the bytes lose a character that is cut off.
  const shown = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  return String.fromCharCode(REFUSED_RECORD, REFUSED_REASON + reason) + shown;
}

/**
 * Makes a function that parses the next bytes and adds their tokens to `lines`.
 *
 * @param lead text that the parser gets first
 */
function readerInto(lines: RecordLines, lead: string): (bytes: Buffer) => void {
  // A packed string of hostile input would have no greatest length.
  const parse = jsonParser({ jsonStreaming: true, packValues: false });
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  parse(lead);
  return (bytes) => {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      const piece = bytes.subarray(start, start + PIECE_BYTES);
      const tokens = parse(decoder.decode(piece, { stream: true }));
      if (typeof tokens === 'object') for (const token of tokens.values) lines.add(token);
    }
  };
}

/** The first place at which bytes are no longer JSON. */
interface JsonFault {
  /** Offset in bytes. */
  readonly offset: number;
  /** What stream-json expected there. */
  readonly reason: string;
}

/** @param lead text that the verifier gets first */
function findFault(lead: string, bytes: Buffer): JsonFault | undefined {
  const verify = jsonVerifier({ jsonStreaming: true });
  try {
    verify(lead);
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      // As Latin-1, offsets in characters are offsets in bytes.
      verify(bytes.toString('latin1', start, start + PIECE_BYTES));
    }
    verify(AFTER_TOKENS.toString());
    return undefined;
  } catch (error) {
    const isPlaced = error instanceof Error && 'offset' in error;
    const offset = isPlaced && typeof error.offset === 'number' ? error.offset - lead.length : 0;
    return { offset: Math.min(Math.max(offset, 0), bytes.length), reason: reasonOf(error) };
  }
}

/**
 * Extracts the reason: `ERROR at 5 (1, 6): Verifier cannot parse input: expected ','` → `expected
 * ','`
 */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.endsWith('escaped characters')) {
    return 'expected an escape or a character that a string may hold';
  }
  const reason = message.slice(message.lastIndexOf(': ') + 1).trim();
  const subject = ['Verifier has ', 'Parser has '].find((words) => reason.startsWith(words));
  return subject === undefined ? reason : reason.slice(subject.length);
}

function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}

function nameByte(byte: number): string {
  return byte > SPACE && byte < 0x7f
    ? String.fromCharCode(byte)
    : `the byte 0x${byte.toString(16).padStart(2, '0')}`;
}
