import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { begun, finished } from '../pipeline/unfinished-files.js';
import { isRunning, MACHINE } from './process-identity.js';

/*
 * The name of a file that is to become another is .NAME.MACHINE-PROCESS-RUN-NUMBER.tmp: hidden, so
 * that nobody reads it as a robots.txt, and with what tells whether its writer still lives.
 */

const dataSync = promisify(fdatasync);

/** Milliseconds after which a file whose writer cannot be asked is taken for left behind. */
const ABANDONED_AFTER = 60 * 60 * 1000;

const SUFFIX = '.tmp';

/** Makes names that no other run has. */
export class TemporaryNames {
  readonly #run = randomBytes(4).toString('hex');
  #number = 0;

  next(name: string): string {
    return `.${name}.${MACHINE}-${process.pid}-${this.#run}-${this.#number++}${SUFFIX}`;
  }
}

/** A file that is complete and on the disk, but not in its place. */
interface Temporary {
  readonly path: string;
  readonly target: string;
}

/** What a file of a directory is to hold. */
export interface Replacement {
  readonly name: string;
  readonly temporaryName: string;
  readonly octets: Uint8Array;
}

/**
 * Writes files beside those that they replace, sees that they are on the disk, then puts them in
 * their places one after another: whoever looks sees the old one or the new one. Where a directory
 * stands in the place of one, none is put there; where one cannot be put there for another reason,
 * the ones after it are not either.
 */
export async function replaceInOrder(
  directory: string,
  replacements: readonly Replacement[],
): Promise<void> {
  const outcomes = await Promise.allSettled(
    replacements.map((replacement) => writeTemporary(directory, replacement)),
  );
  const waiting = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value] : [],
  );
  try {
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
    for (const { target } of waiting) refuseDirectory(target);
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      renameSync(next.path, next.target);
      finished(next.path);
      waiting.shift();
    }
  } finally {
    for (const { path } of waiting) remove(path);
  }
}

/**
 * Only the last step is left to the thread pool: it has four threads, which are all waiting for
 * disks when many files are written, and each trip to it would wait behind them (the files of 2,000
 * authorities took twice as long).
 */
async function writeTemporary(
  directory: string,
  { name, temporaryName, octets }: Replacement,
): Promise<Temporary> {
  const path = join(directory, temporaryName);
  begun(path);
  const descriptor = open(path);
  try {
    for (let written = 0; written < octets.length; ) {
      written += writeSync(descriptor, octets, written);
    }
    await dataSync(descriptor);
  } catch (error) {
    remove(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return { path, target: join(directory, name) };
}

/** What `rename` would say of a directory in the way, said before anything is renamed. */
function refuseDirectory(target: string): void {
  if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const error = new Error(`EISDIR: ${target} is a directory`);
  throw Object.assign(error, { code: 'EISDIR', syscall: 'rename', path: target });
}

function remove(path: string): void {
  rmSync(path, { force: true });
  finished(path);
}

function open(path: string): number {
  try {
    return openSync(path, 'wx');
  } catch (error) {
    finished(path);
    throw error;
  }
}

/** Whether a file is one that its writer, killed, has left behind. */
export function isLeftover(directory: string, name: string): boolean {
  if (!name.startsWith('.robots.') || !name.endsWith(SUFFIX)) return false;
  const [machine, pid] = (name.slice(0, -SUFFIX.length).split('.').at(-1) ?? '').split('-');
  if (machine === MACHINE && !isRunning(Number(pid))) return true;
  const status = statSync(join(directory, name), { throwIfNoEntry: false });
  return status !== undefined && Date.now() - status.mtimeMs > ABANDONED_AFTER;
}
