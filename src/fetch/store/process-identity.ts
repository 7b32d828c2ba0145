import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '../../files/system-error.js';

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
export function beginningOf(pid: number): string {
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
