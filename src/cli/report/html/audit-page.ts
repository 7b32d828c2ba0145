import { version } from '../../version.js';
import type { AgentFigures, Allowed, AuditFigures, Decider } from '../audit-figures.js';
import type { HeldRows } from '../held-rows.js';
import { formatCount, formatNumber, formatPercent } from '../numbers.js';
import { html, htmlTable } from './html-text.js';
import { htmlPage } from './page.js';
import { recordTable } from './record-table.js';
import { rowTable } from './row-table.js';
import { stackedBar } from './stacked-bar.js';

/** The extents in the order of a bar, and what they mean. */
const EXTENTS: readonly (readonly [Allowed, string])[] = [
  ['none', 'nothing but /robots.txt'],
  ['part', 'a part'],
  ['all', 'everything'],
  ['unknown', 'unknown: no robots.txt'],
];

const DECIDERS: readonly (readonly [Decider, string])[] = [
  ['own', 'a group that names the agent'],
  ['any', 'the group of *'],
  ['nobody', 'no group: everything is allowed'],
];

/**
 * An audit as one page of HTML.
 *
 * @param rows its rows, which may be a selection; without them the page has figures alone
 */
export function auditPage(figures: AuditFigures, rows?: HeldRows): string {
  const { source, profile, created, hosts, agents } = figures;
  const sections = [
    { heading: 'What the agents may fetch', content: extentBars(agents, hosts) },
    { heading: 'Whose group decides', content: deciderTable(agents) },
    { heading: 'How fetching robots.txt ended', content: accessTable(figures) },
    { heading: 'Records beside the rules', content: recordTable(figures.records, hosts) },
    { heading: 'The strictest hosts', content: strictTable(figures) },
  ];
  if (rows !== undefined) {
    sections.push({ heading: 'Host by host', content: rowTable(rows, 'row') });
  }
  return htmlPage({
    title: 'What crawlers may fetch',
    subtitle: `${formatCount(hosts, 'host')} of ${source}, ${formatCount(agents.length, 'agent')}, ${created.slice(0, 10)}`,
    sections,
    foot: `robots-filter ${version()}, profile ${profile}. "Everything" and "nothing" are proven from all rules. Each scheme and port with a robots.txt of its own counts as a host.`,
  });
}

/** A bar for each agent; the agent that may fetch the least stands first. */
function extentBars(agents: readonly AgentFigures[], hosts: number): string {
  const legend = EXTENTS.filter(([key]) => key !== 'unknown' || agents.some((each) => each.unknown))
    .map(([key, text]) => `<li><span class="${key}"></span>${html(text)}</li>`)
    .join('');
  const sorted = agents.toSorted((a, b) => b.none - a.none || a.all - b.all);
  const rows = sorted.map((figures) => {
    const words = EXTENTS.flatMap(([key, text]) =>
      figures[key] === 0 ? [] : [`${text}: ${formatCount(figures[key], 'host')}`],
    );
    const parts = EXTENTS.map(([kind]) => ({ kind, count: figures[kind] }));
    const label = `${figures.agent}: ${words.join(', ')}`;
    return `<b>${html(figures.agent)}</b>${stackedBar(parts, label)}<span class="counts">${formatPercent(figures.none, hosts)} none, ${formatPercent(figures.all, hosts)} all</span>`;
  });
  return `<p>Share of hosts. The agent that may fetch the least stands first.</p>
<ul class="legend">${legend}</ul>
<div class="bars">${rows.join('\n')}</div>
${htmlTable(
  'numbers',
  'Hosts by what they allow',
  ['agent', 'none', 'part', 'all', 'unknown'],
  agents.map((each) => [html(each.agent), ...EXTENTS.map(([key]) => formatNumber(each[key]))]),
)}`;
}

function deciderTable(agents: readonly AgentFigures[]): string {
  return `<p>Only hosts whose robots.txt was read. A host that names no agent has decided nothing about this one.</p>
${htmlTable(
  'numbers',
  'Hosts by the group that decides',
  ['agent', ...DECIDERS.map(([, text]) => text)],
  agents.map(({ agent, by }) => [html(agent), ...DECIDERS.map(([key]) => formatNumber(by[key]))]),
)}`;
}

function accessTable({ access, hosts }: AuditFigures): string {
  const meanings = {
    successful: 'A robots.txt was read.',
    unavailable: 'There is none (status 4xx): everything is allowed.',
    unreachable: 'The server failed (5xx, or no answer): nothing is allowed.',
    unknown: 'No robots.txt was fetched.',
  } as const;
  const rows = Object.entries(meanings).map(([key, meaning]) => {
    const count = access[key as keyof typeof meanings];
    return [html(key), formatNumber(count), formatPercent(count, hosts), html(meaning)];
  });
  return htmlTable(
    'words',
    'Hosts by access result',
    ['access', 'hosts', 'share', 'meaning'],
    rows,
  );
}

function strictTable({ strictest, agents }: AuditFigures): string {
  if (strictest.length === 0) return '<p>No host forbids everything to one of these agents.</p>';
  const rows = strictest.map(({ host, allowed }) => [
    html(host),
    ...allowed.map((each) => `<span class="cell ${each}">${each}</span>`),
  ]);
  return htmlTable(
    'grid',
    `${formatCount(strictest.length, 'host')} that allow nothing to most agents`,
    ['host', ...agents.map(({ agent }) => agent)],
    rows,
  );
}
