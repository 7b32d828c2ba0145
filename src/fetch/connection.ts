/** Connections to addresses that may be asked, in turn. */

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContextOptions } from 'node:tls';
import { DEFAULT_PORTS } from '../protocol/authority.js';
import { connectFailure, FetchFailure, tlsFailure } from './answer.js';
import { type HostAddress, permittedAddresses, type Resolve } from './resolver.js';

interface ConnectionOptions {
  /** Milliseconds for a connection, name servers and TLS included. */
  readonly connectTimeout: number;
  readonly allowPrivate: boolean;
  /** Certificates to trust instead of Node's own. */
  readonly ca?: SecureContextOptions['ca'] | undefined;
  readonly resolve: Resolve;
}

/** Node's messages end with this text if the connection had no local address yet. */
const NO_LOCAL_ADDRESS = ' - Local (undefined:undefined)';

/** Waits for a turn at an address. */
export type TakeAddress = (address: string) => Promise<EndTurn>;

/** Milliseconds after which the next of several addresses is tried. */
const ADDRESS_TIMEOUT = 1_000;

/**
 * Connects to the host of an http or https URL, at one of its permitted addresses. The connection
 * goes to the address that was checked, not to the name. The turn at the address ends with the
 * connection.
 *
 * TLS offers only HTTP/1.1, which tells a complete body from a truncated one.
 *
 * @throws FetchFailure
 */
export async function openConnection(
  url: URL,
  options: ConnectionOptions,
  takeAddress: TakeAddress,
  signal: AbortSignal,
): Promise<Socket> {
  const host = unbracketed(url.hostname);
  const budget = new TimeBudget(options.connectTimeout);
  const addresses = await budget.spend(undefined, signal, () =>
    permittedAddresses(host, options.resolve, options.allowPrivate),
  );
  const socket = await connectToOne(addresses, portOf(url), budget, takeAddress, signal);
  if (url.protocol !== 'https:') return socket;
  return await budget.spend(undefined, signal, (inTime) =>
    secured(socket, host, options.ca, inTime),
  );
}

/** The port of a URL, or that of its scheme. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return DEFAULT_PORTS[protocol === 'ftp:' ? 'ftp' : protocol === 'https:' ? 'https' : 'http'];
}

/**
 * Whether a connection that has just ended was closed, not reset. If a reset arrives together with
 * the last bytes, libuv reports an end for both. After a reset, the system no longer knows the peer
 * of the connection.
 *
 * Call this in the listener of `end`, before this side closes. Do not read `remoteAddress` before,
 * because Node caches it.
 */
export function wasClosedOrderly(socket: Socket): boolean {
  return socket.remoteAddress !== undefined;
}

/** The host of a URL without the brackets of an IPv6 address. */
export function unbracketed(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/**
 * Tries the addresses of a host in turn.
 *
 * @throws FetchFailure
 */
export async function connectToOne(
  addresses: readonly HostAddress[],
  port: number,
  budget: TimeBudget,
  takeAddress: TakeAddress,
  signal: AbortSignal,
): Promise<Socket> {
  const failures: unknown[] = [];
  for (const [index, { address }] of addresses.entries()) {
    const end = await takeAddress(address);
    const most = index < addresses.length - 1 ? ADDRESS_TIMEOUT : undefined;
    try {
      const socket = await budget.spend(most, signal, (inTime) => dial(address, port, inTime));
      socket.once('close', end);
      return socket;
    } catch (error) {
      end();
      signal.throwIfAborted();
      failures.push(error);
      if (budget.isSpent) break;
    }
  }
  throw connectFailure(failures);
}

/** Removes the local address from an error's message if there was none yet. */
export function withoutLocalAddress(error: unknown): unknown {
  if (error instanceof Error) error.message = error.message.replace(NO_LOCAL_ADDRESS, '');
  return error;
}

function dial(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: address, port });
    const abort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', abort);
    const fail = (error: unknown) => reject(withoutLocalAddress(error));
    socket.once('error', fail);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.off('error', fail);
      // The user of the connection adds a listener; until then an error must not end the process.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

/**
 * Agrees on TLS over a connection.
 *
 * @throws FetchFailure `tls-failed`
 */
export function secured(
  socket: Socket,
  host: string,
  ca: SecureContextOptions['ca'],
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      secure.destroy();
      socket.destroy();
      if (signal.aborted) reject(signal.reason);
      else reject(tlsFailure(error));
    };
    const secure = connectTls({
      socket,
      host,
      // The server name must not be an address (RFC 6066 section 3).
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...(ca === undefined ? {} : { ca }),
    });
    const abort = () => fail(signal.reason);
    signal.addEventListener('abort', abort);
    secure.once('error', fail);
    secure.on('error', () => undefined);
    secure.once('secureConnect', () => {
      signal.removeEventListener('abort', abort);
      secure.off('error', fail);
      resolve(secure);
    });
  });
}

/** The time for a connection. Waiting for a turn does not count. */
export class TimeBudget {
  readonly #total: number;
  #left: number;

  constructor(milliseconds: number) {
    this.#total = milliseconds;
    this.#left = milliseconds;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /**
   * Carries out a step in the remaining time, or in `most` milliseconds of it. The step gets a
   * signal that is aborted when its time is over, or with `signal`. This method then rejects
   * without waiting for the step.
   */
  async spend<T>(
    most: number | undefined,
    signal: AbortSignal,
    step: (inTime: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const controller = new AbortController();
    const begin = performance.now();
    const limit = Math.max(Math.min(most ?? this.#left, this.#left), 0);
    const timer = setTimeout(() => {
      const text = `not connected after ${Math.round(most === limit ? limit : this.#total)} ms`;
      controller.abort(new FetchFailure('connect-timeout', text));
    }, limit);
    const abort = () => controller.abort(signal.reason);
    signal.addEventListener('abort', abort);
    try {
      return await Promise.race([step(controller.signal), rejectedBy(controller.signal)]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      this.#left -= performance.now() - begin;
    }
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Ends a turn. Further calls do nothing. */
export type EndTurn = () => void;

interface TurnLimits {
  /** Maximum number of turns at one key at a time. */
  readonly atOnce: number;
  /** Milliseconds from the end of a turn to the next turn at the same key. */
  readonly pause: number;
  /** Maximum number of fetches that wait for one key. */
  readonly mostWaiting: number;
}

/** The turns that are held at a key, and the queue for it. */
interface Queue {
  readonly key: string;
  held: number;
  /** The waiting fetches, in the order of their arrival. */
  readonly waiting: Set<(end: EndTurn) => void>;
  /** The timer of the pause after a turn. */
  pause: NodeJS.Timeout | undefined;
}

/**
 * Turns at keys, such as hosts or addresses: a limited number at a time, with a pause after each. A
 * key takes memory only while turns are held, fetches wait or the pause runs.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #queues = new Map<string, Queue>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Takes a turn if one is free now. */
  tryTake(key: string): EndTurn | undefined {
    const queue = this.#queues.get(key) ?? this.#open(key);
    return queue.waiting.size === 0 && this.#isFree(queue) ? this.#grant(queue) : undefined;
  }

  /** Whether the queue for a key is full. */
  isCrowded(key: string): boolean {
    return (this.#queues.get(key)?.waiting.size ?? 0) >= this.#limits.mostWaiting;
  }

  /** Waits for a turn. Rejects with the signal's reason when the signal is aborted. */
  take(key: string, signal: AbortSignal): Promise<EndTurn> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const queue = this.#queues.get(key) ?? this.#open(key);
      const leave = () => {
        queue.waiting.delete(granted);
        if (queue.waiting.size === 0) queue.pause?.unref();
        this.#closeIdle(queue);
        reject(signal.reason);
      };
      const granted = (end: EndTurn) => {
        signal.removeEventListener('abort', leave);
        resolve(end);
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.waiting.add(granted);
      // If everything waits, only this timer keeps the process alive.
      queue.pause?.ref();
      this.#grantNext(queue);
    });
  }

  /** Ends all pauses. */
  close(): void {
    for (const { pause } of this.#queues.values()) clearTimeout(pause);
    this.#queues.clear();
  }

  #open(key: string): Queue {
    const queue = { key, held: 0, waiting: new Set<(end: EndTurn) => void>(), pause: undefined };
    this.#queues.set(key, queue);
    return queue;
  }

  #isFree(queue: Queue): boolean {
    return queue.held < this.#limits.atOnce && queue.pause === undefined;
  }

  #grant(queue: Queue): EndTurn {
    queue.held++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      queue.held--;
      this.#afterTurn(queue);
    };
  }

  #afterTurn(queue: Queue): void {
    const { pause } = this.#limits;
    if (pause === 0) {
      this.#grantNext(queue);
      return;
    }
    clearTimeout(queue.pause);
    queue.pause = setTimeout(() => {
      queue.pause = undefined;
      this.#grantNext(queue);
    }, pause);
    if (queue.waiting.size === 0) queue.pause.unref();
  }

  #grantNext(queue: Queue): void {
    for (const granted of queue.waiting) {
      if (!this.#isFree(queue)) return;
      queue.waiting.delete(granted);
      granted(this.#grant(queue));
    }
    this.#closeIdle(queue);
  }

  #closeIdle(queue: Queue): void {
    const idle = queue.held === 0 && queue.waiting.size === 0 && queue.pause === undefined;
    if (idle && this.#queues.get(queue.key) === queue) this.#queues.delete(queue.key);
  }
}
