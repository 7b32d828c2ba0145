import { compileShards } from '../../pipeline/compile/compile-shards.js';
import { SUCCESS } from '../exit-codes.js';
import { neededTokens, parseAgents } from '../options/agents.js';
import type { CompileOptions } from '../options/command-options.js';
import { Interruption } from '../process/interruption.js';
import { Diagnostics } from '../report/diagnostics.js';
import { formatBytes, formatCount, formatDuration, formatNumber } from '../report/numbers.js';
import { reported } from './compile-caches.js';
import { noteContentWarnings } from './content-warnings.js';

/**
 * `robots-filter compile --shards`: compiles caches into a directory of shards.
 *
 * @param output the directory
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function compileIntoShards(
  robotsDir: readonly string[],
  output: string,
  shards: number,
  options: CompileOptions,
): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { profile = 'rfc9309', agent } = options;
  const productTokens = agent === undefined ? undefined : neededTokens(parseAgents(agent, profile));
  const interruption = new Interruption();
  try {
    const context = { productTokens, diagnostics, interruption };
    const compiled = await reported(robotsDir, options, context, (compiling) =>
      compileShards(robotsDir, shards, output, compiling),
    );
    noteContentWarnings(compiled, diagnostics);
    const { hosts, rules, bytes, stats } = compiled;
    const parts = [
      `${formatCount(hosts, 'host')} from ${formatCount(stats.files, 'file')} (${formatBytes(stats.bytes)})`,
      formatCount(rules, 'rule'),
      `${formatNumber(bytes)} bytes in ${formatCount(shards, 'shard')}`,
      formatDuration(performance.now() / 1000),
    ];
    diagnostics.note(`${output}: ${parts.join(', ')}`);
    return SUCCESS;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    interruption.end();
  }
}
