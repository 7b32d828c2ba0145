/** The story of an audit through time: a line for each agent. */

import { formatCount, formatNumber } from '../text.js';
import type { HistoryFigures } from './history-figures.js';
import {
  type ChartLine,
  type Html,
  lineChart,
  number,
  paragraph,
  type Section,
  type Story,
  table,
  text,
} from './page-parts.js';
import {
  agentsSection,
  dayOf,
  footOf,
  gathered,
  nameOf,
  namesOf,
  percent,
  rangeOf,
  ratio,
  type Share,
  scopeSentence,
  shortDayOf,
  WHAT_IT_IS,
  WORDS_MEAN,
} from './story.js';

type Agent = HistoryFigures['agents'][number];
type Lists = Readonly<Record<string, readonly number[]>>;

/** What is counted, and of what the lines show the share. */
interface Weight {
  readonly name: string;
  readonly listsOf: (agent: Agent) => Lists | undefined;
  readonly part: string;
  readonly whole: readonly string[];
}

const WEIGHTS: readonly Weight[] = [
  { name: 'hosts', listsOf: ({ hosts }) => hosts, part: 'none', whole: ['none', 'part', 'all'] },
  {
    name: 'distinct robots.txt files',
    listsOf: ({ files }) => files,
    part: 'none',
    whole: ['none', 'part', 'all'],
  },
  { name: 'URLs', listsOf: ({ urls }) => urls, part: 'deny', whole: ['deny', 'allow'] },
];

/** Lines that the chart is about. */
const MOST_LINES = 4;

export function historyStory(figures: HistoryFigures): Story {
  const { agents, times, hosts, urls, every } = figures;
  const weights = WEIGHTS.filter(({ listsOf }) =>
    agents.some((each) => listsOf(each) !== undefined),
  );
  const [first = WEIGHTS[0] as Weight] = weights;
  const counts = [
    hosts === undefined ? formatCount(urls ?? 0, 'URL') : formatCount(hosts, 'host'),
    formatCount(agents.length, 'crawler'),
    formatCount(times.length, 'date'),
  ];
  const [start, end] = [times[0], times.at(-1)];
  const when =
    start === undefined || end === undefined
      ? 'There is no time to count for.'
      : `From ${dayOf(start)} to ${dayOf(end)}, ${every === 'month' ? 'one a month' : `one each ${formatCount(Number.parseInt(every, 10), 'day')}`}. Until a newer robots.txt of a host is known, its last one counts, however old it is.`;
  const verb = urls === undefined ? 'forbid a crawler everything' : 'a crawler may not fetch';
  return {
    kind: 'Robots.txt files through time',
    headline: headlineOf(figures, first),
    lead: [scopeSentence(counts, when), ...byFileOf(figures, first, weights[1]), WHAT_IT_IS],
    sections: [
      ...(times.length === 0
        ? []
        : weights.map(
            (weight): Section => [
              `By ${weight.name}`,
              paragraph(
                `The share of ${weight.name} that ${verb}, of those of which a robots.txt was known at the time: ${wholesOf(agents[0], weight)}.`,
              ),
              chartOf(figures, weight),
              tableOf(figures, weight),
            ],
          )),
      ...agentsSection(agents, []),
    ],
    foot: [
      ...footOf(figures),
      WORDS_MEAN,
      'The figures of a time count the robots.txt files that were in force at that moment, midnight in UTC.',
    ],
  };
}

/** The shares of an agent at all times. */
function sharesOf(agent: Agent, { listsOf, part, whole }: Weight): Share[] {
  const lists = listsOf(agent) ?? {};
  return (lists[part] ?? []).map((count, time) => [
    count,
    whole.reduce((sum, kind) => sum + (lists[kind]?.[time] ?? 0), 0),
  ]);
}

/** How many were known at the first and at the last time. */
function wholesOf(agent: Agent | undefined, weight: Weight): string {
  const wholes = agent === undefined ? [] : sharesOf(agent, weight).map(([, whole]) => whole);
  return `${formatNumber(wholes[0] ?? 0)} at first, ${formatNumber(wholes.at(-1) ?? 0)} at last`;
}

/** By how much the share of an agent has changed from the first time to the last. */
function changeOf(agent: Agent, weight: Weight): number {
  const shares = sharesOf(agent, weight);
  return ratio(shares.at(-1) ?? [0, 0]) - ratio(shares[0] ?? [0, 0]);
}

/** The agent whose share has changed most: the headline is about it. */
function mostChanged({ agents }: HistoryFigures, weight: Weight): Agent | undefined {
  return agents.toSorted(
    (a, b) => Math.abs(changeOf(b, weight)) - Math.abs(changeOf(a, weight)),
  )[0];
}

/** How the share of an agent has changed: `has gone from 10 % to 20 %`. */
function changeText(agent: Agent, weight: Weight): string {
  const shares = sharesOf(agent, weight);
  const [before, after] = [shares[0], shares.at(-1)].map((share = [0, 0]) => percent(...share));
  return before === after ? `has stayed at ${after}` : `has gone from ${before} to ${after}`;
}

/** The headline's change by distinct file: one file of many hosts may make much of it. */
function byFileOf(figures: HistoryFigures, first: Weight, second: Weight | undefined): Html[] {
  const most = mostChanged(figures, first);
  if (most === undefined || second === undefined || figures.times.length === 0) return [];
  return [
    paragraph(
      `Many hosts may share one robots.txt. If each distinct file counts once, the share for ${nameOf(most)} ${changeText(most, second)}.`,
    ),
  ];
}

function headlineOf(figures: HistoryFigures, weight: Weight): string {
  const { times, urls } = figures;
  const most = mostChanged(figures, weight);
  if (most === undefined || times.length === 0) return 'No robots.txt has a date';
  const name = nameOf(most);
  const what =
    urls === undefined ? `hosts that forbid ${name} everything` : `URLs that ${name} may not fetch`;
  return `The share of ${what} ${changeText(most, weight)}`;
}

function chartOf({ agents, times }: HistoryFigures, weight: Weight): Html {
  const last = (agent: Agent): Share => sharesOf(agent, weight).at(-1) ?? [0, 0];
  const ranked = agents.toSorted((a, b) => ratio(last(b)) - ratio(last(a)));
  const { apart, alike } = gathered(
    ranked,
    (agent) => sharesOf(agent, weight).map(ratio),
    MOST_LINES,
  );
  const lineOf = (name: string, some: readonly Agent[], isMain: boolean): ChartLine[] => {
    const middle = some[some.length >> 1];
    if (middle === undefined) return [];
    const shares = sharesOf(middle, weight).map(ratio);
    return [{ name: `${rangeOf(some.map(last))} ${name}`, shares, isMain }];
  };
  const others = `${formatNumber(alike.length)} ${apart.length === 0 ? 'crawlers' : 'others'}`;
  const lines = [
    ...apart.flatMap((agent) => lineOf(nameOf(agent), [agent], true)),
    ...lineOf(alike.length === 1 ? nameOf(alike[0] as Agent) : others, alike, false),
  ];
  const said = namesOf(lines.map(({ name }) => name));
  return lineChart(
    `Shares through time, by ${weight.name}; at the end ${said}. The table has the figures.`,
    times,
    lines,
  );
}

function tableOf({ agents, times }: HistoryFigures, weight: Weight): Html {
  const middle = times.length >> 1;
  const shown = [...new Set([0, middle, times.length - 1])];
  const rows = agents
    .toSorted((a, b) => Math.abs(changeOf(b, weight)) - Math.abs(changeOf(a, weight)))
    .map((agent) => {
      const shares = sharesOf(agent, weight);
      return [nameOf(agent), ...shown.map((time) => percent(...(shares[time] ?? [0, 0])))];
    });
  const most = 12;
  const caption =
    rows.length > most
      ? `The ${most} crawlers whose share has changed most.`
      : 'The crawler whose share has changed most comes first.';
  return table(
    caption,
    [text('crawler'), number(...shown.map((time) => shortDayOf(times[time] ?? '')))],
    rows.slice(0, most),
  );
}
