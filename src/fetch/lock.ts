import { randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
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
import { RobotsFilterError } from '../errors.js';
import { describeSystemError, systemCode } from '../pipeline/cache/file.js';
import { begun, finished } from '../pipeline/unfinished-files.js';
import { beginningOf, isRunning, MACHINE } from './process-identity.js';

/*
 * Below the directory there is `.fetching`, with a file for each run that fetches into it or wants
 * to: MACHINE-PID-BEGINNING-NUMBER, which holds a line for people. A run puts its file there and
 * then looks for others. Of two that come together at least one sees the other; who sees another
 * that lives takes its own file away. So two never both go on, and nobody's file is ever taken away
 * but that of a process that is gone.
 */

const DIRECTORY = '.fetching';
const NAME_PARTS = 4;

/**
 * Milliseconds between two signs of life, and after which a run on another machine is taken for
 * dead without one.
 */
const SIGN_OF_LIFE = 60_000;
const DEAD_AFTER = 15 * 60_000;

/** Two runs that begin at once may both withdraw: they come back after a while that differs. */
const TRIES = 4;
const LONGEST_WAIT = 200;

/** A run's hold on a directory, for as long as it fetches into it. */
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
   * @throws RobotsFilterError `output` if another run holds the directory, or it cannot be written
   * to
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
    // A run that ends may take the directory away at this moment.
    for (let tries = 1; ; tries++) {
      try {
        mkdirSync(locks, { recursive: true });
        const descriptor = openSync(path, 'wx');
        writeSync(descriptor, text);
        closeSync(descriptor);
        return path;
      } catch (error) {
        if (systemCode(error) !== 'ENOENT' || tries === 100) throw error;
      }
    }
  } catch (error) {
    finished(path);
    throw unusable(directory, error);
  }
}

/** The name of the file of another run that lives; those of dead runs are taken away. */
function livingHolder(locks: string, own: string): string | undefined {
  let holder: string | undefined;
  for (const name of readdirSync(locks)) {
    const path = join(locks, name);
    // What has no such name is somebody else's.
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
    // Somebody took it away by hand: that is for them to know.
  }
}

function holderText(locks: string, name: string): string {
  try {
    const text = readFileSync(join(locks, name), 'utf8').trim();
    if (text !== '') return text;
  } catch {
    // It has just ended.
  }
  return `process ${name.split('-')[1] ?? ''}`;
}

function removeFile(locks: string, path: string): void {
  rmSync(path, { force: true });
  finished(path);
  try {
    rmdirSync(locks);
  } catch {
    // Other runs have files in it.
  }
}

function held(directory: string, path: string, holder: string): RobotsFilterError {
  return new RobotsFilterError(
    'output',
    `${directory}: another run is fetching into it (${holder}). Wait until it ends, or fetch into another directory. If there is no such run, delete ${path}.`,
  );
}

function unusable(directory: string, cause: unknown): RobotsFilterError {
  return new RobotsFilterError(
    'output',
    `${directory}: cannot be locked: ${describeSystemError(cause)}. Name a directory with --robots-dir that this user may write to.`,
    { cause },
  );
}
