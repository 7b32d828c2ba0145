import { AGENT } from '../inputs/agents.js';
import type { Corpus } from '../inputs/corpus-store.js';
import type { Filter } from '../program/filter.js';
import { type Expectation, expectationOf } from '../verify/count-watch.js';

/** A corpus with the table that a filter compiled from it. */
export interface Workload {
  readonly filter: Filter;
  readonly corpus: Corpus;
  readonly table: string;
  readonly tableBytes: number;
  readonly compileSeconds: number;
  readonly expected: Expectation;
}

export async function prepareWorkload(
  filter: Filter,
  corpus: Corpus,
  table: string,
): Promise<Workload> {
  const { tableBytes, seconds } = await filter.compile(corpus.robots, table);
  const expected = expectationOf(corpus, AGENT);
  return { filter, corpus, table, tableBytes, compileSeconds: seconds, expected };
}
