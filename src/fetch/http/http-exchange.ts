import type { Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { type Answer, pickHeaders } from '../transport/answer.js';
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

/** The values of each header, one for each time that the header was sent. */
type Headers = Readonly<Record<string, readonly string[] | undefined>>;

/** The successful status without a body (RFC 9110 section 15.3.5). */
const NO_CONTENT = 204;
/** The status of a part of the body (RFC 9110 section 15.3.7). No part is asked for. */
const PARTIAL_CONTENT = 206;

/** Maximum number of interim responses, such as 100 and 103, before an answer. */
const MOST_INTERIM = 100;

/**
 * Maximum number of bytes received for each byte of a body that is kept. A byte in its own chunk
 * takes six, and up to two encoded bytes are read for each decoded one. The bound is for chunk
 * extensions, which undici reads without end.
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
  const stream = new ExchangeStream(socket, MOST_AROUND + MOST_PER_BYTE * options.maxBytes);
  const client = clientOver(stream, socket, url);
  try {
    signal.throwIfAborted();
    const response = await respond(client, url, options).catch((error: unknown) => {
      throw requestFailure(signal.aborted ? signal.reason : (broken ?? error));
    });
    stream.backlog = () => response.body.readableLength;
    const respondedAt = options.now();
    const status = response.statusCode;
    const received = receivedHeaders(response);
    const headers = pickHeaders(received);
    if (status < 200 || status > 299) return { status, headers, body: undefined, respondedAt };
    try {
      refuseTransferCodings(received);
      if (status === PARTIAL_CONTENT) refusePart(received);
      const body = await readWhole(response, stream, socket, headers['content-encoding'], options);
      if (isDelimitedByEnd(status, received) && !body.cut && !ended) {
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
  let interim = 0;
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
      onInfo: ({ statusCode }) => {
        interim++;
        if (statusCode <= 101) {
          throw new FetchFailure('protocol-error', `unexpected interim status ${statusCode}`);
        }
        if (interim > MOST_INTERIM) {
          throw new FetchFailure('protocol-error', `more than ${MOST_INTERIM} interim responses`);
        }
      },
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
  { statusCode, body }: Dispatcher.ResponseData,
  stream: ExchangeStream,
  socket: Socket,
  contentEncoding: string | undefined,
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
    // undici takes a 204 with a length for a body that broke off.
    const source = statusCode === NO_CONTENT ? Readable.from([]) : body;
    return await readBody(source, contentEncoding, maxBytes, () => stream.proceed());
  } catch (error) {
    throw failure ?? error;
  }
}

/** The headers as received. Removes the blanks that undici leaves at the end of a value. */
function receivedHeaders({ headers }: Dispatcher.ResponseData): Headers {
  const received = Object.create(null) as Record<string, string[]>;
  for (const [name, values = []] of Object.entries(headers)) {
    received[name] = (typeof values === 'string' ? [values] : values).map(withoutBlanks);
  }
  return received;
}

/** Removes spaces and tabs at the end, and no other characters that `trim` would remove. */
function withoutBlanks(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end--;
  return value.slice(0, end);
}

/** The transfer codings of a response, in lower case. */
function transferCodings(headers: Headers): string[] {
  const values = headers['transfer-encoding'] ?? [];
  return values
    .flatMap((value) => value.split(','))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '');
}

/** Refuses an answer that says that it holds a part of the body. */
function refusePart(headers: Headers): void {
  const range = headers['content-range']?.join(', ').trim().toLowerCase();
  const length = Number(range?.slice(range.lastIndexOf('/') + 1));
  if (range === undefined || range === `bytes 0-${length - 1}/${length}`) return;
  throw new FetchFailure(
    'body-broken',
    `only a part of the body came (Content-Range: ${JSON.stringify(range)}), and none was asked for`,
  );
}

/** Refuses transfer codings other than `chunked`: the coded bytes would be taken for content. */
function refuseTransferCodings(headers: Headers): void {
  for (const name of transferCodings(headers)) {
    if (name !== 'chunked' && name !== 'identity') {
      throw new FetchFailure(
        'decoding-failed',
        `transfer coding ${JSON.stringify(name)} was not requested`,
      );
    }
  }
}

/** Whether the end of the connection marks the end of the body (RFC 9112 section 6.3). */
function isDelimitedByEnd(status: number, headers: Headers): boolean {
  if (status === NO_CONTENT) return false;
  return headers['content-length'] === undefined && transferCodings(headers).at(-1) !== 'chunked';
}
