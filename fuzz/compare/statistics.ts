import { numberedBy } from '../../oracle/filter.js';
import type { DrawnInput } from './input.js';
import type { Plan } from './plan.js';

/** The statistics on standard error, if they differ from the oracle's counts. */
export function statisticsFault(
  stderr: string,
  inputs: readonly string[],
  plan: Plan,
  { oracle, bytes }: DrawnInput,
): string | undefined {
  const lines = stderr.split('\n');
  const json = lines.find((line) => line.startsWith('{'));
  if (json === undefined) return 'no statistics';
  const said = JSON.parse(json) as Record<string, unknown>;
  const isJson = plan.format === 'array' || plan.format === 'concatenated';
  const wanted: Record<string, unknown> = {
    complete: true,
    records: oracle.records,
    passed: oracle.passed,
    bad: oracle.bad,
    // For JSON the bytes of the records are counted, each on a separate line.
    ...(isJson ? {} : { bytes: bytes.reduce((sum, each) => sum + each, 0) }),
    agents: plan.agents.map((agent, index) => ({ agent, ...oracle.counts[index] })),
  };
  for (const [name, value] of Object.entries(wanted)) {
    const [is, should] = [JSON.stringify(said[name]), JSON.stringify(value)];
    if (is !== should) return `statistics: "${name}" is ${is}, should be ${should}`;
  }
  const unit = numberedBy(plan.format);
  const named = oracle.named.map(({ input, line }) => {
    const isStandard =
      plan.wayIn === 'pipe' ||
      plan.wayIn === 'gzip pipe' ||
      plan.wayIn === 'socket' ||
      plan.wayIn === 'stdin from a file';
    return `robots-filter: ${isStandard ? 'standard input' : inputs[input]}, ${unit} ${line}: `;
  });
  const places = lines.filter((line) => line.includes(`, ${unit} `));
  if (places.length !== named.length) {
    return `${places.length} bad records are named, should be ${named.length}`;
  }
  const wrong = named.findIndex((place, index) => places[index]?.startsWith(place) !== true);
  return wrong < 0
    ? undefined
    : `bad record ${wrong + 1} is named ${places[wrong]}, should be ${named[wrong]}`;
}
