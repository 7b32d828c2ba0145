import { readFileSync } from 'node:fs';

/**
 * Milliseconds between two readings of a process's memory: the first few, then the others. Each
 * reading takes time on a core that may be measured, so a timed run is not watched at all.
 */
const FIRST_INTERVAL = 20;
const FIRST_LOOKS = 5;
const LATER_INTERVAL = 100;

/** Watches the memory of all processes that a process has started until `stop` is called. */
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
      if (this.#process !== undefined) readChildren(this.#process, 'VmHWM', this.#peaks);
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
  readChildren(process.pid, 'VmRSS', resident);
  return sumOf(resident);
}

function sumOf(bytes: ReadonlyMap<number, number>): number | undefined {
  return bytes.size === 0 ? undefined : [...bytes.values()].reduce((sum, each) => sum + each);
}

/** Enters the values that Linux reports for the children of a process and theirs, in bytes. */
function readChildren(process: number, field: 'VmHWM' | 'VmRSS', found: Map<number, number>): void {
  try {
    const children = readFileSync(`/proc/${process}/task/${process}/children`, 'latin1');
    for (const text of children.split(' ').filter((each) => each !== '')) {
      const child = Number(text);
      const status = readFileSync(`/proc/${child}/status`, 'latin1');
      const line = status.split('\n').find((each) => each.startsWith(`${field}:`));
      if (line !== undefined) {
        found.set(child, Number.parseInt(line.slice(field.length + 1), 10) * 1024);
      }
      readChildren(child, field, found);
    }
  } catch {
    // The process has ended, or this system has no such /proc: the last reading stands.
  }
}
