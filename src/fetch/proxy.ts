/**
 * Proxies: which URLs go through one, the way through it, and its own answers, which are faults of
 * this machine and no findings about a host.
 *
 * undici's ProxyAgent does not serve: it takes any answer but 200 to CONNECT for one kind of error,
 * and opens connections of its own (see `exchange`).
 */

import { BlockList, isIP, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { isDigits } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { firstValue, type ResponseHead } from '../http/response.js';
import { parseUrl } from '../http/url.js';
import { MAX_PORT, withoutFinalDot } from '../protocol/authority.js';
import { isSuccess } from '../protocol/verdict.js';
import {
  type Answer,
  FetchFailure,
  isExhaustion,
  localFault,
  PROXY_AUTHENTICATION,
  PROXY_FAILED,
  PROXY_FTP,
  PROXY_REFUSED,
  requestFailure,
} from './answer.js';
import { connectToOne, portOf, secured, TimeBudget, unbracketed } from './connection.js';
import { type ExchangeOptions, exchange, IncomingHead } from './http-exchange.js';
import { PROXY_EXAMPLE, parseProxyUrl } from './limits.js';
import { permittedAddresses, type Resolve, refusePrivateHost, systemResolver } from './resolver.js';

/** The proxies of a run. */
export interface ProxySettings {
  /** The proxies for URLs by scheme; `undefined` for none. */
  readonly http: HttpProxy | undefined;
  readonly https: HttpProxy | undefined;
  /** Whether the host of a URL is asked without a proxy. */
  isExempt(url: URL): boolean;
}

/** A variable of the environment with a value. */
interface Variable {
  readonly name: string;
  readonly value: string;
}

/**
 * The variables of the environment that name a proxy and have a value, each in one case: that in
 * lower case wins, as in curl.
 */
export function proxyVariables(environment: NodeJS.ProcessEnv): Variable[] {
  return ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap(
    (name) => variableOf(environment, name) ?? [],
  );
}

/** The variable that exempts hosts. */
export function exemptionVariable(environment: NodeJS.ProcessEnv): Variable | undefined {
  return variableOf(environment, 'NO_PROXY');
}

function variableOf(environment: NodeJS.ProcessEnv, upper: string): Variable | undefined {
  for (const name of [upper.toLowerCase(), upper]) {
    const value = environment[name]?.trim() ?? '';
    if (value !== '') return { name, value };
  }
  return undefined;
}

/**
 * The proxies that the environment names; `undefined` if it names none.
 *
 * @param forwards whether http requests are sent to the proxy without a tunnel
 * @throws RobotsFilterError `usage` for a value that names no proxy; without the value
 */
export function environmentProxies(
  environment: NodeJS.ProcessEnv,
  forwards: boolean,
): ProxySettings | undefined {
  const variables = proxyVariables(environment);
  if (variables.length === 0) return undefined;
  const proxies = variables.map(({ name, value }) => ({
    name,
    proxy: new HttpProxy(value, name, forwards),
  }));
  const proxyOf = (wanted: string) =>
    proxies.find(({ name }) => name.toUpperCase() === wanted)?.proxy;
  const all = proxyOf('ALL_PROXY');
  const exempt = exemptionVariable(environment);
  return {
    http: proxyOf('HTTP_PROXY') ?? all,
    https: proxyOf('HTTPS_PROXY') ?? all,
    isExempt: exempt === undefined ? () => false : exemptionOf(exempt),
  };
}

/** One proxy for all URLs. */
export function singleProxy(url: string, forwards: boolean): ProxySettings {
  const proxy = new HttpProxy(url, '--proxy', forwards);
  return { http: proxy, https: proxy, isExempt: () => false };
}

/**
 * The proxy through which a URL goes; `undefined` for none.
 *
 * @throws FetchFailure `local-fault` for ftp
 */
export function proxyFor(url: URL, settings: ProxySettings | undefined): HttpProxy | undefined {
  if (settings === undefined || settings.isExempt(url)) return undefined;
  if (url.protocol === 'https:') return settings.https;
  if (url.protocol === 'http:') return settings.http;
  throw localFault('ftp does not go through a proxy', PROXY_FTP, undefined);
}

/**
 * Reads NO_PROXY: `*`, or names and addresses between commas or spaces. A name exempts its
 * subdomains too; a port after it exempts that port alone. `10.0.0.0/8` exempts hosts that are
 * written as such an address.
 *
 * @throws RobotsFilterError `usage` for a range that is none
 */
function exemptionOf({ name: variable, value }: Variable): (url: URL) => boolean {
  const entries = value.split(',').flatMap((part) => part.trim().split(' '));
  const ranges = new BlockList();
  const hosts: { readonly host: string; readonly port: number | undefined }[] = [];
  for (const entry of entries.filter((each) => each !== '')) {
    if (entry === '*') return () => true;
    if (entry.includes('/')) addRange(ranges, entry, variable);
    else hosts.push(exemptHost(entry));
  }
  return (url) => {
    const host = withoutFinalDot(url.hostname);
    const address = unbracketed(host);
    const family = isIP(address);
    if (family !== 0 && ranges.check(address, family === 6 ? 'ipv6' : 'ipv4')) return true;
    return hosts.some(
      (exempt) =>
        (exempt.port === undefined || exempt.port === portOf(url)) &&
        (host === exempt.host || (family === 0 && host.endsWith(`.${exempt.host}`))),
    );
  };
}

function addRange(ranges: BlockList, entry: string, variable: string): void {
  const slash = entry.indexOf('/');
  const address = unbracketed(entry.slice(0, slash));
  const bits = entry.slice(slash + 1);
  const family = isIP(address);
  if (
    family === 0 ||
    bits.length > 3 ||
    !isDigits(bits) ||
    Number(bits) > (family === 6 ? 128 : 32)
  ) {
    throw new RobotsFilterError(
      'usage',
      `${variable}: ${entry} is not a range of addresses, such as 10.0.0.0/8. Correct it`,
    );
  }
  ranges.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
}

/** A host as URLs write it, so that `::1`, `[::1]` and `*.Bücher.example` match. */
function exemptHost(entry: string): { readonly host: string; readonly port: number | undefined } {
  const colon = entry.lastIndexOf(':');
  const digits = entry.slice(colon + 1);
  const hasPort = colon > 0 && isDigits(digits) && Number(digits) <= MAX_PORT && isIP(entry) === 0;
  const name = hasPort ? entry.slice(0, colon) : entry;
  const bare = name.startsWith('*.') ? name.slice(2) : name.startsWith('.') ? name.slice(1) : name;
  const written = isIP(bare) === 6 ? `[${bare}]` : bare;
  const host = parseUrl(`http://${written}/`)?.hostname ?? bare.toLowerCase();
  return { host: withoutFinalDot(host), port: hasPort ? Number(digits) : undefined };
}

interface OpenOptions {
  /** Milliseconds for a connection: to the proxy, through it, and TLS included. */
  readonly connectTimeout: number;
  readonly allowPrivate: boolean;
  readonly ca?: SecureContextOptions['ca'] | undefined;
  readonly userAgent: string;
}

/** Statuses with which a proxy says that it did not reach the host (RFC 9110 section 15.6). */
const UNREACHED: readonly number[] = [502, 503, 504];
const AUTHENTICATION_REQUIRED = 407;

/** Fields by which a proxy tells an answer of its own from one of the host. */
const SQUID_ERROR = 'x-squid-error';
const PROXY_STATUS = 'proxy-status';

/** A proxy that speaks HTTP. No message and no result has its name and password. */
export class HttpProxy {
  readonly #url: URL;
  /** HOST:PORT, for messages. */
  readonly #name: string;
  readonly #authorization: string | undefined;
  readonly #forwards: boolean;
  /** The operator of the machine chose the proxy, so its name may be one of `/etc/hosts`. */
  readonly #resolve: Resolve = systemResolver(true);
  /** Number of answers so far, by which a silent proxy differs from a silent host. */
  #answers = 0;
  /** The demand for another name or password. Asking again may lock an account. */
  #demand: FetchFailure | undefined;

  /**
   * @param source what gave the text: an option or a variable
   * @param forwards whether http requests are sent to the proxy without a tunnel
   * @throws RobotsFilterError `usage` for a text that names no proxy; without the text
   */
  constructor(text: string, source: string, forwards: boolean) {
    const url = parseProxyUrl(text);
    if (typeof url === 'string') throw unusable(source, url);
    this.#url = url;
    this.#name = `${url.hostname}:${portOf(url)}`;
    this.#authorization = authorizationOf(url, source);
    this.#forwards = forwards;
  }

  /**
   * Connects to the host of a URL through a tunnel (CONNECT), or to the proxy if it forwards the
   * request. The connection of a tunnel is as that of `openConnection`.
   *
   * @throws FetchFailure
   */
  async open(url: URL, options: OpenOptions, signal: AbortSignal): Promise<Socket> {
    const host = unbracketed(url.hostname);
    refusePrivateHost(host, options.allowPrivate);
    if (this.#demand !== undefined) throw this.#demand;
    const budget = new TimeBudget(options.connectTimeout);
    const socket = await this.#connect(options, budget, signal);
    if (this.#isForwarded(url)) return socket;
    const answers = this.#answers;
    try {
      await budget.spend(undefined, signal, (inTime) =>
        this.#tunnel(socket, targetOf(url), options.userAgent, inTime),
      );
    } catch (error) {
      socket.destroy();
      throw this.#silence(requestFailure(error), targetOf(url), answers);
    }
    if (url.protocol !== 'https:') return socket;
    return await budget.spend(undefined, signal, (inTime) =>
      secured(socket, host, options.ca, inTime),
    );
  }

  /**
   * Sends one GET over a connection of `open`, as `exchange` does.
   *
   * @throws FetchFailure as `exchange`; `local-fault` if the proxy and not the host refuses
   */
  async exchange(
    socket: Socket,
    url: URL,
    options: ExchangeOptions,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (!this.#isForwarded(url)) return exchange(socket, url, options, signal);
    const target = targetOf(url);
    const answers = this.#answers;
    let isAnswered = false;
    const forwarding = {
      fields: [SQUID_ERROR, PROXY_STATUS],
      onHead: (head: ResponseHead) => {
        isAnswered = true;
        this.#answers++;
        if (isOwnAnswer(head)) throw this.#ownAnswer(head.status, target);
      },
    };
    const headers = {
      ...options.headers,
      ...(this.#authorization === undefined ? {} : { 'proxy-authorization': this.#authorization }),
    };
    try {
      return await exchange(socket, url, { ...options, headers, forwarding }, signal);
    } catch (error) {
      if (isAnswered) throw error;
      const failure = requestFailure(error);
      // A proxy that has lost the host says so with a status.
      if (failure.code !== 'connect-failed') throw this.#silence(failure, target, answers);
      throw this.#fault(PROXY_FAILED, `broke off at ${target}: ${failure.message}`, error);
    }
  }

  #isForwarded(url: URL): boolean {
    return this.#forwards && url.protocol === 'http:';
  }

  /** Connects to the proxy itself. Any failure is a fault of this machine. */
  async #connect({ ca }: OpenOptions, budget: TimeBudget, signal: AbortSignal): Promise<Socket> {
    const host = unbracketed(this.#url.hostname);
    try {
      const addresses = await budget.spend(undefined, signal, () =>
        permittedAddresses(host, this.#resolve, true),
      );
      // --per-address protects the hosts, and not the proxy, to which all connections go.
      const turn = async () => () => undefined;
      const socket = await connectToOne(addresses, portOf(this.#url), budget, turn, signal);
      if (this.#url.protocol !== 'https:') return socket;
      return await budget.spend(undefined, signal, (inTime) => secured(socket, host, ca, inTime));
    } catch (error) {
      const failure = requestFailure(error);
      if (failure.code === 'aborted' || isExhaustion(failure.systemCode ?? '')) throw failure;
      throw this.#fault(PROXY_FAILED, `cannot be reached: ${failure.message}`, error);
    }
  }

  /** Asks for a tunnel, and reads the answer. */
  #tunnel(socket: Socket, target: string, userAgent: string, inTime: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const incoming = new IncomingHead([]);
      const end = (error?: unknown) => {
        socket.off('readable', read);
        for (const event of ENDS) socket.off(event, broken);
        inTime.removeEventListener('abort', abort);
        if (error === undefined) resolve();
        else reject(error);
      };
      const abort = () => end(inTime.reason);
      const broken = (cause?: unknown) => {
        const how = 'closed the connection in place of an answer';
        end(this.#fault(PROXY_FAILED, `${how} to CONNECT ${target}`, cause));
      };
      const read = () => {
        try {
          for (;;) {
            const piece: Buffer | null = socket.read();
            if (piece === null) return;
            const found = incoming.take(piece);
            if (found === undefined) continue;
            this.#answers++;
            end(this.#refusalOf(found.head.status, found.rest, target));
            return;
          }
        } catch (error) {
          const { message } = requestFailure(error);
          end(this.#fault(PROXY_FAILED, `does not speak HTTP: ${message}`, error));
        }
      };
      inTime.addEventListener('abort', abort);
      socket.on('readable', read);
      for (const event of ENDS) socket.once(event, broken);
      const fields = [
        `Host: ${target}`,
        `User-Agent: ${userAgent}`,
        ...(this.#authorization === undefined
          ? []
          : [`Proxy-Authorization: ${this.#authorization}`]),
      ];
      socket.write(`CONNECT ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, 'latin1');
    });
  }

  /** Why an answer to CONNECT opens no tunnel; `undefined` if it opens one. */
  #refusalOf(status: number, rest: Buffer, target: string): FetchFailure | undefined {
    if (!isSuccess(status)) return this.#ownAnswer(status, target);
    if (rest.length === 0) return undefined;
    return this.#fault(PROXY_FAILED, `sent data before ${target} was asked`);
  }

  /** The failure that an answer of the proxy itself means. */
  #ownAnswer(status: number, target: string): FetchFailure {
    if (status === AUTHENTICATION_REQUIRED) {
      const what = this.#authorization === undefined ? 'asks for a' : 'refuses the';
      this.#demand ??= this.#fault(PROXY_AUTHENTICATION, `${what} name and password (407)`);
      return this.#demand;
    }
    if (UNREACHED.includes(status)) {
      const text = `the proxy ${this.#name} did not reach ${target} (${status})`;
      return new FetchFailure('connect-failed', text);
    }
    if (status >= 500) return this.#fault(PROXY_FAILED, `failed at ${target} (${status})`);
    return this.#fault(PROXY_REFUSED, `refuses ${target} (${status})`);
  }

  /**
   * What a timeout means. A proxy that is silent about one host while it answers for others waits
   * for that host. If it answers for none, nobody knows.
   *
   * @param answers number of answers when the question was asked
   */
  #silence(failure: FetchFailure, target: string, answers: number): FetchFailure {
    const isLate = failure.code === 'connect-timeout' || failure.code === 'header-timeout';
    if (!isLate || this.#answers > answers) return failure;
    return this.#fault(PROXY_FAILED, `did not answer for ${target}: ${failure.message}`, failure);
  }

  #fault(code: string, text: string, cause?: unknown): FetchFailure {
    return localFault(`the proxy ${this.#name} ${text}`, code, cause);
  }
}

/** The events that end a connection. */
const ENDS = ['end', 'error', 'close'] as const;

/** HOST:PORT of a URL, for CONNECT and messages. */
function targetOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/** Whether a proxy that forwards requests says that it made the answer. */
function isOwnAnswer(head: ResponseHead): boolean {
  if (head.status === AUTHENTICATION_REQUIRED) return true;
  if (firstValue(head, SQUID_ERROR) !== undefined) return true;
  // RFC 9209 section 2.1.1: the parameter tells of an error of the proxy itself.
  return firstValue(head, PROXY_STATUS)?.includes('error=') === true;
}

/** The value of `Proxy-Authorization` (RFC 7617); `undefined` for a URL without a name. */
function authorizationOf(url: URL, source: string): string | undefined {
  if (url.username === '' && url.password === '') return undefined;
  try {
    const words = [url.username, url.password].map(decodeURIComponent);
    return `Basic ${Buffer.from(words.join(':')).toString('base64')}`;
  } catch {
    throw unusable(source, 'its name or password has a % that begins no escape (write %25)');
  }
}

function unusable(source: string, reason: string): RobotsFilterError {
  return new RobotsFilterError(
    'usage',
    `${source} names no proxy that can be used: ${reason}. Give a URL, ${PROXY_EXAMPLE}`,
  );
}
