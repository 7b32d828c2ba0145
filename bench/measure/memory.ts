import { readFileSync } from 'node:fs';

/**
 * Milliseconds between two readings of a process's memory: the first few, then the others. Each
 * reading takes time on a core that may be measured, so a timed run is not watched at all.
 */
const FIRST_INTERVAL = 20;
const FIRST_LOOKS = 5;
const LATER_INTERVAL = 100;

/** Watches the memory of a process and of its children until `stop` is called. */
export class MemoryWatch {
  readonly #process: number | undefined;
  readonly #peaks = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;

  constructor(process: number | undefined) {
    this.#process = process;
    this.#wait();
  }

  /** @returns the sum of all processes' peaks in bytes; `undefined` if no reading succeeded */
  stop(): number | undefined {
    clearTimeout(this.#timer);
    return sumOf(this.#peaks);
  }

  #wait(): void {
    const interval = this.#looks < FIRST_LOOKS ? FIRST_INTERVAL : LATER_INTERVAL;
    this.#timer = setTimeout(() => {
      // High-water marks only rise, so the last reading of a process counts.
      readMemory(this.#process, 'VmHWM', this.#peaks);
      this.#looks++;
      this.#wait();
    }, interval);
  }
}

/**
 * Resident memory of all processes that this process has started, in bytes; `undefined` if /proc is
 * missing.
 */
export function residentBytes(): number | undefined {
  const resident = new Map<number, number>();
  readMemory(process.pid, 'VmRSS', resident);
  resident.delete(process.pid);
  return sumOf(resident);
}

function sumOf(bytes: ReadonlyMap<number, number>): number | undefined {
  return bytes.size === 0 ? undefined : [...bytes.values()].reduce((sum, each) => sum + each);
}

/** Enters the values that Linux reports for a process and its children, in bytes. */
function readMemory(
  process: number | undefined,
  field: 'VmHWM' | 'VmRSS',
  found: Map<number, number>,
): void {
  if (process === undefined) return;
  try {
    const status = readFileSync(`/proc/${process}/status`, 'latin1');
    const line = status.split('\n').find((each) => each.startsWith(`${field}:`));
    if (line === undefined) return;
    found.set(process, Number.parseInt(line.slice(field.length + 1), 10) * 1024);
    const children = readFileSync(`/proc/${process}/task/${process}/children`, 'latin1');
    for (const child of children.split(' ')) {
      if (child !== '') readMemory(Number(child), field, found);
    }
  } catch {
    // The process has ended, or this system has no such /proc: the last reading stands.
  }
}
