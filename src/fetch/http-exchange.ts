import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, pickHeaders } from './answer.js';
import { readBody } from './body.js';
import { wasClosedOrderly } from './connection.js';
import { bodyFailure, FetchFailure, requestFailure } from './failure.js';

export interface ExchangeOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Milliseconds until the response's headers are there, however many interim responses come before. */
  readonly headerTimeout: number;
  /** Milliseconds between two pieces of a body. */
  readonly bodyTimeout: number;
  readonly now: () => number;
}

/** Interim responses, such as 100 and 103, before an answer. */
const MOST_INTERIM = 100;

/**
 * One GET over a connection, with the body if it is successful. The connection is ended with it: a robots.txt is asked for once.
 *
 * @throws FetchFailure for everything that ends it before its end; of a body that broke, with the response it belongs to.
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
  try {
    signal.throwIfAborted();
    const response = await respond(socket, url, options, signal);
    const respondedAt = options.now();
    const status = response.statusCode ?? 0;
    const headers = pickHeaders(response.headersDistinct);
    if (status < 200 || status > 299) return { status, headers, body: undefined, respondedAt };
    try {
      const body = await readWhole(response, socket, headers['content-encoding'], options);
      if (isDelimitedByEnd(response) && !body.cut && !ended) {
        throw new FetchFailure(
          'body-broken',
          'the connection broke off, where its end was to be that of the body',
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
  }
}

/** Sends the request and waits for the headers of its answer. */
async function respond(
  socket: Socket,
  url: URL,
  { headers, headerTimeout }: ExchangeOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = httpRequest({
    createConnection: () => socket,
    method: 'GET',
    // Not `pathname` and `search`, which know nothing of an empty query's `?`.
    path: url.href.slice(url.origin.length),
    headers: { host: url.host, ...headers },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new FetchFailure('header-timeout', `no answer after ${headerTimeout} ms`)),
        headerTimeout,
      );
      let interim = 0;
      request.on('information', () => {
        if (++interim <= MOST_INTERIM) return;
        reject(new FetchFailure('protocol-error', `more than ${MOST_INTERIM} interim responses`));
        socket.destroy();
      });
      request.on('upgrade', () =>
        reject(new FetchFailure('protocol-error', 'another protocol, which nobody asked for')),
      );
      request.on('response', (response) => {
        // Who reads it hears of its errors all the same; who gives it up must not be ended by them.
        response.on('error', () => undefined);
        resolve(response);
      });
      request.on('error', reject);
      request.end();
    });
  } catch (error) {
    throw requestFailure(signal.aborted ? signal.reason : error);
  } finally {
    clearTimeout(timer);
  }
}

async function readWhole(
  response: IncomingMessage,
  socket: Socket,
  contentEncoding: string | undefined,
  { bodyTimeout, maxBytes }: ExchangeOptions,
) {
  refuseTransferCodings(response);
  let failure: FetchFailure | undefined;
  socket.setTimeout(bodyTimeout, () => {
    failure = new FetchFailure('body-timeout', `nothing more of the body after ${bodyTimeout} ms`);
    response.destroy(failure);
  });
  // Node says only that the response was aborted, not why.
  socket.once('error', (error) => {
    failure ??= bodyFailure(error);
  });
  try {
    return await readBody(response, contentEncoding, maxBytes);
  } catch (error) {
    throw failure ?? error;
  }
}

/** Names of the transfer codings of a response, lower case. */
function transferCodings({ headersDistinct }: IncomingMessage): string[] {
  const values = headersDistinct['transfer-encoding'] ?? [];
  return values
    .flatMap((value) => value.split(','))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
}

/** A coding of the transfer but `chunked` was never asked for, so it would be taken for content. */
function refuseTransferCodings(response: IncomingMessage): void {
  for (const name of transferCodings(response)) {
    if (name !== 'chunked') {
      throw new FetchFailure('decoding-failed', `transfer coding ${JSON.stringify(name)}`);
    }
  }
}

/** Whether only the end of the connection tells where a body ends (RFC 9112 section 6.3). */
function isDelimitedByEnd(response: IncomingMessage): boolean {
  // The one successful status that has no body (RFC 9110 section 15.3.5).
  if (response.statusCode === 204) return false;
  return (
    response.headersDistinct['content-length'] === undefined &&
    transferCodings(response).length === 0
  );
}
