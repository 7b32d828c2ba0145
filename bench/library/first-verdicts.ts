import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { AGENT } from '../inputs/agents.js';
import { type Figure, figureOf, median } from '../measure/statistics.js';
import type { Library } from './subjects.js';

/** One robots.txt of records like those of `bench:real`. */
export interface RealBody {
  readonly host: string;
  readonly body: string;
}

/** How long a library takes from a body to its first verdict. */
export interface FirstVerdicts {
  readonly library: string;
  readonly files: number;
  /** Seconds for all files: of the first pass, with everything that is done once; of the others. */
  readonly firstPass: number;
  readonly pass: Figure;
  /** Microseconds: the median over the files of each file's least time. */
  readonly medianFile: number;
}

/** Reads records of `host` and `robots` or `robots_base64`, compressed with gzip or not. */
export function readBodies(path: string): RealBody[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { host, robots, robots_base64: encoded } = JSON.parse(line);
      return { host, body: robots ?? Buffer.from(encoded ?? '', 'base64').toString() };
    });
}

/** Times every file with every library, in passes that take turns. */
export function timeFirstVerdicts(
  libraries: readonly Library[],
  bodies: readonly RealBody[],
  passes: number,
): FirstVerdicts[] {
  const timed = libraries.map((library) => ({
    library,
    seconds: [] as number[],
    least: new Float64Array(bodies.length).fill(Number.POSITIVE_INFINITY),
  }));
  // The first pass is apart.
  for (let pass = 0; pass <= passes; pass++) {
    for (const { library, seconds, least } of timed) {
      const start = performance.now();
      let last = start;
      bodies.forEach(({ host, body }, index) => {
        library.parse(host, body)(`https://${host}/a/b.html`, AGENT);
        const now = performance.now();
        least[index] = Math.min(least[index] as number, now - last);
        last = now;
      });
      seconds.push((last - start) / 1e3);
    }
  }
  return timed.map(({ library, seconds: [firstPass = 0, ...others], least }) => ({
    library: library.name,
    files: bodies.length,
    firstPass,
    pass: figureOf(others),
    medianFile: median([...least]) * 1e3,
  }));
}
