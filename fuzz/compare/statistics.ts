import type { DrawnInput } from './input.js';
import type { Plan } from './plan.js';
import { numberedBy } from './promises.js';

/** What standard error says of the run, if it is not what the oracle counted. */
export function statisticsFault(
  stderr: string,
  inputs: readonly string[],
  plan: Plan,
  { oracle, octets }: DrawnInput,
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
    // Of JSON the octets of its records are counted, each on a line of its own.
    ...(isJson ? {} : { bytes: octets.reduce((sum, each) => sum + each, 0) }),
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
