import { Buffer } from 'node:buffer';
import { ChunkJoiner } from '../../http/body.js';
import { type Framing, framingOf, type ResponseHead, ResponseHeads } from '../../http/response.js';
import { isSuccess } from '../../protocol/access.js';
import { FetchFailure } from '../transport/failure.js';

/** Bytes that are first reserved for a head. Most heads are shorter. */
const FIRST_HEAD_BYTES = 8192;

const NOTHING = Buffer.alloc(0);
const CRLF = Buffer.from('\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
/** What undici refuses in place of a chunk, once it has read what comes before. */
const NO_CHUNK = Buffer.from('no chunk\r\n');

/** Statuses after whose head a message is over, so that a length would be wrong. */
const WITHOUT_LENGTH: readonly number[] = [204, 304];

/**
 * Rewrites an answer for undici, whose parser refuses untidy HTTP that all other clients read:
 * folded lines, lines that end in a bare LF, long heads, `100 Continue`. undici gets a status line
 * and the framing of the body, and the body in the same framing: a missing part stays missing. The
 * reader of WARC files shares the code that reads heads and chunks, so a capture means the same.
 *
 * Only the body of a successful response is passed on.
 */
export class StrictResponse {
  readonly #heads: ResponseHeads;
  /** The first bytes of the answer, until its head is complete. */
  #pending = NOTHING;
  #pendingBytes = 0;
  #head: ResponseHead | undefined;
  #framing: Framing = 0;
  /** Bytes that are missing from a body of a known length. */
  #missing = 0;
  readonly #chunks = new ChunkJoiner();

  /** @param fields names of the wanted header fields, in lower case */
  constructor(fields: readonly string[]) {
    this.#heads = new ResponseHeads(fields);
  }

  /** The head of the final response, once it is complete. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  /** Whether the end of the connection marks the end of the body (RFC 9112 section 6.3). */
  get isDelimitedByEnd(): boolean {
    return this.#framing === 'end';
  }

  /**
   * Takes the next bytes from the server; returns those for undici. No byte is examined often,
   * however small the pieces are.
   *
   * @throws FetchFailure `protocol-error` for what is not HTTP, has two readings, or an unknown
   *   framing
   */
  take(piece: Buffer): Buffer {
    if (this.#head !== undefined) return this.#bodyOf(piece);
    this.#keep(piece);
    const bytes = this.#pending.subarray(0, this.#pendingBytes);
    const head = this.#heads.find(bytes, false);
    if (head === undefined) return NOTHING;
    if (typeof head === 'string') throw new FetchFailure('protocol-error', head);
    if (head.status < 200) {
      throw new FetchFailure('protocol-error', `unexpected interim status ${head.status}`);
    }
    this.#head = head;
    this.#pending = NOTHING;
    const begin = Buffer.from(this.#begin(head), 'latin1');
    return Buffer.concat([begin, this.#bodyOf(bytes.subarray(head.end))]);
  }

  #keep(piece: Buffer): void {
    const length = this.#pendingBytes + piece.length;
    if (length > this.#pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_HEAD_BYTES, length * 2));
      this.#pending.copy(larger, 0, 0, this.#pendingBytes);
      this.#pending = larger;
    }
    piece.copy(this.#pending, this.#pendingBytes);
    this.#pendingBytes = length;
  }

  /** The head for undici. */
  #begin(head: ResponseHead): string {
    const { status } = head;
    // Nothing else ends an interim response, or one without a body, but its head.
    const framing = isSuccess(status) ? framingOf(head) : 0;
    if (typeof framing === 'object') throw new FetchFailure('protocol-error', framing.refusal);
    this.#framing = framing;
    let field = '';
    if (framing === 'chunked') field = 'Transfer-Encoding: chunked\r\n';
    if (typeof framing === 'number') {
      this.#missing = framing;
      if (!WITHOUT_LENGTH.includes(status)) field = `Content-Length: ${framing}\r\n`;
    }
    return `HTTP/1.1 ${status} \r\nConnection: close\r\n${field}\r\n`;
  }

  /** The bytes of the body for undici. Bytes after the end of the body are dropped. */
  #bodyOf(piece: Buffer): Buffer {
    if (this.#framing === 'end') return piece;
    if (typeof this.#framing === 'number') {
      const body = piece.subarray(0, this.#missing);
      this.#missing -= body.length;
      return body;
    }
    if (this.#chunks.isWhole) return NOTHING;
    const strict: Buffer[] = [];
    this.#chunks.take(piece, (data) =>
      strict.push(Buffer.from(`${data.length.toString(16)}\r\n`), data, CRLF),
    );
    if (this.#chunks.isWhole) strict.push(LAST_CHUNK);
    if (this.#chunks.isBroken) strict.push(NO_CHUNK);
    return strict.length === 0 ? NOTHING : Buffer.concat(strict);
  }
}
