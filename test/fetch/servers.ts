import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type {
  FetchAuthority,
  FetchErrorCode,
  FetchResult,
  StoredCopy,
} from '../../src/fetch/result.js';
import type { FetchOptions } from '../../src/fetch/robots-fetcher.js';
import { RobotsFetcher } from '../../src/fetch/robots-fetcher.js';
import type { Scheme } from '../../src/protocol/authority.js';

const TLS = new URL('../../fixtures/tls/', import.meta.url);
/** Its key. */
export const key = readFileSync(fileURLToPath(new URL('key.pem', TLS)));

/** The certificate of the servers here, which nothing trusts unless it is told to. */
export const certificate = readFileSync(fileURLToPath(new URL('certificate.pem', TLS)));

export const USER_AGENT = 'TestBot/1.0 (+https://bot.example/)';
export const ROBOTS = 'user-agent: *\ndisallow: /private\n';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** Servers and fetchers of one test file: ended together. */
export class Loopback {
  readonly #ends: (() => Promise<void> | void)[] = [];

  /** @param host where to listen; `::` is every address of the machine, of both families. */
  async http(handler: Handler, host = '127.0.0.1'): Promise<Listening> {
    return this.#listen(http.createServer(handler), 'http', host);
  }

  async https(handler: Handler, host = '127.0.0.1'): Promise<Listening> {
    return this.#listen(https.createServer({ key, cert: certificate }, handler), 'https', host);
  }

  /** A server that always answers with this body. */
  serving(body: string | Uint8Array, scheme: 'http' | 'https' = 'http'): Promise<Listening> {
    return this[scheme]((_request, response) => response.end(body));
  }

  /** A server that always redirects to this place. */
  redirecting(location: string, status = 301): Promise<Listening> {
    return this.http((_request, response) => response.writeHead(status, { location }).end());
  }

  async http2(
    handler: (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void,
    allowHTTP1: boolean,
  ): Promise<Listening> {
    const server = http2.createSecureServer({ key, cert: certificate, allowHTTP1 }, handler);
    return this.#listen(server, 'https', '127.0.0.1');
  }

  /**
   * A proxy. It looks up no names: each host is a server of this machine, at the port that the URL
   * names.
   *
   * @param refuse writes the answer to CONNECT or a request, and returns true, in place of the host
   */
  async proxy(
    refuse: (request: http.IncomingMessage, answer: (bytes: string) => void) => boolean = () =>
      false,
    scheme: 'http' | 'https' = 'http',
  ): Promise<Listening & { readonly requests: string[]; readonly authorizations: unknown[] }> {
    const server =
      scheme === 'http' ? http.createServer() : https.createServer({ key, cert: certificate });
    const requests: string[] = [];
    const authorizations: unknown[] = [];
    const note = (request: http.IncomingMessage) => {
      requests.push(`${request.method} ${request.url}`);
      authorizations.push(request.headers['proxy-authorization']);
    };
    server.on('connect', (request: http.IncomingMessage, socket: Socket) => {
      note(request);
      socket.on('error', () => undefined);
      if (refuse(request, (bytes) => socket.end(bytes))) return;
      const port = Number(request.url?.slice(request.url.lastIndexOf(':') + 1));
      const host = net.connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        host.pipe(socket).pipe(host);
      });
      host.on('error', () => socket.destroy());
      host.on('close', () => socket.destroy());
      socket.on('close', () => host.destroy());
    });
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      note(request);
      if (refuse(request, (bytes) => response.socket?.end(bytes))) return;
      const { port, pathname } = new URL(request.url ?? '');
      const { 'proxy-authorization': _, ...headers } = request.headers;
      http.get({ host: '127.0.0.1', port, path: pathname, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      });
    });
    return Object.assign(await this.#listen(server, scheme, '127.0.0.1'), {
      requests,
      authorizations,
    });
  }

  /** A server of plain bytes. */
  async raw(onConnection: (socket: Socket) => void): Promise<Listening> {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      onConnection(socket);
    });
    return this.#listen(server, 'http', '127.0.0.1');
  }

  /**
   * A server that answers each first bytes of a request with these, and keeps the connection
   * unless told to end it.
   */
  async answering(bytes: string | Buffer, then: 'keep' | 'end' | 'reset'): Promise<Listening> {
    return this.raw((socket) => {
      socket.once('data', () => {
        socket.write(bytes, () => {
          if (then === 'end') socket.end();
          if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
        });
      });
    });
  }

  /** A fetcher that may ask loopback and trusts the certificate. */
  fetcher(options: Partial<FetchOptions> = {}): RobotsFetcher {
    const fetcher = new RobotsFetcher({
      userAgent: USER_AGENT,
      allowPrivate: true,
      ca: certificate,
      pause: 0,
      perAddress: 1024,
      ...options,
    });
    this.#ends.push(() => fetcher.close());
    return fetcher;
  }

  /** Fetches once, with a new fetcher. */
  fetch(
    from: Listening | FetchAuthority,
    options: Partial<FetchOptions> = {},
  ): Promise<FetchResult> {
    const authority = from instanceof Listening ? from.authority() : from;
    return fetchOnce(this.fetcher(options), authority);
  }

  onEnd(end: () => Promise<void> | void): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  async #listen(server: net.Server, scheme: Scheme, host: string): Promise<Listening> {
    const listening = new Listening(server, scheme, host);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    this.#ends.push(() => listening.close());
    return listening;
  }
}

/** A server that listens, and counts who comes. */
export class Listening {
  /** Connections so far. */
  connections = 0;
  readonly sockets = new Set<Socket>();
  readonly #server: net.Server;
  readonly #scheme: Scheme;
  readonly #host: string;

  constructor(server: net.Server, scheme: Scheme, host: string) {
    this.#server = server;
    this.#scheme = scheme;
    this.#host = host;
    server.on('connection', (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  authority(host = this.#host): FetchAuthority {
    return { scheme: this.#scheme, host, port: this.port };
  }

  url(path = '/robots.txt', host = this.#host): string {
    return `${this.#scheme}://${host}:${this.port}${path}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function fetchOnce(
  fetcher: RobotsFetcher,
  authority: FetchAuthority,
  stored?: StoredCopy,
): Promise<FetchResult> {
  return fetcher.fetch(authority, stored, new AbortController().signal);
}

export function textOf(result: FetchResult): string | undefined {
  return result.body === undefined ? undefined : Buffer.from(result.body).toString('utf8');
}

/** The result of a fetch that failed with this code, as far as tests compare it. */
export function unreachable(
  code: FetchErrorCode,
  { message, ...members }: { message?: string; status?: number | undefined } = {},
): object {
  const error = message === undefined ? { code } : { code, message };
  return { accessResult: 'unreachable', error, ...members };
}
