import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { codingsOf, DECIDING_FIELDS, partRefusal, type ResponseHead } from '../../http/response.js';
import { isSuccess } from '../../protocol/access.js';
import { type Answer, PICKED_HEADERS, pickHeaders } from '../transport/answer.js';
import { type Body, readBody } from '../transport/body.js';
import { wasClosedOrderly } from '../transport/connection.js';
import { bodyFailure, FetchFailure, requestFailure } from '../transport/failure.js';
import { ExchangeStream, NEVER_PAUSED } from './exchange-stream.js';

export interface ExchangeOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Milliseconds until the headers of the final response. */
  readonly headerTimeout: number;
  /** Milliseconds between two pieces of a body. */
  readonly bodyTimeout: number;
  readonly now: () => number;
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
  const stream = new ExchangeStream(socket, MOST_AROUND + MOST_PER_BYTE * options.maxBytes, FIELDS);
  const client = clientOver(stream, socket, url);
  try {
    signal.throwIfAborted();
    const response = await respond(client, url, options).catch((error: unknown) => {
      throw requestFailure(signal.aborted ? signal.reason : (broken ?? error));
    });
    stream.backlog = () => response.body.readableLength;
    const respondedAt = options.now();
    const head = stream.response.head as ResponseHead;
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
  { headers, headerTimeout }: ExchangeOptions,
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
      path: url.href.slice(url.origin.length),
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
