import { errorCode, errorText } from '../../files/system-error.js';
import type { FetchErrorCode } from '../result.js';
import { localFaultOf } from './local-fault.js';

/** The reason why a request ended without a usable answer. It becomes the `error` of a result. */
export class FetchFailure extends Error {
  readonly code: FetchErrorCode;
  /** Status and headers of the response that failed; `undefined` if there was none. */
  readonly response: FailedResponse | undefined;
  /** The system's code; only for `local-fault`. */
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

export interface FailedResponse {
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
