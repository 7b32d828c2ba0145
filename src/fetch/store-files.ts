/**
 * Writes the files of the store, so that a killed run leaves each file old or new, never torn.
 *
 * A temporary file has the name .NAME.MACHINE-PROCESS-RUN-NUMBER.tmp. It is hidden, so that nobody
 * reads it as a robots.txt. MACHINE and PROCESS tell whether its writer still lives.
 */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { begun, finished } from '../files/replacement.js';
import { makeDirectory } from '../files/system-error.js';
import { isRunning, MACHINE } from './lock.js';

const dataSync = promisify(fdatasync);

/** Milliseconds after which a file of a writer on another machine counts as abandoned. */
const ABANDONED_AFTER = 60 * 60 * 1000;

const SUFFIX = '.tmp';

const RUN = randomBytes(4).toString('hex');
let temporaries = 0;

/** A name that no other run creates, and this one once. */
export function temporaryName(name: string): string {
  return `.${name}.${MACHINE}-${process.pid}-${RUN}-${temporaries++}${SUFFIX}`;
}

/** A complete file on disk that has not been renamed yet. */
interface Temporary {
  readonly path: string;
  readonly target: string;
}

/** The new content of a file. */
interface Replacement {
  readonly name: string;
  readonly temporaryName: string;
  readonly bytes: Uint8Array;
}

/**
 * Replaces files in a directory: writes temporary files, syncs them, then renames them one after
 * another. A reader sees the old file or the new one.
 *
 * If a directory has the name of one of the files, none is renamed. If a rename fails, the later
 * files are not renamed.
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
 * Creates a directory with files, all at once: a reader sees none of it or all. If the directory is
 * there, it stays as it is.
 *
 * @param parent is created if it is not there
 */
export async function createWhole(
  parent: string,
  name: string,
  files: readonly Omit<Replacement, 'temporaryName'>[],
): Promise<void> {
  makeDirectory(parent);
  removeLeftovers(parent);
  const target = join(parent, name);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return;
  const path = join(parent, temporaryName('robots'));
  begun(path);
  try {
    mkdirSync(path);
    await replaceInOrder(
      path,
      files.map((file) => ({ ...file, temporaryName: temporaryName(file.name) })),
    );
    renameSync(path, target);
    finished(path);
  } catch (error) {
    remove(path);
    throw error;
  }
}

/**
 * Only the sync uses Node's thread pool. Its four threads wait for disks when many files are
 * written, and every other call would have to wait for them.
 */
async function writeTemporary(
  directory: string,
  { name, temporaryName, bytes }: Replacement,
): Promise<Temporary> {
  const path = join(directory, temporaryName);
  begun(path);
  const descriptor = open(path);
  try {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(descriptor, bytes, written);
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

/** Throws the error of `rename` for a directory, before anything is renamed. */
function refuseDirectory(target: string): void {
  if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const error = new Error(`EISDIR: ${target} is a directory`);
  throw Object.assign(error, { code: 'EISDIR', syscall: 'rename', path: target });
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
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

/** Deletes the temporary files and directories of killed runs from a directory. */
export function removeLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!isLeftover(directory, name)) continue;
    // Another run may have deleted it already.
    rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Whether a file is a temporary one whose writer was killed. */
function isLeftover(directory: string, name: string): boolean {
  if (!name.startsWith('.robots.') || !name.endsWith(SUFFIX)) return false;
  const [machine, pid] = (name.slice(0, -SUFFIX.length).split('.').at(-1) ?? '').split('-');
  if (machine === MACHINE && !isRunning(Number(pid))) return true;
  const status = statSync(join(directory, name), { throwIfNoEntry: false });
  return status !== undefined && Date.now() - status.mtimeMs > ABANDONED_AFTER;
}
