import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { FetchFailure } from '../transport/failure.js';
import { StrictResponse } from './strict-response.js';

/** The high-water mark with which undici never pauses. */
export const NEVER_PAUSED = Number.MAX_SAFE_INTEGER;

/** Number of unread bytes of a body at which the socket is paused. */
const MOST_WAITING = 65_536;

/**
 * The stream that undici gets as its connection, for one exchange. undici cannot have the socket
 * itself, for four reasons:
 *
 * - undici refuses many an answer that other clients read: see `StrictResponse`.
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
  readonly response: StrictResponse;
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
    this.response = new StrictResponse(fields);
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
