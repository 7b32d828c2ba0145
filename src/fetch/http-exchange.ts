import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Answer, pickHeaders } from './answer.js';
import { readBody } from './body.js';
import type { Connections } from './connections.js';
import { bodyFailure, FetchFailure, requestFailure } from './failure.js';

/** Octets of a body that nobody reads up to which the connection is spared instead. */
const MAX_DISCARDED = 65_536;
/** Milliseconds that such a body may take. */
const DISCARD_TIMEOUT = 1_000;

/**
 * One GET over http or https, with the body if it is successful.
 *
 * @throws FetchFailure for everything that ends it before its end; of a body that broke, with the response it belongs to.
 */
export async function exchange(
  connections: Connections,
  url: URL,
  requestHeaders: Record<string, string>,
  maxBytes: number,
  signal: AbortSignal,
  now: () => number,
): Promise<Answer> {
  try {
    const response = await begin(connections, url, requestHeaders, signal);
    const respondedAt = now();
    // Who reads it hears of its errors all the same; who gives it up must not be ended by them.
    response.body.on('error', () => undefined);
    const status = response.statusCode;
    const headers = pickHeaders(response.headers);
    if (status < 200 || status > 299) {
      discard(response.body, Number(headers['content-length'] ?? 0));
      return { status, headers, body: undefined, respondedAt };
    }
    try {
      refuseTransferCodings(response);
      const body = await readBody(
        response.body,
        headers['content-encoding'],
        hasBody(status) ? headers['content-length'] : undefined,
        maxBytes,
      );
      if (isDelimitedByEnd(response) && !body.cut && connections.wasBroken(url)) {
        throw new FetchFailure(
          'body-broken',
          'the connection broke off, where its end was to be that of the body',
        );
      }
      return { status, headers, body, respondedAt };
    } catch (error) {
      response.body.destroy();
      const { code, message, cause } = bodyFailure(signal.aborted ? signal.reason : error);
      throw new FetchFailure(code, message, { cause, response: { status, headers } });
    }
  } finally {
    connections.release(url);
  }
}

async function begin(
  connections: Connections,
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  try {
    return await connections.request(url, headers, signal);
  } catch (error) {
    throw requestFailure(signal.aborted ? signal.reason : error);
  }
}

/** A coding of the transfer but `chunked` was never asked for, so it would be taken for content. */
function refuseTransferCodings({ headers }: Dispatcher.ResponseData): void {
  for (const coding of String(headers['transfer-encoding'] ?? '').split(',')) {
    const name = coding.trim().toLowerCase();
    if (name !== '' && name !== 'chunked' && name !== 'identity') {
      throw new FetchFailure('decoding-failed', `transfer coding ${JSON.stringify(name)}`);
    }
  }
}

/** Whether a successful response is one with a body, whatever its length is said to be (RFC 9110 sections 15.3.5 and 15.3.6). */
function hasBody(status: number): boolean {
  return status !== 204 && status !== 205;
}

/** Whether only the end of the connection tells where a body ends (RFC 9112 section 6.3). */
function isDelimitedByEnd({ headers }: Dispatcher.ResponseData): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}

/** Lets a short body pass by, so that its connection can be used again; ends the connection of any other. */
function discard(body: Readable, length: number): void {
  if (length > MAX_DISCARDED) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), DISCARD_TIMEOUT).unref();
  let passed = 0;
  body.on('data', (piece: Uint8Array) => {
    passed += piece.length;
    if (passed > MAX_DISCARDED) body.destroy();
  });
  body.once('close', () => clearTimeout(timer));
}
