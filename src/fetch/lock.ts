/**
 * Locks a store, so that one run at a time fetches into it. A killed run leaves its lock behind, so
 * a lock counts only while its process lives.
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimes,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { RobotsFilterError } from '../base/errors.js';
import { begun, finished } from '../files/replacement.js';
import { describeSystemError, errorCode } from '../files/system-error.js';

/** Milliseconds between two signs of life: a run updates the time of its file. */
const SIGN_OF_LIFE = 60_000;
/** Milliseconds without a sign of life after which a run on another machine counts as dead. */
const DEAD_AFTER = 15 * 60_000;
/** Times that a run tries, and the most milliseconds between two tries. */
const TRIES = 4;
const LONGEST_WAIT = 200;

/**
 * Locks a store for a run; returns the function that releases the lock.
 *
 * Each run has a file `.fetching-MACHINE-PID-BEGINNING-NUMBER` in the store. The run creates its
 * file before it looks for those of others, and deletes its file if another run lives. So of two
 * runs that start together at least one sees the other, and never do both continue. Both may see
 * the other, and try again after a random wait.
 *
 * @throws RobotsFilterError `output` if another run fetches, or the directory cannot be written to
 */
export async function lockStore(directory: string): Promise<() => void> {
  for (let tries = 1; ; tries++) {
    const { release, other } = tryToLock(directory);
    if (other === undefined) return release;
    const error = held(directory, other);
    release();
    if (tries === TRIES) throw error;
    await wait(Math.random() * LONGEST_WAIT);
  }
}

/** Creates the file of this run; returns the name of the lock of another living run, if any. */
function tryToLock(directory: string): { release: () => void; other: string | undefined } {
  const number = randomBytes(4).toString('hex');
  const parts = ['.fetching', MACHINE, process.pid, beginningOf(process.pid), number];
  const own = parts.join('-');
  const path = join(directory, own);
  const now = (): Date => new Date();
  // It may fail: somebody may have deleted the lock by hand.
  const timer = setInterval(() => utimes(path, now(), now(), () => {}), SIGN_OF_LIFE).unref();
  const release = (): void => {
    clearInterval(timer);
    rmSync(path, { force: true });
    finished(path);
  };
  begun(path);
  try {
    writeFileSync(path, `process ${process.pid} on ${hostname()}, since ${now().toISOString()}\n`);
    const other = readdirSync(directory).find((name) => name !== own && isHeld(directory, name));
    return { release, other };
  } catch (error) {
    release();
    throw new RobotsFilterError(
      'output',
      `${directory}: cannot be locked: ${describeSystemError(error)}. Use a --robots-dir that this user may write to.`,
      { cause: error },
    );
  }
}

/** Whether a file is the lock of a living run. Deletes the locks of dead runs. */
function isHeld(directory: string, name: string): boolean {
  const [prefix, machine, pid, beginning, number] = name.split('-');
  if (prefix !== '.fetching' || number === undefined) return false;
  const path = join(directory, name);
  if (isLiving(path, machine === MACHINE ? Number(pid) : undefined, beginning)) return true;
  rmSync(path, { force: true });
  return false;
}

/** @param pid undefined for a process of another machine */
function isLiving(path: string, pid: number | undefined, beginning: string | undefined): boolean {
  if (pid !== undefined) return isRunning(pid) && beginningOf(pid) === beginning;
  const status = statSync(path, { throwIfNoEntry: false });
  return status !== undefined && Date.now() - status.mtimeMs < DEAD_AFTER;
}

function held(directory: string, name: string): RobotsFilterError {
  const path = join(directory, name);
  let holder = `process ${name.split('-')[2]}`;
  try {
    holder = readFileSync(path, 'utf8').trim() || holder;
  } catch {
    // The run has just ended.
  }
  return new RobotsFilterError(
    'output',
    `${directory}: another run is fetching into this directory (${holder}). Wait until it ends, or use another directory. If there is no such run, delete ${path}.`,
  );
}

/** Identifies the owner of process ids: a machine, or a container with its own process ids. */
export const MACHINE = createHash('sha256')
  .update(`${hostname()} ${processNamespace()}`)
  .digest('hex')
  .slice(0, 8);

/** Whether a process of this machine is running. */
export function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * The time at which a process of this machine began, in the system's own unit. The time
 * distinguishes processes that had the same id. Empty if the system does not tell it.
 */
function beginningOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name of the program, in parentheses, and may hold anything.
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // A zombie: the process has ended, and its parent has not collected its status.
    return (state === 'Z' ? undefined : fields[STARTTIME]) ?? '';
  } catch {
    return '';
  }
}

/** Place of the 22nd field of /proc/PID/stat, `starttime`, after the third, `state`. */
const STARTTIME = 22 - 4;

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
