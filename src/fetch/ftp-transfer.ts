import { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';
import { FTPError } from 'basic-ftp';
import { DEFAULT_PORTS } from '../protocol/authority.js';
import type { Answer } from './answer.js';
import type { Body } from './body.js';
import { type TakeAddress, unbracketed, withoutLocalAddress } from './connection.js';
import { connectFailure, errorCode, errorText, FetchFailure, localFault } from './failure.js';
import { FtpClient } from './ftp-client.js';
import { localFaultOf } from './local-fault.js';
import { type HostAddress, permittedAddresses, type Resolve } from './resolver.js';
import type { EndTurn } from './turns.js';

export interface FtpOptions {
  readonly connectTimeout: number;
  /** Milliseconds that the server may take for a reply, or between two pieces of the file. */
  readonly replyTimeout: number;
  readonly maxBytes: number;
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  readonly now: () => number;
}

/**
 * RETR's reply for a file that does not exist or is not to be had (RFC 959 section 4.2), and what
 * some servers say in its place.
 */
const FILE_UNAVAILABLE: readonly number[] = [550, 551];

/** The replies that say that a transfer is complete (RFC 959 section 5.4). */
const TRANSFER_COMPLETE: readonly number[] = [226, 250];

/**
 * Retrieves a file by anonymous ftp. The control connection goes to a permitted address; the data
 * connection goes to that address too, as the client ignores the host of EPSV and refuses a PASV
 * that names another.
 *
 * @throws FetchFailure for everything but a file and its absence.
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
    const port = Number(url.port || DEFAULT_PORTS.ftp);
    end = await connect(client, addresses, port, options, takeAddress, signal);
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
    // After the limit it was closed here.
    if (length <= maxBytes) {
      if (client.ftp.transferHasBegun) throw brokenTransfer(error);
      if (error instanceof FTPError && FILE_UNAVAILABLE.includes(error.code)) {
        return { status: 404, headers: {}, body: undefined, respondedAt: now() };
      }
      throw error;
    }
  }
  const cut = length > maxBytes;
  const body: Body = { octets: Buffer.concat(pieces, cut ? maxBytes + 1 : length), cut };
  return { status: 200, headers: {}, body, respondedAt: now() };
}

/**
 * The path of a URL as ftp has it: decoded, and from the root on. A line end in it would be a
 * command of its own.
 */
function pathOf(url: URL): string {
  let path: string | undefined;
  try {
    path = decodeURIComponent(url.pathname);
  } catch {
    path = undefined;
  }
  if (path === undefined || path.includes('\r') || path.includes('\n') || path.includes('\0')) {
    throw new FetchFailure('redirect-refused', `${url.href} has a path that ftp cannot ask for`);
  }
  return path;
}

/**
 * What ended a transfer that had begun: whatever the server says of it, part of a file is no file.
 */
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
  // The client knows its timeouts by their text alone.
  const code = text.startsWith('Timeout') ? 'body-timeout' : 'ftp-failed';
  return new FetchFailure(code, text, { cause: error });
}
