/** The story of a comparison: what the change does to each agent. */

import { cutToWidth, formatCount, formatNumber } from '../text.js';
import {
  type AgentChanges,
  type ChangeFigures,
  type DiffFigures,
  EFFECTS,
  type Effect,
  type SeenChange,
} from './diff-figures.js';
import {
  bold,
  type Colour,
  callout,
  code,
  type Html,
  type Inline,
  linesTable,
  note,
  number,
  paragraph,
  type Section,
  type Story,
  table,
  text,
  twoSidedChart,
} from './page-parts.js';
import {
  agentsSection,
  footOf,
  type Gathered,
  gathered,
  MUCH,
  nameOf,
  namesOf,
  percent,
  rangeOf,
  ratio,
  rowsOf,
  type Share,
  scopeSentence,
  USES_HEADING,
  WHAT_IT_IS,
  WORDS_MEAN,
} from './story.js';

/** What a change does, in words. */
const WORDS: Readonly<Record<SeenChange['effect'], string>> = {
  shutOut: 'shut out',
  narrower: 'may fetch less',
  other: 'may fetch another part',
  wider: 'may fetch more',
  letIn: 'let in',
  added: 'host has come',
  removed: 'host has gone',
  denied: 'now denied',
  allowed: 'now allowed',
  moved: 'was or is unknown',
};

/** The counts of an agent, whatever is compared, and their wholes. */
type Counts = Readonly<Partial<Record<SeenChange['effect'], number>>>;

interface Sides {
  readonly left: readonly (readonly [Colour, SeenChange['effect']])[];
  readonly right: readonly (readonly [Colour, SeenChange['effect']])[];
}

/** What is drawn at each side of the middle, from there outwards. */
const SIDES: Readonly<Record<DiffFigures['what'], Sides>> = {
  host: {
    left: [
      ['none', 'shutOut'],
      ['part', 'narrower'],
    ],
    right: [
      ['open', 'letIn'],
      ['all', 'wider'],
    ],
  },
  URL: { left: [['none', 'denied']], right: [['open', 'allowed']] },
};

const countsOf = ({ hosts, urls }: AgentChanges): Counts => hosts ?? urls ?? {};
const of = (counts: Counts, effects: readonly SeenChange['effect'][]): number =>
  effects.reduce((sum, effect) => sum + (counts[effect] ?? 0), 0);

export function diffStory(figures: DiffFigures): Story {
  const { what, compared, changed, agents } = figures;
  const { left, right } = SIDES[what];
  const less = left.map(([, effect]) => effect);
  const more = right.map(([, effect]) => effect);
  const ranked = agents.toSorted((a, b) => {
    const weight = (agent: AgentChanges) => of(countsOf(agent), [...less, ...more]);
    return weight(b) - weight(a);
  });
  const groups = gathered(ranked, (agent) =>
    [less, more].map((effects) => ratio([of(countsOf(agent), effects), compared])),
  );
  const counts = [
    `${formatCount(compared, what)} compared`,
    `${formatNumber(changed)} changed`,
    formatCount(agents.length, 'crawler'),
  ];
  return {
    kind: 'Robots.txt files compared',
    headline: headlineOf(figures, ranked[0], less, more),
    lead: [
      scopeSentence(counts, `Old: ${figures.old}. New: ${figures.new}.${oneSided(agents)}`),
      ...leftOut(figures),
      ...warningOf(ranked),
      WHAT_IT_IS,
    ],
    sections: [
      [
        'What the change does to the crawlers',
        ...(changed === 0
          ? [nothingFound(figures)]
          : [chartOf(figures, groups), ...scaleNote(figures), effectsTable(figures, groups)]),
        ...undecidedHosts(figures),
      ],
      ...changesSection(figures),
      ...usesSection(figures),
      ...agentsSection(agents, groups.apart),
    ],
    foot: [
      ...footOf(figures),
      WORDS_MEAN,
      'Files are compared by what they allow, not by their text.',
    ],
  };
}

function headlineOf(
  { compared, what, changed, unknown = 0, invalid = 0, agents, uses = [] }: DiffFigures,
  most: AgentChanges | undefined,
  less: readonly SeenChange['effect'][],
  more: readonly SeenChange['effect'][],
): string {
  const known = unknown + invalid > 0 ? ' whose robots.txt is known' : '';
  const all = `${formatCount(compared, what)}${known}`;
  if (compared === 0) return `There is no ${what}${known} to compare`;
  if (changed === 0) {
    if (uses.length > 0) return `Only answers about uses have changed at ${all}`;
    return `${isUndecided(agents) ? 'No change was found' : 'Nothing has changed'} at ${all}`;
  }
  const counts = most === undefined ? {} : countsOf(most);
  const [down, up] = [of(counts, less), of(counts, more)];
  if (most === undefined || down + up === 0) {
    return `${formatNumber(changed)} of ${all} have changed for ${agents.length === 1 ? nameOf(agents[0] ?? { agent: '' }) : `some of ${agents.length} crawlers`}`;
  }
  const name = nameOf(most);
  return what === 'host'
    ? `${formatNumber(down)} of ${all} allow ${name} less than before, and ${formatNumber(up)} allow it more`
    : `${formatNumber(down)} of ${all} are newly denied to ${name}, and ${formatNumber(up)} are newly allowed`;
}

/** Says how many URLs the figures leave out. */
function leftOut({ compared, unknown = 0, invalid = 0 }: DiffFigures): Html[] {
  if (unknown + invalid === 0) return [];
  const read = compared + unknown + invalid;
  const parts = [
    ...(unknown > 0
      ? [`For ${percent(unknown, read)} (${formatNumber(unknown)}) neither side has a robots.txt.`]
      : []),
    ...(invalid > 0
      ? [
          `${percent(invalid, read)} (${formatNumber(invalid)}) are no URL that a crawler could fetch.`,
        ]
      : []),
  ];
  return [
    paragraph(
      `The list has ${formatCount(read, 'URL')}. ${parts.join(' ')} The figures leave these out.`,
    ),
  ];
}

/** Says so first if a change that many hosts made is much of what is drawn. */
function warningOf(ranked: readonly AgentChanges[]): Html[] {
  const found = new Map<
    string,
    { hosts: number; words: Map<Effect, [names: string[], Share[]]> }
  >();
  for (const agent of ranked) {
    for (const effect of EFFECTS) {
      const change = agent.largest?.[effect] ?? null;
      const share: Share = [change?.hosts ?? 0, agent.hosts?.[effect] ?? 0];
      if (change === null || change.hosts < 2 || ratio(share) <= MUCH) continue;
      const own = found.get(change.of) ?? { hosts: change.hosts, words: new Map() };
      found.set(change.of, own);
      const [names, shares] = own.words.get(effect) ?? [[], []];
      own.words.set(effect, [
        [...names, nameOf(agent)],
        [...shares, share],
      ]);
    }
  }
  return [...found]
    .sort(([, a], [, b]) => b.hosts - a.hosts)
    .slice(0, 2)
    .map(([host, { hosts, words }]) => {
      const parts = Array.from(
        words,
        ([effect, [names, shares]]) =>
          `${rangeOf(shares)} of those counted as "${WORDS[effect]}" for ${namesOf(names, 3)}`,
      );
      return callout(
        `${formatCount(hosts, 'host')}, ${host} among them, have made one and the same change. They are ${namesOf(parts)}.`,
      );
    });
}

function chartOf({ what, compared }: DiffFigures, groups: Gathered<AgentChanges>): Html {
  const { left, right } = SIDES[what];
  const rows = rowsOf(groups, (head, agents, drawn) => {
    const counts = countsOf(drawn);
    const partsOf = (side: Sides['left']) =>
      side.map(([colour, effect]) => [colour, counts[effect] ?? 0] as const);
    const ofSide = (side: Sides['left']) => {
      const effects = side.map(([, effect]) => effect);
      return rangeOf(agents.map((agent): Share => [of(countsOf(agent), effects), compared]));
    };
    const words = [...left, ...right].map(
      ([, effect]) => `${WORDS[effect]}: ${formatNumber(counts[effect] ?? 0)}`,
    );
    return {
      ...head,
      left: partsOf(left),
      right: partsOf(right),
      label: `${head.name}: ${words.join(', ')}`,
      figures: [bold(ofSide(left), ' less'), bold(ofSide(right), ' more')],
    };
  });
  const legend = [...left, ...right].map(([colour, effect]) => [colour, WORDS[effect]] as const);
  return twoSidedChart(legend, ['allowed less', 'allowed more'], rows);
}

/** Says how many hosts are on one side only: they count as compared, and as changed. */
function oneSided(agents: readonly AgentChanges[]): string {
  const most = (effect: Effect) => Math.max(...agents.map(({ hosts }) => hosts?.[effect] ?? 0));
  const [added, removed] = [most('added'), most('removed')];
  if (added + removed === 0) return '';
  return ` The figures include ${formatCount(added, 'host')} that only the new side has, and ${formatNumber(removed)} that only the old side has.`;
}

/** Says what the longest bar stands for, and what is not drawn. */
function scaleNote({ what, compared, agents }: DiffFigures): Html[] {
  const { left, right } = SIDES[what];
  const sides = [left, right].map((side) => side.map(([, effect]) => effect));
  const most = Math.max(
    ...agents.flatMap((agent) => sides.map((effects) => of(countsOf(agent), effects))),
  );
  if (most === 0) return [];
  const length = `The longest bar to a side stands for ${percent(most, compared)} of ${formatCount(compared, what)}.`;
  const rest =
    what === 'host'
      ? ' Not drawn: hosts where a crawler may fetch another part, and hosts that are on one side only.'
      : '';
  return [note(`${length}${rest}`)];
}

const URL_EFFECTS = ['denied', 'allowed', 'moved'] as const;

function effectsTable({ what, agents }: DiffFigures, groups: Gathered<AgentChanges>): Html {
  const shown = what === 'URL' ? URL_EFFECTS : EFFECTS;
  const effects = shown.filter((effect) =>
    agents.some((agent) => (countsOf(agent)[effect] ?? 0) > 0),
  );
  const spanOf = (counts: readonly number[]): string => {
    const [least, most] = [Math.min(...counts), Math.max(...counts)].map(formatNumber);
    return least === most ? `${most}` : `${least} to ${most}`;
  };
  const rows = rowsOf(groups, ({ name }, some) => [
    name,
    ...effects.map((effect) => {
      const hosts = spanOf(some.map((agent) => countsOf(agent)[effect] ?? 0));
      if (what === 'URL') return hosts;
      return `${hosts} (${spanOf(some.map((agent) => agent.files?.[effect as Effect] ?? 0))})`;
    }),
  ]);
  const caption =
    what === 'URL'
      ? 'Number of URLs by change.'
      : 'Hosts; in brackets changes from one robots.txt to another, each of which counts once however many hosts have made it.';
  return table(caption, [text('crawler'), number(...effects.map((effect) => WORDS[effect]))], rows);
}

const isUndecided = (agents: readonly AgentChanges[]): boolean =>
  agents.some(({ undecided = 0 }) => undecided > 0);

/** Says that nothing was found: there is no difference, or some files were too entangled. */
function nothingFound({ agents }: DiffFigures): Html {
  return paragraph(isUndecided(agents) ? 'No difference was found.' : 'There is no difference.');
}

/** The hosts that may differ, unnoticed. */
function undecidedHosts({ agents }: DiffFigures): Html[] {
  const some = agents.filter(({ undecided = 0 }) => undecided > 0);
  if (some.length === 0) return [];
  const words = some.map(
    (agent) => `${nameOf(agent)}: ${formatCount(agent.undecided ?? 0, 'host')}`,
  );
  return [
    paragraph(
      `Not compared on every path, because many wildcard rules overlap: ${namesOf(words)}. A difference may have been missed.`,
    ),
  ];
}

/** Reasons that are no rule, in words: readers took them for lines of a robots.txt. */
const REASON_WORDS: Readonly<Record<string, string>> = {
  'no-rule': 'no rule matches',
  'no-group': 'no group for it',
  'unknown-host': 'no robots.txt known',
  unavailable: 'there is no robots.txt',
  unreachable: 'the server failed',
};

/** A path or rule as code, or why there is no rule in words. */
function causeText(text: string | null): Inline {
  if (text === null) return '';
  return REASON_WORDS[text] ?? code(cutToWidth(text, WIDEST));
}

/** Maximum width of a rule or path, in columns of a terminal. */
const WIDEST = 80;
/** Groups of agents in the row of a change. */
const MOST_GROUPS = 3;

function changesSection({ what, changes, agents, changed }: DiffFigures): Section[] {
  if (changes.length === 0) return [];
  const isOne = agents.length === 1;
  const rows = changes.map(({ of: first, hosts, changes: seen }: ChangeFigures) => {
    const shown = seen.slice(0, MOST_GROUPS).map((change): Inline[] => {
      const whom = change.agents.length === agents.length ? 'all' : namesOf(change.agents, 3);
      const words = isOne ? WORDS[change.effect] : `${WORDS[change.effect]}: ${whom}`;
      const rules = [...(what === 'host' ? [change.path] : []), change.oldRule, change.newRule];
      return [words, ...rules.map(causeText)];
    });
    const left = seen.length - shown.length;
    if (left > 0) shown.push([`and ${formatNumber(left)} more`]);
    const others = hosts > 1 ? ` and ${formatCount(hosts - 1, 'more host')}` : '';
    return { name: `${first}${others}`, lines: shown };
  });
  const caption =
    what === 'host'
      ? `The ${formatCount(changes.length, 'change')} of most hosts and crawlers, each with a path whose verdict has changed.`
      : `The first ${formatNumber(changes.length)} of ${formatCount(changed, 'URL')} that have changed.`;
  const heads = ['change', ...(what === 'host' ? ['path'] : []), 'old rule', 'new rule'];
  return [
    [what === 'host' ? 'Change by change' : 'URL by URL', linesTable(caption, what, heads, rows)],
  ];
}

function usesSection({ uses, what }: DiffFigures): Section[] {
  if (uses === undefined) return [];
  const said = (extent: string | null) => extent ?? 'no such host';
  const block =
    uses.length === 0
      ? paragraph('No answer about a use has changed.')
      : table(
          `Number of ${what}s with another answer, where the crawler may fetch on both sides; and hosts with an answer that only one side has.`,
          [text('use', 'crawler', 'old', 'new'), number(`${what}s`)],
          uses.map(({ agent, use, old, new: next, count }) => [
            use,
            nameOf({ agent }),
            said(old),
            said(next),
            count,
          ]),
        );
  return [[USES_HEADING, block]];
}
