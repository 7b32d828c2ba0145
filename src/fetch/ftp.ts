/**
 * Fetches a robots.txt by ftp. A server may name another host for the data; the client never
 * connects there, because nobody has checked that address.
 */

import { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';
import { Client, FTPContext, FTPError, type FTPResponse } from 'basic-ftp';
import { errorCode, errorText } from '../files/system-error.js';
import {
  type Answer,
  type Body,
  connectFailure,
  FetchFailure,
  localFault,
  localFaultOf,
} from './answer.js';
import {
  type EndTurn,
  portOf,
  type TakeAddress,
  unbracketed,
  withoutLocalAddress,
} from './connection.js';
import { type HostAddress, permittedAddresses, type Resolve } from './resolver.js';

interface FtpOptions {
  readonly connectTimeout: number;
  /** Milliseconds for a reply, and between two pieces of the file. */
  readonly replyTimeout: number;
  readonly maxBytes: number;
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  readonly now: () => number;
}

/** Replies to RETR for a missing file: 550 (RFC 959 section 4.2), and 551 of some servers. */
const FILE_UNAVAILABLE: readonly number[] = [550, 551];

/** Replies for a complete transfer (RFC 959 section 5.4). */
const TRANSFER_COMPLETE: readonly number[] = [226, 250];

/**
 * Retrieves a file by anonymous ftp. The control connection goes to a permitted address. The data
 * connection goes to the same address: the client ignores the host of EPSV and refuses a PASV that
 * names another host.
 *
 * @throws FetchFailure unless the server sends the file or says that it is missing
 */
export async function transfer(
  url: URL,
  options: FtpOptions,
  takeAddress: TakeAddress,
  signal: AbortSignal,
): Promise<Answer> {
  const host = unbracketed(url.hostname);
  const path = pathOf(url);
  const addresses = await permittedAddresses(host, options.resolve, options.allowPrivate);
  const client = new FtpClient(options.replyTimeout);
  const abort = () => client.close();
  signal.addEventListener('abort', abort);
  let end: EndTurn | undefined;
  try {
    signal.throwIfAborted();
    end = await connect(client, addresses, portOf(url), options, takeAddress, signal);
    await client.login('anonymous', 'anonymous@');
    await client.send('TYPE I');
    return await retrieve(client, path, options);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw ftpFailure(error);
  } finally {
    signal.removeEventListener('abort', abort);
    client.close();
    end?.();
  }
}

/** Tries the addresses of a host in turn. */
async function connect(
  client: FtpClient,
  addresses: readonly HostAddress[],
  port: number,
  { connectTimeout }: FtpOptions,
  takeAddress: TakeAddress,
  signal: AbortSignal,
): Promise<EndTurn> {
  const failures: unknown[] = [];
  for (const { address } of addresses) {
    const end = await takeAddress(address);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      client.close();
    }, connectTimeout);
    try {
      await client.connect(address, port);
      return end;
    } catch (error) {
      end();
      signal.throwIfAborted();
      withoutLocalAddress(error);
      const text = `${address}: not connected after ${connectTimeout} ms`;
      failures.push(timedOut ? new FetchFailure('connect-timeout', text, { cause: error }) : error);
    } finally {
      clearTimeout(timer);
    }
  }
  throw connectFailure(failures);
}

async function retrieve(
  client: FtpClient,
  path: string,
  { maxBytes, now }: FtpOptions,
): Promise<Answer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const sink = new Writable({
    write(piece: Uint8Array, _encoding, done) {
      pieces.push(piece);
      length += piece.length;
      if (length > maxBytes) client.close();
      done();
    },
  });
  try {
    const { code, message } = await client.downloadTo(sink, path);
    if (!TRANSFER_COMPLETE.includes(code)) throw new FetchFailure('body-broken', message);
  } catch (error) {
    // If the file is longer than the limit, `write` has closed the connection.
    if (length <= maxBytes) {
      if (client.ftp.transferHasBegun) throw brokenTransfer(error);
      if (error instanceof FTPError && FILE_UNAVAILABLE.includes(error.code)) {
        return { status: 404, headers: {}, body: undefined, respondedAt: now() };
      }
      throw error;
    }
  }
  const cut = length > maxBytes;
  const body: Body = { bytes: Buffer.concat(pieces, cut ? maxBytes + 1 : length), cut };
  return { status: 200, headers: {}, body, respondedAt: now() };
}

/** The decoded path of a URL, from the root. Refuses line ends, which would begin a command. */
function pathOf(url: URL): string {
  let path: string | undefined;
  try {
    path = decodeURIComponent(url.pathname);
  } catch {
    path = undefined;
  }
  if (path === undefined || path.includes('\r') || path.includes('\n') || path.includes('\0')) {
    throw new FetchFailure('redirect-refused', `the path of ${url.href} cannot be sent over ftp`);
  }
  return path;
}

/** The failure of a transfer that had begun. Even after a 550, a part of a file is not a file. */
function brokenTransfer(error: unknown): FetchFailure {
  const failure = ftpFailure(error);
  if (failure.code !== 'ftp-failed') return failure;
  return new FetchFailure('body-broken', failure.message, { cause: error });
}

function ftpFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  const text = errorText(withoutLocalAddress(error));
  const systemCode = localFaultOf([errorCode(error)]);
  if (systemCode !== undefined) return localFault(text, systemCode, error);
  // basic-ftp has no code for its timeouts, only a text.
  const code = text.startsWith('Timeout') ? 'body-timeout' : 'ftp-failed';
  return new FetchFailure(code, text, { cause: error });
}

/** Maximum length of a line of a reply, in characters. */
const LONGEST_LINE = 2 ** 16;

/** An ftp client that knows whether a transfer has begun, and reads replies line by line. */
class FtpClient extends Client {
  override readonly ftp: ControlConnection;

  constructor(timeout: number) {
    super(timeout);
    this.ftp = new ControlConnection(timeout);
  }
}

/**
 * The control connection. basic-ftp would take an incomplete line for a reply, and lose a reply
 * that arrives in two pieces. So this class passes on whole lines only.
 */
class ControlConnection extends FTPContext {
  #line = '';
  #hasBegun = false;

  /** Whether the server has announced the file (1xx), or has sent a part of it. */
  get transferHasBegun(): boolean {
    return this.#hasBegun;
  }

  override reset(): void {
    this.#line = '';
    super.reset();
  }

  protected override _onControlSocketData(chunk: string): void {
    const end = chunk.lastIndexOf('\n') + 1;
    const lines = end === 0 ? '' : this.#line + chunk.slice(0, end);
    this.#line = end === 0 ? this.#line + chunk : chunk.slice(end);
    if (this.#line.length > LONGEST_LINE) {
      this.closeWithError(new Error('FTP control response exceeded maximum allowed size'));
    } else if (lines !== '') {
      super._onControlSocketData(lines);
    }
  }

  protected override _passToHandler(reply: Error | FTPResponse): void {
    // Without a data connection (EPSV, PASV), a 1xx reply is a greeting with 120.
    const { dataSocket } = this;
    if (dataSocket !== undefined && (isPreliminary(reply) || dataSocket.bytesRead > 0)) {
      this.#hasBegun = true;
    }
    super._passToHandler(reply);
  }
}

function isPreliminary(reply: Error | FTPResponse): boolean {
  return !(reply instanceof Error) && reply.code < 200;
}
