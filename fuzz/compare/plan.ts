import type { Format } from '../../oracle/filter.js';
import { lowerCaseAscii } from '../../src/protocol/agent.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { hostileFile } from '../../test/hostile/file.js';
import type { Random } from '../../test/random/random.js';
import { LAYOUTS, type Layout } from './robots-set.js';

/** How the command line gets its input. */
export const WAYS_IN = [
  ...(['file', 'several files', 'stdin from a file', 'pipe', 'socket'] as const),
  ...(['gzip file', 'gzip pipe'] as const),
] as const;
export type WayIn = (typeof WAYS_IN)[number];

/** Where the output of the command line goes. */
export const WAYS_OUT = ['-o', 'stdout to a file', 'pipe', 'socket'] as const;
export type WayOut = (typeof WAYS_OUT)[number];

/** All options of a round's run of the command line. */
export interface Plan {
  readonly profile: Profile;
  readonly layout: Layout;
  readonly format: Format;
  /** Whether the format is detected from the first bytes. */
  readonly sniffs: boolean;
  readonly wayIn: WayIn;
  readonly wayOut: WayOut;
  /** Undefined for the default, with which short inputs are judged on the main thread. */
  readonly threads: number | undefined;
  readonly agents: readonly string[];
  readonly explain: boolean;
  readonly output: 'annotate' | 'allowed' | 'denied';
  readonly unknown: 'allow' | 'deny' | 'unknown';
  readonly maxLineBytes: number;
  readonly urlField: readonly string[];
  readonly carriageReturns: boolean;
}

export const DEFAULT_MAX_LINE = 16 * 1024 * 1024;

const PROFILES = ['rfc9309', 'google', 'draft-koster-rep-00'] as const;
const FORMATS = ['text', 'ndjson', 'ndjson', 'array', 'concatenated'] as const;
const MAX_LINES = [1024, 5000, 65_536, 131_072, 1 << 20, (1 << 20) + 1, 1 << 21, 3 << 20];
const URL_FIELDS = [
  'url',
  'url',
  'url',
  'u',
  'request.url',
  'a.b.c',
  'the-canonical-url',
  'adresse-é',
];

/** Draws a round. Profiles, formats and ways take turns, so that a few rounds cover all of them. */
export function drawPlan(random: Random, round: number): Plan {
  const turn = <Item>(items: readonly Item[], stride: number): Item =>
    items[(Math.floor(round / stride) + random.between(0, 1)) % items.length] as Item;
  const profile = turn(PROFILES, 1);
  const format = turn(FORMATS, 1);
  const plan: Plan = {
    profile,
    layout: random.pick(LAYOUTS),
    format,
    // Consecutive values look like lines of objects if the first value ends with its line.
    sniffs: format !== 'concatenated' && random.chance(0.5),
    wayIn: turn(WAYS_IN, 1),
    wayOut: turn(WAYS_OUT, 1),
    threads: random.chance(0.3) ? undefined : random.between(1, 12),
    agents: drawAgents(random, profile),
    explain: random.chance(0.4),
    output: random.pick(['annotate', 'annotate', 'annotate', 'allowed', 'denied']),
    unknown: random.pick(['unknown', 'unknown', 'unknown', 'allow', 'deny']),
    maxLineBytes: random.chance(0.6) ? DEFAULT_MAX_LINE : random.pick(MAX_LINES),
    urlField: random.pick(URL_FIELDS).split('.'),
    carriageReturns: random.chance(0.3),
  };
  // The command refuses --explain where records pass unchanged.
  return { ...plan, explain: plan.explain && plan.output === 'annotate' };
}

/** One to four crawlers, as `--agent` can name them. */
function drawAgents(random: Random, profile: Profile): string[] {
  const { chains } = hostileFile(random, profile, {
    urls: 0,
    chains: random.pick([1, 1, 2, 3, 4]),
  });
  const names = chains.map((chain) => chain.join('>'));
  // The command line writes an empty first link as a colon, and says so.
  const named = names.filter(
    (name) => name !== '' && name.trim() === name && !name.includes(',') && !name.startsWith('>'),
  );
  // Capitals make no difference: two such agents are refused as one that is named twice.
  const distinct = new Map(named.map((name) => [lowerCaseAscii(name), name]));
  return named.length === 0 ? ['*'] : [...distinct.values()];
}

/** The arguments of the command line, except files of input and output. */
export function argumentsOf(plan: Plan, robotsPath: string): string[] {
  const { format, output, unknown, threads, maxLineBytes, urlField } = plan;
  const input = plan.sniffs ? 'auto' : format === 'text' || format === 'ndjson' ? format : 'json';
  const source =
    plan.layout === 'table'
      ? ['--table', robotsPath]
      : ['--robots-dir', robotsPath, '--profile', plan.profile];
  return [
    ...source,
    ...['--input', input, '--stats=json'],
    ...plan.agents.flatMap((agent) => ['--agent', agent]),
    ...(plan.explain ? ['--explain'] : []),
    ...(output === 'annotate' ? [] : [`--${output}`]),
    ...(unknown === 'unknown' ? [] : ['--unknown', unknown]),
    ...(threads === undefined ? [] : ['--threads', `${threads}`]),
    ...(maxLineBytes === DEFAULT_MAX_LINE ? [] : ['--max-line-bytes', `${maxLineBytes}`]),
    ...(format === 'text' ? [] : ['--url-field', urlField.join('.')]),
  ];
}
