import { type Agent, parseAgent, refuseSameAgents } from '../../protocol/agent.js';
import type { Profile } from '../../protocol/profile.js';
import { usageError } from '../usage-error.js';

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
    if (profile !== 'google' && name.split('>').includes('')) {
      throw usageError(
        `--agent ${JSON.stringify(name)} has an empty product token in its chain. Use --agent 'A>B'`,
      );
    }
    return parseAgent(name, profile);
  });
  refuseSameAgents(agents);
  return agents;
}

/** The product tokens whose groups decide for these agents, without `*`. */
export function neededTokens(agents: readonly Agent[]): string[] {
  const tokens = new Set(agents.flatMap(({ chain }) => chain));
  tokens.delete('*');
  return [...tokens];
}
