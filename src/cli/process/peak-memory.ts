import { readFileSync } from 'node:fs';

/**
 * Greatest resident memory of the process so far, in bytes. On Linux `process.resourceUsage()`
 * would give that of the program that started this one, if it was greater: the kernel keeps the
 * value when a process becomes another program.
 */
export function peakMemory(): number {
  return highWaterMark() ?? process.resourceUsage().maxRSS * 1024;
}

/** The value that Linux keeps for the program; undefined on other systems. */
function highWaterMark(): number | undefined {
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'latin1');
  } catch {
    return undefined;
  }
  const kibibytes = /^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
