/** The story of an audit: what hosts allow to each agent. */

import type { Reach } from '../../patterns/reach.js';
import { formatCount, formatNumber } from '../text.js';
import type { AgentFigures, AuditFigures, FileFigures } from './audit-figures.js';
import { REACHES } from './figures.js';
import {
  type Bar,
  barChart,
  bold,
  type ChartRow,
  type Colour,
  callout,
  excerpt,
  folded,
  type Html,
  type Inline,
  list,
  longTable,
  note,
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

/** The words for how much is allowed. */
const FORBIDS: Readonly<Record<Reach, string>> = {
  none: 'forbids everything',
  part: 'forbids a part',
  all: 'forbids nothing',
};
const PARTS = REACHES.map((reach) => [reach, reach, FORBIDS[reach]] as const);

export function auditStory(given: AuditFigures): Story {
  const { unknown } = given.access;
  // Shares are of known hosts: a list may name hosts of which the table knows nothing.
  const figures = { ...given, hosts: given.hosts - unknown };
  const { hosts, files, agents, captured } = figures;
  const ranked = agents.toSorted(
    (a, b) =>
      b.files.none - a.files.none || b.hosts.none - a.hosts.none || a.hosts.all - b.hosts.all,
  );
  const groups = gathered(ranked, (agent) => [
    ratio([agent.hosts.none, hosts]),
    ratio([agent.hosts.all, hosts]),
    ratio([agent.files.none, files]),
    ratio([agent.files.all, files]),
  ]);
  const main = mainOf(ranked);
  const counts = [
    `${formatCount(hosts, 'host')}${unknown > 0 ? ' with a known answer' : ''}`,
    formatCount(files, 'distinct robots.txt', 'distinct robots.txt files'),
    formatCount(agents.length, 'crawler'),
  ];
  const largest = largestSentences(figures);
  return {
    kind: 'Audit of robots.txt files',
    headline: headlineOf(figures, main, groups),
    lead: [
      scopeSentence(counts, datesSentence(captured)),
      ...unknownOf(given),
      ...warningOf(figures, main),
      WHAT_IT_IS,
    ],
    sections: [
      [
        'What hosts forbid the crawlers',
        barChart(
          [
            ['none', 'share of hosts that forbid everything'],
            [
              'pale',
              'share of distinct robots.txt files: each counts once, however many hosts share it',
            ],
          ],
          chartRows(figures, groups),
        ),
        scaleNote(figures),
        overview(figures, main),
        ...partSentences(main),
        ...(largest.length > 0
          ? [paragraph('Some shares rest on one robots.txt that many hosts share:'), list(largest)]
          : []),
        ...allFigures(figures),
      ],
      ...useSection(figures),
      ...aloneSection(figures, ranked),
      ...apartSection(figures),
      ...sharedSection(figures),
      ['What was looked at', ...accessBlocks(given), recordsBlock(figures.records, hosts)],
      ...agentsSection(agents, groups.apart),
    ],
    foot: [
      ...footOf(figures),
      `${WORDS_MEAN} "Everything" and "nothing" are proven from all rules.`,
    ],
  };
}

function headlineOf(
  { hosts, files, agents }: AuditFigures,
  { agent, ...main }: AgentFigures,
  { apart, alike }: Gathered<AgentFigures>,
): string {
  const name = nameOf({ agent });
  if (files === 0) return 'No robots.txt was read';
  if (agents.every(({ hosts: { none } }) => none === 0)) {
    const whom = agents.length === 1 ? name : `any of these ${agents.length} crawlers`;
    return `No host forbids ${whom} everything`;
  }
  if (alike.length > 0 && !apart.some((each) => each.agent === agent)) {
    const shares = alike.map((each): Share => [each.hosts.none, hosts]);
    return `${rangeOf(shares)} of hosts forbid everything, and make little difference between ${alike.length} crawlers`;
  }
  const share = percent(main.hosts.none, hosts);
  if (main.hosts.none === 0 || main.files.none === 0)
    return `${share} of hosts forbid ${name} everything`;
  return `${share} of hosts, and ${percent(main.files.none, files)} of distinct robots.txt files, forbid ${name} everything`;
}

/** Says how many hosts the figures leave out. */
function unknownOf({ access: { unknown }, hosts }: AuditFigures): Html[] {
  if (unknown === 0) return [];
  return [
    paragraph(
      `Nothing is known of ${formatCount(unknown, 'more host')} of the list (${percent(unknown, hosts)}). The figures leave them out.`,
    ),
  ];
}

/** Says so first if one file makes much of the headline's share. */
function warningOf({ hosts }: AuditFigures, { agent, ...main }: AgentFigures): Html[] {
  const file = main.largest.none;
  const { none } = main.hosts;
  if (file === null || file.hosts < 2 || ratio([file.hosts, none]) <= MUCH) return [];
  const without = percent(none - file.hosts, hosts - file.hosts);
  return [
    callout(
      `${formatCount(file.hosts, 'host')}, ${file.of} among them, have one and the same robots.txt. They are ${percent(file.hosts, none)} of the hosts that forbid ${nameOf({ agent })} everything. Without them the share of hosts is ${without}.`,
    ),
  ];
}

/** For each file that makes much of a share, a sentence. */
function largestSentences({ agents, shared }: AuditFigures): string[] {
  const without = new Set(shared.filter(({ lines }) => lines.length === 0).map(({ of }) => of));
  const found = new Map<
    string,
    { of: string; reach: Reach; agents: AgentFigures[]; shares: Share[] }
  >();
  for (const agent of agents) {
    for (const reach of REACHES) {
      const file = agent.largest[reach];
      if (file === null || file.hosts < 2) continue;
      const share: Share = [file.hosts, agent.hosts[reach]];
      if (ratio(share) <= MUCH) continue;
      const key = `${reach} ${file.of}`;
      const own = found.get(key) ?? { of: file.of, reach, agents: [], shares: [] };
      found.set(key, own);
      own.agents.push(agent);
      own.shares.push(share);
    }
  }
  const most = ({ shares }: { shares: readonly Share[] }) => Math.max(...shares.map(ratio));
  return [...found.values()]
    .sort((a, b) => most(b) - most(a))
    .slice(0, MOST_SENTENCES)
    .map(({ of, reach, agents: own, shares }) => {
      const whom =
        own.length === agents.length && own.length > 3
          ? 'any of the crawlers'
          : namesOf(own.map(nameOf), 3);
      const what = { none: 'everything', part: 'a part', all: 'nothing' }[reach];
      const [hosts] = shares[0] ?? [0];
      const file = without.has(of)
        ? `a robots.txt without rules for these crawlers, such as an empty file or a web page; ${of} is one of them`
        : `one and the same robots.txt; ${of} is one of them`;
      return `${rangeOf(shares)} of the hosts that forbid ${whom} ${what} (${formatCount(hosts, 'host')}) have ${file}.`;
    });
}

const MOST_SENTENCES = 6;

/** The greatest share that forbids everything: the bars have its scale. */
function greatestShare({ hosts, files, agents }: AuditFigures): Share {
  const shares = agents.flatMap((each): Share[] => [
    [each.hosts.none, hosts],
    [each.files.none, files],
  ]);
  return shares.reduce((most, share) => (ratio(share) > ratio(most) ? share : most), [0, 0]);
}

/** Says what the longest bar stands for: without it, the bar looks like all hosts. */
function scaleNote(figures: AuditFigures): Html {
  const share = greatestShare(figures);
  if (ratio(share) === 0) return note('No bar: no share is above 0.');
  return note(
    `The longest bar stands for ${percent(...share)}. Each bar below stands for 100\u00a0%.`,
  );
}

/** Rows with the shares that forbid everything, on the scale of the greatest one. */
function chartRows(figures: AuditFigures, groups: Gathered<AgentFigures>): ChartRow[] {
  const { hosts, files } = figures;
  const top = ratio(greatestShare(figures));
  return rowsOf(groups, (head, agents, drawn) => {
    const bar = (colour: Colour, count: number, whole: number, noun: string): Bar => ({
      parts: [
        [colour, count],
        ['blank', top * whole - count],
      ],
      label: `${head.name}: ${formatNumber(count)} of ${formatCount(whole, noun)} forbid everything`,
    });
    return {
      ...head,
      bars: [
        bar('none', drawn.hosts.none, hosts, 'host'),
        bar('pale', drawn.files.none, files, 'distinct file'),
      ],
      figures: [
        bold(rangeOf(agents.map((each) => [each.hosts.none, hosts])), ' of hosts'),
        bold(rangeOf(agents.map((each) => [each.files.none, files])), ' of files'),
      ],
    };
  });
}

/** All that hosts, and files, forbid the agent of the headline. */
function overview({ hosts, files }: AuditFigures, main: AgentFigures): Html {
  const unread = main.hosts.unavailable + main.hosts.unreachable;
  const rowOf = (
    about: string,
    counts: Readonly<Record<Reach, number>>,
    whole: number,
  ): PartsRow => ({
    name: nameOf(main),
    about,
    bars: [[`${nameOf(main)}, ${about}`, counts]],
    figures: [
      bold(percent(counts.none, whole), ' everything'),
      bold(percent(counts.part, whole), ' a part'),
      bold(percent(counts.all, whole), ' nothing'),
    ],
  });
  const byHost = { ...main.hosts, unread };
  return partsChart(
    unread === 0 ? PARTS : [...PARTS, ['unread', 'void', 'no robots.txt was read']],
    [rowOf('by host', byHost, hosts), rowOf('by distinct robots.txt', main.files, files)],
  );
}

/** What "a part" hides. */
function partSentences({ agent, hosts, files, partWithoutHome }: AgentFigures): Html[] {
  if (hosts.part === 0) return [];
  const home = `${percent(partWithoutHome.hosts, hosts.part)} of these hosts (${formatNumber(partWithoutHome.hosts)}) and ${percent(partWithoutHome.files, files.part)} of these files (${formatNumber(partWithoutHome.files)})`;
  return [
    paragraph(
      `"A part" can be one directory, or everything but one page. Of the robots.txt files that forbid ${nameOf({ agent })} a part, ${home} do not even let it fetch the home page.`,
    ),
  ];
}

function allFigures({ agents, hosts, files }: AuditFigures): Html[] {
  const cells = ({ hosts: own, files: ownFiles, by }: AgentFigures): Inline[] => [
    ...REACHES.flatMap((reach) => [
      `${formatNumber(own[reach])} (${percent(own[reach], hosts)})`,
      `${formatNumber(ownFiles[reach])} (${percent(ownFiles[reach], files)})`,
    ]),
    by.own,
  ];
  return longTable(
    'Hosts and distinct robots.txt files, with their share of all; and hosts with a group that names the crawler.',
    [
      text('crawler'),
      ...REACHES.map((reach) => number(`${FORBIDS[reach]}: hosts`, 'files')),
      number('named: hosts'),
    ],
    agents.map((agent) => [agent.agent, ...cells(agent)]),
    'crawler',
    0,
  );
}

// ---- The further sections

function aloneSection({ hosts, files }: AuditFigures, ranked: readonly AgentFigures[]): Section[] {
  const named = ranked
    .filter(({ shutOutAlone }) => shutOutAlone.hosts > 0)
    .sort(
      (a, b) =>
        b.shutOutAlone.files - a.shutOutAlone.files || b.shutOutAlone.hosts - a.shutOutAlone.hosts,
    );
  if (named.length === 0) return [];
  const rows = named.map(({ shutOutAlone: alone, ...agent }) => [
    nameOf(agent),
    alone.hosts,
    percent(alone.hosts, hosts),
    alone.files,
    percent(alone.files, files),
  ]);
  const blocks = longTable(
    'Hosts and distinct robots.txt files that forbid a crawler everything, and do not forbid everything to those that they do not name.',
    [text('crawler'), number('hosts', 'of all hosts', 'files', 'of all files')],
    rows,
    'crawler',
  );
  return [['Shut out while others may enter', ...blocks]];
}

/** The names of the agents to which a file allows an extent. */
function toWhom({ agents }: AuditFigures, { allowed }: FileFigures, reach: Reach): string {
  const names = agents.filter((_, index) => allowed[index] === reach).map(nameOf);
  if (names.length === agents.length && names.length > 1) return 'all';
  return names.length > 5 ? `${names.length}: ${namesOf(names, 4)}` : namesOf(names);
}

function filesTable(figures: AuditFigures, caption: string, files: readonly FileFigures[]): Html {
  return table(
    caption,
    [
      text('a host that has it'),
      number('hosts'),
      text(...REACHES.map((reach) => `${FORBIDS[reach]} to`)),
    ],
    files.map((file) => [
      file.of,
      file.hosts,
      ...REACHES.map((reach) => toWhom(figures, file, reach)),
    ]),
  );
}

/** Files that treat crawlers differently of which the page shows what they do. */
const MOST_APART = 5;

function apartSection(figures: AuditFigures): Section[] {
  const apart = figures.apart.slice(0, MOST_APART);
  if (apart.length === 0) return [];
  const caption = `The ${formatCount(apart.length, 'robots.txt', 'robots.txt files')} with the most pairs of crawlers that are treated differently.`;
  return [['Where crawlers are treated most differently', filesTable(figures, caption, apart)]];
}

/** The lines of a file. A last group without rules says so: it looks cut off otherwise. */
function withEnd(lines: readonly string[]): readonly string[] {
  return lines.at(-1)?.startsWith('User-agent:') === true ? [...lines, '# no rule'] : lines;
}

/** Shared files of which the lines are shown. */
const MOST_EXCERPTS = 3;

function sharedSection(figures: AuditFigures): Section[] {
  const { shared, hosts } = figures;
  if (shared.length === 0) return [];
  const excerpts = shared
    .slice(0, MOST_EXCERPTS)
    .map(({ of, hosts: own, lines }) =>
      excerpt(
        `${formatCount(own, 'host')} (${percent(own, hosts)}), ${of} among them`,
        lines.length > 0 ? withEnd(lines) : ['# no group for these crawlers, as in an empty file'],
      ),
    );
  const caption = `The ${formatCount(shared.length, 'robots.txt', 'robots.txt files')} that most hosts share.`;
  return [
    [
      'Files that many hosts share',
      ...excerpts,
      ...(shared.length > MOST_EXCERPTS
        ? [folded('All of them', filesTable(figures, caption, shared))]
        : []),
    ],
  ];
}

const ACCESS_WORDS = [
  ['successful', 'A robots.txt was read.'],
  ['unavailable', 'There is none (such as status 404): everything is allowed.'],
  [
    'unreachable',
    'The server failed (such as status 503, or no answer): nothing is allowed until it answers.',
  ],
  ['unknown', 'Nothing is known of it here.'],
] as const;

function accessBlocks({ access, hosts, records }: AuditFigures): Html[] {
  const pages = records?.['web-page'] ?? 0;
  if (access.successful === hosts) {
    return [
      paragraph(
        `A robots.txt was read for each of the ${formatCount(hosts, 'host')}. Whether other hosts were asked and had none is not known: many sources, such as a directory of files, do not say.`,
      ),
      ...pagesSentence(pages, hosts),
    ];
  }
  return [
    table(
      'Hosts by how asking for their robots.txt ended. A file without a known status counts as read.',
      [text('result'), number('hosts', 'share')],
      ACCESS_WORDS.flatMap(([result, meaning]) =>
        access[result] === 0 ? [] : [[meaning, access[result], percent(access[result], hosts)]],
      ),
    ),
    ...pagesSentence(pages, hosts),
  ];
}

/** Says that web pages have no rules: without it, they pass for sites that allow everything. */
function pagesSentence(pages: number, hosts: number): Html[] {
  if (pages === 0) return [];
  return [
    paragraph(
      `${formatCount(pages, 'host')} (${percent(pages, hosts)}) sent a web page in place of a robots.txt. Such a page seldom has rules, so nearly all of these hosts count as those that forbid nothing, though they may never have decided so.`,
    ),
  ];
}

const ANSWERS = [
  ['refused', 'none', 'refused'],
  ['part', 'part', 'differs by path'],
  ['granted', 'all', 'granted'],
  ['unstated', 'void', 'unstated'],
] as const;

/** What hosts say about uses, if that was asked. */
function useSection({ uses = [] }: AuditFigures): Section[] {
  if (uses.length === 0) return [];
  const rows = uses.map(
    ({ agent, use, answers, files }): PartsRow => ({
      name: use,
      about: nameOf({ agent }),
      bars: [
        [`${use}, ${agent}, hosts`, answers],
        [`${use}, ${agent}, files`, files],
      ],
      figures: [
        bold(percent(answers.refused, sumOf(answers)), ' of hosts refuse'),
        bold(percent(files.refused, sumOf(files)), ' of files refuse'),
      ],
    }),
  );
  const bySignal = uses.flatMap(({ agent, use, signals }) =>
    Object.entries(signals).flatMap(([signal, { granted, refused, part }]) =>
      granted + refused + part === 0 ? [] : [[use, agent, signal, refused, part, granted]],
    ),
  );
  return [
    [
      USES_HEADING,
      paragraph(
        'Only hosts where the crawler may fetch anything, by what they say about all that it may fetch. Unstated: no signal says either.',
      ),
      partsChart(ANSWERS, rows),
      bySignal.length === 0
        ? paragraph('No signal says anything about it.')
        : table(
            'Hosts by the signals that give their answer; a host counts once for each signal.',
            [text('use', 'crawler', 'signal'), number('refused', 'differs by path', 'granted')],
            bySignal,
          ),
    ],
  ];
}
