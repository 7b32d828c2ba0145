import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { FetchFailure } from './failure.js';
import { InterimStatus } from './interim-status.js';

/** The high-water mark with which undici never pauses. */
export const NEVER_PAUSED = Number.MAX_SAFE_INTEGER;

/** Bytes of a body that may wait until no more is read from the socket. */
const MOST_WAITING = 65_536;

/**
 * A connection as undici is given it, for one exchange. undici does not get the socket itself:
 *
 * - undici refuses `100 Continue`: see `InterimStatus`.
 * - undici takes ECONNRESET for the end of a body that the end of the connection delimits. Errors
 *   of this stream never have that code.
 * - undici throws where nobody can catch it if a body that the end of the connection delimits ends
 *   while undici's parser is paused. So the parser must never pause (`NEVER_PAUSED`), and it is
 *   this stream that waits for who reads the body: see `backlog`.
 * - undici reads `remoteAddress`, which must stay unread on the socket: see `wasClosedOrderly`.
 *
 * Destroying the stream destroys the socket.
 */
export class ExchangeStream extends Duplex {
  readonly #socket: Socket;
  readonly #mostBytes: number;
  readonly #statuses = new InterimStatus();
  #received = 0;
  /** Whether all that the socket received has been pushed. */
  #isOver = false;
  /** Whether undici wants more, and does not get it yet. */
  #isHeld = false;
  /** Bytes of a body that undici has passed on, and nobody has read. */
  backlog: () => number = () => 0;

  /** @param mostBytes of an answer, with all that frames it */
  constructor(socket: Socket, mostBytes: number) {
    super();
    this.#socket = socket;
    this.#mostBytes = mostBytes;
    // The stream's user hears of its errors; after that they must not end the process.
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

  /** Has the socket read on, where it waited for a body that is read more slowly than it comes. */
  proceed(): void {
    if (this.#isHeld) this._read();
  }

  override _read(): void {
    this.#isHeld = this.backlog() >= MOST_WAITING;
    if (this.#isHeld) this.#socket.pause();
    else this.#socket.resume();
  }

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    // Where it fails, the socket's own `error` or `close` says so.
    this.#socket.write(piece, () => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(piece: Buffer): void {
    this.#received += piece.length;
    try {
      if (this.#received > this.#mostBytes) {
        throw new FetchFailure('body-broken', `an answer of more than ${this.#mostBytes} bytes`);
      }
      this.#statuses.rename(piece);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (!this.push(piece)) this.#socket.pause();
  }
}
