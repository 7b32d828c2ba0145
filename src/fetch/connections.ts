import { isIP, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import { addressRefusal } from './addresses.js';
import { errorCode, errorText, FetchFailure } from './failure.js';
import { permittedAddresses, type Resolve, refusal } from './resolver.js';

export interface ConnectionOptions {
  /** Milliseconds until a connection must stand, name servers and TLS included. */
  readonly connectTimeout: number;
  readonly headerTimeout: number;
  readonly bodyTimeout: number;
  readonly allowPrivate: boolean;
  /** Certificates to trust in place of the usual ones. */
  readonly ca: SecureContextOptions['ca'];
  readonly resolve: Resolve;
}

/**
 * Milliseconds that an idle connection is kept: a robots.txt is asked for once, so only a redirect, or a host that others redirect
 * to, has a use for it.
 */
const IDLE_TIMEOUT = 1_000;

/** Milliseconds until the next of several addresses is tried. */
const ADDRESS_TIMEOUT = 1_000;

/** An origin with requests under way, or with an HTTP/2 connection. */
interface Origin {
  uses: number;
  /** The connection of HTTP/2. */
  socket: Socket | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Whether the last connection of HTTP/1.1 ended in an error. */
  broken: boolean;
}

/** The connections of a fetcher: one to an origin at a time, each to an address that is permitted. */
export class Connections {
  readonly #agent: Agent;
  readonly #origins = new Map<string, Origin>();

  constructor(options: ConnectionOptions) {
    this.#agent = new Agent({
      connections: 1,
      pipelining: 1,
      headersTimeout: options.headerTimeout,
      bodyTimeout: options.bodyTimeout,
      keepAliveTimeout: IDLE_TIMEOUT,
      keepAliveMaxTimeout: IDLE_TIMEOUT,
      connect: permittedConnector(options, (origin, socket) => this.#connected(origin, socket)),
    });
  }

  /** Asks for a URL. The connection counts as in use until `release` is called for its origin. */
  async request(
    url: URL,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const held = this.#hold(url.origin);
    held.uses++;
    clearTimeout(held.timer);
    // Not `pathname` and `search`, which know nothing of an empty query's `?`.
    const path = url.href.slice(url.origin.length);
    return this.#agent.request({ origin: url.origin, path, method: 'GET', headers, signal });
  }

  release(url: URL): void {
    const held = this.#origins.get(url.origin);
    if (held === undefined) return;
    held.uses--;
    if (held.uses > 0) return;
    if (held.socket === undefined) this.#origins.delete(url.origin);
    else endWhenIdle(held, held.socket);
  }

  /** Ends all connections, those in use too. */
  async close(): Promise<void> {
    for (const { timer } of this.#origins.values()) clearTimeout(timer);
    await this.#agent.destroy();
  }

  /**
   * Whether the connection to the URL's origin ended in an error. undici takes that for the end of a body which the end of the
   * connection delimits (RFC 9112 section 6.3); only between `request` and `release`.
   */
  wasBroken(url: URL): boolean {
    return this.#origins.get(url.origin)?.broken ?? false;
  }

  #hold(origin: string): Origin {
    const known = this.#origins.get(origin);
    if (known !== undefined) return known;
    const held = { uses: 0, socket: undefined, timer: undefined, broken: false };
    this.#origins.set(origin, held);
    return held;
  }

  #connected(origin: string, socket: Socket): void {
    if (isHttp2(socket)) {
      this.#keepHttp2(origin, socket);
      return;
    }
    const asking = this.#origins.get(origin);
    if (asking !== undefined) asking.broken = false;
    socket.once('error', (error) => {
      const held = this.#origins.get(origin);
      // The system's errors, not those that undici ends a socket with.
      if (held !== undefined && 'syscall' in error) held.broken = true;
    });
  }

  /** undici ends idle connections of HTTP/1.1; one of HTTP/2 it would keep for as long as the server does. */
  #keepHttp2(origin: string, socket: Socket): void {
    const held = this.#hold(origin);
    held.socket = socket;
    // Whoever it was opened for may have given up in the meantime.
    if (held.uses === 0) endWhenIdle(held, socket);
    socket.once('close', () => {
      if (held.socket !== socket) return;
      clearTimeout(held.timer);
      held.socket = undefined;
      if (held.uses === 0 && this.#origins.get(origin) === held) this.#origins.delete(origin);
    });
  }
}

function isHttp2(socket: Socket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}

function endWhenIdle(held: Origin, socket: Socket): void {
  // With an error of the kind that undici ends its own with: without one it trips over the socket that is gone.
  const end = () => socket.destroy(new errors.InformationalError('idle'));
  held.timer = setTimeout(end, IDLE_TIMEOUT).unref();
}

/**
 * A connector for undici that connects to permitted addresses only. Names go through a `lookup` that gives out nothing else; what is
 * an address already is judged before. Last, the address that the socket did connect to is judged, before an octet of HTTP is sent.
 */
function permittedConnector(
  { connectTimeout, allowPrivate, ca, resolve }: ConnectionOptions,
  onConnected: (origin: string, socket: Socket) => void,
): buildConnector.connector {
  const connect = buildConnector({
    allowH2: true,
    timeout: connectTimeout,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT,
    lookup: (host, options, callback) => {
      permittedAddresses(host, resolve, allowPrivate).then(
        (addresses) => {
          const [first] = addresses;
          if (options.all) callback(null, [...addresses]);
          else callback(null, first?.address ?? '', first?.family);
        },
        (error) => callback(error, ''),
      );
    },
    ...(ca === undefined ? {} : { ca }),
  } as buildConnector.BuildOptions);

  return (options, callback) => {
    const { hostname, protocol, host } = options;
    if (!allowPrivate && isIP(hostname) !== 0 && addressRefusal(hostname) !== undefined) {
      queueMicrotask(() => callback(refusal(hostname, hostname), null));
      return;
    }
    let connected = false;
    const socket = connect(options, (error, connection) => {
      if (error !== null) {
        const isTls =
          protocol === 'https:' && connected && errorCode(error) !== 'UND_ERR_CONNECT_TIMEOUT';
        callback(
          isTls ? new FetchFailure('tls-failed', errorText(error), { cause: error }) : error,
          null,
        );
        return;
      }
      const { remoteAddress } = connection;
      if (!allowPrivate && (remoteAddress === undefined || addressRefusal(remoteAddress))) {
        connection.destroy();
        callback(refusal(hostname, remoteAddress ?? 'unknown'), null);
        return;
      }
      onConnected(`${protocol}//${host}`, connection);
      callback(null, connection);
      // undici's connector returns its socket, which its types do not say.
    }) as unknown as Socket;
    socket.once('connect', () => {
      connected = true;
    });
  };
}
