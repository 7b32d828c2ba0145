import { RobotsFilterError } from '../errors.js';
import { type Agent, parseAgent } from '../protocol/agent.js';
import type { Profile } from '../protocol/profile.js';

/**
 * The agents of an `--agent` option, joined to those of earlier ones: separated by commas, white
 * space around them dropped.
 */
export function collectAgents(list: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...list.split(',').map((agent) => agent.trim())];
}

/**
 * Reads what `--agent` names; `*` where it names nothing.
 *
 * @throws RobotsFilterError `usage` if one is empty, no product token, or named twice
 */
export function parseAgents(names: readonly string[] | undefined, profile: Profile): Agent[] {
  if (names === undefined) return [parseAgent('*', profile)];
  const seen = new Set<string>();
  return names.map((name) => {
    if (name === '') {
      throw new RobotsFilterError(
        'usage',
        '--agent names an empty product token: say --agent GPTBot, or --agent GPTBot,CCBot for several',
      );
    }
    if (seen.has(name)) {
      throw new RobotsFilterError(
        'usage',
        `--agent names ${JSON.stringify(name)} twice: say it once`,
      );
    }
    seen.add(name);
    return parseAgent(name, profile);
  });
}

/**
 * The product tokens whose groups are needed to answer for agents: all links of their chains but
 * `*`.
 */
export function neededTokens(agents: readonly Agent[]): string[] {
  const tokens = new Set(agents.flatMap(({ chain }) => chain));
  tokens.delete('*');
  return [...tokens];
}
