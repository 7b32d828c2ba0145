/** What a server answered, or how it failed to: headers, body, and the fault with its remedy. */

import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { errorCode, errorText } from '../files/system-error.js';
import { contentEncodings, decoded, isText, type Pieces } from '../http/body.js';
import type { Field } from '../http/response.js';
import type { FetchErrorCode } from './result.js';

/** The answer to one request, over HTTP or ftp. */
export interface Answer {
  /** The status code. For ftp, 200 stands for a file and 404 for a missing one. */
  readonly status: number;
  /** Headers, as `pickHeaders` returns them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; `undefined` unless the status is 200 to 299. */
  readonly body: Body | undefined;
  /** Time at which the headers had arrived, in milliseconds since 1970. */
  readonly respondedAt: number;
}

/** Headers about a robots.txt, its freshness, or why there is none. */
export const PICKED_HEADERS: readonly string[] = [
  'age',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'pragma',
  'retry-after',
  'server',
  'vary',
];

/**
 * Picks the headers that are kept. The values of a repeated header are joined (RFC 9110 section
 * 5.3).
 *
 * @param fields the fields of the header, with names in lower case
 */
export function pickHeaders(fields: readonly Field[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of PICKED_HEADERS) {
    const values = fields.filter((field) => field.name === name).map(({ value }) => value);
    const [first] = values;
    // `Location` is not a list: the first value counts.
    if (first !== undefined) picked[name] = name === 'location' ? first : values.join(', ');
  }
  return picked;
}

/** The encodings that are requested. Zstandard is decoded, too, if a server sends it unasked. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

/** A body after content decoding. */
export interface Body {
  /** The bytes, at most one more than the limit. */
  readonly bytes: Uint8Array;
  /** Whether the body was longer than the limit. */
  readonly cut: boolean;
}

/**
 * Number of encoded bytes that are read for each decoded byte of the limit. No encoding doubles a
 * body, but a stream of empty blocks can go on for ever without a decoded byte.
 */
const ENCODED_PER_DECODED = 2;

/**
 * Reads and decodes the body of a response, up to one byte more than `maxBytes`. Always destroys
 * `source`, so the rest of a longer body is not downloaded.
 *
 * @param codings the codings of the body, as in a `Content-Encoding` header
 * @param onPieceUsed called before the next piece of `source` is read
 * @throws FetchFailure `body-broken` if the connection or an encoding ends too early;
 *   `body-timeout`; `decoding-failed`
 */
export async function readBody(
  source: Readable,
  codings: string,
  maxBytes: number,
  onPieceUsed: () => void,
): Promise<Body> {
  const kept: Uint8Array[] = [];
  let length = 0;
  let unknown: string | undefined;
  try {
    const declared = contentEncodings(codings);
    if (typeof declared === 'number') {
      throw new FetchFailure('decoding-failed', `${declared} content encodings on one body`);
    }
    unknown = typeof declared === 'string' ? declared : undefined;
    const encodings = typeof declared === 'string' ? [] : declared;
    const mostEncoded = encodings.length === 0 ? Infinity : maxBytes * ENCODED_PER_DECODED;
    const pieces = received(source, mostEncoded, onPieceUsed);
    for await (const piece of decoded(pieces, encodings)) {
      kept.push(piece);
      length += piece.length;
      if (length > maxBytes) break;
    }
  } catch (error) {
    throw decodingFailure(error);
  } finally {
    source.destroy();
  }
  const cut = length > maxBytes;
  const bytes = Buffer.concat(kept, cut ? maxBytes + 1 : length);
  // A coding that is unknown, such as `UTF-8`, is no coding if the body is text.
  if (unknown !== undefined && !isText(bytes)) {
    throw new FetchFailure(
      'decoding-failed',
      `content encoding ${JSON.stringify(unknown.slice(0, 40))} was not requested (${ACCEPT_ENCODING})`,
    );
  }
  return { bytes, cut };
}

/**
 * Yields the pieces of the source. Its errors become failures here, before the decoders see them.
 */
async function* received(
  source: Pieces,
  mostEncoded: number,
  onPieceUsed: () => void,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const piece of source) {
      length += piece.length;
      if (length > mostEncoded) {
        throw new FetchFailure(
          'decoding-failed',
          `${length} encoded bytes decode to almost nothing`,
        );
      }
      yield piece;
      onPieceUsed();
    }
  } catch (error) {
    throw bodyFailure(error);
  }
}

/** The reason why a request ended without a usable answer. It becomes the `error` of a result. */
export class FetchFailure extends Error {
  readonly code: FetchErrorCode;
  /** Status and headers of the response that failed; `undefined` if there was none. */
  readonly response: FailedResponse | undefined;
  /** The system's code, or one of a proxy such as `PROXY_FAILED`; only for `local-fault`. */
  readonly systemCode: string | undefined;

  constructor(
    code: FetchErrorCode,
    message: string,
    options: { cause?: unknown; response?: FailedResponse; systemCode?: string | undefined } = {},
  ) {
    super(message, options);
    this.name = 'FetchFailure';
    this.code = code;
    this.response = options.response;
    this.systemCode = options.systemCode;
  }
}

interface FailedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The failure to connect to a host, from the errors of its addresses. */
export function connectFailure(errors: readonly unknown[]): FetchFailure {
  const text = errors.map(errorText).join('; ');
  const options = { cause: errors.at(-1) };
  const systemCode = localFaultOf(errors.map(errorCode));
  if (systemCode !== undefined) return localFault(text, systemCode, options.cause);
  const code = errorCode(errors.at(-1));
  return new FetchFailure(
    code === 'connect-timeout' ? 'connect-timeout' : 'connect-failed',
    text,
    options,
  );
}

/** The failure for a fault of this machine. */
export function localFault(text: string, systemCode: string, cause: unknown): FetchFailure {
  return new FetchFailure('local-fault', text, { cause, systemCode });
}

/** The failure of a request before its response began. */
export function requestFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  if (isProtocolError(error)) {
    return new FetchFailure('protocol-error', errorText(error), { cause: error });
  }
  return connectFailure([error]);
}

/** Whether undici refused the content of an answer. Otherwise the connection broke. */
function isProtocolError(error: unknown): boolean {
  const code = errorCode(error);
  switch (code) {
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'UND_ERR_INVALID_ARG':
    case 'ERR_ASSERTION':
      return true;
    case 'UND_ERR_SOCKET':
      // These are undici's messages for a response without a request, and for status 101.
      return errorText(error) === 'bad response' || errorText(error) === 'bad upgrade';
    default:
      // undici gives no code for errors of its parser.
      return error instanceof Error && error.name === 'HTTPParserError';
  }
}

/** The failure to agree on TLS. */
export function tlsFailure(error: unknown): FetchFailure {
  return failureUnlessLocal('tls-failed', error);
}

/** The failure of a body before its end. */
export function bodyFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  return failureUnlessLocal('body-broken', error);
}

/** The failure to decode a body. */
export function decodingFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  switch (errorCode(error)) {
    // zlib's code for input that ends before its last block.
    case 'Z_BUF_ERROR':
      return failureUnlessLocal('body-broken', error);
    case 'Z_MEM_ERROR':
      return localFault(errorText(error), 'ENOMEM', error);
    default:
      // The decoder of zstd is loaded from a file, which may fail.
      return failureUnlessLocal('decoding-failed', error);
  }
}

function failureUnlessLocal(code: FetchErrorCode, error: unknown): FetchFailure {
  const systemCode = localFaultOf([errorCode(error)]);
  if (systemCode !== undefined) return localFault(errorText(error), systemCode, error);
  return new FetchFailure(code, errorText(error), { cause: error });
}

/*
 * Faults of this machine are no findings about a host. They are neither recorded nor counted
 * against the host.
 *
 * Outsiders can provoke some of the codes: a router may report ENETUNREACH, and over IPv6 also
 * EACCES. They gain nothing, because the host stays unknown. EHOSTUNREACH, ECONNREFUSED, ETIMEDOUT
 * and the answer that a name does not exist are findings about the host.
 */

const LIMITS = 'Raise the limit of open files (ulimit -n), or lower --concurrency';
const MEMORY = 'Lower --concurrency, or give this machine more memory';
const NETWORK = "Check this machine's network connection and routes";
const PORTS = 'Lower --concurrency until ports are free again, or check the network connection';
const FIREWALL = "Check this machine's firewall, and whether it lets this user connect";
const NAME_SERVERS = "Check this machine's name servers (/etc/resolv.conf)";

/**
 * Codes of exhaustion. If one address of a host fails with such a code, the host counts as not
 * tried.
 */
const EXHAUSTED: ReadonlyMap<string, string> = new Map([
  ['EMFILE', LIMITS],
  ['ENFILE', LIMITS],
  ['ENOBUFS', MEMORY],
  ['ENOMEM', MEMORY],
]);

/** Codes for an address that this machine cannot reach. Another address of the host may work. */
const UNCONNECTED: ReadonlyMap<string, string> = new Map([
  ['ENETUNREACH', NETWORK],
  ['ENETDOWN', NETWORK],
  ['EAFNOSUPPORT', NETWORK],
  ['EPROTONOSUPPORT', NETWORK],
  ['EADDRNOTAVAIL', PORTS],
  ['EADDRINUSE', PORTS],
  ['EAGAIN', PORTS],
  ['EACCES', FIREWALL],
  ['EPERM', FIREWALL],
]);

/** The code for name servers that cannot be reached. */
export const NO_NAME_SERVER = 'EAI_AGAIN';

/** The codes for faults of a proxy. They stand where a system's code would. */
export const PROXY_FAILED = 'PROXY_FAILED';
export const PROXY_REFUSED = 'PROXY_REFUSED';
export const PROXY_AUTHENTICATION = 'PROXY_AUTHENTICATION';
export const PROXY_FTP = 'PROXY_FTP';

/** What a proxy does not do it does not do at the next attempt either. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  [
    PROXY_REFUSED,
    'Have the proxy allow these hosts, or name them in NO_PROXY. If it refuses http hosts alone, add --proxy-forward',
  ],
  [
    PROXY_AUTHENTICATION,
    'Put the right name and password into HTTPS_PROXY and HTTP_PROXY, as http://NAME:PASSWORD@HOST:PORT, and use --proxy env',
  ],
  [PROXY_FTP, 'Fetch ftp URLs in a run without --proxy'],
]);

const PROXY = 'Check the address of the proxy, and whether it works';

/** The remedy for a fault of this machine; `undefined` for other codes. */
export function remedyOf(code: string): string | undefined {
  if (code === NO_NAME_SERVER) return NAME_SERVERS;
  if (code === PROXY_FAILED) return PROXY;
  return EXHAUSTED.get(code) ?? UNCONNECTED.get(code) ?? REFUSED.get(code);
}

/** Whether a fault of this machine is a refusal, so that another attempt would end in the same. */
export function isRefusal(code: string | undefined): boolean {
  return code !== undefined && REFUSED.has(code);
}

/** Whether a code means that this process has run out of a resource. */
export function isExhaustion(code: string): boolean {
  return EXHAUSTED.has(code);
}

/**
 * The code of the fault of this machine that prevented a request; `undefined` if a connection to an
 * address was attempted.
 *
 * @param codes the code with which each address of the host failed
 */
export function localFaultOf(codes: readonly string[]): string | undefined {
  const exhaustion = codes.find(isExhaustion);
  if (exhaustion !== undefined) return exhaustion;
  return codes.every((code) => remedyOf(code) !== undefined) ? codes[0] : undefined;
}
