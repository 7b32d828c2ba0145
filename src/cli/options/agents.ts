import { type Agent, parseAgent } from '../../protocol/agent.js';
import type { Profile } from '../../protocol/profile.js';
import { usageError } from '../usage-error.js';

/** Adds the agents of one `--agent`, separated by commas, to those of earlier ones. */
export function collectAgents(list: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...list.split(',').map((agent) => agent.trim())];
}

/**
 * Parses the agents that `--agent` names; without `--agent`, `*`.
 *
 * @throws RobotsFilterError `usage` for an agent that is empty, no product token, or named twice
 */
export function parseAgents(names: readonly string[] | undefined, profile: Profile): Agent[] {
  if (names === undefined) return [parseAgent('*', profile)];
  const seen = new Set<string>();
  return names.map((name) => {
    if (name === '') {
      throw usageError(
        '--agent names an empty product token. Use --agent GPTBot, or --agent GPTBot,CCBot for several',
      );
    }
    if (seen.has(name)) {
      throw usageError(`--agent names ${JSON.stringify(name)} twice. Name it once`);
    }
    seen.add(name);
    if (profile !== 'google' && name.split('>').includes('')) {
      throw usageError(
        `--agent ${JSON.stringify(name)} has an empty product token in its chain. Use --agent 'A>B'`,
      );
    }
    return parseAgent(name, profile);
  });
}

/** The product tokens whose groups decide for these agents, without `*`. */
export function neededTokens(agents: readonly Agent[]): string[] {
  const tokens = new Set(agents.flatMap(({ chain }) => chain));
  tokens.delete('*');
  return [...tokens];
}
