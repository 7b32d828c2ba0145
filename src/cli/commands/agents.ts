import { agentsInHeader } from '../../agents/header-agent.js';
import { agentsOf, type KnownAgent, listNames } from '../../agents/known-agent.js';
import { printable, printableJson } from '../../control-characters.js';
import { nearest } from '../../nearest.js';
import { SUCCESS } from '../exit-codes.js';
import type { AgentsOptions } from '../options/command-options.js';
import { knownAgentsOf } from '../options/named-agents.js';
import { writeOutput } from '../process/standard-streams.js';
import { usageError } from '../usage-error.js';

/**
 * `robots-filter agents`: prints the known agents, a line each.
 *
 * @param name a list, with or without `@`; a token or a published name; or a User-Agent header
 * @returns the exit code
 * @throws RobotsFilterError `usage` if no agent has the name
 */
export async function agents(name: string | undefined, options: AgentsOptions): Promise<number> {
  const known = await knownAgentsOf(options);
  const chosen = name === undefined ? known : agentsNamed(name, known);
  if (options.json === true) writeOutput(`${printableJson(chosen, 2)}\n`);
  else writeOutput(chosen.map(lineOf).join(''));
  return SUCCESS;
}

function lineOf(agent: KnownAgent): string {
  const { token, published = token, operator, purpose, date, source, description } = agent;
  const columns = [`@${purpose}`, token, operator, published, date, source, description];
  return `${columns.map(printable).join('\t')}\n`;
}

function agentsNamed(name: string, known: readonly KnownAgent[]): readonly KnownAgent[] {
  const lower = name.toLowerCase();
  const list = agentsOf(known, lower.startsWith('@') ? lower.slice(1) : lower);
  if (list !== undefined) return list;
  const same = known.filter(
    ({ token, published = '' }) =>
      token.toLowerCase() === lower || published.toLowerCase() === lower,
  );
  if (same.length > 0) return same;
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
