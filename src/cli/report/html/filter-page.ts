import { printable } from '../../../control-characters.js';
import type { Verdict } from '../../../protocol/verdict.js';
import { version } from '../../version.js';
import type { AgentShares, DenyingRule, FilterFigures, OutcomeFigures } from '../filter-figures.js';
import { formatCount, formatNumber, formatPercent, formatShare } from '../numbers.js';
import { html, htmlTable } from './html-text.js';
import { htmlPage } from './page.js';
import { recordTable } from './record-table.js';
import { type BarPart, stackedBar } from './stacked-bar.js';

/** A part of a bar: its colour, which the audit's page explains, and what it means. */
type Legend = readonly (readonly [kind: string, text: string])[];

const VERDICT_PARTS: readonly (readonly [Verdict, string, string])[] = [
  ['deny', 'none', 'denied'],
  ['allow', 'all', 'allowed'],
  ['unknown', 'unknown', 'unknown: no robots.txt'],
  ['invalid', 'part', 'invalid: no URL'],
];

const EXTENTS = [
  ['none', 'all URLs denied'],
  ['part', 'a part denied'],
  ['all', 'all URLs allowed'],
] as const;

/** Rules that are shown with the lines around them. */
const SHOWN_AROUND = 10;

/** The figures of a run of the filter as one page of HTML. */
export function filterPage(figures: FilterFigures): string {
  const { source, profile, created, records, hosts, agents, complete } = figures;
  const sections = [
    { heading: 'Verdicts by URL', content: urlBars(agents, records) },
    { heading: 'Verdicts by host', content: hostBars(agents, hosts.seen) },
    { heading: 'Reasons', content: reasonTables(figures) },
    { heading: 'Allowed because nothing is known', content: knownTable(agents) },
    { heading: 'Hosts without a robots.txt to rely on', content: accessTable(figures) },
    { heading: 'Records beside the rules', content: recordTable(figures.otherRecords, hosts.seen) },
    { heading: 'The hosts with most URLs', content: busyTable(figures) },
    { heading: 'The rules that deny most', content: ruleTable(figures) },
  ];
  return htmlPage({
    title: 'What crawlers may fetch of these URLs',
    subtitle: `${formatCount(records, 'record')}, ${formatCount(hosts.seen, 'host')} of ${printable(source)}, ${formatCount(agents.length, 'agent')}, ${created.slice(0, 10)}${complete ? '' : '. Incomplete: the run ended before its input'}`,
    sections,
    foot: `robots-filter ${version()}, profile ${profile}. A host is a name with all its schemes and ports. Figures of hosts leave out hosts without a robots.txt in the table, which are not counted one by one.`,
  });
}

function urlBars(agents: readonly AgentShares[], records: number): string {
  const sorted = agents.toSorted((a, b) => b.urls.deny - a.urls.deny);
  const used = VERDICT_PARTS.filter(([key]) => agents.some(({ urls }) => urls[key] > 0));
  const rows = sorted.map(({ agent, urls }) => {
    const parts = used.map(([key, kind]) => ({ kind, count: urls[key] }));
    const words = used.map(([key, , text]) => `${text}: ${formatCount(urls[key], 'record')}`);
    const share = `${formatPercent(urls.deny, records)} denied, ${formatPercent(urls.allow, records)} allowed`;
    return barRow(agent, parts, words, share);
  });
  const legend = used.map(([, kind, text]) => [kind, text] as const);
  const table = htmlTable(
    'numbers',
    'Records by verdict',
    ['agent', ...VERDICT_PARTS.map(([key]) => key)],
    agents.map(({ agent, urls }) => [
      html(agent),
      ...VERDICT_PARTS.map(([key]) => formatNumber(urls[key])),
    ]),
  );
  return bars('Share of records.', legend, rows, table);
}

function hostBars(agents: readonly AgentShares[], seen: number): string {
  const sorted = agents.toSorted((a, b) => b.hosts.none - a.hosts.none);
  const rows = sorted.map(({ agent, hosts }) => {
    const parts = EXTENTS.map(([kind]) => ({ kind, count: hosts[kind] }));
    const words = EXTENTS.map(([kind, text]) => `${text}: ${formatCount(hosts[kind], 'host')}`);
    const share = `${formatPercent(hosts.none, seen)} all denied, ${formatPercent(hosts.all, seen)} all allowed`;
    return barRow(agent, parts, words, share);
  });
  const table = htmlTable(
    'numbers',
    'Hosts by what they allow of their URLs',
    ['agent', ...EXTENTS.map(([, text]) => text)],
    agents.map(({ agent, hosts }) => [
      html(agent),
      ...EXTENTS.map(([kind]) => formatNumber(hosts[kind])),
    ]),
  );
  return bars('Share of hosts, whatever the number of their URLs.', EXTENTS, rows, table);
}

function barRow(
  agent: string,
  parts: readonly BarPart[],
  words: readonly string[],
  share: string,
): string {
  const bar = stackedBar(parts, `${agent}: ${words.join(', ')}`);
  return `<b>${html(agent)}</b>${bar}<span class="counts">${html(share)}</span>`;
}

function bars(what: string, legend: Legend, rows: readonly string[], table: string): string {
  const items = legend.map(([kind, text]) => `<li><span class="${kind}"></span>${html(text)}</li>`);
  const order = rows.length > 1 ? ' The agent that is denied most stands first.' : '';
  return `<p>${html(what)}${order}</p>
<ul class="legend">${items.join('')}</ul>
<div class="bars">${rows.join('\n')}</div>
${table}`;
}

/** By URL and by host: a row for each agent, a column for each verdict and reason. */
function reasonTables({ agents, records, hosts }: FilterFigures): string {
  const keys = new Map<string, readonly [Verdict, string]>();
  for (const { outcomes } of agents) {
    for (const { verdict, reason } of outcomes) keys.set(`${verdict} ${reason}`, [verdict, reason]);
  }
  const columns = [...keys.values()];
  const header = ['agent', ...columns.map(([verdict, reason]) => `${verdict}, ${reason}`)];
  const rows = (cell: (outcome: OutcomeFigures | undefined) => string): string[][] =>
    agents.map(({ agent, outcomes }) => [
      html(agent),
      ...columns.map(([verdict, reason]) =>
        cell(outcomes.find((each) => each.verdict === verdict && each.reason === reason)),
      ),
    ]);
  const share = (count: number, whole: number): string =>
    `${formatNumber(count)} (${formatPercent(count, whole)})`;
  return `${htmlTable(
    'numbers',
    'Records, and their share of all records',
    header,
    rows((outcome) => share(outcome?.urls ?? 0, records)),
  )}
${htmlTable(
  'numbers',
  'Hosts with such a URL, and their share of all hosts; a host counts once for each reason',
  header,
  rows((outcome) =>
    outcome?.hosts === null ? 'not counted' : share(outcome?.hosts ?? 0, hosts.seen),
  ),
)}`;
}

function knownTable(agents: readonly AgentShares[]): string {
  const rows = agents.map(({ agent, urls, hosts, nothingKnown }) => [
    html(agent),
    formatNumber(urls.allow),
    formatNumber(nothingKnown.urls),
    formatPercent(nothingKnown.urls, urls.allow),
    formatNumber(hosts.all + hosts.part),
    formatNumber(nothingKnown.hosts),
    formatPercent(nothingKnown.hosts, hosts.all + hosts.part),
  ]);
  return `<p>No one allowed these URLs: there is no robots.txt, no group for the agent, or no rule for the path. A host counts if this is so for all its allowed URLs.</p>
${htmlTable(
  'numbers',
  'Allowed, and of these allowed because nothing is known',
  ['agent', 'URLs allowed', 'nothing known', 'share', 'hosts', 'nothing known', 'share'],
  rows,
)}`;
}

function accessTable({ access, ages, hosts }: FilterFigures): string {
  const stale: readonly (readonly [string, number | undefined, string])[] =
    ages === null
      ? [['stale', undefined, 'Not known: the table keeps no dates. Compile it with --records.']]
      : [
          ['stale', ages.stale, 'A robots.txt was fetched more than 24 hours before this run.'],
          ['dated', ages.dated, 'The date of a robots.txt is known.'],
        ];
  const rows = [
    ['unavailable', access.unavailable, 'There is none (status 4xx): everything is allowed.'],
    [
      'unreachable',
      access.unreachable,
      'The server failed (5xx, or no answer): nothing is allowed.',
    ],
    ...stale,
  ] as const;
  return htmlTable(
    'words',
    'Hosts with URLs',
    ['robots.txt', 'hosts', 'share', 'meaning'],
    rows.map(([name, count, meaning]) => [
      html(name),
      count === undefined ? '-' : formatNumber(count),
      count === undefined ? '-' : formatPercent(count, hosts.seen),
      html(meaning),
    ]),
  );
}

function busyTable({ busiest, agents }: FilterFigures): string {
  if (busiest.length === 0) return '<p>No URL is of a host in the table.</p>';
  const rows = busiest.map(({ host, urls, allowed }) => [
    html(host),
    formatNumber(urls),
    ...allowed.map((count) => {
      const kind = count === urls ? 'all' : count === 0 ? 'none' : 'part';
      return `<span class="cell ${kind}">${formatShare(count, urls).replace(' %', '')}</span>`;
    }),
  ]);
  return `<p>The percentage of the URLs of each host that an agent may fetch.</p>
${htmlTable(
  'grid',
  `The ${formatCount(busiest.length, 'host')} with most URLs`,
  ['host', 'URLs', ...agents.map(({ agent }) => agent)],
  rows,
)}`;
}

function ruleTable({ denying: { rules, missed }, agents }: FilterFigures): string {
  if (rules.length === 0) return '<p>No rule denied a URL.</p>';
  const lacks =
    missed === 0
      ? ''
      : ` There were too many rules to count each one, so a count may be up to ${formatNumber(missed)} too low.`;
  const rows = rules.map(({ host, line, rule, denied, deniedToAgents, source }) => [
    html(host),
    formatNumber(denied),
    String(line),
    `<code>${html(printable(rule))}</code>`,
    formatNumber(deniedToAgents.filter((count) => count > 0).length),
    html(printable(source)),
  ]);
  const several = agents.length > 1 ? ' A URL counts once for each agent.' : '';
  return `<p>URLs that each rule denied.${several}${lacks}</p>
${htmlTable(
  'words',
  `The ${formatCount(rules.length, 'rule')} that denied most URLs`,
  ['host', 'denied', 'line', 'rule', 'agents', 'source'],
  rows,
)}
<h3>The first of them in their groups</h3>
<p>Rules that others always override are left out.</p>
${rules.slice(0, SHOWN_AROUND).map(ruleExcerpt).join('\n')}`;
}

function ruleExcerpt({ host, line, group, around, source }: DenyingRule): string {
  const lines = around.map((each) => {
    const text = `${String(each.line).padStart(6)}  ${html(printable(each.rule))}`;
    return each.line === line ? `<strong>${text}</strong>` : text;
  });
  const agents = group.map((token) => `        User-agent: ${html(printable(token))}`);
  return `<figure><figcaption>${html(host)}, line ${line} of ${html(printable(source))}</figcaption>
<pre>${[...agents.slice(0, SHOWN_TOKENS), ...rest(agents.length), ...lines].join('\n')}</pre></figure>`;
}

/** Product tokens of a group that are shown. */
const SHOWN_TOKENS = 5;

function rest(tokens: number): string[] {
  return tokens > SHOWN_TOKENS ? [`        and ${formatNumber(tokens - SHOWN_TOKENS)} more`] : [];
}
