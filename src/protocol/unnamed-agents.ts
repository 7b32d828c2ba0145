/**
 * Finds agents that no robots.txt names. The name may be misspelt, and then `*` decides for it
 * everywhere, unnoticed.
 */

import { nearest } from '../base/nearest.js';
import { type Agent, CHAIN_SEPARATOR, chainOf, isPublishedName, lowerCaseAscii } from './agent.js';
import { HeaderAgents } from './header-agents.js';
import type { KnownAgent } from './known-agent.js';
import type { Use } from './uses.js';

/** The product tokens that some robots.txt files name, in lower case. */
export interface NamedTokens {
  hasToken(token: string): boolean;
  tokens(): Iterable<string>;
}

/** An agent that no robots.txt names. */
interface UnnamedAgent {
  readonly name: string;
  /** The agent that the name most likely misspells. */
  readonly meant: string | undefined;
  /** Whether the groups of `*` do not decide for it either. */
  readonly disregardsAny?: boolean | undefined;
}

/** Number of named tokens that are compared: site owners choose how many there are. */
const MOST_COMPARED = 1 << 17;

/** Number of unnamed agents up to which a message has all their names. */
const FEW_AGENTS = 4;

/**
 * The agents none of whose product tokens any robots.txt names, so that `*` decides for them
 * everywhere. `*` itself is not among them.
 */
export function agentsWithoutGroup(agents: readonly Agent[], named: NamedTokens): Agent[] {
  return agents.filter(({ chain }) => {
    const tokens = chain.map(lowerCaseAscii).filter((token) => token !== '*');
    return tokens.length > 0 && !tokens.some((token) => named.hasToken(token));
  });
}

/**
 * Finds which agent each name misspells: one that a robots.txt names, or a known one. A known agent
 * misspells none.
 */
export function withMeantAgents(
  agents: readonly Agent[],
  named: NamedTokens,
  known: readonly KnownAgent[],
): UnnamedAgent[] {
  const spellings = new Map(known.map(({ token }) => [token.toLowerCase(), token]));
  let candidates: readonly string[] | undefined;
  return agents.map(({ name, chain, disregardsAny }) => {
    for (const token of chain) {
      if (token === '*' || spellings.has(lowerCaseAscii(token))) continue;
      candidates ??= [...firstTokens(named), ...spellings.keys()];
      const meant = nearest(token, candidates);
      if (meant === undefined) continue;
      return { name, meant: spellings.get(meant) ?? meant, disregardsAny };
    }
    return { name, meant: undefined, disregardsAny };
  });
}

function* firstTokens(named: NamedTokens): Iterable<string> {
  let count = 0;
  for (const token of named.tokens()) {
    if (count++ === MOST_COMPARED) return;
    if (token !== '*' && token !== '') yield token;
  }
}

/**
 * One line about all agents that no robots.txt names.
 *
 * @param unnamed at least one
 * @param asked number of agents that were asked for
 * @param place what has no group for them: `no robots.txt here has a group`
 */
export function describeUnnamedAgents(
  unnamed: readonly UnnamedAgent[],
  asked: number,
  place: string,
): string {
  const names = unnamed.map(({ name }) => name);
  const shown = names.slice(0, FEW_AGENTS);
  const list =
    names.length <= FEW_AGENTS
      ? [shown.slice(0, -1).join(', '), ...shown.slice(-1)]
          .filter((part) => part !== '')
          .join(' or ')
      : `${names.length} of ${asked} agents (${shown.slice(0, -1).join(', ')}, …)`;
  const misspelt = unnamed.filter(({ meant }) => meant !== undefined).slice(0, FEW_AGENTS);
  const meant = misspelt.map(({ name, meant }) =>
    unnamed.length === 1 ? meant : `${meant} (not ${name})`,
  );
  const question = meant.length === 0 ? '' : `. Did you mean ${meant.join(', ')}?`;
  const whom = unnamed.length === 1 ? '' : ' for them';
  const free = unnamed
    .filter(({ disregardsAny }) => disregardsAny === true)
    .map(({ name }) => name);
  const areAll = free.length === unnamed.length;
  const decides = areAll ? `everything is allowed${whom}` : `"*" decides${whom}`;
  const others =
    areAll || free.length === 0 ? '' : `, and everything is allowed for ${free.join(', ')}`;
  return `${place} for ${list}, so ${decides} everywhere${others}${question}`;
}

/**
 * One line about the agents that no robots.txt names and that likely misspell another; `undefined`
 * if there are none. An agent without a group is usual, and no reason for a warning.
 *
 * @param name the table's name in the message
 */
export function describeMisspeltAgents(
  agents: readonly Agent[],
  named: NamedTokens,
  known: readonly KnownAgent[],
  name: string,
): string | undefined {
  const without = agentsWithoutGroup(agents, named);
  const misspelt = withMeantAgents(without, named, known).filter(
    ({ meant }) => meant !== undefined,
  );
  if (misspelt.length === 0) return undefined;
  const place = `no robots.txt in ${name} has a group`;
  return describeUnnamedAgents(misspelt, agents.length, place);
}

/**
 * One line about the policy tokens that no robots.txt names: they say nothing. `undefined` if there
 * are none.
 *
 * @param place what has no group for them: `no robots.txt here has a group`
 */
export function describeUnnamedPolicyTokens(
  uses: readonly Use[],
  named: NamedTokens,
  place: string,
): string | undefined {
  const tokens = new Set(uses.flatMap(({ policyToken }) => policyToken ?? []));
  const asked = Array.from(tokens, (token) => ({ name: token, chain: [token] }));
  const unnamed = withMeantAgents(agentsWithoutGroup(asked, named), named, []);
  if (unnamed.length === 0) return undefined;
  const names = unnamed.map(({ name }) => name);
  const meant = unnamed.flatMap(({ meant }) => meant ?? []);
  const question = meant.length === 0 ? '' : `. Did you mean ${meant.join(', ')}?`;
  return `${place} for the policy token ${names.join(' or ')}, so nothing is said by it${question}`;
}

/** The code of the process warning. */
const WARNING_CODE = 'ROBOTS_FILTER_AGENT';

/**
 * Emits warnings of the process about misspelt agents: `*` would decide for them in silence. So
 * would the group of another crawler for a name that is longer than its product token.
 *
 * @param name the table's name in the message
 */
export async function warnOfMisspeltAgents(
  agents: readonly Agent[],
  named: NamedTokens,
  name: string,
): Promise<void> {
  for (const { name: given, chain } of agents) {
    if (!chainOf(given).chain.some((link) => isPublishedName(link.trim()))) continue;
    const message = `the agent ${JSON.stringify(given)} is judged by its product token ${chain.join(CHAIN_SEPARATOR)}, which has only letters, "-" and "_"`;
    process.emitWarning(message, { type: 'RobotsFilterWarning', code: WARNING_CODE });
  }
  const without = agentsWithoutGroup(agents, named);
  if (without.length === 0) return;
  // Loaded on demand, because most agents have a group, or are no mistake.
  const { knownAgents } = await import('./known-agents.js');
  const message = describeMisspeltAgents(without, named, knownAgents(), name);
  if (message === undefined) return;
  process.emitWarning(message, { type: 'RobotsFilterWarning', code: WARNING_CODE });
}

/** The known agents that a whole User-Agent header names. */
export function agentsInHeader(
  header: string,
  agents: readonly KnownAgent[],
): readonly KnownAgent[] {
  const named = new Set(Array.from(new HeaderAgents(agents).namedIn(header), ({ agent }) => agent));
  return agents.filter((agent) => named.has(agent));
}
