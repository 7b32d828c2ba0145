import { setTimeout as wait } from 'node:timers/promises';
import type { FetchRecord } from '../pipeline/cache/fetch-record.js';
import type { Fetcher, StoredCopy } from './fetcher.js';
import type { FetchAuthority, FetchResult } from './result.js';
import { backoffDelay, isWorthRetrying } from './retry.js';
import type { Store } from './store.js';

export interface ScheduleOptions {
  /** Authorities that are asked at a time; default 64. */
  readonly concurrency?: number | undefined;
  /** Attempts in all at an authority that is unreachable, at least 1; default 3. */
  readonly attempts?: number | undefined;
  /** Milliseconds to wait before the second attempt, twice as long before each further one; default 1,000. */
  readonly baseDelay?: number | undefined;
  /** The longest wait in milliseconds that no `Retry-After` asked for; default 30,000. */
  readonly maxDelay?: number | undefined;
  /** The longest wait in milliseconds at all: a `Retry-After` beyond it is left to a later run. Default 60,000. */
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
  /** What the store says of it now. */
  readonly record: FetchRecord;
  /** The last attempt; `undefined` where the store was fresh and nobody was asked. */
  readonly result: FetchResult | undefined;
  /** How often it was asked. */
  readonly attempts: number;
}

/** An authority that is asked or waits for it. */
interface Task {
  readonly authority: FetchAuthority;
  attempts: number;
  /** What the store said of it when it was first looked up. */
  before: FetchRecord | undefined;
}

/**
 * Fetches each of many authorities once into a store.
 *
 * Of one host nobody is asked while another answer is awaited, nor, after it failed, until the time for another attempt has come: the
 * authorities that share it wait behind the one that failed. Whoever waits takes no place from others.
 */
export class Schedule {
  readonly #fetcher: Fetcher;
  readonly #store: Store;
  readonly #options: ScheduleOptions;
  /** Hosts of which an authority is open, and what waits behind it: only one of a host is asked at a time. */
  readonly #hosts = new Map<string, Task[]>();
  /** Tasks whose time has come. */
  readonly #ready: { task: Task; host: string }[] = [];
  readonly #stopping = new AbortController();
  #running = 0;
  /** Tasks that have begun and are not done: running, ready or waiting. */
  #open = 0;
  #failure: unknown;
  #wake: () => void = () => {};

  constructor(fetcher: Fetcher, store: Store, options: ScheduleOptions = {}) {
    this.#fetcher = fetcher;
    this.#store = store;
    this.#options = options;
  }

  /** Begins nothing more; what is in flight is finished and kept. */
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
    const { concurrency = 64 } = this.#options;
    const onAbort = () => this.stop();
    signal.addEventListener('abort', onAbort);
    try {
      for await (const authority of authorities) {
        if (this.#isStopped(signal)) break;
        this.#enqueue({ authority, attempts: 0, before: undefined });
        while (
          !this.#isStopped(signal) &&
          (this.#running >= concurrency || this.#ready.length > 0 || this.#isCrowded(concurrency))
        ) {
          this.#start(concurrency, signal);
          if (this.#running < concurrency && !this.#isCrowded(concurrency)) break;
          await this.#change();
        }
      }
      while (this.#running > 0 || (this.#open > 0 && !this.#isStopped(signal))) {
        if (!this.#isStopped(signal)) this.#start(concurrency, signal);
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

  /** Whether so many wait for hosts that failed that taking more would let memory grow. */
  #isCrowded(concurrency: number): boolean {
    return this.#open > 65_536 + concurrency;
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

  #start(concurrency: number, signal: AbortSignal): void {
    while (this.#running < concurrency) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      this.#running++;
      this.#carryOut(next.task, next.host, signal)
        .catch((error: unknown) => {
          this.#failure ??= error;
        })
        .finally(() => {
          this.#running--;
          this.#wake();
        });
    }
  }

  async #carryOut(task: Task, host: string, signal: AbortSignal): Promise<void> {
    const { authority } = task;
    const { attempts = 3, evenFresh = false, longestWait = 60_000, onDone } = this.#options;
    if (task.attempts === 0) {
      const { record, fresh } = await this.#store.load(authority);
      if (fresh && record !== undefined && !evenFresh) {
        onDone?.({ authority, record, result: undefined, attempts: 0 });
        this.#end(host);
        return;
      }
      task.before = record;
    }
    const result = await this.#fetcher.fetch(authority, storedCopy(task.before), signal);
    task.attempts++;
    // Nothing has been found out.
    if (result.error?.code === 'aborted' || signal.aborted) return;
    const delay = this.#delayOf(result, task.attempts);
    if (isWorthRetrying(result) && task.attempts < attempts && delay <= longestWait) {
      // A run that is stopped leaves it as it was, for the next to ask.
      if (!this.#stopping.signal.aborted) this.#readyAfter(delay, task, host);
      return;
    }
    const record = await this.#store.save(result, task.before);
    onDone?.({ authority, record, result, attempts: task.attempts });
    this.#end(host, Math.min(result.retryAfter ?? 0, longestWait));
  }

  #delayOf(result: FetchResult, made: number): number {
    const { baseDelay = 1_000, maxDelay = 30_000, random = Math.random } = this.#options;
    return Math.max(backoffDelay(made, baseDelay, maxDelay, random), result.retryAfter ?? 0);
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

  /** A task of a host is done: the next one's time has come, or comes when the host asked to be left alone until then. */
  #end(host: string, pause = 0): void {
    this.#open--;
    const task = this.#hosts.get(host)?.shift();
    if (task === undefined) this.#hosts.delete(host);
    else if (pause > 0) this.#readyAfter(pause, task, host);
    else this.#ready.push({ task, host });
  }
}

function storedCopy(record: FetchRecord | undefined): StoredCopy | undefined {
  const copy = record?.lastSuccess;
  if (copy === undefined) return undefined;
  const { headers, policy } = copy;
  return { etag: headers.etag, lastModified: headers['last-modified'], headers, policy };
}

async function sleepFor(delay: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(delay, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
