import { existsSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { kindOfPath } from './commands/arguments.js';
import { shellWords } from './console.js';

/*
 * The filter, `fetch` and `shard` take lists of URLs as arguments, and robots.txt files as options;
 * the other commands take robots.txt files as arguments. If one got them as another wants them, the
 * command that works is composed from them.
 */

type Kind = Awaited<ReturnType<typeof kindOfPath>>;

/** A path with robots.txt files. */
interface Source {
  readonly path: string;
  readonly kind: Kind;
}

/** What a command line holds, however the command wanted it. */
interface Given {
  readonly sources: Source[];
  /** Values of `--agent`, joined. */
  readonly agents: string;
  /** Arguments that are none of `sources`. */
  readonly others: string[];
  /** Other options that the command has, with their values. */
  readonly kept: string[];
}

const AGENT = '--agent';
const SOURCE_OPTIONS = ['--robots-dir', '--table'];
/** Stands for an agent that was not given. */
const ANY_AGENT = 'GPTBot';
const ANY_TABLE = 'robots.table';

/** How each command is called with what was given; `undefined` if that is not known. */
const COMPOSE: Readonly<Record<string, (given: Given) => string | undefined>> = {
  compile: ({ sources, agents, kept }) => {
    if (sources.length === 0 || sources.some(({ kind }) => kind === 'robots.txt')) return undefined;
    const output = kept.some((word) => word.startsWith('-o') || word.startsWith('--output'));
    const rest = [...agentOption(agents), ...kept, ...(output ? [] : ['-o', ANY_TABLE])];
    return shellWords(['robots-filter', 'compile', ...pathsOf(sources), ...rest]);
  },
  check: checkCommand,
  lint: ({ sources, others, kept }) =>
    sources.some(({ kind }) => kind === 'table')
      ? undefined
      : onPaths('lint', [...pathsOf(sources), ...others, ...kept], 'robots.txt'),
  inspect: ({ sources, agents, others, kept }) => {
    const [source] = sources;
    if (source === undefined) return undefined;
    const rest = [...others, ...(others.length === 0 ? [] : agentOption(agents)), ...kept];
    return shellWords(['robots-filter', 'inspect', source.path, ...rest]);
  },
  records: ({ sources, others, kept }) => {
    const paths = [...pathsOf(sources), ...others];
    const each = paths.map((path) => shellWords(['robots-filter', 'records', path, ...kept]));
    return each.length === 0 ? 'robots-filter records robots.txt' : each.join(' && ');
  },
  diff: ({ sources, others, agents, kept }) => {
    const [old, next = 'NEW'] = [...pathsOf(sources), ...others];
    return old === undefined
      ? undefined
      : shellWords(['robots-filter', 'diff', old, next, ...agentOption(agents), ...kept]);
  },
  fetch: ({ sources, others, kept }) => {
    const directory = sources.find(({ kind }) => kind === 'cache')?.path ?? 'robots';
    const lists = sources.filter(({ kind }) => kind === 'robots.txt').map(({ path }) => path);
    const words = ['fetch', '--robots-dir', directory, ...kept, ...lists, ...others];
    return shellWords(['robots-filter', ...words]);
  },
  shard: ({ sources, others, kept }) => {
    const lists = sources.filter(({ kind }) => kind === 'robots.txt').map(({ path }) => path);
    const number = kept.some((word) => word.startsWith('--of')) ? [] : ['--of', '64'];
    return shellWords(['robots-filter', 'shard', ...number, ...kept, ...lists, ...others]);
  },
  captures: ({ sources, others, kept }) =>
    onPaths('captures', [...pathsOf(sources), ...others, ...kept], 'crawl.warc.gz'),
  agents: ({ agents, kept }) =>
    agents === '' ? undefined : shellWords(['robots-filter', 'agents', agents, ...kept]),
};

/**
 * The command line that works, in place of one with the arguments of another command.
 *
 * @param program the program with all commands
 * @param words the arguments of the program
 */
export async function meantCommand(
  program: Command,
  [name = '', ...words]: readonly string[],
): Promise<string | undefined> {
  const command = program.commands.find((each) => each.name() === name);
  const compose = COMPOSE[name];
  if (command === undefined || compose === undefined) return undefined;
  const given = await givenTo(command, program, words);
  return given && compose(given);
}

/** A URL without a robots.txt gets that of its host. */
function checkCommand({ sources, agents, others, kept }: Given): string | undefined {
  const isUrl = (word: string): boolean =>
    word === '-' || word.startsWith('/') || word.includes('://');
  const [source, ...lists] = sources;
  let file = source?.path;
  if (file === undefined && !isUrl(others[0] ?? '/')) file = others[0];
  const words = others.filter((word) => word !== file);
  const agent = agents || (words.find((word) => !isUrl(word)) ?? ANY_AGENT);
  const urls = words.filter((word) => word !== agent);
  const [url] = urls;
  const rest = ['-a', agent, ...kept, ...urls, ...lists.flatMap(({ path }) => ['--urls', path])];
  if (file === undefined && url?.includes('://') === true && URL.canParse(url)) {
    const check = shellWords(['robots-filter', 'check', '-', ...rest]);
    return `curl -s ${shellWords([new URL('/robots.txt', url).href])} | ${check}`;
  }
  const any = urls.length + lists.length === 0 ? ['/'] : [];
  return shellWords(['robots-filter', 'check', file ?? 'robots.txt', ...rest, ...any]);
}

function onPaths(command: string, words: readonly string[], example: string): string {
  return shellWords(['robots-filter', command, ...(words.length === 0 ? [example] : words)]);
}

function pathsOf(sources: readonly Source[]): string[] {
  return sources.map(({ path }) => path);
}

function agentOption(agents: string): string[] {
  return agents === '' ? [] : ['-a', agents];
}

/**
 * Sorts the words of a command line. Options that only other commands have are dropped; `undefined`
 * if no command has one of the options, which is then misspelt.
 */
async function givenTo(
  command: Command,
  program: Command,
  words: readonly string[],
): Promise<Given | undefined> {
  const sources: Source[] = [];
  const others: string[] = [];
  const kept: string[] = [];
  const agents: string[] = [];
  const every = [program, ...program.commands].flatMap((each) => each.options);
  const find = (options: readonly Option[], flag: string): Option | undefined =>
    options.find(({ short, long }) => flag === short || flag === long);
  let isOptions = true;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === '--') isOptions = false;
    if (!isOptions || !word.startsWith('-') || word === '-') {
      if (word !== '--') await sort(word, sources, others);
      continue;
    }
    const [flag = '', inline] = word.startsWith('--') ? split(word) : [word];
    const own = find(command.options, flag);
    const option = own ?? find(every, flag);
    if (option === undefined) return undefined;
    const takesNext = option.required === true && inline === undefined;
    const value = inline ?? (takesNext ? words[++at] : undefined);
    if (value !== undefined && option.long === AGENT) agents.push(value);
    else if (value !== undefined && SOURCE_OPTIONS.includes(option.long ?? '')) {
      sources.push({ path: value, kind: (await kindOf(value)) ?? kindByOption(option.long) });
    } else if (own !== undefined) kept.push(word, ...(takesNext && value ? [value] : []));
  }
  return { sources, agents: agents.join(), others, kept };
}

function split(word: string): [string, string?] {
  const at = word.indexOf('=');
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function kindByOption(option: string | undefined): Kind {
  return option === '--table' ? 'table' : 'cache';
}

async function sort(word: string, sources: Source[], others: string[]): Promise<void> {
  const kind = await kindOf(word);
  if (kind === undefined) others.push(word);
  else sources.push({ path: word, kind });
}

async function kindOf(path: string): Promise<Kind | undefined> {
  return path === '-' || !existsSync(path) ? undefined : kindOfPath(path).catch(() => undefined);
}
