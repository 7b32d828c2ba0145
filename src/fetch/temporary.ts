import { createHash, randomBytes } from 'node:crypto';
import { open, rename, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../pipeline/cache/file.js';

/*
 * The name of a file that is to become another is .NAME.MACHINE-PROCESS-RUN-NUMBER.tmp: hidden, so that nobody reads it as a
 * robots.txt, and with what tells whether its writer still lives.
 */

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

/** Writes a file beside the one that it is to replace, and sees that it is on the disk. */
export async function writeTemporary(
  directory: string,
  name: string,
  temporaryName: string,
  octets: Uint8Array,
): Promise<Temporary> {
  const path = join(directory, temporaryName);
  const file = await open(path, 'wx');
  try {
    await file.writeFile(octets);
    await file.datasync();
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
  return { path, target: join(directory, name) };
}

/** Puts the file in its place: whoever looks sees the old one or the new one. */
export async function commitTemporary({ path, target }: Temporary): Promise<void> {
  try {
    await rename(path, target);
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  }
}

/** Whether a file is one that its writer, killed, has left behind. */
export async function isLeftover(directory: string, name: string): Promise<boolean> {
  if (!name.startsWith('.robots.') || !name.endsWith(SUFFIX)) return false;
  const [machine, pid] = (name.slice(0, -SUFFIX.length).split('.').at(-1) ?? '').split('-');
  if (machine === MACHINE && !isAlive(Number(pid))) return true;
  const status = await stat(join(directory, name)).catch(() => undefined);
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
