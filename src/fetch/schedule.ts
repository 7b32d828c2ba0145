import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { FetchRecord } from '../pipeline/cache/fetch-record.js';
import type { Fetcher, Place } from './fetcher.js';
import { Places } from './places.js';
import type { FetchAuthority, FetchResult } from './result.js';
import { backoffDelay, isWorthRetrying } from './retry.js';
import type { Store } from './store.js';
import { StoreFault } from './store-fault.js';

/**
 * Tasks that are open, and among them those under way or waiting for their turn, beyond which no
 * more are taken.
 */
const MOST_OPEN = 65_536;
const MOST_RUNNING = 4096;

/** Tries in all where this machine failed: they are no burden to anybody's host. */
const LOCAL_TRIES = 3;

export interface ScheduleOptions {
  /** Authorities that are asked at a time; default 64. */
  readonly concurrency?: number | undefined;
  /** Attempts in all at an authority that is unreachable, at least 1; default 3. */
  readonly attempts?: number | undefined;
  /**
   * Milliseconds to wait before the second attempt, twice as long before each further one; default
   * 1,000.
   */
  readonly baseDelay?: number | undefined;
  /** The longest wait in milliseconds that no `Retry-After` asked for; default 30,000. */
  readonly maxDelay?: number | undefined;
  /**
   * The longest wait in milliseconds at all: a `Retry-After` beyond it is left to a later run.
   * Default 60,000.
   */
  readonly longestWait?: number | undefined;
  /** From 0 up to 1; default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Resolves after so many milliseconds, and at once when the signal is aborted. */
  readonly sleep?: ((delay: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Asks also what is fresh. Default false. */
  readonly evenFresh?: boolean | undefined;
  /** Is told what became of each authority. */
  readonly onDone?: ((done: FetchDone) => void) | undefined;
}

/** What became of an authority. */
export interface FetchDone {
  readonly authority: FetchAuthority;
  /** What the store says of it now; `undefined` where it has nothing. */
  readonly record: FetchRecord | undefined;
  /** The last attempt; `undefined` where the store was fresh and nobody was asked. */
  readonly result: FetchResult | undefined;
  /** How often it was asked. */
  readonly attempts: number;
  /** Why the store has nothing new, where it should. */
  readonly unkept?: Unkept | undefined;
}

/** Why nothing of an authority was kept. */
export interface Unkept {
  /**
   * `host-crowded` and `local-fault` as in a result: the authority was not asked. `store`:
   * something is in the way of its files.
   */
  readonly kind: 'host-crowded' | 'local-fault' | 'store';
  /** The system's code, where there is one. */
  readonly code: string;
  readonly message: string;
}

/** An authority that is asked or waits for it. */
interface Task {
  readonly authority: FetchAuthority;
  attempts: number;
  /** Whether the store has told what it has. */
  isLookedUp: boolean;
  /** How often that failed. */
  lookUps: number;
  /** What the store said of it when it was looked up. */
  before: FetchRecord | undefined;
}

/**
 * Fetches each of many authorities once into a store.
 *
 * Of one host nobody is asked while another answer is awaited, nor, after it failed, until the time
 * for another attempt has come: the authorities that share it wait behind the one that failed.
 * Whoever waits takes no place from others, be it for another attempt or for a turn at a host or an
 * address.
 */
export class Schedule {
  readonly #fetcher: Fetcher;
  readonly #store: Store;
  readonly #options: ScheduleOptions;
  /**
   * Hosts of which an authority is open, and what waits behind it: only one of a host is asked at a
   * time.
   */
  readonly #hosts = new Map<string, Task[]>();
  /** Tasks whose time has come. */
  readonly #ready: { task: Task; host: string }[] = [];
  readonly #stopping = new AbortController();
  readonly #places: Places;
  /** Tasks that are carried out, those that wait for a turn among them. */
  #running = 0;
  /** Tasks that have begun and are not done: running, ready or waiting. */
  #open = 0;
  #failure: unknown;
  #wake: () => void = () => {};

  constructor(fetcher: Fetcher, store: Store, options: ScheduleOptions = {}) {
    this.#fetcher = fetcher;
    this.#store = store;
    this.#options = options;
    const { concurrency = 64 } = options;
    // Whoever waits for another attempt listens.
    setMaxListeners(0, this.#stopping.signal);
    this.#places = new Places(concurrency, this.#stopping.signal, () => this.#wake());
  }

  /** Begins nothing more; what is in flight is finished and kept, what waits is left as it was. */
  stop(): void {
    this.#stopping.abort();
    this.#wake();
  }

  /**
   * Fetches authorities, taking them as there is room for them.
   *
   * @param signal ends also what is in flight, which is not kept then
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
          (!this.#places.isFree || this.#ready.length > 0 || this.#isCrowded)
        ) {
          this.#start(signal);
          if (this.#places.isFree && !this.#isCrowded) break;
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
   * Whether so many wait, for hosts that failed or for their turn, that taking more would let
   * memory grow.
   */
  get #isCrowded(): boolean {
    return this.#open > MOST_OPEN || this.#running > MOST_RUNNING;
  }

  /** Resolves when a task has ended or its time has come, or the run is stopped. */
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
    while (this.#places.isFree) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      const place = this.#places.take();
      this.#running++;
      this.#carryOut(next.task, next.host, place, signal)
        .catch((error: unknown) => {
          this.#failure ??= error;
          this.stop();
        })
        .finally(() => {
          this.#running--;
          place.end();
          this.#wake();
        });
    }
  }

  async #carryOut(task: Task, host: string, place: Place, signal: AbortSignal): Promise<void> {
    const { authority } = task;
    const { attempts = 3, longestWait = 60_000, onDone } = this.#options;
    if (!task.isLookedUp && (await this.#isDoneAlready(task, host))) return;
    const copy = this.#store.copyOf(task.before);
    const result = await this.#fetcher.fetch(authority, copy, signal, place);
    task.attempts++;
    // Nothing has been found out.
    if (result.error?.code === 'aborted' || signal.aborted) return;
    const delay = this.#delayOf(result.retryAfter, task.attempts);
    const most = result.error?.code === 'local-fault' ? Math.max(attempts, LOCAL_TRIES) : attempts;
    if (isWorthRetrying(result) && task.attempts < most && delay <= longestWait) {
      // A run that is stopped leaves it as it was, for the next to ask.
      if (!this.#stopping.signal.aborted) this.#readyAfter(delay, task, host);
      return;
    }
    const kept = await this.#keep(result, task.before);
    const record = 'kind' in kept ? task.before : kept;
    const unkept = 'kind' in kept ? kept : undefined;
    onDone?.({ authority, record, result, attempts: task.attempts, unkept });
    this.#end(host, Math.min(result.retryAfter ?? 0, longestWait));
  }

  /** Looks a task up, and ends it where nobody need be asked, or nothing can be read. */
  async #isDoneAlready(task: Task, host: string): Promise<boolean> {
    const { authority } = task;
    const { evenFresh = false, onDone } = this.#options;
    try {
      const { record, fresh } = await this.#store.load(authority);
      task.before = record;
      task.isLookedUp = true;
      if (!fresh || record === undefined || evenFresh) return false;
      onDone?.({ authority, record, result: undefined, attempts: 0 });
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      if (error.isPassing && ++task.lookUps < LOCAL_TRIES && !this.#stopping.signal.aborted) {
        this.#readyAfter(this.#delayOf(0, task.lookUps), task, host);
        return true;
      }
      const unkept = unkeptBy(error);
      onDone?.({ authority, record: undefined, result: undefined, attempts: 0, unkept });
    }
    this.#end(host);
    return true;
  }

  /** The record that is kept, or why there is none. What may pass is tried again. */
  async #keep(result: FetchResult, before: FetchRecord | undefined): Promise<FetchRecord | Unkept> {
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
    const { baseDelay = 1_000, maxDelay = 30_000, random = Math.random } = this.#options;
    return Math.max(backoffDelay(made, baseDelay, maxDelay, random), retryAfter ?? 0);
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

  /**
   * A task of a host is done: the next one's time has come, or comes when the host asked to be left
   * alone until then.
   */
  #end(host: string, pause = 0): void {
    this.#open--;
    const task = this.#hosts.get(host)?.shift();
    if (task === undefined) this.#hosts.delete(host);
    else if (pause > 0) this.#readyAfter(pause, task, host);
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
