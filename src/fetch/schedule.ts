/** Who is asked when: one request for each host at a time, retries, back-off. */

import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { FetchState } from '../sources/fetch-state.js';
import { FetchFailure, isRefusal } from './answer.js';
import { RANGES } from './limits.js';
import type { FetchAuthority, Fetcher, FetchResult, Permit } from './result.js';
import { type Store, StoreFault } from './store.js';

/**
 * Maximum number of open or running tasks beyond which no authority is taken, to bound the memory.
 */
const MOST_OPEN = 65_536;
const MOST_RUNNING = 4096;

/**
 * Number of tries after a fault of this machine, including the first. They do not reach any host.
 */
const LOCAL_TRIES = 3;

/** Longest wait in milliseconds. A longer `Retry-After` is left to a later run. */
const LONGEST_WAIT = 60_000;

export interface ScheduleOptions {
  /** Maximum number of fetches under way. Default 64. */
  readonly concurrency?: number | undefined;
  /** Number of attempts at an unreachable authority, including the first; at least 1. Default 3. */
  readonly attempts?: number | undefined;
  /** Returns a number from 0 up to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Resolves after this many milliseconds, or at once when the signal is aborted. */
  readonly sleep?: ((delay: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** A clock in milliseconds that is never set back. Default `performance.now`. */
  readonly now?: (() => number) | undefined;
  /** Called once for each authority, when it is done. */
  readonly onDone?: ((done: FetchDone) => void) | undefined;
}

/** The outcome for an authority. */
export interface FetchDone {
  readonly authority: FetchAuthority;
  /** The state that the store now has; `undefined` if it has none. */
  readonly state: FetchState | undefined;
  /** The last attempt; `undefined` if the state was fresh and there was no request. */
  readonly result: FetchResult | undefined;
  /** Number of attempts. */
  readonly attempts: number;
  /** The reason why the store has no new state, although a request was due. */
  readonly unkept?: Unkept | undefined;
}

/** The reason why nothing was recorded for an authority. */
export interface Unkept {
  /**
   * `host-crowded`, `local-fault`: as in a result; no answer was recorded. `retry-after`: another
   * authority of the host asked for no request in the time of this run. `store`: the authority's
   * files cannot be written.
   */
  readonly kind: 'host-crowded' | 'local-fault' | 'retry-after' | 'store';
  /** The system's code; empty if there is none. */
  readonly code: string;
  readonly message: string;
}

/** An authority whose fetch is under way or waits. */
interface Task {
  readonly authority: FetchAuthority;
  attempts: number;
  /** Whether the task has looked up the authority's state in the store. */
  isLookedUp: boolean;
  /** Number of look-ups in the store that failed. */
  lookUps: number;
  /** The state that the store had. */
  before: FetchState | undefined;
}

/**
 * Fetches many authorities into a store, each one once.
 *
 * One request per host at a time; after a failure its other authorities wait for the retry. A task
 * that waits, for a retry or for its turn at a host or address, holds no permit.
 */
export class Schedule {
  readonly #fetcher: Fetcher;
  readonly #store: Store;
  readonly #options: ScheduleOptions;
  /** Hosts with an open task, and the tasks that wait for it to end. */
  readonly #hosts = new Map<string, Task[]>();
  /** Hosts without an open task that answered with `Retry-After`. */
  readonly #holds: HostHolds;
  /** Tasks that can start as soon as a permit is free. */
  readonly #ready: { task: Task; host: string }[] = [];
  readonly #stopping = new AbortController();
  readonly #permits: Permits;
  /** Tasks that have started, including those that wait for a turn. */
  #running = 0;
  /** Number of tasks that were taken and are not done: running, ready or waiting. */
  #open = 0;
  #failure: unknown;
  #wake: () => void = () => {};

  constructor(fetcher: Fetcher, store: Store, options: ScheduleOptions = {}) {
    this.#fetcher = fetcher;
    this.#store = store;
    this.#options = options;
    const { concurrency = RANGES.concurrency.standard, now = () => performance.now() } = options;
    this.#holds = new HostHolds(now);
    // Each task that waits for a retry listens.
    setMaxListeners(0, this.#stopping.signal);
    this.#permits = new Permits(concurrency, this.#stopping.signal, () => this.#wake());
  }

  /** Starts nothing more. Requests under way are completed and kept; waiting tasks are dropped. */
  stop(): void {
    this.#stopping.abort();
    this.#wake();
  }

  /**
   * Fetches authorities. Takes them from the iterable as permits become free.
   *
   * @param signal ends the requests under way too, without keeping their results
   * @throws RobotsFilterError `output` if the store cannot be written
   */
  async run(
    authorities: Iterable<FetchAuthority> | AsyncIterable<FetchAuthority>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> {
    const onAbort = () => this.stop();
    signal.addEventListener('abort', onAbort);
    try {
      for await (const authority of authorities) {
        if (this.#isStopped(signal)) break;
        this.#enqueue({
          authority,
          attempts: 0,
          isLookedUp: false,
          lookUps: 0,
          before: undefined,
        });
        while (
          !this.#isStopped(signal) &&
          (!this.#permits.isFree || this.#ready.length > 0 || this.#isCrowded)
        ) {
          this.#start(signal);
          if (this.#permits.isFree && !this.#isCrowded) break;
          await this.#change();
        }
      }
      while (this.#running > 0 || (this.#open > 0 && !this.#isStopped(signal))) {
        if (!this.#isStopped(signal)) this.#start(signal);
        await this.#change();
      }
    } finally {
      this.stop();
      while (this.#running > 0) await this.#change();
      signal.removeEventListener('abort', onAbort);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  #isStopped(signal: AbortSignal): boolean {
    return this.#failure !== undefined || this.#stopping.signal.aborted || signal.aborted;
  }

  /**
   * Whether so many tasks wait for retries or turns that another one could exceed the memory bound.
   */
  get #isCrowded(): boolean {
    return this.#open > MOST_OPEN || this.#running > MOST_RUNNING;
  }

  /** Resolves when a task has ended or become ready, or when the run is stopped. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #enqueue(task: Task): void {
    this.#open++;
    const { host } = task.authority;
    const queue = this.#hosts.get(host);
    if (queue !== undefined) {
      queue.push(task);
      return;
    }
    this.#hosts.set(host, []);
    this.#ready.push({ task, host });
  }

  #start(signal: AbortSignal): void {
    while (this.#permits.isFree) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      const permit = this.#permits.take();
      this.#running++;
      this.#carryOut(next.task, next.host, permit, signal)
        .catch((error: unknown) => {
          this.#failure ??= error;
          this.stop();
        })
        .finally(() => {
          this.#running--;
          permit.end();
          this.#wake();
        });
    }
  }

  async #carryOut(task: Task, host: string, permit: Permit, signal: AbortSignal): Promise<void> {
    const { authority } = task;
    const { attempts = RANGES.retries.standard + 1, onDone } = this.#options;
    if (!task.isLookedUp && (await this.#isDoneAlready(task, host))) return;
    if (task.attempts === 0 && this.#isHeld(task, host)) return;
    const copy = this.#store.copyOf(task.before);
    const result = await this.#fetcher.fetch(authority, copy, signal, permit);
    task.attempts++;
    // An aborted attempt is no finding about the host.
    if (result.error?.code === 'aborted' || signal.aborted) return;
    const delay = this.#delayOf(result.retryAfter, task.attempts);
    const most = result.error?.code === 'local-fault' ? Math.max(attempts, LOCAL_TRIES) : attempts;
    if (isWorthRetrying(result) && task.attempts < most && delay <= LONGEST_WAIT) {
      // A stopped run leaves the state unchanged, and the next run makes the request.
      if (!this.#stopping.signal.aborted) this.#readyAfter(delay, task, host);
      return;
    }
    const kept = await this.#keep(result, task.before);
    const state = 'kind' in kept ? task.before : kept;
    const unkept = 'kind' in kept ? kept : undefined;
    // RFC 9110 section 10.2.3 gives `Retry-After` no meaning in a successful response.
    const hold = result.accessResult === 'successful' ? 0 : (result.retryAfter ?? 0);
    if (hold > 0) this.#holds.begin(host, hold);
    onDone?.({ authority, state, result, attempts: task.attempts, unkept });
    this.#end(host);
  }

  /** Lets a task wait for the end of its host's hold; ends the task if that is too far away. */
  #isHeld(task: Task, host: string): boolean {
    const remaining = this.#holds.remaining(host);
    if (remaining === 0) return false;
    if (remaining <= LONGEST_WAIT) {
      // The tasks of the host that come later wait for this one.
      this.#holds.end(host);
      this.#readyAfter(remaining, task, host);
      return true;
    }
    const { authority, before } = task;
    const seconds = Math.ceil(remaining / 1000);
    const unkept: Unkept = {
      kind: 'retry-after',
      code: '',
      message: `${host} asked for no request for another ${seconds} s (Retry-After)`,
    };
    this.#options.onDone?.({ authority, state: before, result: undefined, attempts: 0, unkept });
    this.#end(host);
    return true;
  }

  /** Looks a task up in the store. Ends the task if the state is fresh or cannot be read. */
  async #isDoneAlready(task: Task, host: string): Promise<boolean> {
    const { authority } = task;
    const { onDone } = this.#options;
    try {
      const { state, fresh } = await this.#store.load(authority);
      task.before = state;
      task.isLookedUp = true;
      if (!fresh || state === undefined) return false;
      onDone?.({ authority, state, result: undefined, attempts: 0 });
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      if (error.isPassing && ++task.lookUps < LOCAL_TRIES && !this.#stopping.signal.aborted) {
        this.#readyAfter(this.#delayOf(0, task.lookUps), task, host);
        return true;
      }
      const unkept = unkeptBy(error);
      onDone?.({ authority, state: undefined, result: undefined, attempts: 0, unkept });
    }
    this.#end(host);
    return true;
  }

  /** Saves a result; returns its state, or why there is none. A passing fault is retried. */
  async #keep(result: FetchResult, before: FetchState | undefined): Promise<FetchState | Unkept> {
    const { code, systemCode = '', message = '' } = result.error ?? {};
    if (code === 'host-crowded') return { kind: code, code: '', message };
    if (code === 'local-fault') return { kind: code, code: systemCode, message };
    const { sleep = sleepFor } = this.#options;
    for (let made = 1; ; made++) {
      try {
        return await this.#store.save(result, before);
      } catch (error) {
        if (!(error instanceof StoreFault)) throw error;
        if (!error.isPassing || made >= LOCAL_TRIES) return unkeptBy(error);
        await sleep(this.#delayOf(0, made), this.#stopping.signal);
      }
    }
  }

  #delayOf(retryAfter: number | undefined, made: number): number {
    const { random = Math.random } = this.#options;
    return Math.max(backoffDelay(made, random), retryAfter ?? 0);
  }

  #readyAfter(delay: number, task: Task, host: string): void {
    const { sleep = sleepFor } = this.#options;
    sleep(delay, this.#stopping.signal).then(
      () => {
        this.#ready.push({ task, host });
        this.#wake();
      },
      (error: unknown) => {
        this.#failure ??= error;
        this.#wake();
      },
    );
  }

  /** Ends a task of a host. The next task of the host is ready. */
  #end(host: string): void {
    this.#open--;
    const task = this.#hosts.get(host)?.shift();
    if (task === undefined) this.#hosts.delete(host);
    else this.#ready.push({ task, host });
  }
}

function unkeptBy({ isPassing, systemCode, message }: StoreFault): Unkept {
  return { kind: isPassing ? 'local-fault' : 'store', code: systemCode, message };
}

async function sleepFor(delay: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(delay, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Hosts that asked for no request for some time. A hold takes memory until its time has passed. */
class HostHolds {
  readonly #now: () => number;
  /** The end of each hold in milliseconds, by host, in the order of their beginning. */
  readonly #ends = new Map<string, number>();

  /** @param now milliseconds of a clock that is never set back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Begins a hold of so many milliseconds. */
  begin(host: string, delay: number): void {
    this.#forgetPassed();
    this.#ends.delete(host);
    this.#ends.set(host, this.#now() + delay);
  }

  /** Milliseconds until the end of a host's hold; 0 without a hold. */
  remaining(host: string): number {
    return Math.max((this.#ends.get(host) ?? 0) - this.#now(), 0);
  }

  /** Ends the hold of a host. */
  end(host: string): void {
    this.#ends.delete(host);
  }

  /** Forgets the holds that have passed, up to the first that has not. */
  #forgetPassed(): void {
    for (const [host, end] of this.#ends) {
      if (end > this.#now()) return;
      this.#ends.delete(host);
    }
  }
}

/** A permit that its holder ends. */
interface HeldPermit extends Permit {
  /** Releases the permit for good. */
  end(): void;
}

/**
 * Permits for a limited number of fetches under way. A fetch that returns from waiting for a turn
 * has precedence over one that has not begun.
 */
class Permits {
  readonly #limit: number;
  readonly #signal: AbortSignal;
  readonly #onReleased: () => void;
  /** Callbacks of the fetches that want their permits back, in order. */
  readonly #returning = new Set<() => void>();
  #held = 0;

  /**
   * @param limit maximum number of permits that are held at a time
   * @param signal aborted when no fetch may wait any longer
   * @param onReleased called when a permit may be free
   */
  constructor(limit: number, signal: AbortSignal, onReleased: () => void) {
    this.#limit = limit;
    this.#signal = signal;
    this.#onReleased = onReleased;
    signal.addEventListener('abort', () => {
      for (const settle of [...this.#returning]) settle();
    });
  }

  get isFree(): boolean {
    return this.#held < this.#limit;
  }

  /** Takes a permit. Call this only if one is free. */
  take(): HeldPermit {
    let state: 'held' | 'released' | 'ended' = 'held';
    this.#held++;
    const release = () => {
      if (state !== 'held') return;
      state = 'released';
      this.#held--;
      this.#handOn();
    };
    return {
      signal: this.#signal,
      release,
      reacquire: () =>
        new Promise<void>((resolve, reject) => {
          const settle = () => {
            this.#returning.delete(settle);
            if (state !== 'released' || this.#signal.aborted) {
              reject(new FetchFailure('aborted', 'the fetch was aborted'));
              return;
            }
            state = 'held';
            this.#held++;
            resolve();
          };
          if (this.isFree || state !== 'released' || this.#signal.aborted) settle();
          else this.#returning.add(settle);
        }),
      end: () => {
        release();
        state = 'ended';
      },
    };
  }

  #handOn(): void {
    for (const settle of this.#returning) {
      if (!this.isFree) return;
      settle();
    }
    this.#onReleased();
  }
}

/** Milliseconds before the second attempt; each further wait is twice as long. */
const BASE_DELAY = 1_000;

/** Longest wait in milliseconds, unless `Retry-After` requires a longer one. */
const MAX_DELAY = 30_000;

/** Whether another attempt may end differently. */
export function isWorthRetrying({ accessResult, error }: FetchResult): boolean {
  const isFinal =
    error?.code === 'address-refused' ||
    error?.code === 'aborted' ||
    error?.code === 'host-crowded' ||
    isRefusal(error?.systemCode);
  return accessResult === 'unreachable' && !isFinal;
}

/**
 * The exponential back-off in milliseconds. Half of it is random, so that hosts that failed
 * together are not contacted again together.
 *
 * @param made number of attempts so far, at least 1
 * @param random a number from 0 up to 1
 */
export function backoffDelay(made: number, random: () => number): number {
  const delay = Math.min(BASE_DELAY * 2 ** (made - 1), MAX_DELAY);
  return delay / 2 + (delay / 2) * random();
}
