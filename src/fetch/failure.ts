import { errors } from 'undici';
import type { FetchErrorCode } from './result.js';

/** Why an exchange ended without an answer that can be used. It never leaves the fetcher but as the `error` of a result. */
export class FetchFailure extends Error {
  readonly code: FetchErrorCode;
  /** Status and headers of the response that broke, where there was one. */
  readonly response: FailedResponse | undefined;

  constructor(
    code: FetchErrorCode,
    message: string,
    options: { cause?: unknown; response?: FailedResponse } = {},
  ) {
    super(message, options);
    this.name = 'FetchFailure';
    this.code = code;
    this.response = options.response;
  }
}

export interface FailedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Text for an error of any make; of several attempts at one host, that of each. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(errorText).join('; ');
  }
  if (error instanceof Error) return error.message || errorCode(error) || error.name;
  return String(error);
}

export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** What it was that ended a request before its response began. */
export function requestFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const cause = { cause: error };
  const text = errorText(error);
  const code = errorCode(error);
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new FetchFailure('connect-timeout', text, cause);
    case 'UND_ERR_HEADERS_TIMEOUT':
      return new FetchFailure('header-timeout', text, cause);
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'UND_ERR_INFO':
      return new FetchFailure('protocol-error', text, cause);
    case 'UND_ERR_SOCKET':
      // undici's words for a 100 or 101 that nobody asked for.
      if (text === 'bad response' || text === 'bad upgrade') {
        return new FetchFailure('protocol-error', text, cause);
      }
      break;
  }
  if (error instanceof errors.HTTPParserError || code.startsWith('ERR_HTTP2_')) {
    return new FetchFailure('protocol-error', text, cause);
  }
  return new FetchFailure('connect-failed', text, cause);
}

/** What it was that ended a body before its end. */
export function bodyFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const code = errorCode(error) === 'UND_ERR_BODY_TIMEOUT' ? 'body-timeout' : 'body-broken';
  return new FetchFailure(code, errorText(error), { cause: error });
}
