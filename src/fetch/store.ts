import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { RobotsFilterError } from '../errors.js';
import {
  FETCH_RECORD,
  type FetchRecord,
  formatFetchRecord,
  isOfTheFuture,
  type LastSuccess,
  LONGEST_FETCH_RECORD,
  parseFetchRecord,
} from '../pipeline/cache/fetch-record.js';
import { describeSystemError, exists, systemCode } from '../pipeline/cache/file.js';
import { authorityOfName, nameOfAuthority, ROBOTS_TXT } from '../pipeline/cache/layout.js';
import { formatAuthority, type Scheme } from '../protocol/authority.js';
import type { StoredCopy } from './fetcher.js';
import { DAY } from './freshness.js';
import { isExhaustion } from './local-fault.js';
import { nextRecord } from './next-record.js';
import type { FetchAuthority, FetchResult } from './result.js';
import { concernsOneAuthority, concernsOneDirectory, StoreFault } from './store-fault.js';
import { isLeftover, replaceInOrder, TemporaryNames } from './temporary.js';

export interface StoreOptions {
  /** Milliseconds since 1970; default the clock's. */
  readonly now?: (() => number) | undefined;
  /**
   * Milliseconds for which a finding is not asked for again, unless HTTP says less; default 24
   * hours.
   */
  readonly maxAge?: number | undefined;
  /**
   * Days after which what is unreachable counts no more as such, as the records are to tell;
   * default 30.
   */
  readonly unreachableAfter?: number | undefined;
  /**
   * Octets of a body that a fetch keeps. A copy that an earlier run cut at fewer is fetched anew;
   * default: none is.
   */
  readonly maxBytes?: number | undefined;
  /**
   * Whether addresses may be asked that a run before may have refused: such a refusal is then no
   * finding.
   */
  readonly allowPrivate?: boolean | undefined;
}

/** What the store has of an authority. */
export interface StoredAuthority {
  readonly record: FetchRecord | undefined;
  /** Whether it need not be asked yet. */
  readonly fresh: boolean;
}

const SCHEMES: readonly Scheme[] = ['http', 'https', 'ftp'];

/**
 * A directory of fetched robots.txt files: `SCHEME/HOST[_PORT]/robots.txt`, and beside each what
 * its fetch came to in `robots.json`; both may be read, edited and deleted by anybody.
 *
 * Each file is written beside its place, put on the disk and renamed, robots.txt before
 * robots.json: what is killed at any moment leaves the old or the new of each, and no new record
 * ever stands beside an old robots.txt. In between an old record stands beside a new robots.txt:
 * its digest is another then, and the next fetch asks for it without conditions. A robots.txt that
 * is out of force goes after the record that says so, which keeps its digest so that the next run
 * can finish that. What killed runs leave behind, the next write to the same directory takes away.
 *
 * One run at a time writes to a store: who fetches holds its lock (`lock.ts`).
 */
export class Store {
  readonly path: string;
  readonly #now: () => number;
  readonly #maxAge: number;
  readonly #unreachableAfter: number | undefined;
  readonly #maxBytes: number;
  readonly #allowPrivate: boolean;
  readonly #names = new TemporaryNames();

  private constructor(path: string, options: StoreOptions) {
    const { now, maxAge, unreachableAfter, maxBytes, allowPrivate } = options;
    this.path = path;
    this.#now = now ?? Date.now;
    this.#maxAge = maxAge ?? DAY;
    this.#unreachableAfter = unreachableAfter;
    this.#maxBytes = maxBytes ?? 0;
    this.#allowPrivate = allowPrivate ?? false;
  }

  /**
   * Opens a store, and makes its directory if there is none.
   *
   * @throws RobotsFilterError `output` where that cannot be
   */
  static async open(path: string, options: StoreOptions = {}): Promise<Store> {
    try {
      await mkdir(path, { recursive: true });
    } catch (error) {
      throw unwritable(path, error);
    }
    return new Store(path, options);
  }

  /** The directory of an authority; `undefined` for one that no name of a file can tell. */
  directoryOf(authority: FetchAuthority): string | undefined {
    const name = nameOfAuthority(authority);
    return name === undefined ? undefined : join(this.path, authority.scheme, name);
  }

  /**
   * What is known of an authority. The record has no `lastSuccess` if its robots.txt is gone or has
   * been edited: it must not be asked for on conditions then.
   *
   * @throws StoreFault if it cannot be read for now
   */
  async load(authority: FetchAuthority): Promise<StoredAuthority> {
    const directory = this.directoryOf(authority);
    const record = directory === undefined ? undefined : await readRecord(directory, authority);
    if (directory === undefined || record === undefined) {
      return { record: undefined, fresh: false };
    }
    if (!isOfTheFuture(record, this.#now()) && this.#now() < this.#freshUntil(record)) {
      if (record.accessResult !== 'successful' || (await isFile(join(directory, ROBOTS_TXT)))) {
        if (record.discarded !== undefined) await discard(directory, record.discarded);
        return { record, fresh: true };
      }
    }
    const { lastSuccess } = record;
    if (lastSuccess === undefined) return { record, fresh: false };
    const digest = await digestOf(join(directory, ROBOTS_TXT));
    const intact = digest === lastSuccess.sha256;
    return { record: intact ? record : { ...record, lastSuccess: undefined }, fresh: false };
  }

  /** The record tells what was allowed when it was written; this run may allow less. */
  #freshUntil(record: FetchRecord): number {
    const { accessResult, freshUntil, respondedAt, error, lastSuccess } = record;
    if (this.#allowPrivate && error?.code === 'address-refused') return 0;
    if (accessResult === 'unreachable') return freshUntil;
    if (this.#isCutShort(lastSuccess)) return 0;
    return Math.min(freshUntil, respondedAt + this.#maxAge);
  }

  /**
   * The copy that a server may be asked to confirm. There is none where more of the robots.txt is
   * wanted than was kept: 304 would leave it cut for ever.
   */
  copyOf(record: FetchRecord | undefined): StoredCopy | undefined {
    const copy = record?.lastSuccess;
    if (copy === undefined || this.#isCutShort(copy)) return undefined;
    const { headers, policy } = copy;
    return { etag: headers.etag, lastModified: headers['last-modified'], headers, policy };
  }

  /**
   * Whether a copy was cut at a limit lower than this run's: the octet after the limit is kept with
   * it.
   */
  #isCutShort(copy: LastSuccess | undefined): boolean {
    return copy?.cut === true && copy.octets <= this.#maxBytes;
  }

  /**
   * Keeps what a fetch came to.
   *
   * @param before what `load` said of the authority before it was asked
   * @returns the record that is kept
   * @throws StoreFault if it cannot be written for this authority
   * @throws RobotsFilterError `output` if it could not be written for others either
   */
  async save(result: FetchResult, before: FetchRecord | undefined): Promise<FetchRecord> {
    const directory = this.directoryOf(result.authority);
    if (directory === undefined) {
      throw new RobotsFilterError(
        'output',
        `${this.path}: no file can be named for ${formatAuthority(result.authority)}. Leave it out.`,
      );
    }
    // A success without a body, such as 204, is a robots.txt without a line.
    const isEmpty = result.accessResult === 'successful' && !result.notModified;
    const body = result.body ?? (isEmpty ? new Uint8Array(0) : undefined);
    const digest = body === undefined ? undefined : sha256(body);
    const record = nextRecord({ ...result, body }, digest, before, {
      maxAge: this.#maxAge,
      now: this.#now(),
      unreachableAfter: this.#unreachableAfter,
    });
    this.#makeDirectory(directory, join(this.path, result.authority.scheme));
    try {
      removeLeftovers(directory);
      const isNew = body !== undefined && digest !== before?.lastSuccess?.sha256;
      const files = [
        ...(isNew ? [{ name: ROBOTS_TXT, octets: body }] : []),
        { name: FETCH_RECORD, octets: Buffer.from(formatFetchRecord(record)) },
      ];
      await replaceInOrder(
        directory,
        files.map((file) => ({ ...file, temporaryName: this.#names.next(file.name) })),
      );
      if (record.discarded !== undefined) await discard(directory, record.discarded);
    } catch (error) {
      if (concernsOneAuthority(error)) throw unkept(directory, error);
      throw unwritable(directory, error);
    }
    return record;
  }

  #makeDirectory(directory: string, parent: string): void {
    try {
      mkdirSync(directory, { recursive: true });
    } catch (error) {
      try {
        mkdirSync(parent, { recursive: true });
      } catch (cause) {
        throw unwritable(parent, cause);
      }
      throw concernsOneDirectory(error) ? unkept(directory, error) : unwritable(directory, error);
    }
  }

  /**
   * The authorities of the store, in no order that means anything; what is named for none is passed
   * by.
   */
  async *authorities(): AsyncGenerator<FetchAuthority> {
    for (const scheme of SCHEMES) {
      let names: string[];
      try {
        names = await readdir(join(this.path, scheme));
      } catch (error) {
        if (systemCode(error) === 'ENOENT') continue;
        throw unreadable(join(this.path, scheme), error);
      }
      for (const name of names) {
        const authority = authorityOfName(name, scheme);
        // Spelt otherwise, it would be fetched into another directory.
        if (authority !== undefined && nameOfAuthority({ ...authority, scheme }) === name) {
          yield { ...authority, scheme };
        }
      }
    }
  }
}

/**
 * The record in the directory of an authority; `undefined` where there is none, or one that is not
 * believed.
 */
async function readRecord(
  directory: string,
  authority: FetchAuthority,
): Promise<FetchRecord | undefined> {
  const path = join(directory, FETCH_RECORD);
  if (!exists(path)) return undefined;
  try {
    const status = await stat(path);
    if (!status.isFile() || status.size > LONGEST_FETCH_RECORD) return undefined;
    const record = parseFetchRecord(await readFile(path), authority);
    return typeof record === 'string' ? undefined : record;
  } catch (error) {
    const code = systemCode(error);
    // What is there must not be forgotten because it cannot be opened for a moment.
    if (isExhaustion(code)) throw new StoreFault(`${path}: ${describeSystemError(error)}`, error);
    // What else cannot be read will be written anew, or fail then.
    if (code !== '') return undefined;
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

function sha256(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex');
}

async function digestOf(path: string): Promise<string | undefined> {
  if (!(await isFile(path))) return undefined;
  const octets = await readFile(path).catch(() => undefined);
  return octets === undefined ? undefined : sha256(octets);
}

/** Deletes the robots.txt that a record has put out of force, if it still is that one. */
async function discard(directory: string, digest: string): Promise<void> {
  const path = join(directory, ROBOTS_TXT);
  if ((await digestOf(path)) === digest) await unlink(path).catch(() => {});
}

function removeLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    // Another run may have been faster.
    if (isLeftover(directory, name)) rmSync(join(directory, name), { force: true });
  }
}

/** What of an authority could not be written. */
function unkept(directory: string, cause: unknown): StoreFault {
  return new StoreFault(`${directory}: cannot be written: ${describeSystemError(cause)}`, cause);
}

function unwritable(path: string, cause: unknown): RobotsFilterError {
  if (cause instanceof RobotsFilterError) return cause;
  return new RobotsFilterError(
    'output',
    `${path}: cannot be written: ${describeSystemError(cause)}. Name a directory with --robots-dir that this user may write to, with room on its disk; what was fetched before is kept.`,
    { cause },
  );
}

function unreadable(path: string, cause: unknown): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `${path}: cannot be read: ${describeSystemError(cause)}. Have it made readable for this user (chmod +rx).`,
    { cause },
  );
}
