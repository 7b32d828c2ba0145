/** The HTML pages of reports. */

import { printable } from '../../base/control-characters.js';
import { version } from '../../files/package-file.js';
import { RECORD_FIGURES } from '../../inspect/host-report.js';
import { SIGNALS } from '../../patterns/use-answers.js';
import { cutToWidth, formatCount, formatNumber, formatPercent, formatShare } from '../text.js';
import type { AuditFigures } from './audit-figures.js';
import {
  type AgentDifferences,
  type Difference,
  type DiffTally,
  differenceText,
  isOfUse,
  noDifference,
} from './diff-figures.js';
import type { DenyingRule, FilterFigures, OutcomeFigures } from './filter-figures.js';
import { type Cell, type HeldRows, textOf } from './rows.js';

/** The figures of a run of the filter as one page of HTML. */
export function filterPage(figures: FilterFigures): string {
  const { source, profile, created, records, hosts, agents, complete } = figures;
  const order = agents.length > 1 ? ' The agent that is denied most stands first.' : '';
  const urls = agents.map((each) => [each.agent, each.urls] as const);
  const extents = agents.map((each) => [each.agent, each.hosts] as const);
  return htmlPage({
    title: 'What crawlers may fetch of these URLs',
    subtitle: `${formatCount(records, 'record')}, ${formatCount(hosts.seen, 'host')} of ${source}, ${formatCount(agents.length, 'agent')}, ${created.slice(0, 10)}${complete ? '' : '. Incomplete: the run ended before its input'}`,
    profile,
    sections: [
      [
        'Verdicts by URL',
        `Share of records.${order}`,
        ...shares(VERDICTS, urls, records, 'record', 'Records by verdict'),
      ],
      [
        'Verdicts by host',
        `Share of hosts, whatever the number of their URLs.${order}`,
        ...shares(
          URL_EXTENTS,
          extents,
          hosts.seen,
          'host',
          'Hosts by what they allow of their URLs',
          Object.values(URL_EXTENTS).map(([, meaning]) => meaning),
        ),
      ],
      ['Reasons', ...reasonTables(figures)],
      ['Allowed because nothing is known', ...knownTable(figures)],
      ['Hosts without a robots.txt to rely on', unreliableTable(figures)],
      ...useSections(figures),
      ['Records beside the rules', ...recordTable(figures.otherRecords, hosts.seen)],
      ['The hosts with most URLs', ...busyTable(figures)],
      ['The rules that deny most', ...ruleTable(figures)],
    ],
    foot: 'A host is a name with all its schemes and ports. Figures of hosts leave out hosts without a robots.txt in the table, which are not counted one by one.',
  });
}

/**
 * An audit as one page of HTML.
 *
 * @param rows its rows, which may be a selection; without them the page has figures alone
 */
export function auditPage(figures: AuditFigures, rows?: HeldRows): string {
  const { source, profile, created, hosts, agents } = figures;
  const extents = agents.map((each) => [each.agent, each] as const);
  return htmlPage({
    title: 'What crawlers may fetch',
    subtitle: `${formatCount(hosts, 'host')} of ${source}, ${formatCount(agents.length, 'agent')}, ${created.slice(0, 10)}`,
    profile,
    sections: [
      [
        'What the agents may fetch',
        'Share of hosts. The agent that may fetch the least stands first.',
        ...shares(EXTENTS, extents, hosts, 'host', 'Hosts by what they allow'),
      ],
      [
        'Whose group decides',
        'Only hosts whose robots.txt was read. A host that names no agent has decided nothing about this one.',
        table(
          'numbers',
          'Hosts by the group that decides',
          [
            'agent',
            'a group that names the agent',
            'the group of *',
            'no group: everything is allowed',
          ],
          agents.map(({ agent, by }) => [agent, by.own, by.any, by.nobody]),
        ),
      ],
      ...auditedUses(figures),
      ['How fetching robots.txt ended', accessTable(figures)],
      ['Records beside the rules', ...recordTable(figures.records, hosts)],
      ['The strictest hosts', strictTable(figures)],
      ...(rows === undefined ? [] : [['Host by host', rowTable(rows)] as const]),
    ],
    foot: '"Everything" and "nothing" are proven from all rules. Each scheme and port with a robots.txt of its own counts as a host.',
  });
}

/** What a page says of the comparison; `created` is a time of ISO 8601. */
interface DiffAbout {
  readonly old: string;
  readonly new: string;
  readonly what: 'host' | 'URL';
  readonly profile: string;
  readonly created: string;
  readonly asksUses: boolean;
}

/** A comparison as one page of HTML. */
export function diffPage(about: DiffAbout, tally: DiffTally, rows: HeldRows): string {
  const { old, new: next, what, profile, created } = about;
  const { agents } = tally;
  const only = (ofUses: boolean) =>
    agents.map((agent) => ({
      ...agent,
      counts: agent.counts.filter(([difference]) => isOfUse(difference) === ofUses),
    }));
  const [ofAccess, ofUses] = [only(false), only(true)];
  return htmlPage({
    title: 'What has changed for crawlers',
    subtitle: `${formatCount(tally.compared, what)}, ${formatCount(agents.length, 'agent')}: ${old} (old) and ${next} (new), ${created.slice(0, 10)}`,
    profile,
    sections: [
      ['Differences by agent', ...directionBars(ofAccess, what)],
      ['What differs', differenceTable(ofAccess, what), ...undecidedHosts(agents)],
      ...(about.asksUses
        ? [['What is said about uses (experimental)', differenceTable(ofUses, what)] as const]
        : []),
      [what === 'host' ? 'Host by host' : 'URL by URL', rowTable(rows)],
    ],
    foot: 'Files are compared by what they allow, not by their text.',
  });
}

/**
 * The parts of a bar by the keys of their counts. The share of a part that has a third text stands
 * beside the bar. The bar with most of the first such part is the first one, and among equals the
 * bar with least of the other.
 */
type Parts<Key extends string> = Readonly<
  Record<Key, readonly [colour: Colour, meaning: string, beside?: string]>
>;

const VERDICTS: Parts<'deny' | 'allow' | 'unknown' | 'invalid'> = {
  deny: ['none', 'denied', 'denied'],
  allow: ['all', 'allowed', 'allowed'],
  unknown: ['unknown', 'unknown: no robots.txt'],
  invalid: ['part', 'invalid: no URL'],
};
const URL_EXTENTS: Parts<'none' | 'part' | 'all'> = {
  none: ['none', 'all URLs denied', 'all denied'],
  part: ['part', 'a part denied'],
  all: ['all', 'all URLs allowed', 'all allowed'],
};
const EXTENTS: Parts<'none' | 'part' | 'all' | 'unknown'> = {
  none: ['none', 'nothing but /robots.txt', 'none'],
  part: ['part', 'a part'],
  all: ['all', 'everything', 'all'],
  unknown: ['unknown', 'unknown: no robots.txt'],
};

/** Counts by parts: a bar for each agent, and a table. */
function shares<Key extends string>(
  parts: Parts<Key>,
  agents: readonly (readonly [agent: string, counts: Readonly<Record<Key, number>>])[],
  whole: number,
  noun: string,
  caption: string,
  header: readonly string[] = Object.keys(parts),
): Block[] {
  const keys = Object.keys(parts) as Key[];
  const beside = keys.filter((key) => parts[key][2] !== undefined);
  const [most, least] = beside as [Key, Key];
  const rows = agents
    .toSorted(([, a], [, b]) => b[most] - a[most] || a[least] - b[least])
    .map(([agent, counts]) => {
      const texts = beside.map((key) => `${formatPercent(counts[key], whole)} ${parts[key][2]}`);
      return [agent, keys.map((key) => counts[key]), texts.join(', ')] as const;
    });
  const cells = agents.map(([agent, counts]) => [agent, ...keys.map((key) => counts[key])]);
  return [
    bars(
      keys.map((key) => parts[key]),
      noun,
      rows,
    ),
    table('numbers', caption, ['agent', ...header], cells),
  ];
}

/** By URL and by host: a row for each agent, a column for each verdict and reason. */
function reasonTables({ agents, records, hosts }: FilterFigures): Block[] {
  const nameOf = ({ verdict, reason }: OutcomeFigures) => `${verdict}, ${reason}`;
  const columns = [...new Set(agents.flatMap(({ outcomes }) => outcomes.map(nameOf)))];
  const rowsOf = (cell: (outcome?: OutcomeFigures) => string) =>
    agents.map(({ agent, outcomes }) => {
      const own = new Map(outcomes.map((each) => [nameOf(each), each]));
      return [agent, ...columns.map((column) => cell(own.get(column)))];
    });
  const share = (count: number, whole: number): string =>
    `${formatNumber(count)} (${formatPercent(count, whole)})`;
  const header = ['agent', ...columns];
  const ofUrls = rowsOf((outcome) => share(outcome?.urls ?? 0, records));
  const ofHosts = rowsOf((outcome) =>
    outcome?.hosts === null ? 'not counted' : share(outcome?.hosts ?? 0, hosts.seen),
  );
  return [
    table('numbers', 'Records, and their share of all records', header, ofUrls),
    table(
      'numbers',
      'Hosts with such a URL, and their share of all hosts; a host counts once for each reason',
      header,
      ofHosts,
    ),
  ];
}

/** What the content of the URLs may be used for, if a use was asked about. */
function useSections({ uses = [], agents, records }: FilterFigures): [string, ...Block[]][] {
  if (uses.length === 0) return [];
  const rows = uses.map(({ agent, use, answers }) => {
    const { granted, refused, unstated } = answers;
    const cells = [granted, refused, unstated].flatMap((count) => [
      count,
      formatPercent(count, records),
    ]);
    return [agent, use, ...cells];
  });
  const header = ['agent', 'use', 'granted', 'share', 'refused', 'share', 'unstated', 'share'];
  const several = agents.length > 1 ? 'agents' : 'agent';
  return [
    [
      'What the content may be used for (experimental)',
      `Of URLs that the ${several} may fetch. Unstated: no signal says either.`,
      table('numbers', 'URLs by answer, and their share of all records', header, rows),
    ],
  ];
}

/** What hosts say about uses, if that was asked. */
function auditedUses({ uses = [], hosts }: AuditFigures): [string, ...Block[]][] {
  if (uses.length === 0) return [];
  const rows = uses.map(({ agent, use, answers }) => {
    const { granted, refused, part, unstated } = answers;
    const cells = [granted, refused, part, unstated].flatMap((count) => [
      count,
      formatPercent(count, hosts),
    ]);
    return [agent, use, ...cells];
  });
  const header = ['granted', 'refused', 'part', 'unstated'].flatMap((each) => [each, 'share']);
  const bySignal = uses.flatMap(({ agent, use, signals }) =>
    SIGNALS.map((signal) => {
      const { granted, refused, part } = signals[signal];
      return [agent, use, signal, granted, refused, part];
    }),
  );
  return [
    [
      'What the content may be used for (experimental)',
      'Hosts where the agent may fetch anything, by what they say about all that it may fetch. Part: paths have different answers, or neither was proven. Unstated: no signal says either.',
      table('numbers', 'Hosts by answer, and their share', ['agent', 'use', ...header], rows),
      table(
        'numbers',
        'Hosts by the signals that give their answer; a host counts once for each signal',
        ['agent', 'use', 'signal', 'granted', 'refused', 'part'],
        bySignal,
      ),
    ],
  ];
}

function knownTable({ agents }: FilterFigures): Block[] {
  const rows = agents.map(({ agent, urls: { allow }, hosts: { all, part }, nothingKnown }) => {
    const { urls, hosts } = nothingKnown;
    const [ofUrls, ofHosts] = [formatPercent(urls, allow), formatPercent(hosts, all + part)];
    return [agent, allow, urls, ofUrls, all + part, hosts, ofHosts];
  });
  const header = [
    'agent',
    'URLs allowed',
    'nothing known',
    'share',
    'hosts',
    'nothing known',
    'share',
  ];
  return [
    'No one allowed these URLs: there is no robots.txt, no group for the agent, or no rule for the path. A host counts if this is so for all its allowed URLs.',
    table('numbers', 'Allowed, and of these allowed because nothing is known', header, rows),
  ];
}

/** Numbers of hosts, their shares and what they mean. A count that is not known is undefined. */
function hostTable(
  caption: string,
  whole: number,
  rows: readonly (readonly [name: string, count: number | undefined, meaning: string])[],
): Block {
  return table(
    'words',
    caption,
    ['robots.txt', 'hosts', 'share', 'meaning'],
    rows.map(([name, count, meaning]) =>
      count === undefined
        ? [name, '-', '-', meaning]
        : [name, count, formatPercent(count, whole), meaning],
    ),
  );
}

const UNAVAILABLE = 'There is none (status 4xx): everything is allowed.';
const UNREACHABLE = 'The server failed (5xx, or no answer): nothing is allowed.';
const STALE = 'A robots.txt was fetched more than 24 hours before this run.';
const UNDATED =
  'Not known: the table keeps no dates (compile it with --records), or --as-of asks it for a time.';

function unreliableTable({ access, ages, hosts }: FilterFigures): Block {
  return hostTable('Hosts with URLs', hosts.seen, [
    ['unavailable', access.unavailable, UNAVAILABLE],
    ['unreachable', access.unreachable, UNREACHABLE],
    ['stale', ages?.stale, ages === null ? UNDATED : STALE],
    ['dated', ages?.dated, ages === null ? UNDATED : 'The date of a robots.txt is known.'],
  ]);
}

function accessTable({ access, hosts }: AuditFigures): Block {
  return hostTable('Hosts by access result', hosts, [
    ['successful', access.successful, 'A robots.txt was read.'],
    ['unavailable', access.unavailable, UNAVAILABLE],
    ['unreachable', access.unreachable, UNREACHABLE],
    ['unknown', access.unknown, 'No robots.txt was fetched.'],
  ]);
}

/** The hosts with other records of each kind, and their share of `hosts`. */
function recordTable(records: AuditFigures['records'], hosts: number): Block[] {
  if (records === null)
    return [
      'Not known: the table keeps no records (compile it with --records), or --as-of asks it for a time.',
    ];
  const rows = RECORD_FIGURES.map((kind) => [
    kind,
    records[kind],
    formatPercent(records[kind], hosts),
  ]);
  return [
    'None of these records changes a verdict.',
    table('numbers', 'Hosts that have a record', ['record', 'hosts', 'share'], rows),
  ];
}

function strictTable({ strictest, agents }: AuditFigures): Block {
  if (strictest.length === 0) return 'No host forbids everything to one of these agents.';
  return table(
    'grid',
    `${formatCount(strictest.length, 'host')} that allow nothing to most agents`,
    ['host', ...agents.map(({ agent }) => agent)],
    strictest.map(({ host, allowed }) => [host, ...allowed.map((each) => coloured(each, each))]),
  );
}

function busyTable({ busiest, agents }: FilterFigures): Block[] {
  if (busiest.length === 0) return ['No URL is of a host in the table.'];
  const rows = busiest.map(({ host, urls, allowed }) => [
    host,
    urls,
    ...allowed.map((count) => {
      const percentage = formatShare(count, urls).replace(' %', '');
      return coloured(percentage, count === urls ? 'all' : count === 0 ? 'none' : 'part');
    }),
  ]);
  return [
    'The percentage of the URLs of each host that an agent may fetch.',
    table(
      'grid',
      `The ${formatCount(busiest.length, 'host')} with most URLs`,
      ['host', 'URLs', ...agents.map(({ agent }) => agent)],
      rows,
    ),
  ];
}

/** Rules that are shown with the lines around them. */
const SHOWN_AROUND = 10;
/** Product tokens of a group that are shown. */
const SHOWN_TOKENS = 5;

function ruleTable({ denying: { rules, missed }, agents }: FilterFigures): Block[] {
  if (rules.length === 0) return ['No rule denied a URL.'];
  const several = agents.length > 1 ? ' A URL counts once for each agent.' : '';
  const lacks =
    missed === 0
      ? ''
      : ` There were too many rules to count each one, so a count may be up to ${formatNumber(missed)} too low.`;
  const isDated = rules.some(({ version }) => version !== undefined);
  const rows = rules.map(({ host, line, rule, denied, deniedToAgents, source, version }) => {
    const denies = deniedToAgents.filter((count) => count > 0).length;
    const row = [host, denied, String(line), element('code', rule), denies, source];
    return isDated ? [...row, version ?? ''] : row;
  });
  return [
    `URLs that each rule denied.${several}${lacks}`,
    table(
      'words',
      `The ${formatCount(rules.length, 'rule')} that denied most URLs`,
      ['host', 'denied', 'line', 'rule', 'agents', 'source', ...(isDated ? ['version'] : [])],
      rows,
    ),
    element('h3', 'The first of them in their groups'),
    'Rules that others always override are left out.',
    ...rules.slice(0, SHOWN_AROUND).map(ruleExcerpt),
  ];
}

function ruleExcerpt({ host, line, group, around, source, version }: DenyingRule): Block {
  const more = group.length - SHOWN_TOKENS;
  const tokens = group.slice(0, SHOWN_TOKENS).map((token) => `        User-agent: ${token}`);
  if (more > 0) tokens.push(`        and ${formatNumber(more)} more`);
  const rules = around.map((each) => `${String(each.line).padStart(6)}  ${each.rule}`);
  const marked = tokens.length + around.findIndex((each) => each.line === line);
  const from = version === undefined || version === null ? '' : `, in force from ${version}`;
  return excerpt(`${host}, line ${line} of ${source}${from}`, [...tokens, ...rules], marked);
}

/** Maximum width of a value of a row, in columns of a terminal. */
const WIDEST = 200;

/** The first rows of a report. */
function rowTable({ columns, rows, total }: HeldRows): Block {
  if (total === 0) return 'There is no row.';
  const count = formatCount(total, 'row');
  const first = `The first ${formatNumber(rows.length)} of ${count}; --format csv has all`;
  return table(
    'words',
    total === rows.length ? count : first,
    columns.map(({ name }) => name.replaceAll('_', ' ')),
    rows.map((row) => row.map(rowCell)),
  );
}

/** The colours of values. */
const COLOURS: ReadonlyMap<string, Colour> = new Map([
  ['all', 'all'],
  ['granted', 'all'],
  ['part', 'part'],
  ['none', 'none'],
  ['refused', 'none'],
  ['unknown', 'unknown'],
]);

function rowCell(value: Cell): ReturnType<typeof coloured> | string {
  const text = printable(textOf(value));
  const colour = COLOURS.get(text);
  return colour === undefined ? cutToWidth(text, WIDEST) : coloured(text, colour);
}

/** Which way a difference goes, with the colour and the meaning of its part of a bar. */
const DIRECTIONS = {
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
} as const;

/** What is allowed, ascending; `unknown` and `invalid` are beside the order. */
const ORDER: Readonly<Record<string, number>> = { none: 0, deny: 0, part: 1, all: 2, allow: 2 };

function directionOf(difference: Difference): 'less' | 'other' | 'more' | 'moved' {
  if (difference === 'rules') return 'other';
  if (typeof difference === 'string' || isOfUse(difference)) return 'moved';
  const [old, next] = difference.map((each) => ORDER[each]);
  if (old === undefined || next === undefined) return 'moved';
  return old < next ? 'more' : 'less';
}

function directionBars(agents: readonly AgentDifferences[], what: DiffAbout['what']): Block[] {
  if (agents.every(({ counts }) => counts.length === 0)) return [nothingFound(agents)];
  const directions = DIRECTIONS[what];
  const rows = agents.map(({ agent, counts, undecided }) => {
    const sums = directions.map(([direction]) =>
      counts.reduce((sum, [each, n]) => (directionOf(each) === direction ? sum + n : sum), 0),
    );
    const sum = sums.reduce((total, count) => total + count, 0);
    const beside = sum === 0 ? noDifference(undecided) : formatCount(sum, 'difference');
    return [agent, sums, beside] as const;
  });
  return [
    `Each bar has the ${what}s that differ for an agent.`,
    bars(
      directions.map(([, ...part]) => part),
      what,
      rows,
    ),
  ];
}

function differenceTable(agents: readonly AgentDifferences[], what: string): Block {
  const found = agents.map(
    ({ counts }) => new Map(counts.map(([difference, rows]) => [differenceText(difference), rows])),
  );
  const columns = [...new Set(found.flatMap((texts) => [...texts.keys()]))];
  if (columns.length === 0) return nothingFound(agents);
  return table(
    'numbers',
    `Number of ${what}s`,
    ['agent', ...columns],
    agents.map(({ agent }, index) => [
      agent,
      ...columns.map((text) => found[index]?.get(text) ?? 0),
    ]),
  );
}

/** Says that nothing was found: there is no difference, or some files were too entangled. */
function nothingFound(agents: readonly AgentDifferences[]): string {
  const isUndecided = agents.some(({ undecided }) => undecided > 0);
  return isUndecided ? 'No difference was found.' : 'There is no difference.';
}

/** The hosts that may differ, unnoticed. */
function undecidedHosts(agents: readonly AgentDifferences[]): Block[] {
  const some = agents.filter(({ undecided }) => undecided > 0);
  if (some.length === 0) return [];
  const words = some.map(({ agent, undecided }) => `${agent}: ${formatCount(undecided, 'host')}`);
  return [
    `Not compared on every path, because many wildcard rules overlap: ${words.join(', ')}. A difference may have been missed.`,
  ];
}

// ---- The parts of a page. Only the functions from here on make Html.

/** Escaped text. Only the functions below make it: other text is escaped when it is shown. */
class Html {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** A text is a paragraph. */
type Block = string | Html;
/** The colours of what is allowed. Some pages give them further meanings. */
type Colour = 'all' | 'part' | 'none' | 'unknown';

/** The parts of a page. */
interface Page {
  readonly title: string;
  readonly subtitle: string;
  readonly profile: string;
  readonly sections: readonly (readonly [heading: string, ...blocks: readonly Block[]])[];
  /** Follows the version and the profile in the last line. */
  readonly foot: string;
}

/**
 * A whole page in one file: nothing is loaded, and no script runs. The page follows the light or
 * dark setting of the reader, and is light on paper. Each pair of colours has a contrast of 4.5 or
 * more.
 */
function htmlPage({ title, subtitle, profile, sections, foot }: Page): string {
  const parts = sections.map(
    ([heading, ...blocks]) =>
      `<section><h2>${html(heading)}</h2>\n${blocks.map(blockOf).join('\n')}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${html(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header><h1>${html(title)}</h1>
<p>${html(subtitle)}</p></header>
${parts.join('\n')}
<footer><p>${html(`robots-filter ${version()}, profile ${profile}. ${foot}`)}</p></footer>
</main>
</body>
</html>
`;
}

/** Width and height of a bar in units of its own: the page stretches the bar. */
const WIDTH = 1000;
const HEIGHT = 20;

/**
 * A bar for each agent, with the counts of its parts and a text beside it, and a legend of the
 * parts that occur.
 *
 * @param noun what is counted, in the singular
 */
function bars(
  parts: readonly (readonly [colour: Colour, meaning: string, ...unknown[]])[],
  noun: string,
  rows: readonly (readonly [agent: string, counts: readonly number[], beside: string])[],
): Html {
  const legend = parts.flatMap(([colour, meaning], part) =>
    rows.every(([, counts]) => counts[part] === 0)
      ? []
      : [`<li><span class="${colour}"></span>${html(meaning)}</li>`],
  );
  const drawn = rows.map(([agent, counts, beside]) => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    const words: string[] = [];
    let rectangles = '';
    let sum = 0;
    parts.forEach(([colour, meaning], part) => {
      const count = counts[part] ?? 0;
      if (count === 0) return;
      const x = (WIDTH * sum) / total;
      sum += count;
      const width = ((WIDTH * sum) / total - x).toFixed(1);
      rectangles += `<rect class="${colour}" x="${x.toFixed(1)}" width="${width}" height="${HEIGHT}"/>`;
      words.push(`${meaning}: ${formatCount(count, noun)}`);
    });
    const label = html(`${agent}: ${words.join(', ') || beside}`);
    return `<b>${html(agent)}</b><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${rectangles}</svg><span class="counts">${html(beside)}</span>`;
  });
  return new Html(
    `<ul class="legend">${legend.join('')}</ul>\n<div class="bars">${drawn.join('\n')}</div>`,
  );
}

/** Number of columns above which the headings of a grid stand upright. */
const MANY_COLUMNS = 10;

/**
 * A table; the first cell of a row is its heading.
 *
 * @param kind `numbers` are aligned at the right; a `grid` has a coloured cell for each agent
 */
function table(
  kind: 'numbers' | 'words' | 'grid',
  caption: string,
  header: readonly string[],
  rows: readonly (readonly (string | number | Html)[])[],
): Html {
  const head = header.map((cell) => `<th scope="col">${html(cell)}</th>`).join('');
  const body = rows.map(([first = '', ...cells]) => {
    const rest = cells.map((cell) => `<td>${cellOf(cell)}</td>`).join('');
    return `<tr><th scope="row">${cellOf(first)}</th>${rest}</tr>`;
  });
  const many = kind === 'grid' && header.length > MANY_COLUMNS ? ' many' : '';
  // The wrapper can be focused, so that the keyboard scrolls it.
  return new Html(`<div class="scroll" tabindex="0" role="region" aria-label="${html(caption)}"><table class="${kind}${many}">
<caption>${html(caption)}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body.join('\n')}
</tbody></table></div>`);
}

/** A cell of a table with a colour. */
function coloured(text: string, colour: Colour): Html {
  return new Html(`<span class="cell ${colour}">${html(text)}</span>`);
}

/** A text inside an element. */
function element(name: 'code' | 'h3', text: string): Html {
  return new Html(`<${name}>${html(text)}</${name}>`);
}

/** Lines of a robots.txt, of which one is marked. */
function excerpt(caption: string, lines: readonly string[], marked: number): Html {
  const shown = lines.map((line, index) =>
    index === marked ? `<strong>${html(line)}</strong>` : html(line),
  );
  return new Html(
    `<figure><figcaption>${html(caption)}</figcaption>\n<pre>${shown.join('\n')}</pre></figure>`,
  );
}

function blockOf(block: Block): string {
  return typeof block === 'string' ? `<p>${html(block)}</p>` : block.source;
}

function cellOf(cell: string | number | Html): string {
  if (typeof cell === 'number') return formatNumber(cell);
  return typeof cell === 'string' ? html(cell) : cell.source;
}

/** Escapes a text for HTML, in elements and in quoted attributes, and shows control characters. */
function html(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --page: #ffffff; --line: #d1d9e0; --all: #0969da; --part: #69737d; --none: #bc4c00; --unknown: #8250df; }
@media (prefers-color-scheme: dark) { :root { --text: #f0f6fc; --soft: #9198a1; --page: #0d1117; --line: #3d444d; --all: #1f6feb; --part: #656c76; --none: #bd561d; --unknown: #8957e5; } }
@media print { :root { --text: #000; --soft: #444; --page: #fff; --line: #bbb; --all: #0969da; --part: #69737d; --none: #bc4c00; --unknown: #8250df; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; break-after: avoid; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; break-after: avoid; }
figure { margin: 1rem 0; break-inside: avoid; }
figcaption { color: var(--soft); font-size: .875rem; overflow-wrap: anywhere; }
pre, code { font: .85rem/1.45 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
pre { margin: .25rem 0 0; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 3px; white-space: pre-wrap; overflow-wrap: anywhere; }
p { margin: .25rem 0 .75rem; max-width: 45rem; }
header p, footer p, caption, .legend, .counts { color: var(--soft); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .5rem; font-size: .85rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 .75rem; padding: 0; list-style: none; }
.legend span { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem; vertical-align: -1px; }
.bars { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr minmax(9rem, max-content); gap: .4rem .9rem; align-items: center; }
.bars > b { font-weight: 600; overflow-wrap: anywhere; }
.bars svg { display: block; width: 100%; height: 1.25rem; border-radius: 3px; background: var(--line); }
.counts { font-variant-numeric: tabular-nums; font-size: .85rem; }
@media (max-width: 40rem) { .bars { grid-template-columns: 1fr; gap: .15rem; } .bars > .counts { margin-bottom: .6rem; } }
rect.all { fill: var(--all); } rect.part { fill: var(--part); } rect.none { fill: var(--none); } rect.unknown { fill: var(--unknown); }
span.all, td .all { background: var(--all); } span.part, td .part { background: var(--part); } span.none, td .none { background: var(--none); } span.unknown, td .unknown { background: var(--unknown); }
.scroll { overflow-x: auto; margin-top: 1.25rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 0 0 .4rem; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); font-weight: 400; white-space: nowrap; }
thead th { font-weight: 600; }
.numbers td, .numbers thead th + th { text-align: right; }
tr { break-inside: avoid; }
tbody th, thead th:first-child { position: sticky; left: 0; background: var(--page); }
tbody th { min-width: min(14rem, 40vw); max-width: 45vw; white-space: normal; overflow-wrap: anywhere; }
thead th { white-space: normal; vertical-align: bottom; }
td .cell { display: inline-block; min-width: 3.2rem; padding: 0 .4rem; border-radius: 3px; color: #fff; text-align: center; }
.many thead th + th { white-space: nowrap; writing-mode: vertical-rl; transform: rotate(180deg); padding: .6rem .25rem; }
.many td { padding: .25rem .15rem; }
.many td .cell { min-width: 2.6rem; padding: 0 .1rem; }
@media print { .scroll { overflow: visible; } table { font-size: 7pt; } th, td { padding: .1rem .25rem; white-space: normal; overflow-wrap: anywhere; } tbody th { position: static; min-width: 6rem; max-width: 12rem; } .many td { padding: .1rem 1px; } .many td .cell { min-width: 0; width: 100%; padding: 0; font-size: 5pt; } }
`;
