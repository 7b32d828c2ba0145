/** Agents that are given by name, names that match nothing, and the command `agents`. */

import { printable, printableJson } from '../base/control-characters.js';
import { nearest } from '../base/nearest.js';
import { isTerminal } from '../files/openings.js';
import type { TableMemory } from '../judge/table-memory.js';
import {
  type Agent,
  CHAIN_SEPARATOR,
  chainOf,
  decidingToken,
  headerCandidates,
  isProductToken,
  isPublishedName,
  isUserAgentHeader,
  parseAgent,
  refuseSameAgents,
} from '../protocol/agent.js';
import {
  agentName,
  agentsNamed,
  agentsOf,
  agentsOfOperator,
  askedAs,
  bareName,
  DISREGARDING,
  type KnownAgent,
  listNames,
} from '../protocol/known-agent.js';
import {
  agentsInHeader,
  agentsWithoutGroup,
  describeUnnamedAgents,
  type NamedTokens,
  withMeantAgents,
} from '../protocol/unnamed-agents.js';
import type { Use } from '../protocol/uses.js';
import type { Profile } from '../protocol/verdict.js';
import { Diagnostics, SUCCESS, usageError, writeOutput } from './console.js';
import type { AgentInfo } from './report/figures.js';
import {
  cutToWidth,
  GAP,
  isForPeople,
  rowsText,
  STANDARD_OUTPUT_DESCRIPTOR,
  widthOnTerminal,
  windowOfOutput,
} from './text.js';

/** Adds the agents of one `--agent`, separated by commas, to those of earlier ones. */
export function collectAgents(list: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...splitAtCommas(list).map((agent) => agent.trim())];
}

/** Splits a list at its commas, but not at those in the comments of a User-Agent header. */
function splitAtCommas(list: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at < list.length; at++) {
    const character = list[at];
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth === 0) {
      parts.push(list.slice(start, at));
      start = at + 1;
    }
  }
  // Parentheses without their pair are no comments.
  return depth === 0 ? [...parts, list.slice(start)] : list.split(',');
}

/**
 * Parses the agents that `--agent` names; without `--agent`, `*`.
 *
 * @throws RobotsFilterError `usage` for an agent that is empty, no product token, or named twice
 */
export function parseAgents(names: readonly string[] | undefined, profile: Profile): Agent[] {
  if (names === undefined) return [parseAgent('*', profile)];
  const agents = names.map((name) => {
    if (name === '') {
      throw usageError(
        '--agent names an empty product token. Use --agent GPTBot, or --agent GPTBot,CCBot for several',
      );
    }
    if (profile !== 'google' && chainOf(name).chain.includes('')) {
      throw usageError(
        `--agent ${JSON.stringify(name)} has an empty product token in its chain. Use --agent A:B`,
      );
    }
    return parseNamedAgent(name, profile);
  });
  refuseSameAgents(agents);
  return agents;
}

/**
 * Parses an agent. In the google profile names such as `MJ12bot` are tokens of their own, which no
 * user-agent line could name: the agent is their product token.
 *
 * @throws RobotsFilterError `usage` for an agent that is no product token
 */
export function parseNamedAgent(name: string, profile: Profile): Agent {
  if (profile !== 'google' || !hasPublishedName(name)) return parseAgent(name, profile);
  return parseAgent(decidingTokens(name).join(CHAIN_SEPARATOR) + endOf(name), profile);
}

function hasPublishedName(name: string): boolean {
  return chainOf(withoutEnd(name)).chain.some((link) => isPublishedName(link.trim()));
}

/** The product tokens that decide for an agent that was given as a text. */
function decidingTokens(name: string): string[] {
  return chainOf(withoutEnd(name)).chain.map(decidingToken);
}

/** The product tokens whose groups decide for these agents and uses, without `*`. */
export function neededTokens(agents: readonly Agent[], uses: readonly Use[] = []): string[] {
  const tokens = new Set(agents.flatMap(({ chain }) => chain));
  for (const { policyToken } of uses) if (policyToken !== undefined) tokens.add(policyToken);
  tokens.delete('*');
  return [...tokens];
}

/** What begins the name of a list of agents: `@ai-training`. */
const LIST = '@';

/** Options of all commands that accept agents by name. */
export interface NamedAgentOptions {
  readonly agentsFile?: string;
  readonly profile?: Profile;
}

/** Options of all commands with `--agent`. */
export interface AskedAgentOptions extends NamedAgentOptions {
  readonly agent?: readonly string[];
  /** Where records name their agents. */
  readonly agentField?: readonly string[];
  /** The values of --agent before lists and headers became tokens, for messages. */
  readonly givenAgents?: readonly string[];
  readonly quiet?: boolean;
}

/**
 * The agents that the file names, or else the built-in ones.
 *
 * @param diagnostics where to say what of the file was left out; absent if that has been said
 */
export async function knownAgentsOf(
  { agentsFile }: NamedAgentOptions,
  diagnostics?: Diagnostics,
): Promise<readonly KnownAgent[]> {
  if (agentsFile === undefined) {
    const { knownAgents } = await import('../protocol/known-agents.js');
    return knownAgents();
  }
  const { readAgentsFile } = await import('../protocol/agents-file.js');
  const { agents, leftOut } = await readAgentsFile(agentsFile);
  if (leftOut !== undefined) diagnostics?.note(leftOut);
  return agents;
}

/** Describes agents for a report, by the lists of known agents. */
export async function describeAgents(
  agents: readonly Pick<Agent, 'name'>[],
  options: NamedAgentOptions,
): Promise<AgentInfo[]> {
  const known = await knownAgentsOf(options);
  return agents.map(({ name }): AgentInfo => {
    const [found, ...others] = agentsNamed(withoutEnd(name), known);
    if (found === undefined || others.length > 0) return { agent: name };
    const { operator, purpose: list, description: purpose, obeys } = found;
    return { agent: name, operator, list, purpose, obeys };
  });
}

/**
 * Puts product tokens in the place of the lists (`@seo`), the whole User-Agent headers and the
 * published names among the agents that were given. An agent of a list that was named before is
 * left out. One that disregards `*` comes as `TOKEN:`. If it was named as `TOKEN`, a note says how
 * to ask for it.
 *
 * @throws RobotsFilterError `usage` for a list that does not exist, for a header that names no
 *   known agent, or several, and for an --agents-file without effect
 */
export async function withNamedAgents(
  names: readonly string[],
  options: NamedAgentOptions,
  diagnostics: Diagnostics,
): Promise<readonly string[]> {
  if (names.every((name) => !name.startsWith(LIST) && isChain(name))) {
    refuseAgentsFile(options, 'on product tokens. Name a list (@LIST) or a User-Agent header');
    noteFallbacks(names, DISREGARDING, diagnostics);
    return names;
  }
  const known = await knownAgentsOf(options, diagnostics);
  const tokens: string[] = [];
  for (const name of names) {
    tokens.push(name.startsWith(LIST) ? name : await tokensOf(name, known, options, diagnostics));
  }
  notePublishedNames(tokens, diagnostics);
  const disregarding = known.filter(({ fallback }) => fallback === false);
  const keys = new Set(disregarding.map(({ token }) => token.toLowerCase()));
  noteFallbacks(tokens, keys, diagnostics);
  const named = new Set(tokens.map((name) => decidingTokens(name).join().toLowerCase()));
  return tokens.flatMap((name) => {
    if (!name.startsWith(LIST)) return [name];
    const expanded: string[] = [];
    for (const agent of listed(name, known)) {
      const key = agent.token.toLowerCase();
      if (named.has(key)) continue;
      named.add(key);
      expanded.push(askedAs(agent));
    }
    return expanded;
  });
}

/** Says in one line which of the agents are judged by a token that is not their name. */
function notePublishedNames(names: readonly string[], diagnostics: Diagnostics): void {
  const judged = names
    .filter(hasPublishedName)
    .map((name) => `${withoutEnd(name)} as ${decidingTokens(name).join(CHAIN_SEPARATOR)}`);
  if (judged.length === 0) return;
  diagnostics.note(
    `judged by the product token, which has only letters, "-" and "_": ${judged.join(', ')}`,
  );
}

/** An agent without the colon that ends those that disregard `*`. */
function withoutEnd(name: string): string {
  return name.endsWith(CHAIN_SEPARATOR) ? name.slice(0, -CHAIN_SEPARATOR.length) : name;
}

/** The colon that ends an agent that disregards `*`; nothing for another one. */
function endOf(name: string): string {
  return name.slice(withoutEnd(name).length);
}

/**
 * Says in one line which of the agents disregard `*`, but were not named so.
 *
 * @param disregarding the tokens of those that do, in lower case
 */
function noteFallbacks(
  names: readonly string[],
  disregarding: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  const found = names.filter((name) => {
    const { chain, disregardsAny = false } = chainOf(name);
    return !disregardsAny && disregarding.has(chain[0]?.trim().toLowerCase() ?? '');
  });
  if (found.length === 0) return;
  const [verb, subject, mood] =
    found.length === 1 ? ['disregards', 'it', 'does'] : ['disregard', 'they', 'do'];
  const asked = found.map((name) => `${name}${CHAIN_SEPARATOR}`).join();
  diagnostics.note(
    `${found.join(' and ')} ${verb} the groups of "*". To judge as ${subject} ${mood}, use --agent ${asked}`,
  );
}

/** The product tokens of an agent that was given in any way, with a note if they differ from it. */
async function tokensOf(
  name: string,
  known: readonly KnownAgent[],
  options: NamedAgentOptions,
  diagnostics: Diagnostics,
): Promise<string> {
  if (isChain(name)) return name;
  const quoted = JSON.stringify(name);
  // `gpt bot/1.2` is one product, and no header of several.
  const [product = '', version = ''] = name.split('/', 2);
  const isProduct = !name.includes('(') && !version.includes(' ');
  if (isUserAgentHeader(name) && !(isProduct && agentsNamed(product, known).length > 0)) {
    const inHeader = await tokenInHeader(withoutEnd(name), known);
    const token = withoutEnd(inHeader) + (endOf(name) || endOf(inHeader));
    diagnostics.note(`--agent ${quoted} is a User-Agent header: taken as ${token}`);
    return token;
  }
  const links = linksOf(name, options).map((link) => tokenOfName(link, known, options));
  const tokens = links.join(CHAIN_SEPARATOR) + endOf(name);
  if (tokens !== name) diagnostics.note(`--agent ${quoted} is taken as ${tokens}`);
  return tokens;
}

/**
 * The links of a chain of names that may not be product tokens yet, such as `GPTBot/1.0:CCBot`. A
 * URL is no chain, and in the google profile a name may have colons.
 */
function linksOf(name: string, { profile }: NamedAgentOptions): readonly string[] {
  const body = withoutEnd(name);
  const { chain } = chainOf(body);
  if (profile === 'google' || body.includes('//')) return chain;
  return chain.flatMap((link) => link.split(CHAIN_SEPARATOR));
}

/** Whether an agent is a product token, or several that fall back. */
function isChain(name: string): boolean {
  return chainOf(name).chain.every((link) => isProductToken(link.trim()));
}

/**
 * The product token of an agent that was given by its published name, such as `MJ12bot`, or spelt
 * another way: `Google Extended`, `ClaudeBot/1.0`. Other texts stay as they are.
 *
 * @throws RobotsFilterError `usage` for a name that only resembles that of a known agent
 */
function tokenOfName(
  link: string,
  known: readonly KnownAgent[],
  { profile }: NamedAgentOptions,
): string {
  if (isProductToken(link.trim())) return link;
  const [agent, ...others] = agentsNamed(link, known);
  if (agent !== undefined && others.length === 0) return agentName(agent);
  if (isPublishedName(link.trim())) return link.trim();
  const words = link.split(' ').flatMap((word) => agentsNamed(word, known));
  const operated = agentsOfOperator(link, known);
  const quoted = `--agent ${JSON.stringify(link)}`;
  if (agent !== undefined || operated.length > 0) {
    const tokens = (agent === undefined ? operated : [agent, ...others]).map(({ token }) => token);
    const what = agent === undefined ? 'is an operator of crawlers' : 'names several crawlers';
    throw usageError(`${quoted} ${what}. Use --agent ${tokens.join(' or --agent ')}`);
  }
  // In the google profile any text is a token.
  if (profile === 'google') return link;
  if (words.length > 1 && words.length === link.split(' ').length) {
    const list = words.map(({ token }) => token).join(',');
    throw usageError(`${quoted} has spaces between several agents. Use commas: --agent ${list}`);
  }
  const bare = known.map(({ token, published = token }) => bareName(published));
  const meant = known[bare.indexOf(nearest(bareName(link), bare) ?? '-')];
  if (meant === undefined) return link;
  throw usageError(`${quoted} is not a product token. Did you mean --agent ${meant.token}?`);
}

/**
 * Says in one line which agents no robots.txt names, and what a misspelt one may have meant: `*`
 * decides for them, which looks like any other answer.
 *
 * @param place what has no group for them
 */
export async function noteUnnamedAgents(
  agents: readonly Agent[],
  named: NamedTokens,
  options: NamedAgentOptions,
  diagnostics: Diagnostics,
  place = 'no robots.txt here has a group',
): Promise<void> {
  const without = agentsWithoutGroup(agents, named);
  if (without.length === 0) return;
  const unnamed = withMeantAgents(without, named, await knownAgentsOf(options));
  const isMisspelt = unnamed.some(({ meant }) => meant !== undefined);
  const text = describeUnnamedAgents(unnamed, agents.length, place);
  diagnostics.note(isMisspelt ? `warning: ${text}` : text);
}

/** As `noteUnnamedAgents`, for a table file. */
export async function noteUnnamedInTable(
  { view, hosts }: Pick<TableMemory, 'view' | 'hosts'>,
  agents: readonly Agent[],
  options: NamedAgentOptions,
  diagnostics: Diagnostics,
): Promise<void> {
  // A reduced table lists its agents, named or not, and refuses others: `compile` has said so.
  if (hosts === 0 || view.isReduced) return;
  const place = view.isWhole ? undefined : 'no robots.txt in the shards that were read has a group';
  await noteUnnamedAgents(agents, view, options, diagnostics, place);
}

/**
 * Refuses --agents-file where no known agent is looked up.
 *
 * @param reason continues "has no effect", with the remedy
 * @throws RobotsFilterError `usage`
 */
function refuseAgentsFile({ agentsFile }: NamedAgentOptions, reason: string): void {
  if (agentsFile === undefined) return;
  throw usageError(`--agents-file has no effect ${reason}, or leave it out`);
}

/** @throws RobotsFilterError `usage` if no list has the name */
function listed(name: string, known: readonly KnownAgent[]): readonly KnownAgent[] {
  const found = agentsOf(known, name.slice(LIST.length).toLowerCase());
  if (found !== undefined) return found;
  const names = listNames(known).map((list) => `${LIST}${list}`);
  const meant = nearest(name, names);
  throw usageError(
    `there is no list of agents ${JSON.stringify(name)}. ${meant === undefined ? '' : `Did you mean ${meant}? `}` +
      `Use one of ${names.join(', ')}; robots-filter agents prints them`,
  );
}

/** @throws RobotsFilterError `usage` unless the header names exactly one known agent */
async function tokenInHeader(header: string, known: readonly KnownAgent[]): Promise<string> {
  const found = agentsInHeader(header, known);
  const [agent] = found;
  const quoted = JSON.stringify(header);
  if (agent === undefined) {
    const candidates = headerCandidates(header);
    throw usageError(
      candidates.length === 0
        ? `--agent ${quoted} is a User-Agent header that names no crawler. Use the product token that its operator documents; robots-filter agents prints those that are known`
        : `--agent ${quoted} is a User-Agent header, and no known crawler is in it. If its product token is one of these, use --agent ${candidates.join(' or --agent ')}`,
    );
  }
  if (found.length > 1) {
    throw usageError(
      `--agent ${quoted} is a User-Agent header that names several crawlers. Use one of ${found.map(({ token }) => `--agent ${token}`).join(', ')}`,
    );
  }
  return askedAs(agent);
}

/**
 * The options with product tokens in the place of lists and User-Agent headers.
 *
 * @throws RobotsFilterError `usage`, also for an --agents-file without effect; `input` for one that
 *   cannot be read
 */
export async function withTokens<Options extends AskedAgentOptions>(
  options: Options,
): Promise<Options> {
  if (options.agent === undefined) {
    if (options.agentField === undefined) {
      refuseAgentsFile(options, 'without --agent. Add --agent @LIST');
    }
    return options;
  }
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const agent = await withNamedAgents(options.agent, options, diagnostics);
  return { ...options, agent, givenAgents: options.agent };
}

// ---- The command `agents`

/**
 * `robots-filter agents`: prints the known agents, a line each.
 *
 * @param name a list, with or without `@`; a token or a published name; an operator; or a
 *   User-Agent header
 * @returns the exit code
 * @throws RobotsFilterError `usage` if no agent has the name
 */
export async function agents(name: string | undefined, options: AgentsOptions): Promise<number> {
  const known = await knownAgentsOf(options, new Diagnostics(false));
  const chosen = name === undefined ? known : chosenAgents(name, known);
  if (options.json === true) writeOutput(`${printableJson(chosen, 2)}\n`);
  else writeOutput(rowsText(isForPeople() ? rowsFor(chosen) : chosen.map(fieldsOf)));
  return SUCCESS;
}

/** For people: one agent with a line for each field; several with what fits the window. */
function rowsFor(agents: readonly KnownAgent[]): string[][] {
  const [first, ...others] = agents;
  if (first !== undefined && others.length === 0) {
    return fieldsOf(first).map((field, at) => [FIELDS[at] ?? '', field]);
  }
  const shown = ({ purpose, token, operator, description }: KnownAgent, withOperator: boolean) =>
    [`@${purpose}`, token, ...(withOperator ? [operator] : []), description].map(printable);
  const rows = agents.map((agent) => shown(agent, true));
  if (!isTerminal(STANDARD_OUTPUT_DESCRIPTOR)) return rows;
  const left = roomForLast(rows);
  const fitting = left < ROOM ? agents.map((agent) => shown(agent, false)) : rows;
  const room = Math.max(1, left < ROOM ? roomForLast(fitting) : left);
  return fitting.map((row) => [...row.slice(0, -1), cutToWidth(row.at(-1) ?? '', room)]);
}

/** The columns of the window that other values than the last ones leave. */
function roomForLast(rows: readonly (readonly string[])[]): number {
  let left = windowOfOutput();
  for (let column = 0; column < (rows[0]?.length ?? 1) - 1; column++) {
    left -= Math.max(...rows.map((row) => widthOnTerminal(row[column] ?? ''))) + GAP.length;
  }
  return left;
}

/** Columns of a window without which a description says too little. */
const ROOM = 16;

/** What is told about an agent, in the order of `fieldsOf`. */
const FIELDS = [
  'list',
  'token',
  'operator',
  'published',
  'date',
  'source',
  'description',
  'obeys',
  'fallback',
];

function fieldsOf(agent: KnownAgent): string[] {
  const { token, published = token, operator, purpose, date, source, description, obeys } = agent;
  const fallback = agent.fallback === false ? 'no' : 'yes';
  const told = [operator, published, date, source, description, obeys, fallback];
  return [`@${purpose}`, token, ...told].map(printable);
}

function chosenAgents(name: string, known: readonly KnownAgent[]): readonly KnownAgent[] {
  const lower = name.toLowerCase();
  const list = agentsOf(known, lower.startsWith('@') ? lower.slice(1) : lower);
  if (list !== undefined) return list;
  // Diffbot is an agent and the operator of another.
  const found = new Set([...agentsNamed(name, known), ...agentsOfOperator(name, known)]);
  if (found.size > 0) return [...found];
  const inHeader = agentsInHeader(name, known);
  if (inHeader.length > 0) return inHeader;
  const names = [...listNames(known).map((each) => `@${each}`), ...known.map(({ token }) => token)];
  const nearestName = nearest(
    lower,
    names.map((each) => each.toLowerCase()),
  );
  const meant = names.find((each) => each.toLowerCase() === nearestName);
  throw usageError(
    `no known agent and no list is named ${JSON.stringify(name)}. ${meant === undefined ? '' : `Did you mean ${meant}? `}` +
      'robots-filter agents prints all',
  );
}

export interface AgentsOptions extends NamedAgentOptions {
  readonly json?: boolean;
}
