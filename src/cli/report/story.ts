/** What the stories of all reports tell in the same way: agents, shares, dates and words. */

import type { RecordFigure } from '../../inspect/host-report.js';
import { formatCount, formatNumber, formatShare } from '../text.js';
import type { AgentInfo, CaptureDates, ReportAbout } from './figures.js';
import {
  type Bar,
  barChart,
  type ChartRow,
  type Colour,
  type Html,
  longTable,
  number,
  paragraph,
  type Section,
  strong,
  table,
  text,
} from './page-parts.js';

/** A part and its whole. */
export type Share = readonly [part: number, whole: number];

export const ratio = ([part, whole]: Share): number => (whole === 0 ? 0 : part / whole);

/** A share in percent; its number and its sign stay on one line. */
export const percent = (...share: Share): string => formatShare(...share).replace(' ', '\u00a0');

/** `3.2 %`, or `3.2 to 4.7 %` for several shares. */
export function rangeOf(shares: readonly Share[]): string {
  const sorted = shares.toSorted((a, b) => ratio(a) - ratio(b));
  const [least, most] = [sorted[0], sorted.at(-1)].map((share = [0, 0]) => percent(...share));
  if (least === most) return least ?? '';
  return `${least?.replace('\u00a0%', '')} to ${most}`;
}

/** The first of some names, and how many more there are: `A, B and 3 more`. */
export function namesOf(names: readonly string[], most = 6): string {
  const left = names.length - most;
  if (left > 1) return `${names.slice(0, most).join(', ')} and ${formatNumber(left)} more`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

/** A time of ISO 8601 as `1 March 2024`. */
export function dayOf(time: string): string {
  const [year = '', month = '', day = ''] = time.slice(0, 10).split('-');
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}`;
}

/** A time of ISO 8601 as `1 Mar 2024`, for headings of narrow columns. */
export function shortDayOf(time: string): string {
  const [day = '', month = '', year = ''] = dayOf(time).split(' ');
  return `${day} ${month.slice(0, 3)} ${year}`;
}

/** When the robots.txt files are from, as a sentence. */
export function datesSentence(captured: CaptureDates | null): string {
  if (captured === null || captured.first === null || captured.last === null) {
    return 'The dates of the robots.txt files are not known.';
  }
  const [first, last] = [dayOf(captured.first), dayOf(captured.last)];
  const when = first === last ? `on ${first}` : `from ${first} to ${last}`;
  const { undated } = captured;
  const rest = undated === 0 ? '' : ` ${formatCount(undated, 'more has', 'more have')} no date.`;
  return `The robots.txt files were captured ${when}.${rest}`;
}

/** The first words of every page: what it is about, for readers who have never seen one. */
export const WHAT_IT_IS: Html = paragraph(
  'A robots.txt is a file in which a website says which of its pages an automated visitor, a crawler, may fetch. It is a request: each crawler decides whether it obeys, and nothing enforces it.',
);

/** What makes a greater share than this gets a sentence. */
export const MUCH = 0.02;

/** The agent of the headline: the first one, but for `*` only where there is no other. */
export function mainOf<Agent extends AgentInfo>(ranked: readonly Agent[]): Agent {
  return ranked.find(({ agent }) => agent !== '*') ?? (ranked[0] as Agent);
}

/** What the parts of bars count, their colours, and their words. */
export type Parts = readonly (readonly [key: string, colour: Colour, words: string])[];

type Counts = Readonly<Record<string, number>>;

/** A row of a chart whose bars have counts, and a name for those who do not see the bar. */
export interface PartsRow extends Omit<ChartRow, 'bars'> {
  readonly bars: readonly (readonly [name: string, counts: Counts])[];
}

/** A chart of bars that all have the same parts. */
export function partsChart(parts: Parts, rows: readonly PartsRow[]): Html {
  const barOf = (name: string, counts: Counts): Bar => {
    const said = parts.map(([key, , words]) => `${words}: ${formatNumber(counts[key] ?? 0)}`);
    return {
      parts: parts.map(([key, colour]) => [colour, counts[key] ?? 0]),
      label: `${name}: ${said.join(', ')}`,
    };
  };
  return barChart(
    parts.map(([, colour, words]) => [colour, words]),
    rows.map(({ bars, ...row }) => ({ ...row, bars: bars.map((bar) => barOf(...bar)) })),
  );
}

/** Agents that have much the same shares, and those that have others. */
export interface Gathered<Agent> {
  readonly apart: readonly Agent[];
  readonly alike: readonly Agent[];
}

/** By how much the shares of agents that are alike differ at most from those of one of them. */
const ALIKE = 0.015;
/** Fewer agents are not gathered. */
const FEW = 4;
/** Agents of which each has a row. */
const MOST_ROWS = 12;

/**
 * Gathers the greatest number of agents that are alike; the order stays. Of too many others the
 * last ones are gathered with them.
 */
export function gathered<Agent>(
  agents: readonly Agent[],
  sharesOf: (agent: Agent) => readonly number[],
  mostRows = MOST_ROWS,
): Gathered<Agent> {
  const shares = new Map(agents.map((agent) => [agent, sharesOf(agent)]));
  let alike: readonly Agent[] = [];
  for (const own of shares.values()) {
    const near = agents.filter((agent) =>
      own.every((share, index) => Math.abs(share - (shares.get(agent)?.[index] ?? 0)) <= ALIKE),
    );
    if (near.length > alike.length) alike = near;
  }
  const others = alike.length < FEW ? agents : agents.filter((agent) => !alike.includes(agent));
  const apart = others.slice(0, mostRows);
  return { apart, alike: agents.filter((agent) => !apart.includes(agent)) };
}

/** A row for each agent apart, and one for those that are alike, drawn as the one in the middle. */
export function rowsOf<Agent extends AgentInfo, Row>(
  { apart, alike }: Gathered<Agent>,
  rowOf: (
    head: { readonly name: string; readonly about: string | undefined },
    agents: readonly Agent[],
    drawn: Agent,
  ) => Row,
): Row[] {
  const rows = apart.map((agent) =>
    rowOf({ name: nameOf(agent), about: agent.operator }, [agent], agent),
  );
  const middle = alike[alike.length >> 1];
  if (middle === undefined) return rows;
  const name = `${formatNumber(alike.length)} ${apart.length === 0 ? 'crawlers' : 'other crawlers'}`;
  const about = namesOf(alike.map(nameOf), 3);
  return [...rows, rowOf({ name, about }, alike, middle)];
}

export const USES_HEADING = 'What the content may be used for (experimental)';

export const sumOf = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The name of an agent as a reader knows it. */
export function nameOf({ agent }: Pick<AgentInfo, 'agent'>): string {
  return agent === '*' ? 'any other crawler (*)' : agent;
}

const OBEYS: Readonly<Record<string, string>> = {
  yes: 'obeys robots.txt',
  no: 'does not obey robots.txt',
  'user-triggered': 'fetches because a user asked, so robots.txt may not count',
  unknown: 'not known here',
};

/** Who the agents are. */
export function agentsSection(
  agents: readonly AgentInfo[],
  apart: readonly AgentInfo[],
): Section[] {
  const rows = agents.filter(({ operator }) => operator !== undefined);
  if (rows.length === 0) return [];
  const rowOf = ({ agent, operator = '', purpose = '', obeys = '' }: AgentInfo) => [
    agent,
    operator,
    purpose,
    OBEYS[obeys] ?? '',
  ];
  const names = new Set(apart.map(({ agent }) => agent));
  const first = rows.length <= MOST_ROWS ? rows : rows.filter(({ agent }) => names.has(agent));
  const others = rows.filter((row) => !first.includes(row));
  return [
    [
      'Who the crawlers are',
      ...longTable(
        'By the names that robots.txt files use for them. The last column is what the operator says.',
        [text('crawler', 'operator', 'what it does', "by its operator's word")],
        [...first, ...others].map(rowOf),
        'crawler',
        first.length,
      ),
    ],
  ];
}

/** What is said of each kind of record. */
const RECORD_WORDS = [
  ['web-page', 'a web page in place of a robots.txt'],
  ['sitemap', 'Sitemap'],
  ['crawl-delay', 'Crawl-delay'],
  ['content-usage', 'Content-Usage'],
  ['content-signal', 'Content-Signal'],
  ['license', 'License'],
] as const;

/** How many hosts have records of each kind. */
export function recordsBlock(
  records: Readonly<Record<RecordFigure, number>> | null,
  hosts: number,
): Html {
  if (records === null) {
    return paragraph(
      'Sitemaps, delays, and web pages in place of a robots.txt are not known: the table keeps no records (compile it with --records), or it was asked for a time.',
    );
  }
  const found = RECORD_WORDS.filter(([kind]) => records[kind] > 0);
  if (found.length === 0) return paragraph('No robots.txt has sitemaps, delays or preferences.');
  return table(
    'Hosts whose robots.txt has something beside rules. Nothing of it changes what is allowed.',
    [text('it has'), number('hosts', 'share')],
    found.map(([kind, words]) => [words, records[kind], percent(records[kind], hosts)]),
  );
}

/** What the words of all pages mean. */
export const WORDS_MEAN =
  'A host is a name, with all its schemes and ports. Two robots.txt files are the same if they have the same rules for the same crawlers, and the same signals where the table keeps them.';

/** The last lines of a page. */
export function footOf({
  source,
  created,
  program,
  profile,
}: Omit<ReportAbout, 'source'> & { readonly source?: string }): string[] {
  const from = source === undefined ? '' : `Source: ${source}. `;
  return [
    `${from}Figures made on ${dayOf(created)} by ${program}, profile ${profile}. They are in this page as JSON, in the element "figures".`,
  ];
}

/** The start of a lead: what was counted, then when. */
export function scopeSentence(counts: readonly string[], dates: string): Html {
  return paragraph(strong(`${counts.join(', ')}.`), ` ${dates}`);
}
