import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Authority, parseAuthority } from '../src/protocol/authority.js';
import { assertEqual } from './check.js';
import { Lines } from './lines.js';
import { median } from './measure.js';
import type { Workload } from './scenarios.js';
import { describeCounts, noVerdicts, type VerdictCounts } from './verdicts.js';

/** At most so many URLs go through the matcher alone in a round. */
const MAX_URLS = 1_000_000;

/** The library as it is built in dist/: what users load, and where its kernel lies. */
type Library = typeof import('../src/index.js');

async function loadLibrary(): Promise<Library> {
  return await import(new URL('../dist/index.js', import.meta.url).href);
}

/** A robots.txt file in memory. */
interface Body {
  readonly authority: Authority;
  readonly source: string;
  readonly octets: Uint8Array;
}

/** Reads the files called `HOST` of a directory, so that disks and directories do not count. */
function readBodies(directory: string): Body[] {
  return readdirSync(directory).map((name) => {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(`${join(directory, name)} is named for no host`);
    return { authority, source: name, octets: readFileSync(join(directory, name)) };
  });
}

/** Compile alone: parsing and compiling, from octets in memory to the octets of a table. */
export function compileAlone(
  library: Library,
  bodies: readonly Body[],
): { seconds: number; table: Uint8Array } {
  const start = process.hrtime.bigint();
  const builder = new library.TableBuilder();
  for (const { authority, octets, source } of bodies) builder.add(authority, octets, { source });
  const table = builder.build();
  return { seconds: secondsSince(start), table };
}

/** Matcher alone: one thread, one call of the library for each URL, nothing read and nothing written. */
export function matcherAlone(
  library: Library,
  table: Uint8Array,
  urls: readonly Uint8Array[],
  agent: string,
): { seconds: number; counts: VerdictCounts } {
  const opened = library.Table.from(table);
  const counts = noVerdicts();
  const start = process.hrtime.bigint();
  for (const url of urls) counts[opened.verdict(url, agent).verdict]++;
  return { seconds: secondsSince(start), counts };
}

function secondsSince(start: bigint): number {
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/** Times compile and matcher alone, by calls of the library in this process; all rounds must give the same verdicts. */
export async function timeLibrary(
  workload: Workload,
  rounds: number,
  report: (sentence: string) => void,
): Promise<unknown> {
  const library = await loadLibrary();
  const bodies = readBodies(workload.robotsDirectory);
  const robotsOctets = bodies.reduce((sum, { octets }) => sum + octets.length, 0);
  const lines = new Lines(readFileSync(workload.inputs[0]?.path ?? ''));
  const urls = Array.from({ length: Math.min(lines.length, MAX_URLS) }, (_, index) =>
    Uint8Array.from(lines.at(index) ?? []),
  );
  const compileSeconds: number[] = [];
  const matchSeconds: number[] = [];
  let counts = noVerdicts();
  let tableOctets = 0;
  for (let round = 0; round < rounds; round++) {
    const compiled = compileAlone(library, bodies);
    const matched = matcherAlone(library, compiled.table, urls, workload.agent);
    if (round > 0) assertEqual('verdicts', describeCounts(matched.counts), describeCounts(counts));
    counts = matched.counts;
    tableOctets = compiled.table.length;
    compileSeconds.push(compiled.seconds);
    matchSeconds.push(matched.seconds);
  }
  const [compile, match] = [median(compileSeconds), median(matchSeconds)];
  report(
    `compile alone: ${(bodies.length / compile).toFixed(0)} files/s, ` +
      `${(robotsOctets / compile / 1e6).toFixed(1)} MB/s, ` +
      `${(tableOctets / bodies.length).toFixed(0)} octets of table a host`,
  );
  report(
    `matcher alone: ${(urls.length / match / 1e6).toFixed(2)} million URLs/s by single calls ` +
      `(${describeCounts(counts)})\n`,
  );
  return { compileSeconds, matchSeconds, files: bodies.length, urls: urls.length, tableOctets };
}
