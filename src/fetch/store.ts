/** The store of `fetch`: one robots.txt and its state for each authority, replaced atomically. */

import { createHash } from 'node:crypto';
import { readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { RobotsFilterError } from '../base/errors.js';
import { describeSystemError, errorCode, makeDirectory } from '../files/system-error.js';
import { formatAuthority, type Scheme } from '../protocol/authority.js';
import type { Profile } from '../protocol/verdict.js';
import {
  FETCH_STATE_FILE,
  type FetchState,
  formatFetchState,
  isOfTheFuture,
  isSameFinding,
  type LastSuccess,
  LONGEST_FETCH_STATE,
  parseFetchState,
} from '../sources/fetch-state.js';
import { exists } from '../sources/file.js';
import { authorityOfName, HISTORY, nameOfAuthority, ROBOTS_TXT } from '../sources/item.js';
import { isExhaustion } from './answer.js';
import { nextState } from './freshness.js';
import { RANGES } from './limits.js';
import type { FetchAuthority, FetchResult, StoredCopy } from './result.js';
import { createWhole, removeLeftovers, replaceInOrder, temporaryName } from './store-files.js';

interface StoreOptions {
  /** The clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Milliseconds for which a state is fresh, unless HTTP says less. Default 24 hours. */
  readonly maxAge?: number | undefined;
  /** Days for `unreachableAfter` in the states. Default: none, so that readers use theirs. */
  readonly unreachableAfter?: number | undefined;
  /**
   * Bytes of a body that a fetch keeps. A copy that was truncated at fewer bytes is fetched again.
   * Default 0: no copy is.
   */
  readonly maxBytes?: number | undefined;
  /** The profile by which a state is read that leaves it to the profile. Default `rfc9309`. */
  readonly profile?: Profile | undefined;
  /** Whether private addresses are allowed: states of refused addresses are then stale. */
  readonly allowPrivate?: boolean | undefined;
  /** Whether a finding that is replaced by another one is kept. Default false. */
  readonly history?: boolean | undefined;
}

/** The contents of the store for an authority. */
interface StoredAuthority {
  readonly state: FetchState | undefined;
  /** Whether no request is due. */
  readonly fresh: boolean;
}

const SCHEMES: readonly Scheme[] = ['http', 'https', 'ftp'];

/**
 * A directory of fetched robots.txt files: `SCHEME/HOST[_PORT]/robots.txt`, each with a
 * `robots.json` beside it that notes the fetch. Users may read, edit and delete both.
 *
 * Each file is written under a temporary name, synced and renamed, robots.txt before robots.json.
 * If a run is killed, each file is therefore its old or its new version, and a new state is never
 * beside an old robots.txt. An old state beside a new robots.txt has another digest, so the next
 * fetch makes no conditional request.
 *
 * A robots.txt that no longer counts is deleted after its state is written. The state keeps the
 * digest, so that the next run can complete the deletion. The next write to a directory deletes the
 * temporary files of killed runs.
 *
 * With `history` the files of a finding are kept before another finding replaces them, in the
 * directory `history/TIME-DIGEST` beside them. TIME is that of the first answer with the finding,
 * to the millisecond, or that of the file if somebody edited it. DIGEST tells two findings of one
 * moment apart. The directory appears whole. If a run is killed after that, the finding stands
 * twice, which is the same as once.
 *
 * One run at a time writes to a store, because it holds the lock (`lock.ts`).
 */
export class Store {
  readonly path: string;
  readonly #now: () => number;
  readonly #maxAge: number;
  readonly #unreachableAfter: number | undefined;
  readonly #maxBytes: number;
  readonly #profile: Profile;
  readonly #allowPrivate: boolean;
  readonly #history: boolean;

  private constructor(path: string, options: StoreOptions) {
    const { now, maxAge, unreachableAfter, maxBytes, allowPrivate, history } = options;
    this.#profile = options.profile ?? 'rfc9309';
    this.path = path;
    this.#now = now ?? Date.now;
    this.#maxAge = maxAge ?? RANGES.maxAge.standard;
    this.#unreachableAfter = unreachableAfter;
    this.#maxBytes = maxBytes ?? 0;
    this.#allowPrivate = allowPrivate ?? false;
    this.#history = history ?? false;
  }

  /**
   * Opens a store; creates its directory if there is none.
   *
   * @throws RobotsFilterError `output` if the directory cannot be created
   */
  static async open(path: string, options: StoreOptions = {}): Promise<Store> {
    try {
      makeDirectory(path);
    } catch (error) {
      throw unwritable(path, error);
    }
    return new Store(path, options);
  }

  /** The directory of an authority; `undefined` if no file name stands for the authority. */
  directoryOf(authority: FetchAuthority): string | undefined {
    const name = nameOfAuthority(authority);
    return name === undefined ? undefined : join(this.path, authority.scheme, name);
  }

  /**
   * Looks up an authority. The state has no `lastSuccess` if its robots.txt is missing or has been
   * edited: a conditional request would then be wrong.
   *
   * @throws StoreFault if the state cannot be read at the moment
   */
  async load(authority: FetchAuthority): Promise<StoredAuthority> {
    const directory = this.directoryOf(authority);
    const state =
      directory === undefined ? undefined : await readState(directory, authority, this.#profile);
    if (directory === undefined || state === undefined) {
      return { state: undefined, fresh: false };
    }
    if (!isOfTheFuture(state, this.#now()) && this.#now() < this.#freshUntil(state)) {
      if (state.accessResult !== 'successful' || (await isFile(join(directory, ROBOTS_TXT)))) {
        if (state.discarded !== undefined) await discard(directory, state.discarded);
        return { state, fresh: true };
      }
    }
    const { lastSuccess } = state;
    if (lastSuccess === undefined) return { state, fresh: false };
    const digest = await digestOf(join(directory, ROBOTS_TXT));
    const intact = digest === lastSuccess.sha256;
    return { state: intact ? state : { ...state, lastSuccess: undefined }, fresh: false };
  }

  /**
   * The time at which a state becomes stale for this run. Its options may differ from the
   * writer's.
   */
  #freshUntil(state: FetchState): number {
    const { accessResult, freshUntil, respondedAt, error, lastSuccess } = state;
    if (this.#allowPrivate && error?.code === 'address-refused') return 0;
    if (accessResult === 'unreachable') return freshUntil;
    if (accessResult === 'successful' && this.#isTooShort(lastSuccess)) return 0;
    return Math.min(freshUntil, respondedAt + this.#maxAge);
  }

  /**
   * The copy that a conditional request may confirm. `undefined` if this run wants more of a
   * truncated robots.txt: a 304 would leave it truncated.
   */
  copyOf(state: FetchState | undefined): StoredCopy | undefined {
    const copy = state?.lastSuccess;
    if (copy === undefined || this.#isTooShort(copy)) return undefined;
    const { headers, policy } = copy;
    return { etag: headers.etag, lastModified: headers['last-modified'], headers, policy };
  }

  /** Whether a copy was truncated at a lower limit. One byte beyond the limit is kept with it. */
  #isTooShort(copy: LastSuccess | undefined): boolean {
    return copy?.cut === true && copy.bytes <= this.#maxBytes;
  }

  /**
   * Saves the result of a fetch.
   *
   * @param before the state that `load` returned before the fetch
   * @returns the state that was written
   * @throws StoreFault if this authority's files cannot be written
   * @throws RobotsFilterError `output` if no authority's files could be written
   */
  async save(result: FetchResult, before: FetchState | undefined): Promise<FetchState> {
    const directory = this.directoryOf(result.authority);
    if (directory === undefined) {
      throw new RobotsFilterError(
        'output',
        `${this.path}: no file name stands for ${formatAuthority(result.authority)}. Remove it from the input.`,
      );
    }
    // A success without a body, such as 204, is an empty robots.txt.
    const isEmpty = result.accessResult === 'successful' && !result.notModified;
    const body = result.body ?? (isEmpty ? new Uint8Array(0) : undefined);
    const digest = body === undefined ? undefined : sha256(body);
    const state = nextState({ ...result, body }, digest, before, {
      profile: this.#profile,
      maxAge: this.#maxAge,
      now: this.#now(),
      unreachableAfter: this.#unreachableAfter,
    });
    this.#makeDirectory(directory, join(this.path, result.authority.scheme));
    const isOther = before === undefined || !isSameFinding(before, state);
    if (this.#history && isOther) await keepFinding(directory, result.authority);
    try {
      removeLeftovers(directory);
      const isNew = body !== undefined && digest !== before?.lastSuccess?.sha256;
      const files = [
        ...(isNew ? [{ name: ROBOTS_TXT, bytes: body }] : []),
        { name: FETCH_STATE_FILE, bytes: Buffer.from(formatFetchState(state)) },
      ];
      await replaceInOrder(
        directory,
        files.map((file) => ({ ...file, temporaryName: temporaryName(file.name) })),
      );
      if (state.discarded !== undefined) await discard(directory, state.discarded);
    } catch (error) {
      if (concernsOneAuthority(error)) throw unkept(directory, error);
      throw unwritable(directory, error);
    }
    return state;
  }

  #makeDirectory(directory: string, parent: string): void {
    try {
      makeDirectory(directory);
    } catch (error) {
      try {
        makeDirectory(parent);
      } catch (cause) {
        throw unwritable(parent, cause);
      }
      throw concernsOneDirectory(error) ? unkept(directory, error) : unwritable(directory, error);
    }
  }

  /** The authorities of the store, in any order. Other names are skipped. */
  async *authorities(): AsyncGenerator<FetchAuthority> {
    for (const scheme of SCHEMES) {
      let names: string[];
      try {
        names = await readdir(join(this.path, scheme));
      } catch (error) {
        if (errorCode(error) === 'ENOENT') continue;
        throw unreadable(join(this.path, scheme), error);
      }
      for (const name of names) {
        const authority = authorityOfName(name, scheme);
        // Only canonical names count: a fetch for any other name would go to another directory.
        if (authority !== undefined && nameOfAuthority({ ...authority, scheme }) === name) {
          yield { ...authority, scheme };
        }
      }
    }
  }
}

/** The state in the directory of an authority; `undefined` if there is no valid one. */
async function readState(
  directory: string,
  authority: FetchAuthority,
  profile: Profile,
): Promise<FetchState | undefined> {
  const path = join(directory, FETCH_STATE_FILE);
  if (!exists(path)) return undefined;
  try {
    const status = await stat(path);
    if (!status.isFile() || status.size > LONGEST_FETCH_STATE) return undefined;
    const state = parseFetchState(await readFile(path), authority, profile);
    return typeof state === 'string' ? undefined : state;
  } catch (error) {
    const code = errorCode(error);
    // A lack of resources passes, so the state must not be taken as missing.
    if (isExhaustion(code)) throw new StoreFault(`${path}: ${describeSystemError(error)}`, error);
    // Any other unreadable state is replaced, or the write fails.
    if (code !== '') return undefined;
    throw error;
  }
}

/**
 * Keeps the files of an authority as they are, whatever they hold: somebody may have edited them.
 *
 * @throws StoreFault if they cannot be kept
 * @throws RobotsFilterError `output` if nothing can be written any more
 */
async function keepFinding(directory: string, authority: FetchAuthority): Promise<void> {
  const history = join(directory, HISTORY);
  try {
    const robots = await contentsOf(join(directory, ROBOTS_TXT));
    const bytes = await contentsOf(join(directory, FETCH_STATE_FILE), LONGEST_FETCH_STATE);
    const state = bytes && parseFetchState(bytes, authority);
    // A state that means a missing robots.txt, or that cannot be read, tells nothing without it.
    const isTelling = typeof state === 'object' && state.accessResult !== 'successful';
    if (robots === undefined && !isTelling) return;
    const isStored =
      typeof state === 'object' &&
      (robots === undefined || sha256(robots) === (state.lastSuccess?.sha256 ?? sha256(robots)));
    // Of any other robots.txt only the file system knows how long it has been there.
    const since = isStored ? state.since : (await stat(join(directory, ROBOTS_TXT))).mtimeMs;
    const files = [
      ...(robots === undefined ? [] : [{ name: ROBOTS_TXT, bytes: robots }]),
      ...(bytes === undefined ? [] : [{ name: FETCH_STATE_FILE, bytes }]),
    ];
    await createWhole(history, `${digitsOf(since)}-${digestOfAll(files).slice(0, 8)}`, files);
  } catch (error) {
    if (concernsOneAuthority(error)) throw unkept(history, error);
    throw unwritable(history, error);
  }
}

/** The digits of a time, from the year to the millisecond. */
function digitsOf(time: number): string {
  const date = new Date(time);
  const digits = (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString().split('');
  return digits.filter((digit) => digit >= '0' && digit <= '9').join('');
}

function digestOfAll(files: readonly { readonly name: string; readonly bytes: Uint8Array }[]) {
  const hash = createHash('sha256');
  for (const { name, bytes } of files) hash.update(name).update(bytes);
  return hash.digest('hex');
}

/** The bytes of a file; `undefined` if there is none, or one that is too long. */
async function contentsOf(path: string, most = Infinity): Promise<Buffer | undefined> {
  const status = await stat(path).catch(() => undefined);
  return status?.isFile() === true && status.size <= most ? readFile(path) : undefined;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function digestOf(path: string): Promise<string | undefined> {
  if (!(await isFile(path))) return undefined;
  const bytes = await readFile(path).catch(() => undefined);
  return bytes === undefined ? undefined : sha256(bytes);
}

/** Deletes a robots.txt that no longer counts, unless somebody has replaced it. */
async function discard(directory: string, digest: string): Promise<void> {
  const path = join(directory, ROBOTS_TXT);
  if ((await digestOf(path)) === digest) await unlink(path).catch(() => {});
}

/** The fault if an authority's files cannot be written. */
function unkept(directory: string, cause: unknown): StoreFault {
  return new StoreFault(`${directory}: cannot be written: ${describeSystemError(cause)}`, cause);
}

function unwritable(path: string, cause: unknown): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  return new RobotsFilterError(
    'output',
    `${path}: cannot be written: ${describeSystemError(cause)}. Use a --robots-dir that this user may write to, with free space. What was fetched before is kept.`,
    { cause },
  );
}

function unreadable(path: string, cause: unknown): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `${path}: cannot be read: ${describeSystemError(cause)}. Make it readable for this user (chmod +rx).`,
    { cause },
  );
}

/** A fault in reading or writing the state of one authority. Others are not affected. */
export class StoreFault extends Error {
  readonly systemCode: string;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StoreFault';
    this.systemCode = errorCode(cause);
  }

  /** Whether the fault may pass, because the process has run out of a resource. */
  get isPassing(): boolean {
    return isExhaustion(this.systemCode);
  }
}

/** Codes for something else in place of a file or directory of the authority. */
const IN_THE_WAY: readonly string[] = [
  'EEXIST',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'ENOTEMPTY',
];

/** Whether an error from within the directory of an authority concerns that authority alone. */
function concernsOneAuthority(error: unknown): boolean {
  const code = errorCode(error);
  return IN_THE_WAY.includes(code) || isExhaustion(code) || code === 'EACCES' || code === 'EPERM';
}

/**
 * Whether an error in creating that directory concerns that authority alone. Without the permission
 * to create it, no other can be created either.
 */
function concernsOneDirectory(error: unknown): boolean {
  const code = errorCode(error);
  return IN_THE_WAY.includes(code) || isExhaustion(code);
}
