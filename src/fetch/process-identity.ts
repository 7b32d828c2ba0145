import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from '../pipeline/cache/file.js';

/** Where process ids mean the same: a machine, or a container with process ids of its own. */
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
    return systemCode(error) === 'EPERM';
  }
}

/**
 * When a process of this machine began, in the system's own terms: another process with the same id
 * has another. Empty where the system does not say.
 */
export function beginningOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name of the program, in parentheses, and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Killed, and its parent has not yet asked how it ended.
    if (fields[0] === 'Z') return '';
    return fields[BEGINNING - FIRST] ?? '';
  } catch {
    return '';
  }
}

/**
 * Fields of /proc/PID/stat, counted from 1: `starttime`, and `state`, the first one after the
 * program's name.
 */
const BEGINNING = 22;
const FIRST = 3;

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
