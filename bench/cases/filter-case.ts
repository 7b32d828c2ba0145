import { statSync } from 'node:fs';
import { AGENT } from '../inputs/agents.js';
import type { UrlInput } from '../inputs/url-input.js';
import type { Case } from '../measure/runs.js';
import type { Filter, Route } from '../program/filter.js';
import type { CountWatch, Expectation } from '../verify/count-watch.js';

/** One command of the filter over one input. */
export interface FilterTask {
  readonly id: string;
  readonly filter: Filter;
  readonly table: string;
  readonly input: UrlInput;
  /** Default: one agent. */
  readonly agents?: string;
  readonly route?: Route;
  readonly options?: readonly string[];
  /** Name of the URLs and the table: all runs under this name must have the same counts. */
  readonly counted: string;
  readonly expected: Expectation;
}

/**
 * A case of the filter. The rehearsal before each timed run asserts the counts and watches memory;
 * the table's size is subtracted from the memory.
 */
export function filterCase(watch: CountWatch, task: FilterTask): Case {
  const { id, filter, table, input, agents = AGENT, route = 'file', options = [] } = task;
  const args = ['--table', table, '--agent', agents, ...input.options, ...options];
  const from = { paths: [input.path], route };
  return {
    id,
    name: commandText(task),
    kind: 'ours',
    records: input.records,
    bytes: input.bytes,
    reads: [table, input.path],
    run: () => filter.runAlone(args, from),
    async rehearse() {
      const { seconds, cpuSeconds, peakBytes, statistics } = await filter.runCounted(args, from);
      watch.check(`${task.counted} ${agents}`, task.expected, statistics);
      const beyondTable = peakBytes && peakBytes - statSync(table).size;
      return { seconds, cpuSeconds, peakBytes: beyondTable };
    },
  };
}

/** The command that a reader would type. */
function commandText({ input, agents, route = 'file', options = [] }: FilterTask): string {
  const asked = agents === undefined ? [] : ['--agent', agents.length > 40 ? 'LIST' : agents];
  const field = input.options.slice(2);
  const program = ['robots-filter --table t', ...field, ...asked, ...options].join(' ');
  const file = input.shown ?? (input.format === 'text' ? 'f.txt' : 'f.ndjson');
  if (input.records === 1) return `${program} one-url.txt`;
  if (route === 'cat |') return `cat ${file} | ${program} > /dev/null`;
  if (route === 'cat | … | cat') return `cat ${file} | ${program} | cat > /dev/null`;
  return `${program} ${file} > /dev/null`;
}
