import { Diagnostics } from '../report/diagnostics.js';
import type { RobotsOptions } from './command-options.js';
import { refuseAgentsFile, withNamedAgents } from './named-agents.js';

/**
 * The options with product tokens in the place of lists and User-Agent headers.
 *
 * @throws RobotsFilterError `usage`, also for an --agents-file without effect; `input` for one that
 *   cannot be read
 */
export async function withTokens<Options extends RobotsOptions>(
  options: Options,
): Promise<Options> {
  if (options.agent === undefined) {
    refuseAgentsFile(options, 'without --agent. Add --agent @LIST');
    return options;
  }
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const agent = await withNamedAgents(options.agent, options, diagnostics);
  return { ...options, agent, givenAgents: options.agent };
}
