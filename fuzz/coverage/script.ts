import inspector from 'node:inspector';

/** A function of a script: its known blocks, by their start and end, and the feature of each. */
interface KnownFunction {
  readonly blocks: Map<string, { readonly start: number; readonly feature: number }>;
}

/**
 * The blocks of the project's TypeScript that ran, by V8's precise coverage. A query takes a
 * millisecond or more, so the fuzzer queries once for many runs and examines them only if something
 * is new.
 */
export class ScriptCoverage {
  readonly #session = new inspector.Session();
  readonly #functions = new Map<string, KnownFunction>();
  readonly #part: string;
  #next: number;

  /** For scripts whose URL holds `part`; features are numbered from `first`. */
  constructor(part: string, first: number) {
    this.#part = part;
    this.#next = first;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Resets the coverage. */
  clear(): void {
    this.#take();
  }

  /**
   * Adds the blocks that ran since the last call to the features. V8 names a block only if its
   * count differs from the count of the enclosing block. A block becomes a feature when it is first
   * named, and is checked ever after.
   */
  collect(features: number[]): void {
    for (const { url, functions } of this.#take()) {
      if (!url.includes(this.#part)) continue;
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        const { blocks } = this.#function(`${url}:${whole.startOffset}`);
        for (const { startOffset, endOffset } of ranges) {
          const name = `${startOffset}-${endOffset}`;
          if (!blocks.has(name)) blocks.set(name, { start: startOffset, feature: this.#next++ });
        }
        for (const { start, feature } of blocks.values()) {
          if (countAt(ranges, start) > 0) features.push(feature);
        }
      }
    }
  }

  close(): void {
    this.#session.disconnect();
  }

  #function(name: string): KnownFunction {
    let known = this.#functions.get(name);
    if (known === undefined) {
      known = { blocks: new Map() };
      this.#functions.set(name, known);
    }
    return known;
  }

  /** The inspector answers a session of the same thread before `post` returns. */
  #take(): readonly inspector.Profiler.ScriptCoverage[] {
    let result: readonly inspector.Profiler.ScriptCoverage[] = [];
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error;
      result = answer.result;
    });
    return result;
  }
}

/** The count of the innermost range around an offset; outer ranges come first. */
function countAt(ranges: readonly inspector.Profiler.CoverageRange[], offset: number): number {
  let count = 0;
  for (const range of ranges) {
    if (range.startOffset <= offset && offset < range.endOffset) count = range.count;
  }
  return count;
}
