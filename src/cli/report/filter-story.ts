/** The story of a run of the filter: what the agents may fetch of some URLs. */

import type { Extents } from '../../pipeline/counts.js';
import { cutToWidth, formatCount, formatNumber } from '../text.js';
import {
  type DenyingRule,
  type FilterFigures,
  type Ground,
  type NamedFigures,
  NO_CRAWLER,
} from './filter-figures.js';
import {
  bold,
  callout,
  code,
  excerpt,
  folded,
  type Html,
  type Inline,
  longTable,
  number,
  paragraph,
  type Section,
  type Story,
  table,
  text,
} from './page-parts.js';
import {
  agentsSection,
  datesSentence,
  footOf,
  type Gathered,
  gathered,
  MUCH,
  mainOf,
  nameOf,
  namesOf,
  type PartsRow,
  partsChart,
  percent,
  rangeOf,
  ratio,
  recordsBlock,
  rowsOf,
  type Share,
  scopeSentence,
  sumOf,
  USES_HEADING,
  WHAT_IT_IS,
  WORDS_MEAN,
} from './story.js';

type Agent = FilterFigures['agents'][number];

export function filterStory(given: FilterFigures): Story {
  const { named } = given;
  const ofAll = (agent: Agent): Agent => (named === undefined ? agent : { ...agent, agent: ALL });
  const figures = { ...given, agents: given.agents.map(ofAll) };
  const { agents, records, hosts, files, complete } = figures;
  const ranked = agents.toSorted(
    (a, b) =>
      b.urls.deny - a.urls.deny || b.hosts.none - a.hosts.none || a.urls.allow - b.urls.allow,
  );
  const groups = gathered(ranked, (agent) => [
    ratio([agent.urls.deny, records]),
    ratio([agent.hosts.none, hosts.seen]),
    ratio([agent.files.none, files]),
  ]);
  const main = mainOf(ranked);
  const counts = [
    formatCount(records, 'record'),
    `${formatCount(hosts.seen, 'host')} with a known robots.txt`,
    formatCount(files, 'distinct robots.txt', 'distinct robots.txt files'),
    named === undefined ? formatCount(agents.length, 'crawler') : crawlersNamed(named),
  ];
  const when = figures.captured === null && hosts.seen === 0 ? '' : datesSentence(figures.captured);
  return {
    kind: 'URLs judged by robots.txt files',
    headline: headlineOf(figures, main, groups),
    lead: [
      ...(complete ? [] : [callout('Incomplete: the run ended before its input.')]),
      scopeSentence(counts, when),
      ...unknownOf(figures, main),
      ...warningOf(figures, main),
      ...busyWarningOf(figures),
      WHAT_IT_IS,
    ],
    sections: [
      ...namedSection(figures),
      [
        'What the crawlers may fetch',
        partsChart(URL_PARTS, urlRows(figures, groups)),
        ...verdictTable(figures),
      ],
      [
        'Host by host, and file by file',
        paragraph(
          'The upper bar counts hosts, whatever the number of their URLs. The lower one counts each distinct robots.txt once, by the URLs of all its hosts.',
        ),
        partsChart(EXTENTS, extentRows(figures, groups)),
        ...extentTable(figures),
      ],
      ['What the verdicts rest on', ...groundBlocks(figures, main, groups.apart)],
      ...useSection(figures),
      ['The hosts with most URLs', ...busyBlocks(figures)],
      ['The rules that deny most', ...ruleBlocks(figures)],
      [
        'What the robots.txt files have beside rules',
        ...ageBlocks(figures),
        recordsBlock(figures.otherRecords, hosts.seen),
      ],
      ...agentsSection(named?.agents ?? agents, named?.agents.slice(0, DRAWN) ?? groups.apart),
    ],
    foot: [
      ...footOf(figures),
      WORDS_MEAN,
      'Figures of hosts leave out hosts without a robots.txt in the table, which are not counted one by one.',
    ],
  };
}

function headlineOf(
  { records, hosts, agents, named }: FilterFigures,
  main: Agent,
  { apart, alike }: Gathered<Agent>,
): string {
  if (records === 0) return 'There was no URL to judge';
  const ofWhat = hasUnasked(agents) ? 'of the URLs whose robots.txt is known' : 'of the URLs';
  const shareOf = (agent: Agent): Share => {
    const { deniedByRule, serverFailed, overBudget, neverAsked, noUrl } = agent.grounds;
    // With --unknown deny, urls.deny counts URLs without a known robots.txt, too.
    const denied = deniedByRule.urls + serverFailed.urls + overBudget.urls;
    return [denied, records - neverAsked.urls - noUrl.urls];
  };
  if (named !== undefined) return headlineOfNamed(named);
  if (alike.length > 0 && apart.length === 0) {
    return `${rangeOf(alike.map(shareOf))} ${ofWhat} are denied, and ${alike.length} crawlers are treated much alike`;
  }
  const name = nameOf(main);
  const byHost = `${percent(main.hosts.none, hosts.seen)} of the hosts deny it all of their URLs in this list`;
  return `${name} may not fetch ${percent(...shareOf(main))} ${ofWhat}. ${byHost}`;
}

/** People with browsers are no crawlers, so that the headline leaves their records out. */
function headlineOfNamed({ agents, others }: NamedFigures): string {
  const crawlers = agents.filter(({ agent }) => agent !== NO_CRAWLER);
  const [most] = crawlers;
  if (most === undefined) return 'No record names a crawler';
  const all = [...crawlers, ...(others === null ? [] : [others])];
  const sum = (verdict: 'allow' | 'deny' | 'unknown'): number =>
    all.reduce((total, { urls }) => total + urls[verdict], 0);
  const [denied, unknown] = [sum('deny'), sum('unknown')];
  const ofWhat = unknown > 0 ? 'of their URLs whose robots.txt is known' : 'of their URLs';
  const whose = denied === 0 ? '' : `. ${most.agent} has ${formatNumber(most.urls.deny)} of these`;
  return `The crawlers that the records name may not fetch ${percent(denied, denied + sum('allow'))} ${ofWhat}${whose}`;
}

const unaskedOf = ({ grounds }: Agent): number => grounds.neverAsked.urls;
const hasUnasked = (agents: readonly Agent[]): boolean => agents.some((one) => unaskedOf(one) > 0);

/** Says how many records no robots.txt is known for: they lower all shares but the headline's. */
function unknownOf({ records }: FilterFigures, main: Agent): Html[] {
  const unasked = unaskedOf(main);
  if (unasked === 0) return [];
  return [
    paragraph(
      `For ${percent(unasked, records)} of the records (${formatNumber(unasked)}) no robots.txt is known, or none for the time. The headline leaves them out. The shares of records below count them: ${percent(main.urls.deny, records)} of all records are denied to ${nameOf(main)}.`,
    ),
  ];
}

/** A host with a greater share of the records than this gets a sentence. */
const BUSY = 0.1;

/** Says so if one host has many of the records: all shares of URLs then follow that host. */
function busyWarningOf({ records, busiest: [first], agents }: FilterFigures): Html[] {
  if (first === undefined || ratio([first.urls, records]) <= BUSY) return [];
  const { host, urls, allowed } = first;
  const shares = agents.map((_, index): Share => [urls - (allowed[index] ?? 0), urls]);
  const whom = agents.length === 1 ? namesOf(agents.map(nameOf)) : 'the crawlers';
  return [
    callout(
      `${percent(urls, records)} of all records (${formatNumber(urls)}) are URLs of ${host}, which denies ${whom} ${rangeOf(shares)} of them. Shares of URLs follow this host; the shares of hosts do not.`,
    ),
  ];
}

/** Says so first if one file makes much of the headline's share. */
function warningOf({ records }: FilterFigures, main: Agent): Html[] {
  const { largest, urls } = main;
  if (largest === null || ratio([largest.urls, urls.deny]) <= MUCH) return [];
  const { of, hosts, urls: denied } = largest;
  const who =
    hosts > 1
      ? `The robots.txt of ${of}, which ${formatCount(hosts, 'host')} share,`
      : `The robots.txt of ${of} alone`;
  return [
    callout(
      `${who} denies ${formatCount(denied, 'URL')}: ${percent(denied, urls.deny)} of those that ${nameOf(main)} may not fetch. Without it the share is ${percent(urls.deny - denied, records)} of all records.`,
    ),
  ];
}

const URL_PARTS = [
  ['deny', 'none', 'denied'],
  ['allow', 'all', 'allowed'],
  ['unknown', 'void', 'unknown: no robots.txt is known'],
  ['invalid', 'part', 'invalid: no URL'],
] as const;

const EXTENTS = [
  ['none', 'none', 'all URLs denied'],
  ['part', 'part', 'a part denied'],
  ['all', 'all', 'all URLs allowed'],
] as const;

function urlRows({ records }: FilterFigures, groups: Gathered<Agent>): PartsRow[] {
  return rowsOf(groups, (head, agents, { urls }) => ({
    ...head,
    bars: [[head.name, urls]],
    figures: [
      bold(rangeOf(agents.map((agent) => [agent.urls.deny, records])), ' denied'),
      bold(rangeOf(agents.map((agent) => [agent.urls.allow, records])), ' allowed'),
    ],
  }));
}

/** All that records name, and those that name no crawler. */
const ALL = 'the clients';
/** Of these, the ones that have a bar. */
const DRAWN = 12;

function crawlersNamed({ agents, others, missed }: NamedFigures): string {
  const count = agents.filter(({ agent }) => agent !== NO_CRAWLER).length + (others?.agents ?? 0);
  return `${missed > 0 ? 'more than ' : ''}${formatCount(count, 'crawler')} named`;
}

const NAMED_PARTS = URL_PARTS.filter(([key]) => key !== 'invalid');

/** What each crawler asked for that records name. */
function namedSection({ named }: FilterFigures): Section[] {
  if (named === undefined || named.agents.length === 0) return [];
  const { agents, others, missed } = named;
  const rows = agents.slice(0, DRAWN).map((agent): PartsRow => {
    const name = namedAs(agent);
    const { allow, deny, unknown } = agent.urls;
    return {
      name,
      about: agent.operator,
      bars: [[name, agent.urls]],
      figures: [
        bold(formatNumber(deny), ' denied'),
        bold(percent(deny, allow + deny + unknown), ' of its URLs'),
      ],
    };
  });
  const shares = [
    ...agents.map((agent) => ({ ...agent, name: namedAs(agent) })),
    ...(others === null
      ? []
      : [{ ...others, name: `${formatCount(others.agents, 'other crawler')} together` }]),
  ];
  const isCounted = shares.some(({ hosts }) => hosts !== null);
  const hostsOf = (name: keyof Extents, { hosts }: (typeof shares)[number]): Inline =>
    hosts === null ? 'not counted' : hosts[name];
  return [
    [
      'Which crawlers asked for what is denied',
      paragraph(
        'Each record counts for the crawler that its User-Agent names. Anybody can send any User-Agent, so the figures say what clients called themselves, not who they were.',
      ),
      partsChart(NAMED_PARTS, rows),
      ...longTable(
        'Records of each crawler by verdict, and its hosts by what they allow of its URLs.',
        [
          text('crawler'),
          number(...NAMED_PARTS.map(([key]) => key)),
          number(...EXTENTS.map(([, , words]) => `${words}: hosts`)),
        ],
        shares.map((each) => [
          each.name,
          ...NAMED_PARTS.map(([key]) => each.urls[key]),
          ...EXTENTS.map(([key]) => hostsOf(key, each)),
        ]),
        'crawler',
      ),
      ...(others === null
        ? []
        : [
            paragraph(
              `The ${formatCount(agents.filter(({ agent }) => agent !== NO_CRAWLER).length, 'crawler')} with most denied URLs have figures of their own; the ${formatNumber(others.agents)} others are counted together.`,
            ),
          ]),
      ...(missed === 0
        ? []
        : [
            paragraph(
              `There were too many names to tell all apart. ${formatCount(missed, 'record')} of these count among the others, so the figures of a crawler may lack some of them.`,
            ),
          ]),
      ...(isCounted
        ? []
        : [paragraph('There were too many pairs of crawler and host to count the hosts.')]),
    ],
  ];
}

const namedAs = ({ agent }: Pick<Agent, 'agent'>): string =>
  agent === NO_CRAWLER ? 'no crawler named (*)' : agent;

function extentRows({ hosts, files }: FilterFigures, groups: Gathered<Agent>): PartsRow[] {
  return rowsOf(groups, (head, agents, drawn) => ({
    ...head,
    bars: [
      [`${head.name}, hosts`, drawn.hosts],
      [`${head.name}, distinct robots.txt files`, drawn.files],
    ],
    figures: [
      bold(rangeOf(agents.map((agent) => [agent.hosts.none, hosts.seen])), ' of hosts: all denied'),
      bold(rangeOf(agents.map((agent) => [agent.files.none, files])), ' of files: all denied'),
    ],
  }));
}

function verdictTable({ agents }: FilterFigures): Html[] {
  return longTable(
    'Records by verdict',
    [text('crawler'), number(...URL_PARTS.map(([key]) => key))],
    agents.map(({ agent, urls }) => [agent, ...URL_PARTS.map(([key]) => urls[key])]),
    'crawler',
    0,
  );
}

function extentTable({ agents }: FilterFigures): Html[] {
  return longTable(
    'Hosts and distinct robots.txt files by what they allow of their URLs',
    [text('crawler'), ...EXTENTS.map(([, , words]) => number(`${words}: hosts`, 'files'))],
    agents.map(({ agent, hosts, files }) => [
      agent,
      ...EXTENTS.flatMap(([key]) => [hosts[key], files[key]]),
    ]),
    'crawler',
    0,
  );
}

const GROUND_WORDS: Readonly<Record<Ground, string>> = {
  allowedByRule: 'allowed: a rule allows it',
  unopposed: 'allowed: a robots.txt was read, and no rule objects',
  noRobotsTxt: 'allowed: there is no robots.txt (such as status 404)',
  deniedByRule: 'denied: a rule forbids it',
  serverFailed: 'denied: the server failed (such as status 503, or no answer)',
  overBudget: 'denied: its robots.txt takes too long to follow',
  neverAsked: 'no robots.txt is known, or none for the time',
  noUrl: 'no URL that a crawler could fetch',
};

function groundBlocks(
  { agents, records, hosts }: FilterFigures,
  main: Agent,
  apart: readonly Agent[],
): Html[] {
  const cells = (agent: Agent, ground: Ground): Inline[] => {
    const { urls, hosts: own } = agent.grounds[ground];
    return [
      `${formatNumber(urls)} (${percent(urls, records)})`,
      own === null ? 'not counted' : `${formatNumber(own)} (${percent(own, hosts.seen)})`,
    ];
  };
  const grounds = Object.keys(GROUND_WORDS) as Ground[];
  const own = grounds.filter((ground) => main.grounds[ground].urls > 0);
  const shown = agents.filter((agent) => agent === main || apart.includes(agent));
  const reasons = shown.flatMap(({ agent, outcomes }) =>
    outcomes.map(({ verdict, reason, urls, hosts: seen }) => [
      agent,
      `${verdict}, ${reason}`,
      urls,
      percent(urls, records),
      seen ?? 'not counted',
    ]),
  );
  const all = table(
    'Records by verdict and reason, and hosts with such a URL; a host counts once for each reason.',
    [text('crawler', 'verdict and reason'), number('records', 'share', 'hosts')],
    reasons,
  );
  return [
    table(
      `For ${nameOf(main)}: records and hosts with such a URL; a host counts once for each ground.`,
      [text('ground'), number('records', 'hosts')],
      own.map((ground) => [GROUND_WORDS[ground], ...cells(main, ground)]),
    ),
    folded('By reason', all),
  ];
}

const ANSWERS = [
  ['refused', 'none', 'refused'],
  ['granted', 'all', 'granted'],
  ['unstated', 'void', 'unstated'],
] as const;

/** What the content of the URLs may be used for, if a use was asked about. */
function useSection({ uses = [], agents }: FilterFigures): Section[] {
  if (uses.length === 0) return [];
  const several = agents.length > 1 ? 'crawlers' : 'crawler';
  const shareOf = (answer: 'refused' | 'granted', { answers }: (typeof uses)[number]) =>
    bold(percent(answers[answer], sumOf(answers)), ` ${answer} (${formatNumber(answers[answer])})`);
  return [
    [
      USES_HEADING,
      paragraph(`Only URLs that the ${several} may fetch. Unstated: no signal says either.`),
      partsChart(
        ANSWERS,
        uses.map((each) => ({
          name: each.use,
          about: nameOf(each),
          bars: [[`${each.use}, ${each.agent}`, each.answers]],
          figures: [shareOf('refused', each), shareOf('granted', each)],
        })),
      ),
    ],
  ];
}

function busyBlocks({ busiest, agents, records }: FilterFigures): Html[] {
  if (busiest.length === 0) return [paragraph('No URL is of a host in the table.')];
  const rows = busiest.map(({ host, urls, allowed }) => {
    const denied = agents.filter((_, index) => allowed[index] === 0).map(nameOf);
    const part = agents.filter(
      (_, index) => (allowed[index] ?? 0) > 0 && (allowed[index] ?? 0) < urls,
    );
    const names = (some: readonly string[]) =>
      some.length === agents.length && some.length > 1 ? 'all' : namesOf(some, 4);
    const shares = allowed.map((count): Share => [count, urls]);
    return [
      host,
      urls,
      percent(urls, records),
      rangeOf(shares),
      names(denied),
      names(part.map(nameOf)),
    ];
  });
  return longTable(
    'What the crawlers may fetch of the URLs of each host.',
    [
      text('host'),
      number('URLs', 'of all records', 'allowed'),
      text('all denied to', 'a part denied to'),
    ],
    rows,
    'host',
  );
}

/** Rules that are shown with the lines around them. */
const SHOWN_AROUND = 3;
/** Agents of a rule that are shown. */
const MOST_NAMED = 3;
/** Product tokens of a group that are shown. */
const SHOWN_TOKENS = 5;
/** Maximum width of a rule, in columns of a terminal. */
const WIDEST = 80;

function ruleBlocks({ denying: { rules, missed }, agents }: FilterFigures): Html[] {
  if (rules.length === 0) return [paragraph('No rule denied a URL.')];
  const isOne = agents.length === 1;
  const isNamed = rules.some(({ deniedToNamed }) => deniedToNamed !== undefined);
  const several = isOne ? '' : ' A URL counts once for each crawler to which it is denied.';
  const lacks =
    missed === 0
      ? ''
      : ` There were too many rules to count each one, so a count may be up to ${formatNumber(missed)} too low.`;
  const isDated = rules.some(({ version }) => version !== undefined);
  const rows = rules.map((each) => {
    const { host, line, rule, denied, deniedToAgents, deniedToNamed, source, version } = each;
    const denies =
      deniedToNamed === undefined
        ? deniedToAgents.filter((count) => count > 0).length
        : mostNamed(deniedToNamed);
    const row = [host, denied, code(cutToWidth(rule, WIDEST)), String(line), denies, source];
    return isDated ? [...row, version ?? ''] : row;
  });
  return [
    ...(several + lacks === '' ? [] : [paragraph(`${several}${lacks}`.trim())]),
    ...longTable(
      'URLs that each rule denied.',
      [
        text('robots.txt of'),
        number(isOne ? 'denied' : 'URLs × crawlers'),
        text('rule'),
        number('line'),
        isNamed ? text('denied to') : number('crawlers'),
        text('source', ...(isDated ? ['version'] : [])),
      ],
      rows,
      'rule',
    ),
    ...rules.slice(0, SHOWN_AROUND).map(ruleExcerpt),
  ];
}

/** The agents that records name with most URLs. */
function mostNamed(counts: NonNullable<DenyingRule['deniedToNamed']>): string {
  const shown = counts.slice(0, MOST_NAMED);
  const names = shown.map((each) => `${namedAs(each)} ${formatNumber(each.urls)}`);
  return namesOf(counts.length > MOST_NAMED ? [...names, 'others'] : names);
}

function ruleExcerpt({ host, line, group, around, source, version }: DenyingRule): Html {
  const more = group.length - SHOWN_TOKENS;
  const tokens = group.slice(0, SHOWN_TOKENS).map((token) => `        User-agent: ${token}`);
  if (more > 0) tokens.push(`        and ${formatNumber(more)} more`);
  const rules = around.map((each) => `${String(each.line).padStart(6)}  ${each.rule}`);
  const from = version === undefined || version === null ? '' : `, in force from ${version}`;
  return excerpt(`${host}, line ${line} of ${source}${from}`, [...tokens, ...rules]);
}

/** How old the robots.txt files are. */
function ageBlocks({ ages, hosts }: FilterFigures): Html[] {
  if (ages === null || ages.dated === 0) return [];
  return [
    paragraph(
      `${formatCount(ages.stale, 'host')} (${percent(ages.stale, hosts.seen)}) had a robots.txt that was fetched more than 24 hours before this run.`,
    ),
  ];
}
