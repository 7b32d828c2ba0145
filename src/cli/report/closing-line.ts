import type { Tally } from '../../pipeline/tally.js';
import { VERDICTS, type Verdict } from '../../protocol/verdict.js';
import { formatCount, formatDuration, formatShare } from './numbers.js';
import { countsOf } from './statistics.js';

/** Number of agents whose verdicts the line holds; of more, it names two. */
const MOST_AGENTS = 3;

/** A run that has ended. */
export interface EndedRun {
  readonly tally: Tally;
  /** Names of the agents, in the order of the tally; none if no verdicts were asked for. */
  readonly agents: readonly string[];
  readonly seconds: number;
  /** Whether another run could explain the verdicts. */
  readonly isUnexplained: boolean;
}

/** `2,180,064 URLs in 0.60 s: 59.7 % allow, 40.3 % deny; --explain says why`. */
export function closingLine({ tally, agents, seconds, isUnexplained }: EndedRun): string {
  const { records } = tally;
  const start = `${formatCount(records, 'URL')} in ${formatDuration(seconds)}`;
  if (records === 0 || agents.length === 0) return start;
  const counted = agents.map((agent, index) => {
    const { verdicts } = countsOf(tally.outcomes[index] ?? []);
    return { agent, verdicts };
  });
  const all = counted.map(({ agent, verdicts }) => {
    const shares = sharesOf(verdicts, records);
    return counted.length === 1 ? shares : `${agent} ${shares}`;
  });
  const isOther = counted.some(({ verdicts }) => verdicts.allow < records);
  const hint = isUnexplained && isOther ? '; --explain says why' : '';
  if (all.length <= MOST_AGENTS) return `${start}: ${all.join('; ')}${hint}`;
  const sorted = counted.toSorted((a, b) => a.verdicts.allow - b.verdicts.allow);
  const ends = [sorted[0], sorted.at(-1)].map((end) =>
    end === undefined ? '' : `${formatShare(end.verdicts.allow, records)} allow (${end.agent})`,
  );
  return `${start}: ${agents.length} agents, from ${ends.join(' to ')}${hint}`;
}

function sharesOf(verdicts: Readonly<Record<Verdict, number>>, records: number): string {
  return VERDICTS.filter(
    (verdict) => verdicts[verdict] > 0 || verdict === 'allow' || verdict === 'deny',
  )
    .map((verdict) => `${formatShare(verdicts[verdict], records)} ${verdict}`)
    .join(', ');
}
