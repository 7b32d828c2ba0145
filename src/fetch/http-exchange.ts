/** One HTTP request and its response, which is read as captures are. */

import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { ChunkJoiner } from '../http/body.js';
import {
  codingsOf,
  DECIDING_FIELDS,
  type Framing,
  framingOf,
  partRefusal,
  type ResponseHead,
  ResponseHeads,
} from '../http/response.js';
import { isSuccess } from '../protocol/verdict.js';
import {
  type Answer,
  type Body,
  bodyFailure,
  FetchFailure,
  PICKED_HEADERS,
  pickHeaders,
  readBody,
  requestFailure,
} from './answer.js';
import { wasClosedOrderly } from './connection.js';

/** Options for one exchange. */
export interface ExchangeOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Milliseconds until the headers of the final response. */
  readonly headerTimeout: number;
  /** Milliseconds between two pieces of a body. */
  readonly bodyTimeout: number;
  readonly now: () => number;
  /** How the request goes to a proxy that forwards it; `undefined` for the host itself. */
  readonly forwarding?: Forwarding | undefined;
}

/** A request that a proxy forwards: it names its whole URL (RFC 9112 section 3.2.2). */
interface Forwarding {
  /** Names of further header fields that are read, in lower case. */
  readonly fields: readonly string[];
  /** Called with the head of the answer. What it throws ends the exchange. */
  onHead(head: ResponseHead): void;
}

/** The header fields that are read. */
const FIELDS: readonly string[] = [...new Set([...PICKED_HEADERS, ...DECIDING_FIELDS])];

/**
 * Maximum number of bytes received for each byte of a body that is kept. A byte in its own chunk
 * takes six, and up to two encoded bytes are read for each decoded one. The bound is for chunk
 * extensions, which are read without end.
 */
const MOST_PER_BYTE = 12;
/** Maximum number of other bytes received: headers, and interim responses. */
const MOST_AROUND = 8 * 2 ** 20;

/**
 * Sends one GET over a connection, and reads the body if the status is successful. Ends the
 * connection.
 *
 * @throws FetchFailure if the exchange ends too early; with the response if its body failed
 */
export async function exchange(
  socket: Socket,
  url: URL,
  options: ExchangeOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const abort = () => socket.destroy(signal.reason);
  signal.addEventListener('abort', abort);
  let ended = false;
  socket.once('end', () => {
    ended = wasClosedOrderly(socket);
  });
  let broken: Error | undefined;
  socket.once('error', (error) => {
    broken = error;
  });
  const { forwarding, maxBytes } = options;
  const fields = [...FIELDS, ...(forwarding?.fields ?? [])];
  const stream = new ExchangeStream(socket, MOST_AROUND + MOST_PER_BYTE * maxBytes, fields);
  const client = clientOver(stream, socket, url);
  try {
    signal.throwIfAborted();
    const response = await respond(client, url, options).catch((error: unknown) => {
      throw requestFailure(signal.aborted ? signal.reason : (broken ?? error));
    });
    stream.backlog = () => response.body.readableLength;
    const respondedAt = options.now();
    const head = stream.response.head as ResponseHead;
    forwarding?.onHead(head);
    const { status } = head;
    const headers = pickHeaders(head.fields);
    if (!isSuccess(status)) return { status, headers, body: undefined, respondedAt };
    try {
      const part = partRefusal(head);
      if (part !== undefined) throw new FetchFailure('body-broken', part);
      const body = await readWhole(response, stream, socket, codingsOf(head), options);
      if (stream.response.isDelimitedByEnd && !body.cut && !ended) {
        throw new FetchFailure(
          'body-broken',
          'the connection broke off before the end of the body',
        );
      }
      return { status, headers, body, respondedAt };
    } catch (error) {
      const failure = bodyFailure(signal.aborted ? signal.reason : error);
      const { code, message, cause, systemCode } = failure;
      throw new FetchFailure(code, message, { cause, systemCode, response: { status, headers } });
    }
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
    await client.destroy();
  }
}

/** A client for one request over an open connection. */
function clientOver(stream: ExchangeStream, socket: Socket, url: URL): Client {
  let given = false;
  return new Client(url.origin, {
    allowH2: false,
    // There is no keep-alive.
    pipelining: 0,
    // `respond` and `readWhole` have their own timeouts.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, callback) => {
      // undici never sends the request if this callback is called at once.
      queueMicrotask(() => {
        if (given || socket.destroyed) {
          callback(socket.errored ?? new Error('the connection ended before the answer'), null);
          return;
        }
        given = true;
        // undici's types ask for a socket; undici uses it as a stream.
        callback(null, stream as Duplex as Socket);
      });
    },
  });
}

/** Sends the request and waits for the headers of the answer. */
async function respond(
  client: Client,
  url: URL,
  { headers, headerTimeout, forwarding }: ExchangeOptions,
): Promise<Dispatcher.ResponseData> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new FetchFailure('header-timeout', `no answer after ${headerTimeout} ms`)),
      headerTimeout,
    );
  });
  try {
    const responding = client.request({
      method: 'GET',
      // `pathname` and `search` would lose the `?` of an empty query.
      path: forwarding === undefined ? url.href.slice(url.origin.length) : url.href,
      headers,
      highWaterMark: NEVER_PAUSED,
    });
    const response = await Promise.race([responding, late]);
    // Errors of a body that nobody reads must not end the process.
    response.body.on('error', () => undefined);
    return response;
  } finally {
    clearTimeout(timer);
  }
}

async function readWhole(
  { body }: Dispatcher.ResponseData,
  stream: ExchangeStream,
  socket: Socket,
  codings: string,
  { bodyTimeout, maxBytes }: ExchangeOptions,
): Promise<Body> {
  let failure: FetchFailure | undefined;
  socket.setTimeout(bodyTimeout, () => {
    failure = new FetchFailure('body-timeout', `no more of the body after ${bodyTimeout} ms`);
    body.destroy(failure);
  });
  // undici only learns that the connection broke off, and not why.
  socket.once('error', (error) => {
    failure ??= bodyFailure(error);
  });
  try {
    return await readBody(body, codings, maxBytes, () => stream.proceed());
  } catch (error) {
    throw failure ?? error;
  }
}

/** The high-water mark with which undici never pauses. */
export const NEVER_PAUSED = Number.MAX_SAFE_INTEGER;

/** Number of unread bytes of a body at which the socket is paused. */
const MOST_WAITING = 65_536;

/**
 * The stream that undici gets as its connection, for one exchange. undici cannot have the socket
 * itself, for four reasons:
 *
 * - undici refuses many an answer that other clients read: see `TidiedResponse`.
 * - If the end of the connection marks the end of the body, undici takes ECONNRESET for that end.
 *   Errors of this stream never have that code.
 * - If such a body ends while undici's parser is paused, undici throws an error that nobody can
 *   catch. So the parser must never pause (`NEVER_PAUSED`). This stream waits for the reader of
 *   the body instead (`backlog`).
 * - undici reads `remoteAddress`, which must stay unread on the socket: see `wasClosedOrderly`.
 *
 * Destroying the stream destroys the socket.
 */
export class ExchangeStream extends Duplex {
  readonly #socket: Socket;
  readonly #mostBytes: number;
  /** The answer as undici reads it. */
  readonly response: TidiedResponse;
  #received = 0;
  /** Whether everything that the socket received has been pushed. */
  #isOver = false;
  /** Whether undici wants more and must wait. */
  #isHeld = false;
  /** Returns the number of bytes of a body that undici has passed on and nobody has read. */
  backlog: () => number = () => 0;

  /**
   * @param mostBytes maximum number of bytes of an answer, headers and framing included
   * @param fields names of the wanted header fields, in lower case
   */
  constructor(socket: Socket, mostBytes: number, fields: readonly string[]) {
    super();
    this.response = new TidiedResponse(fields);
    this.#socket = socket;
    this.#mostBytes = mostBytes;
    // undici listens for errors; later ones must not end the process.
    this.on('error', () => undefined);
    socket.pause();
    socket.on('data', (piece: Buffer) => this.#take(piece));
    socket.once('end', () => {
      this.#isOver = true;
      this.push(null);
    });
    const breakOff = (error?: Error) => {
      if (!this.#isOver) this.destroy(new Error('the connection broke off', { cause: error }));
    };
    socket.once('error', breakOff);
    socket.once('close', () => breakOff());
  }

  /** Resumes the socket if it was paused because the body was read too slowly. */
  proceed(): void {
    if (this.#isHeld) this._read();
  }

  override _read(): void {
    this.#isHeld = this.backlog() >= MOST_WAITING;
    if (this.#isHeld) this.#socket.pause();
    else this.#socket.resume();
  }

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    // The socket's `error` or `close` reports a failure.
    this.#socket.write(piece, () => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(piece: Buffer): void {
    this.#received += piece.length;
    let strict: Buffer;
    try {
      if (this.#received > this.#mostBytes) {
        throw new FetchFailure('body-broken', `an answer of more than ${this.#mostBytes} bytes`);
      }
      strict = this.response.take(piece);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (strict.length > 0 && !this.push(strict)) this.#socket.pause();
  }
}

const NOTHING = Buffer.alloc(0);

/** Bytes that are first reserved for a head. Most heads are shorter. */
const FIRST_HEAD_BYTES = 8192;

/** Collects the first bytes of an answer until the head of the final response is complete. */
export class IncomingHead {
  readonly #heads: ResponseHeads;
  #pending = NOTHING;
  #pendingBytes = 0;

  /** @param fields names of the wanted header fields, in lower case */
  constructor(fields: readonly string[]) {
    this.#heads = new ResponseHeads(fields);
  }

  /**
   * Takes the next bytes; returns the head and the bytes after it, once the head is complete. No
   * byte is examined often, however small the pieces are.
   *
   * @throws FetchFailure `protocol-error` for what is not HTTP, or has no final response
   */
  take(piece: Buffer): { readonly head: ResponseHead; readonly rest: Buffer } | undefined {
    this.#keep(piece);
    const bytes = this.#pending.subarray(0, this.#pendingBytes);
    const head = this.#heads.find(bytes, false);
    if (head === undefined) return undefined;
    if (typeof head === 'string') throw new FetchFailure('protocol-error', head);
    if (head.status < 200) {
      throw new FetchFailure('protocol-error', `unexpected interim status ${head.status}`);
    }
    this.#pending = NOTHING;
    return { head, rest: bytes.subarray(head.end) };
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
}

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
export class TidiedResponse {
  readonly #incoming: IncomingHead;
  #head: ResponseHead | undefined;
  #framing: Framing = 0;
  /** Bytes that are missing from a body of a known length. */
  #missing = 0;
  readonly #chunks = new ChunkJoiner();

  /** @param fields names of the wanted header fields, in lower case */
  constructor(fields: readonly string[]) {
    this.#incoming = new IncomingHead(fields);
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
   * Takes the next bytes from the server; returns those for undici.
   *
   * @throws FetchFailure `protocol-error` for what is not HTTP, has two readings, or an unknown
   *   framing
   */
  take(piece: Buffer): Buffer {
    if (this.#head !== undefined) return this.#bodyOf(piece);
    const found = this.#incoming.take(piece);
    if (found === undefined) return NOTHING;
    this.#head = found.head;
    const begin = Buffer.from(this.#begin(found.head), 'latin1');
    return Buffer.concat([begin, this.#bodyOf(found.rest)]);
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
