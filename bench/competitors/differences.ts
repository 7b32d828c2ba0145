import type { Lines } from '../inputs/lines.js';
import type { CorpusJudge } from '../verify/judges.js';

/** Differences with one cause between a competitor's verdicts and ours. */
export interface Difference {
  readonly cause: string;
  readonly count: number;
  /** The first such URL, with the rule that decides here. */
  readonly example: string;
}

/**
 * Counts by cause the differences of another program's verdicts. This is not an assertion, since
 * each library reads the protocol in its own way.
 *
 * @param ours verdict of a URL by its index
 * @param theirs verdicts of the first URLs, in order
 */
export function differencesOf(
  judge: CorpusJudge,
  urls: Lines,
  ours: (index: number) => string | undefined,
  theirs: readonly string[],
): Difference[] {
  const causes = new Map<string, Difference>();
  theirs.forEach((verdict, index) => {
    const own = ours(index);
    if (verdict === own) return;
    const url = urls.at(index)?.toString() ?? '';
    const cause = causeOf(url, judge);
    const { rule } = judge.decide(url);
    const example = `${url} is ${own} here and ${verdict} there (${rule || 'no rule'})`;
    const known = causes.get(cause);
    causes.set(cause, {
      cause,
      count: (known?.count ?? 0) + 1,
      example: known?.example ?? example,
    });
  });
  return [...causes.values()].sort((a, b) => b.count - a.count);
}

/** The first trait of the URL, the deciding rule or the file that explains a difference. */
function causeOf(url: string, judge: CorpusJudge): string {
  const { rule } = judge.decide(url);
  const beforeFragment = url.split('#', 1)[0] ?? '';
  if (beforeFragment.endsWith('?')) return 'an empty query';
  if (rule.includes('%') || /%(?!20)|[^ -~]/.test(beforeFragment)) return 'percent-encoding';
  const file = judge.textOf(url);
  if (file.startsWith('\uFEFF')) return 'a byte order mark';
  if (file.includes('\r') && !file.includes('\n')) return 'CR as line end';
  if (file.split(/^user-agent:\s*\*/im).length > 2) return 'several groups for all';
  const isWildcard = rule.includes('*') || rule.endsWith('$');
  return isWildcard ? 'a deciding wildcard rule' : 'a deciding literal rule';
}
