import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemCode } from '../pipeline/cache/file.js';
import { begun, finished } from '../pipeline/unfinished-files.js';

/*
 * The name of a file that is to become another is .NAME.MACHINE-PROCESS-RUN-NUMBER.tmp: hidden, so that nobody reads it as a
 * robots.txt, and with what tells whether its writer still lives.
 */

const dataSync = promisify(fdatasync);

/** Milliseconds after which a file whose writer cannot be asked is taken for left behind. */
const ABANDONED_AFTER = 60 * 60 * 1000;

const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
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
export interface Temporary {
  readonly path: string;
  readonly target: string;
}

/**
 * Writes a file beside the one that it is to replace, and sees that it is on the disk. Only that last step is left to the thread pool: it
 * has four threads, which are all waiting for disks when many files are written, and each trip to it would wait behind them (the files
 * of 2,000 authorities took twice as long).
 */
export async function writeTemporary(
  directory: string,
  name: string,
  temporaryName: string,
  octets: Uint8Array,
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
    unlinkSync(path);
    finished(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return { path, target: join(directory, name) };
}

/** Puts the file in its place: whoever looks sees the old one or the new one. */
export function commitTemporary({ path, target }: Temporary): void {
  try {
    renameSync(path, target);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    finished(path);
  }
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
  if (machine === MACHINE && !isAlive(Number(pid))) return true;
  const status = statSync(join(directory, name), { throwIfNoEntry: false });
  return status !== undefined && Date.now() - status.mtimeMs > ABANDONED_AFTER;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
