import { randomBytes } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { RobotsFilterError } from '../../errors.js';
import { makeDirectory } from '../../files/make-directory.js';
import { describeSystemError, errorCode } from '../../files/system-error.js';
import { begun, finished } from '../../files/unfinished-files.js';
import { beginningOf, isRunning, MACHINE } from './process-identity.js';

/*
 * The lock is a directory `.fetching` in the store. It has one file for each run that fetches or
 * wants to fetch: MACHINE-PID-BEGINNING-NUMBER. The file holds one line for people.
 *
 * A run creates its file, then looks for others. If it finds the file of a living run, it deletes
 * its own. If two runs start together, at least one sees the other, so they never both continue. A
 * run deletes files of others only if their processes are dead.
 */

const DIRECTORY = '.fetching';
const NAME_PARTS = 4;

/** Milliseconds between two signs of life: the run updates the time of its file. */
const SIGN_OF_LIFE = 60_000;
/** Milliseconds without a sign of life after which a run on another machine counts as dead. */
const DEAD_AFTER = 15 * 60_000;

/**
 * Number of tries. Two runs that start together may both withdraw, and try again after a random
 * wait.
 */
const TRIES = 4;
const LONGEST_WAIT = 200;

/** The lock of a run on the directory into which it fetches. */
export class FetchLock {
  readonly #directory: string;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(directory: string, path: string) {
    this.#directory = directory;
    this.#path = path;
    this.#timer = setInterval(() => showLife(path), SIGN_OF_LIFE).unref();
  }

  /**
   * Locks a directory.
   *
   * @throws RobotsFilterError `output` if another run holds the lock, or the directory cannot be
   *   written to
   */
  static async take(directory: string): Promise<FetchLock> {
    const locks = join(directory, DIRECTORY);
    for (let tries = 1; ; tries++) {
      const path = putFile(directory, locks);
      let holder: string | undefined;
      try {
        holder = livingHolder(locks, path);
      } catch (error) {
        removeFile(locks, path);
        throw unusable(directory, error);
      }
      if (holder === undefined) return new FetchLock(locks, path);
      const text = holderText(locks, holder);
      removeFile(locks, path);
      if (tries === TRIES) throw held(directory, join(locks, holder), text);
      await wait(Math.random() * LONGEST_WAIT);
    }
  }

  release(): void {
    clearInterval(this.#timer);
    removeFile(this.#directory, this.#path);
  }
}

function putFile(directory: string, locks: string): string {
  const number = randomBytes(4).toString('hex');
  const path = join(locks, `${MACHINE}-${process.pid}-${beginningOf(process.pid)}-${number}`);
  const text = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`;
  begun(path);
  try {
    // A run that ends may delete the directory at this moment.
    for (let tries = 1; ; tries++) {
      try {
        makeDirectory(locks);
        const descriptor = openSync(path, 'wx');
        writeSync(descriptor, text);
        closeSync(descriptor);
        return path;
      } catch (error) {
        if (errorCode(error) !== 'ENOENT' || tries === 100) throw error;
      }
    }
  } catch (error) {
    finished(path);
    throw unusable(directory, error);
  }
}

/** The file name of another living run. Deletes the files of dead runs. */
function livingHolder(locks: string, own: string): string | undefined {
  let holder: string | undefined;
  for (const name of readdirSync(locks)) {
    const path = join(locks, name);
    // Any other name does not belong to a lock.
    if (path === own || name.split('-').length !== NAME_PARTS) continue;
    if (isLiving(path, name)) holder ??= name;
    else rmSync(path, { force: true });
  }
  return holder;
}

function isLiving(path: string, name: string): boolean {
  const [machine, pid = '', beginning] = name.split('-');
  if (machine === MACHINE) {
    return isRunning(Number(pid)) && beginningOf(Number(pid)) === beginning;
  }
  const status = statSync(path, { throwIfNoEntry: false });
  return status !== undefined && Date.now() - status.mtimeMs < DEAD_AFTER;
}

function showLife(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Somebody has deleted the lock by hand.
  }
}

function holderText(locks: string, name: string): string {
  try {
    const text = readFileSync(join(locks, name), 'utf8').trim();
    if (text !== '') return text;
  } catch {
    // The run has just ended.
  }
  return `process ${name.split('-')[1] ?? ''}`;
}

function removeFile(locks: string, path: string): void {
  rmSync(path, { force: true });
  finished(path);
  try {
    rmdirSync(locks);
  } catch {
    // Other runs have files in the directory.
  }
}

function held(directory: string, path: string, holder: string): RobotsFilterError {
  return new RobotsFilterError(
    'output',
    `${directory}: another run is fetching into this directory (${holder}). Wait until it ends, or use another directory. If there is no such run, delete ${path}.`,
  );
}

function unusable(directory: string, cause: unknown): RobotsFilterError {
  return new RobotsFilterError(
    'output',
    `${directory}: cannot be locked: ${describeSystemError(cause)}. Use a --robots-dir that this user may write to.`,
    { cause },
  );
}
