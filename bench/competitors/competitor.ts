import { type ShapeName, USUAL_PLACE } from '../corpus/shapes.js';
import { AGENT } from '../inputs/agents.js';
import type { Corpus } from '../inputs/corpus-store.js';
import { provideRecords } from '../inputs/corpus-store.js';
import { runProgram } from '../measure/process.js';
import type { Case } from '../measure/runs.js';
import { assertEqual } from '../verify/assert-equal.js';
import { noVerdicts, type VerdictCounts } from '../verify/verdict-counts.js';

/** A library that a user could use instead, in a program that decides URLs. */
export interface Competitor {
  readonly id: string;
  readonly name: string;
  /** URLs as text, or the records of a shape. */
  readonly format: 'text' | ShapeName;
  /** Number of URLs to decide, from the start of the list: about a second of work. */
  readonly urls: number;
  readonly program: string;
  readonly words: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Suffix of the id if the library has another entry too, or decides nothing. */
export const VARIANT = /-(?:ndjson|annotated|index|extract)$/;

/** The task of a competitor's program. */
export interface CompetitorTask {
  /** A directory of robots.txt files named HOST. */
  readonly robots: string;
  readonly input: string;
  readonly urls: number;
}

export function taskOf({ format, urls }: Competitor, corpus: Corpus): CompetitorTask {
  const input =
    format === 'text' ? corpus.text : provideRecords(corpus, format, USUAL_PLACE[format]);
  return { robots: corpus.robots, input, urls: Math.min(urls, corpus.summary.urls) };
}

/**
 * Runs a competitor once.
 *
 * @param verdicts file for one verdict a line; by default none is written
 */
export async function runCompetitor(
  { id, program, words, environment = {} }: Competitor,
  { robots, input, urls }: CompetitorTask,
  verdicts?: string,
) {
  const library = id.replace(VARIANT, '');
  const args = [...words, library, robots, input, String(urls), AGENT];
  const run = await runProgram(program, verdicts === undefined ? args : [...args, verdicts], {
    output: 'keep',
    environment,
  });
  const { seconds, counts } = JSON.parse(run.output) as { seconds: number; counts: VerdictCounts };
  return { seconds, counts: { ...noVerdicts(), ...counts }, peakBytes: run.peakBytes };
}

/**
 * A case whose counts must be the same in all runs. The program measures its own time, without the
 * start and without parsing.
 */
export function competitorCase(competitor: Competitor, corpus: Corpus): Case {
  const { id, name } = competitor;
  const task = taskOf(competitor, corpus);
  let known: string | undefined;
  return {
    id,
    name,
    kind: 'competitor',
    records: task.urls,
    bytes: 0,
    reads: [task.input],
    async run() {
      const { seconds, counts, peakBytes } = await runCompetitor(competitor, task);
      const text = JSON.stringify(counts);
      known ??= text;
      assertEqual(`${name}: counts`, text, known);
      return { seconds, peakBytes };
    },
  };
}
