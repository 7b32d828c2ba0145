import { localFaultOf } from './local-fault.js';
import type { FetchErrorCode } from './result.js';

/**
 * Why an exchange ended without an answer that can be used. It never leaves the fetcher but as the
 * `error` of a result.
 */
export class FetchFailure extends Error {
  readonly code: FetchErrorCode;
  /** Status and headers of the response that broke, where there was one. */
  readonly response: FailedResponse | undefined;
  /** Of a `local-fault`, the system's code. */
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

/** Text for an error of any make. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || errorCode(error) || error.name;
  return String(error);
}

export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** What it was that kept each address of a host from being connected to. */
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

/** The failure that a fault of this machine is. */
export function localFault(text: string, systemCode: string, cause: unknown): FetchFailure {
  return new FetchFailure('local-fault', text, { cause, systemCode });
}

/** What it was that ended a request before its response began. */
export function requestFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  if (isProtocolError(error)) {
    return new FetchFailure('protocol-error', errorText(error), { cause: error });
  }
  return connectFailure([error]);
}

/** Whether undici gave up an answer for what it says, and not for a connection that broke. */
function isProtocolError(error: unknown): boolean {
  const code = errorCode(error);
  switch (code) {
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'UND_ERR_INVALID_ARG':
    case 'ERR_ASSERTION':
      return true;
    case 'UND_ERR_SOCKET':
      // undici's words for a response that nobody asked for, and for a 101.
      return errorText(error) === 'bad response' || errorText(error) === 'bad upgrade';
    default:
      // Of the parser's errors undici gives no code.
      return error instanceof Error && error.name === 'HTTPParserError';
  }
}

/** What it was that ended a body before its end. */
export function bodyFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const systemCode = localFaultOf([errorCode(error)]);
  if (systemCode !== undefined) return localFault(errorText(error), systemCode, error);
  return new FetchFailure('body-broken', errorText(error), { cause: error });
}
