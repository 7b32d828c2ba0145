import { agentsOf, type KnownAgent, listNames } from '../../agents/known-agent.js';
import { nearest } from '../../nearest.js';
import { isUserAgentHeader } from '../../protocol/user-agent-header.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { usageError } from '../usage-error.js';

/** What begins the name of a list of agents: `@ai-training`. */
const LIST = '@';

/** Options of all commands that accept agents by name. */
export interface NamedAgentOptions {
  readonly agentsFile?: string;
}

/** The agents that the file names, or else the built-in ones. */
export async function knownAgentsOf({
  agentsFile,
}: NamedAgentOptions): Promise<readonly KnownAgent[]> {
  if (agentsFile === undefined) {
    const { knownAgents } = await import('../../agents/known-agents.js');
    return knownAgents();
  }
  const { readAgentsFile } = await import('../../agents/agents-file.js');
  return readAgentsFile(agentsFile);
}

/**
 * Puts product tokens in the place of the lists (`@seo`) and the whole User-Agent headers among the
 * agents that were given. An agent of a list that was named before is left out.
 *
 * @throws RobotsFilterError `usage` for a list that does not exist, for a header that names no
 *   known agent, or several, and for an --agents-file without effect
 */
export async function withNamedAgents(
  names: readonly string[],
  options: NamedAgentOptions,
  diagnostics: Diagnostics,
): Promise<readonly string[]> {
  if (!names.some((name) => name.startsWith(LIST) || isUserAgentHeader(name))) {
    refuseAgentsFile(options, 'on product tokens. Name a list (@LIST) or a User-Agent header');
    return names;
  }
  const known = await knownAgentsOf(options);
  const named = new Set(names.map((name) => name.toLowerCase()));
  const expanded: string[] = [];
  for (const name of names) {
    if (name.startsWith(LIST)) {
      for (const { token } of listed(name, known)) {
        const key = token.toLowerCase();
        if (named.has(key)) continue;
        named.add(key);
        expanded.push(token);
      }
    } else if (isUserAgentHeader(name)) {
      const token = await tokenInHeader(name, known);
      diagnostics.note(`--agent ${JSON.stringify(name)} is a User-Agent header: taken as ${token}`);
      expanded.push(token);
    } else expanded.push(name);
  }
  return expanded;
}

/**
 * Refuses --agents-file where no known agent is looked up.
 *
 * @param reason continues "has no effect", with the remedy
 * @throws RobotsFilterError `usage`
 */
export function refuseAgentsFile({ agentsFile }: NamedAgentOptions, reason: string): void {
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
  const { agentsInHeader } = await import('../../agents/header-agent.js');
  const found = agentsInHeader(header, known);
  const [agent] = found;
  const quoted = JSON.stringify(header);
  if (agent === undefined) {
    const { headerCandidates } = await import('../../protocol/user-agent-header.js');
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
  return agent.token;
}
