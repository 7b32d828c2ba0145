import { printable } from '../../../control-characters.js';
import { version } from '../../version.js';
import {
  type AgentDifferences,
  type Difference,
  type DiffTally,
  differenceText,
  noDifference,
} from '../diff-figures.js';
import type { HeldRows } from '../held-rows.js';
import { formatCount, formatNumber } from '../numbers.js';
import { html, htmlTable } from './html-text.js';
import { htmlPage } from './page.js';
import { rowTable } from './row-table.js';
import { stackedBar } from './stacked-bar.js';

/** What a page says of the comparison. */
export interface DiffAbout {
  readonly old: string;
  readonly new: string;
  readonly what: 'host' | 'URL';
  readonly profile: string;
  /** ISO 8601. */
  readonly created: string;
}

/** The direction of a difference. */
type Direction = 'less' | 'more' | 'other' | 'moved';

/** The parts of a bar: their colours, which the audit's page explains, and their meanings. */
const DIRECTIONS: Readonly<
  Record<DiffAbout['what'], readonly (readonly [Direction, string, string])[]>
> = {
  host: [
    ['less', 'none', 'allows less'],
    ['other', 'part', 'allows another part'],
    ['more', 'all', 'allows more'],
    ['moved', 'unknown', 'has come or gone'],
  ],
  URL: [
    ['less', 'none', 'now denied'],
    ['more', 'all', 'now allowed'],
    ['moved', 'unknown', 'was or is unknown'],
  ],
};

/** What is allowed, ascending; `unknown` and `invalid` are beside the order. */
const ORDER: Readonly<Record<string, number>> = { none: 0, deny: 0, part: 1, all: 2, allow: 2 };

/** A comparison as one page of HTML. */
export function diffPage(about: DiffAbout, tally: DiffTally, rows: HeldRows): string {
  const { old, new: next, what, profile, created } = about;
  const { agents } = tally;
  const compared = formatCount(tally.compared, what);
  return htmlPage({
    title: 'What has changed for crawlers',
    subtitle: `${compared}, ${formatCount(agents.length, 'agent')}: ${printable(old)} (old) and ${printable(next)} (new), ${created.slice(0, 10)}`,
    sections: [
      { heading: 'Differences by agent', content: directionBars(agents, what) },
      { heading: 'What differs', content: differenceTable(agents, what) + undecidedHosts(agents) },
      { heading: what === 'host' ? 'Host by host' : 'URL by URL', content: rowTable(rows, 'row') },
    ],
    foot: `robots-filter ${version()}, profile ${profile}. Files are compared by what they allow, not by their text.`,
  });
}

/** Says that nothing was found: there is no difference, or some files were too entangled. */
function nothingFound(agents: readonly AgentDifferences[]): string {
  return isUndecided(agents) ? '<p>No difference was found.</p>' : '<p>There is no difference.</p>';
}

function isUndecided(agents: readonly AgentDifferences[]): boolean {
  return agents.some(({ undecided }) => undecided > 0);
}

/** The hosts that may differ, unnoticed. */
function undecidedHosts(agents: readonly AgentDifferences[]): string {
  if (!isUndecided(agents)) return '';
  const words = agents.flatMap(({ agent, undecided }) =>
    undecided === 0 ? [] : [`${html(agent)}: ${formatCount(undecided, 'host')}`],
  );
  return `<p>Not compared on every path, because many wildcard rules overlap: ${words.join(', ')}. A difference may have been missed.</p>`;
}

function directionBars(agents: readonly AgentDifferences[], what: DiffAbout['what']): string {
  if (agents.every(({ counts }) => counts.length === 0)) return nothingFound(agents);
  const rows = agents.map(({ agent, counts, undecided }) => {
    const parts = DIRECTIONS[what].map(([direction, kind, meaning]) => {
      const count = counts.reduce(
        (sum, [difference, number]) => (directionOf(difference) === direction ? sum + number : sum),
        0,
      );
      return { kind, count, meaning };
    });
    const words = parts.flatMap(({ count, meaning }) =>
      count === 0 ? [] : [`${meaning}: ${formatNumber(count)}`],
    );
    const sum = parts.reduce((total, { count }) => total + count, 0);
    const label = `${agent}: ${words.join(', ') || noDifference(undecided)}`;
    return `<b>${html(agent)}</b>${stackedBar(parts, label)}<span class="counts">${formatCount(sum, 'difference')}</span>`;
  });
  const legend = DIRECTIONS[what]
    .map(([, kind, meaning]) => `<li><span class="${kind}"></span>${html(meaning)}</li>`)
    .join('');
  return `<p>Each bar has the ${what}s that differ for an agent.</p>
<ul class="legend">${legend}</ul>
<div class="bars">${rows.join('\n')}</div>`;
}

function differenceTable(agents: readonly AgentDifferences[], what: string): string {
  const texts = new Set(
    agents.flatMap(({ counts }) => counts.map(([difference]) => differenceText(difference))),
  );
  if (texts.size === 0) return nothingFound(agents);
  const columns = [...texts];
  const rows = agents.map(({ agent, counts }) => [
    html(agent),
    ...columns.map((text) => {
      const found = counts.find(([difference]) => differenceText(difference) === text);
      return formatNumber(found?.[1] ?? 0);
    }),
  ]);
  return htmlTable('numbers', `Number of ${what}s`, ['agent', ...columns], rows);
}

function directionOf(difference: Difference): Direction {
  if (difference === 'rules') return 'other';
  if (typeof difference === 'string') return 'moved';
  const [old, next] = difference.map((each) => ORDER[each]);
  if (old === undefined || next === undefined) return 'moved';
  return old < next ? 'more' : 'less';
}
